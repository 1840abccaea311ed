//! `jsf shares`: what is asked and assumed, and the nodes of a fair-share tree with the numbers that
//! policies compute for them, before and after assumed usage, with the places that jobs gain.

pub(crate) mod view;

use std::collections::BTreeMap;
use std::io::Write;
use std::iter;
use std::path::PathBuf;

use clap::{ArgMatches, Args, Command, FromArgMatches};
use job_sort_formula::fairshare::{
    AssessedTree, AssociationShares, NodeId, NodeKind, ShareTree, Shares,
};
use jsf_openpbs::times::parse_duration;
use jsf_site::{
    ComparedQueue, FormulaText, PolicyName, PolicyShares, RankedQueue, Role, SharesRequest, Site,
    SiteError, UsageChange,
};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

use crate::answers::{Answer, AnswerError, Each, Warnings, object};
use crate::asked_formula::AskedFormula;
#[cfg(feature = "command")]
use crate::cli::{
    formula::{FormulaArgs, FormulaOptions, read_formula},
    outcome::{CliError, Outcome},
    output::{AnswerArgs, Output},
    page_file::ReportArgs,
    site::{PolicyArg, SiteArgs},
};
use crate::questions::named_jobs::{MAX_UNKNOWN, unknown_jobs_error};
use crate::questions::values::listed_name;
use crate::view::document::Document;

/// Which entities are shown, under which policies, and what is assumed of their usage.
#[derive(Debug, Clone, Default, Deserialize, clap::Args)]
#[serde(default, deny_unknown_fields)]
pub struct SharesQuestion {
    /// Show only this entity or group
    ///
    /// With the group all below it. NAME where it is unique, else ACCOUNT/USER; USER:PARTITION for
    /// an association of one partition; separate several by commas, or repeat the option
    #[serde(rename = "entities")]
    #[arg(long, value_name = "NAME", value_delimiter = ',', value_parser = listed_name)]
    pub(crate) entity: Vec<String>,
    /// The entities with pending jobs
    ///
    /// For the ticket-based policy, named as for --entity [default: from --queue]
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', value_parser = listed_name)]
    pub(crate) active: Vec<String>,
    /// What to assume about the usage.
    #[serde(skip)]
    #[command(flatten)]
    pub(crate) assumed: AssumedUsage,
    /// The policy; absent: the one in force. On a command line it is one of the site.
    #[arg(skip)]
    pub(crate) policy: Option<PolicyName>,
    /// Whether each policy is shown.
    #[serde(skip)]
    #[arg(skip)]
    pub(crate) has_all_policies: bool,
}

impl SharesQuestion {
    /// The policies that are asked for; none: the one in force.
    pub(crate) fn policies(&self) -> Vec<PolicyName> {
        if self.has_all_policies {
            PolicyName::ALL.to_vec()
        } else {
            Vec::from_iter(self.policy)
        }
    }
}

/// The options that assume another usage.
#[derive(Debug, clap::Args)]
struct UsageOptions {
    /// What if: add usage to an entity
    ///
    /// It is named as for --entity; the amount is in the unit of the tree's usage: RawUsage of
    /// Slurm is TRES-seconds (billing). --charge and --decay act in the order in which they are
    /// given
    #[arg(long, value_name = "NAME=AMOUNT", value_parser = parse_charge)]
    charge: Vec<UsageChange>,
    /// What if: decay all usage by this much time
    ///
    /// Seconds, HH:MM:SS, D-HH:MM:SS, or a number with s, m, h, d or w; OpenPBS decays in whole
    /// periods of fairshare_decay_time
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true, value_parser = parse_decay)]
    decay: Vec<UsageChange>,
}

/// The changes of the usage to assume, in the order in which their options are given.
#[derive(Debug, Clone, Default)]
pub(crate) struct AssumedUsage {
    /// The changes.
    pub(crate) changes: Vec<UsageChange>,
}

impl FromArgMatches for AssumedUsage {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let UsageOptions { charge, decay } = UsageOptions::from_arg_matches(matches)?;
        // clap keeps the values of each option apart, but knows the place of each
        let mut by_place = BTreeMap::new();
        for (option, changes) in [("charge", charge), ("decay", decay)] {
            if let Some(places) = matches.indices_of(option) {
                by_place.extend(places.zip(changes));
            }
        }
        Ok(Self {
            changes: by_place.into_values().collect(),
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Args for AssumedUsage {
    fn augment_args(command: Command) -> Command {
        UsageOptions::augment_args(command)
    }

    fn augment_args_for_update(command: Command) -> Command {
        UsageOptions::augment_args_for_update(command)
    }
}

fn parse_charge(text: &str) -> Result<UsageChange, String> {
    // from the right, as a name may contain a `=` and an amount cannot
    let (name, amount) = text.rsplit_once('=').ok_or("expected NAME=AMOUNT")?;
    match amount.parse::<f64>() {
        Ok(number) if number.is_finite() && number >= 0.0 => Ok(UsageChange::Charge {
            name: name.to_owned(),
            amount: number,
        }),
        _ => Err(format!(
            "`{amount}` is not an amount, expected a number that is not negative"
        )),
    }
}

fn parse_decay(text: &str) -> Result<UsageChange, String> {
    parse_duration(text).map(UsageChange::Decay)
}

/// `jsf shares`
#[cfg(feature = "command")]
#[derive(Debug, Args)]
#[command(after_help = "\
Columns under pbs: shares among the siblings; perc, the part of the machine that they give; usage, in the unit of \
fairshare_usage_res, with that of all members; tree_usage, the part of all usage that is charged to the node; factor, \
2^-(tree_usage/perc), 0.5 on target.
Columns under a policy of Slurm, as in `sshare -l`: shares; norm_shares; raw_usage, in TRES-seconds (billing); norm_usage, its \
part of all usage; effective_usage, the part that is charged to the node; level_fs, shares divided by usage among the \
siblings, from 0 to inf, 1 on target; fairshare, the factor, 0 to 1; tickets, a count.

With --charge or --decay, in the order in which they are given, the output shows each number before and after; with --queue \
also the places that jobs gain. In JSON, `nodes` has the numbers after, `changes` has `before`, `after` and `difference` of \
each node that changes, and `places` has the formula, the jobs and the entities. JSON also has the settings in force: `release`, \
`half_life` in seconds and `dampening_factor` (Slurm), `decay_factor` and `decay_time` in seconds (pbs).

Examples:
  jsf shares --sched-priv examples/site/sched_priv
  jsf shares --tree examples/site/tree.json --policy all
  jsf shares --tree examples/site/tree.json --policy fair-tree \\
      --charge Bob=500 --format json
  jsf shares --sched-priv examples/site/sched_priv --decay 2w \\
      --charge ocean/tmorita=1e8 --queue examples/site/qstat.json")]
pub struct SharesArgs {
    /// The site.
    #[command(flatten)]
    site: SiteArgs,
    /// The entities to show, and the usage to assume.
    #[command(flatten)]
    question: SharesQuestion,
    /// The formula that gives the jobs their places
    ///
    /// With --charge or --decay, and --queue [default: the site's, else fairshare_factor]
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    formula: Option<String>,
    /// The file that contains this formula
    #[arg(short = 'f', long, value_name = "FILE", conflicts_with = "formula")]
    formula_file: Option<PathBuf>,
    /// How the answer is written.
    #[command(flatten)]
    answer: AnswerArgs,
    /// A page.
    #[command(flatten)]
    report: ReportArgs,
}

#[cfg(feature = "command")]
impl SharesArgs {
    pub(crate) fn run(&self, out: &mut impl Write) -> Result<Outcome, CliError> {
        let options = FormulaOptions {
            text: "--formula",
            file: "-f",
        };
        let formula = FormulaArgs::new(options, &self.formula, &self.formula_file);
        let site = self.site.open_without_formula()?;
        self.site.show(&site, self.answer.format.is_document());
        let mut given = None;
        if formula.is_given() {
            let source = read_formula(&formula, None)?;
            given = Some(AskedFormula::new(source, site.numbers()));
        }
        let question = SharesQuestion {
            has_all_policies: self.site.policy == Some(PolicyArg(None)),
            ..self.question.clone()
        };
        let computed = self
            .answer
            .answered("computing the shares", |warnings, _| {
                SharesAnswer::new(&site, given, question, warnings)
            })?;
        let read_files = self.formula_file.iter().collect();
        Output {
            page_file: self.report.page_file(vec![&site], read_files),
            ..computed
        }
        .write_ranking(self.site.on_error, out)
    }
}

/// The shares of a tree under one policy or several, ready to be written.
#[derive(Debug)]
pub struct SharesAnswer {
    pub(crate) question: SharesQuestion,
    /// Whether the tree is that of another scheduler: there OpenPBS's policy changes the usage, which
    /// is at least 1, and adds a group `unknown`.
    pub(crate) is_of_others: bool,
    /// The policies in the order in which they are asked for.
    pub(crate) policies: Vec<PolicyShares>,
    /// The formula that gives the jobs their places, and these before and after the assumed usage.
    pub(crate) places: Option<(AskedFormula, ComparedQueue)>,
}

impl SharesAnswer {
    /// Computes the shares of a site. The formula gives the jobs their places before and after the
    /// assumed usage; without one, that of the site does, else the factor of fair share.
    ///
    /// # Errors
    /// There is no tree, none of the entities exists, or the formula is not arithmetic.
    pub fn new(
        site: &Site,
        formula: Option<AskedFormula>,
        question: SharesQuestion,
        warnings: &mut Warnings,
    ) -> Result<Self, AnswerError> {
        warnings.add_site_of_shares(site);
        let request = SharesRequest {
            policies: question.policies(),
            active: question.active.clone(),
            changes: question.assumed.changes.clone(),
        };
        let policies = site.shares(&request)?;
        warn_of_unknown(&question.entity, &policies, warnings)?;
        for one in &policies {
            warnings.add(one.notes.clone());
        }
        let mut places = None;
        if !request.assumes_usage() || !site.files().has(Role::Queue) {
            if formula.is_some() {
                return Err(AnswerError::question(
                    "a formula is used only with --charge or --decay, and with --queue",
                ));
            }
        } else if policies.len() > 1 {
            let why =
                "the places of the jobs are not shown: they need one policy, not `all` of them";
            warnings.add([why]);
        } else {
            places = Some(places_of_jobs(site, formula, &request, warnings)?);
        }
        Ok(Self {
            question,
            is_of_others: site.files().has(Role::Tree),
            policies,
            places,
        })
    }

    /// The nodes to show under each policy. A table shows entities together with their paths.
    pub(crate) fn views(&self, has_paths: bool) -> Vec<PolicyView<'_>> {
        let mut views = Vec::new();
        for one in &self.policies {
            views.push(PolicyView::new(
                one,
                one.nodes(&self.question.entity, has_paths),
            ));
        }
        views
    }

    /// The document of one policy. The nodes are made one by one: of a chain of nodes, all paths
    /// together take the square of its length.
    fn numbers<'s>(&'s self, view: &'s PolicyView<'s>) -> impl Serialize + 's {
        let mut assumed = None;
        if view.policy.before.is_some() {
            let places = self.places.as_ref();
            assumed = Some(object! {
                assumed: assumptions(&self.question.assumed.changes),
                changes: Each(|| view.changes().map(|change| changed_node(view, change))),
                #[serde(flatten)]
                places: places.map(|(given, queue)| object! { places: places_won(given, queue) }),
            });
        }
        object! {
            policy: view.name(),
            #[serde(flatten)]
            settings: &view.policy.settings,
            nodes: Each(|| view.nodes.iter().map(|&node| node_numbers(view, node))),
            #[serde(flatten)]
            assumed,
        }
    }
}

/// Warns of each entity that no tree has: OpenPBS's also has those that only jobs have.
///
/// # Errors
/// No tree has one of the entities.
fn warn_of_unknown(
    names: &[String],
    policies: &[PolicyShares],
    warnings: &mut Warnings,
) -> Result<(), SiteError> {
    let mut unknown = Vec::new();
    for name in names {
        let is_known = |one: &PolicyShares| one.unresolved(name, false).is_none();
        if let Some(first) = policies.first()
            && !policies.iter().any(is_known)
        {
            // a search for similar names compares all: the names that no error repeats get none
            unknown.extend(first.unresolved(name, unknown.len() < MAX_UNKNOWN));
        }
    }
    if !unknown.is_empty() && unknown.len() == names.len() {
        return Err(unknown_jobs_error(unknown));
    }
    warnings.add(unknown);
    Ok(())
}

/// The formula that orders the queue, and the places before and after the assumed usage.
fn places_of_jobs(
    site: &Site,
    formula: Option<AskedFormula>,
    request: &SharesRequest,
    warnings: &mut Warnings,
) -> Result<(AskedFormula, ComparedQueue), AnswerError> {
    let given = match formula {
        Some(given) => given,
        None => {
            let in_force = site.formula_text();
            let source = in_force.or(FormulaText::new("fairshare_factor"))?;
            AskedFormula::new(source, site.numbers())
        }
    };
    let places = site.places(given.parsed()?, request);
    let places = places.map_err(|error| given.refused(error, site))?;
    warnings.add(places.warnings.clone());
    Ok((given, places))
}

impl Answer for SharesAnswer {
    fn rankings(&self) -> Vec<(&AskedFormula, &RankedQueue)> {
        match &self.places {
            Some((given, queue)) => vec![(given, &queue.sides.new)],
            None => Vec::new(),
        }
    }

    fn document(&self) -> Document<'_> {
        self.shown()
    }
}

/// One document, or a list of them under `policies`.
impl Serialize for SharesAnswer {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // in JSON each node has its path itself
        let views = self.views(false);
        match &views[..] {
            [only] => self.numbers(only).serialize(serializer),
            all => {
                let policies = all.iter().map(|view| self.numbers(view));
                object! { policies: Vec::from_iter(policies) }.serialize(serializer)
            }
        }
    }
}

/// The longest path of a node that is written in JSON, in names. Of a longer one the last names are
/// written, and `path_omitted` counts the others: without a limit, a chain of nodes takes the
/// square of its length.
const MAX_PATH: usize = 100;

/// Nodes of a tree with the numbers of a policy.
#[derive(Debug, Clone)]
pub struct PolicyView<'a> {
    /// The policy.
    pub(crate) policy: &'a PolicyShares,
    /// The nodes to show, parents first.
    pub nodes: Vec<NodeId>,
    /// The tree with the usage that is assumed, or without it.
    pub(crate) assessed: &'a AssessedTree,
    /// The depth of every node of the tree, by its index.
    pub(crate) depths: Vec<usize>,
}

impl<'a> PolicyView<'a> {
    /// The view of these nodes with the usage that is assumed.
    pub fn new(policy: &'a PolicyShares, nodes: Vec<NodeId>) -> Self {
        Self {
            policy,
            nodes,
            assessed: &policy.assessed,
            depths: depths(policy.assessed.tree()),
        }
    }

    /// The view of the tree as it is; `None` if no usage is assumed.
    pub(crate) fn before(&self) -> Option<Self> {
        let assessed = self.policy.before.as_ref()?;
        Some(Self {
            assessed,
            ..self.clone()
        })
    }

    pub(crate) fn name(&self) -> &'static str {
        self.policy.policy.as_str()
    }

    pub(crate) fn tree(&self) -> &'a ShareTree {
        self.assessed.tree()
    }

    /// Whether the policy is OpenPBS's, whose numbers differ from those of Slurm.
    pub(crate) fn is_pbs(&self) -> bool {
        self.policy.policy == PolicyName::Pbs
    }

    /// The factor of a node's jobs, or the number that the policy computes for an account.
    pub(crate) fn factor(&self, node: NodeId) -> Option<f64> {
        if !self.policy.has_factors {
            None
        } else if self.is_pbs() || self.tree().kind(node) == NodeKind::Entity {
            Some(self.assessed.shares().get(node)?.fairshare_factor)
        } else {
            self.association(node).fairshare
        }
    }

    fn association(&self, node: NodeId) -> AssociationShares {
        let mut association = self.assessed.shares().association(node).unwrap_or_default();
        if !self.policy.has_factors {
            association.fairshare = None;
            association.tickets = None;
        }
        association
    }

    /// The quantities of the policy for a node, the shares first.
    pub(crate) fn numbers(&self, node: NodeId) -> Vec<(&'static str, Value)> {
        if self.is_pbs() {
            let numbers = self.assessed.shares().get(node).unwrap_or_default();
            return vec![
                ("shares", shares(self.tree().shares(node))),
                ("perc", number(Some(numbers.fairshare_perc))),
                ("usage", number(Some(self.tree().usage(node)))),
                ("tree_usage", number(Some(numbers.fairshare_tree_usage))),
                ("factor", number(Some(numbers.fairshare_factor))),
            ];
        }
        let association = self.association(node);
        let raw_shares = association.raw_shares;
        vec![
            ("raw_shares", raw_shares.map_or(Value::Null, shares)),
            ("norm_shares", number(association.norm_shares)),
            ("raw_usage", number(association.raw_usage)),
            ("norm_usage", number(association.norm_usage)),
            ("effective_usage", number(association.effective_usage)),
            ("level_fs", number(association.level_fs)),
            ("fairshare", number(association.fairshare)),
            ("tickets", number(association.tickets)),
        ]
    }

    /// The nodes with a number that the assumed usage changes, with all their numbers but the
    /// shares, which are given.
    pub(crate) fn changes(&self) -> impl Iterator<Item = Change> {
        let before = self.before();
        let nodes = self.nodes.iter();
        nodes.filter_map(move |&node| self.change(before.as_ref()?, node))
    }

    /// The numbers of a node before and now, if one differs.
    fn change(&self, before: &Self, node: NodeId) -> Option<Change> {
        let mut quantities = Vec::new();
        let mut is_changed = false;
        for ((name, first), (_, second)) in iter::zip(before.numbers(node), self.numbers(node)) {
            // usage changes no shares
            if !matches!(name, "shares" | "raw_shares" | "perc" | "norm_shares") {
                is_changed |= first != second;
                quantities.push((name, first, second));
            }
        }
        if is_changed {
            Some(Change { node, quantities })
        } else {
            None
        }
    }
}

/// A node whose numbers the assumed usage changes.
pub(crate) struct Change {
    pub(crate) node: NodeId,
    /// Every quantity of the policy: its name, its value before and after.
    pub(crate) quantities: Vec<(&'static str, Value, Value)>,
}

/// The time by which all usage decays in all, in seconds, and the charges in their order.
fn assumptions(changes: &[UsageChange]) -> impl Serialize {
    let mut decay: Option<u64> = None;
    let mut charges = Vec::new();
    for change in changes {
        match change {
            UsageChange::Decay(seconds) => {
                decay = Some(decay.unwrap_or(0).saturating_add(*seconds));
            }
            UsageChange::Charge { .. } => charges.push(change),
        }
    }
    object! { decay, charges }
}

fn places_won(given: &AskedFormula, queue: &ComparedQueue) -> impl Serialize {
    let table = queue.table();
    let mut entities = Vec::new();
    for entity in &queue.comparison.entities {
        if entity.jobs > 0 {
            let (name, jobs, won) = (&entity.name, entity.jobs, entity.won());
            entities.push(object! { name, jobs, won });
        }
    }
    let mut jobs = Vec::new();
    for job in queue.comparison.moves() {
        jobs.push(object! {
            id: table.id(job.row),
            entity: table.entity(job.row),
            queue: table.queue(job.row),
            before: job.old,
            after: job.new,
            won: job.moved(),
        });
    }
    object! { formula: given.text(), jobs, entities }
}

/// A node and its numbers.
pub(crate) fn node_numbers<'a>(view: &PolicyView<'a>, node: NodeId) -> impl Serialize + use<'a> {
    object! {
        #[serde(flatten)]
        node: identity(view, node),
        #[serde(flatten)]
        numbers: BTreeMap::from_iter(view.numbers(node)),
    }
}

/// A node, and every number of it before, after and the difference.
fn changed_node<'a>(view: &PolicyView<'a>, change: Change) -> impl Serialize + use<'a> {
    let [mut before, mut after] = [BTreeMap::new(), BTreeMap::new()];
    let mut differences = BTreeMap::new();
    for (name, first, second) in change.quantities {
        differences.insert(name, difference(&first, &second));
        before.insert(name, first);
        after.insert(name, second);
    }
    object! {
        #[serde(flatten)]
        node: identity(view, change.node),
        before,
        after,
        difference: differences,
    }
}

/// What identifies a node.
fn identity<'a>(view: &PolicyView<'a>, node: NodeId) -> impl Serialize + use<'a> {
    let tree = view.tree();
    let omitted = view.depths[node.index()].saturating_sub(MAX_PATH);
    // OpenPBS's entities are the users of Slurm
    let kind = match tree.kind(node) {
        NodeKind::Entity if view.is_pbs() => "entity",
        NodeKind::Entity => "user",
        _ => "account",
    };
    let partition = tree.partition(node);
    object! {
        name: tree.name(node),
        path: end_of_path(tree, node, MAX_PATH),
        #[serde(flatten)]
        omitted: (omitted > 0).then_some(object! { path_omitted: omitted }),
        kind,
        #[serde(flatten)]
        association: partition.map(|partition| object! {
            user: tree.base_name(node),
            partition,
        }),
    }
}

/// The depth of every node, by its index: 0 for the root.
pub(crate) fn depths(tree: &ShareTree) -> Vec<usize> {
    let mut depths = Vec::with_capacity(tree.len());
    for node in tree.nodes() {
        depths.push(match tree.parent(node) {
            // parents come before their children
            Some(parent) => depths[parent.index()] + 1,
            None => 0,
        });
    }
    depths
}

/// The last names of the path of a node, at most `most`.
pub(crate) fn end_of_path(tree: &ShareTree, node: NodeId, most: usize) -> Vec<&str> {
    let mut path = Vec::new();
    let mut at = node;
    while path.len() < most
        && let Some(parent) = tree.parent(at)
    {
        path.push(tree.name(at));
        at = parent;
    }
    path.reverse();
    path
}

/// The part of the machine that is a node's share.
pub(crate) fn share_part(assessed: &AssessedTree, node: NodeId) -> f64 {
    match assessed.shares().get(node) {
        Some(shares) => shares.fairshare_perc,
        None => 0.0,
    }
}

/// The part of all usage that is a node's, or is below it.
pub(crate) fn usage_part(assessed: &AssessedTree, node: NodeId) -> f64 {
    let tree = assessed.tree();
    let total = tree.usage(tree.root());
    if total > 0.0 {
        tree.usage(node) / total
    } else {
        0.0
    }
}

/// How much more of the machine a node has used than its share.
pub(crate) fn excess(assessed: &AssessedTree, node: NodeId) -> f64 {
    usage_part(assessed, node) - share_part(assessed, node)
}

/// The second number minus the first; `None` if either is missing or infinite.
pub(crate) fn difference(first: &Value, second: &Value) -> Option<f64> {
    Some(second.as_f64()? - first.as_f64()?)
}

pub(crate) fn shares(shares: Shares) -> Value {
    match shares {
        Shares::Count(count) => count.into(),
        Shares::Parent => "parent".into(),
    }
}

/// A number that is not finite is a word, which JSON has no number for.
fn number(value: Option<f64>) -> Value {
    match value {
        None => Value::Null,
        Some(f64::INFINITY) => "inf".into(),
        Some(f64::NEG_INFINITY) => "-inf".into(),
        Some(value) if value.is_nan() => "nan".into(),
        Some(value) => value.into(),
    }
}
