//! The shares of a site under the policy in force or others: of each node of the tree, as it is or with
//! assumed usage and decay, and as numbers of the jobs that a formula or their order reads.

use std::collections::{BTreeSet, HashSet};

use job_sort_formula::diagnostic::{Message, Need};
use job_sort_formula::fairshare::decay::{HalfLife, IntervalDecay};
use job_sort_formula::fairshare::{AssessedTree, NodeId, NodeKind};
use job_sort_formula::jobs::JobState;
use job_sort_formula::rank::{fill_fairshare, missing_fairshare_input};
use job_sort_formula::schema::FairshareInput;
use job_sort_formula::{JobTable, ShareTree};
use jsf_openpbs::PbsTree;
use jsf_words::{count, counted};
use serde::Serialize;

use crate::policy::clock;
use crate::site_jobs::{jobs_without_entity, unknown_entities};
use crate::site_tree::{SiteTree, TreeOrigin, explain_unresolved, find_node};
use crate::warnings::MAX_WARNINGS;
use crate::{PolicyName, PolicySettings, Role, Site, SiteError};

/// A change of the usage in a tree.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum UsageChange {
    /// All usage decays by this much time, in seconds.
    Decay(u64),
    /// Usage is added to an entity.
    Charge {
        /// The entity.
        name: String,
        /// The usage, in the units of the tree.
        amount: f64,
    },
}

/// The policies to apply to a fair-share tree, and the changes to assume first.
#[derive(Debug, Clone, Default)]
pub struct SharesRequest {
    /// The policies to apply; none: the one in force.
    pub policies: Vec<PolicyName>,
    /// The entities with pending jobs, for the ticket-based policy; none: those of the queue, if
    /// there is one.
    pub active: Vec<String>,
    /// The changes of the usage before the policies are applied, in their order.
    pub changes: Vec<UsageChange>,
}

impl SharesRequest {
    /// The request without changes of the usage.
    pub(crate) fn as_it_is(&self) -> Self {
        Self {
            changes: Vec::new(),
            ..self.clone()
        }
    }

    /// Whether a usage is assumed that differs from the site's.
    pub fn assumes_usage(&self) -> bool {
        !self.changes.is_empty()
    }
}

/// The result of one policy.
#[derive(Debug)]
pub struct PolicyShares {
    /// The policy.
    pub policy: PolicyName,
    /// The tree and each node's numbers.
    pub assessed: AssessedTree,
    /// The same without the charges and the decay of the request; `None` if it has neither.
    pub before: Option<AssessedTree>,
    /// Whether the policy has a factor: the ticket-based one has none if no entity is known to have
    /// pending jobs.
    pub has_factors: bool,
    /// The policy, whose rules it follows and how usage decays under it, in a few words; where it
    /// was not asked for, also where it comes from.
    pub description: String,
    /// Its settings in force.
    pub settings: PolicySettings,
    /// The changes of the usage that the request assumes, in words and in their order.
    pub assumed: String,
    /// The unit of the usage in the tree.
    pub usage_unit: String,
    /// What the numbers leave out, one sentence each; those of the first policy begin with the
    /// warnings about the jobs.
    pub notes: Vec<Message>,
}

impl PolicyShares {
    /// Why a name denotes no node of the tree: it has none, or several. `None` if it denotes one.
    /// To look for similar names compares all names of the tree.
    pub fn unresolved(&self, name: &str, with_similar: bool) -> Option<String> {
        let tree = self.assessed.tree();
        if tree.resolve(name).is_some() {
            None
        } else if with_similar || !tree.candidates(name).is_empty() {
            Some(explain_unresolved(tree, name))
        } else {
            Some(format!("the tree has no `{name}`"))
        }
    }

    /// The nodes of these names with all below them, or those of the whole tree if no name is
    /// given, depth first; `with_paths` adds the nodes above them. A name that denotes no node is
    /// left out.
    pub fn nodes(&self, names: &[String], with_paths: bool) -> Vec<NodeId> {
        let tree = self.assessed.tree();
        let mut is_shown = vec![names.is_empty(); tree.len()];
        let mut is_above = vec![false; tree.len()];
        for name in names {
            let Some(node) = tree.resolve(name) else {
                continue;
            };
            is_shown[node.index()] = true;
            if with_paths {
                for above in tree.ancestors(node) {
                    // those above it were marked together with it
                    if is_above[above.index()] {
                        break;
                    }
                    is_above[above.index()] = true;
                }
            }
        }
        // parents come before their children
        for node in tree.nodes() {
            if let Some(above) = tree.parent(node) {
                is_shown[node.index()] |= is_shown[above.index()];
            }
        }
        let mut nodes = tree.depth_first();
        nodes.retain(|node| is_shown[node.index()] || is_above[node.index()]);
        nodes
    }

    /// The node of the entity of a job.
    pub fn node(&self, entity: &str) -> Option<NodeId> {
        let tree = self.assessed.tree();
        if self.policy == PolicyName::Pbs {
            // the scheduler looks a job's entity up among all nodes; it has no `ACCOUNT/USER`
            tree.find(entity)
        } else {
            tree.resolve(entity)
        }
    }

    /// The nodes from the root of the tree to a node.
    pub fn path(&self, node: NodeId) -> Vec<NodeId> {
        let mut path: Vec<NodeId> = self.assessed.tree().ancestors(node).collect();
        path.reverse();
        path.push(node);
        path
    }
}

impl Site {
    /// The tree as its files describe it, without a policy.
    ///
    /// # Errors
    /// The site has no tree, or its files cannot be read.
    pub fn share_tree(&self) -> Result<ShareTree, SiteError> {
        self.required_tree()?.share_tree()
    }

    /// Applies policies to the fair-share tree.
    ///
    /// ```
    /// use jsf_site::{PolicyName, SharesRequest, Site};
    ///
    /// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
    /// let site = Site::open("examples/site/sched_priv")?;
    /// let shares = site.shares(&SharesRequest { policies: vec![PolicyName::FairTree], ..Default::default() })?;
    /// assert_eq!(shares[0].description, "fair-tree, as in Slurm 26.11 (default), half-life 7-00:00:00 (default)");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The site has no tree, its files cannot be read, or the tree has no node of a given name.
    pub fn shares(&self, request: &SharesRequest) -> Result<Vec<PolicyShares>, SiteError> {
        let tree = self.required_tree()?;
        let (table, mut notes) = self.queue_table()?;
        let in_force = [self.policy.name];
        let policies = if request.policies.is_empty() {
            &in_force[..]
        } else {
            &request.policies
        };
        let mut shares = Vec::new();
        let mut refusal = None;
        for &policy in policies {
            match self.policy_shares(policy, tree, &table, request) {
                Ok(one) => shares.push(one),
                // a tree of one scheduler may not suit the policies of another
                Err(error) => {
                    let before = format!("no numbers of the policy `{}`: ", policy.as_str());
                    notes.push(error.message().after(before));
                    refusal.get_or_insert(error);
                }
            }
        }
        if shares.is_empty()
            && let Some(error) = refusal
        {
            return Err(error);
        }
        if let Some(first) = shares.first_mut() {
            first.notes.splice(..0, notes);
        }
        Ok(shares)
    }

    pub(crate) fn policy_shares(
        &self,
        policy: PolicyName,
        tree: &SiteTree,
        table: &JobTable,
        request: &SharesRequest,
    ) -> Result<PolicyShares, SiteError> {
        let assessed = self
            .apply_policy(policy, tree, table, request)?
            .into_assessed();
        let mut before = None;
        if request.assumes_usage() {
            let as_it_is = self.apply_policy(policy, tree, table, &request.as_it_is())?;
            before = Some(as_it_is.into_assessed());
        }
        let mut notes: Vec<Message> = Vec::new();
        let has_factors = policy != PolicyName::TicketBased
            || !request.active.is_empty()
            || self.files.has(Role::Queue);
        if !has_factors {
            notes.push(Message::asking(
                "ticket-based gives tickets to the entities with pending jobs, and none are known: ",
                [Need::Queue, Need::ActiveEntities],
            ));
        }
        if policy == PolicyName::WeightedWalk {
            notes.extend(users_beside_groups(assessed.tree()));
        }
        let asked_for = (!request.policies.is_empty()).then_some(policy);
        Ok(PolicyShares {
            policy,
            assessed,
            before,
            has_factors,
            description: self.policy.in_words(asked_for, &self.config),
            settings: self.policy.settings(policy, &self.config),
            assumed: self.describe_assumptions(policy, request),
            usage_unit: self.usage_unit(),
            notes,
        })
    }

    /// Changes the usage of a tree as the request assumes.
    pub(crate) fn assume_usage(
        &self,
        tree: &mut ShareTree,
        policy: PolicyName,
        request: &SharesRequest,
    ) -> Result<(), SiteError> {
        for change in &request.changes {
            match change {
                UsageChange::Decay(seconds) => self.decay(tree, policy, *seconds),
                UsageChange::Charge { name, amount } => {
                    let node = find_node(tree, name)?;
                    tree.charge(node, *amount).map_err(SiteError::content)?;
                }
            }
        }
        Ok(())
    }

    /// The assumed usage in words.
    fn describe_assumptions(&self, policy: PolicyName, request: &SharesRequest) -> String {
        let changes = request.changes.iter();
        let described = changes.map(|change| match change {
            UsageChange::Decay(seconds) => self.describe_decay(policy, *seconds),
            UsageChange::Charge { name, amount } => format!("{name} is charged {amount}"),
        });
        Vec::from_iter(described).join(", then ")
    }

    fn describe_decay(&self, policy: PolicyName, seconds: u64) -> String {
        if policy == PolicyName::Pbs {
            let periods = self.decay_by_periods().intervals(seconds);
            let period = clock(self.config.fairshare_decay_time);
            let periods = count(periods as usize, "period");
            format!("usage decays by {periods} of {period}")
        } else if self.policy.conf.decay_half_life == 0 {
            "usage does not decay (`PriorityDecayHalfLife` is 0)".to_owned()
        } else {
            format!("usage decays for {}", clock(seconds))
        }
    }

    /// Decays all usage: by whole intervals under OpenPBS's policy, by `slurm.conf`'s half-life
    /// under every other.
    fn decay(&self, tree: &mut ShareTree, policy: PolicyName, seconds: u64) {
        if policy == PolicyName::Pbs {
            let decay = self.decay_by_periods();
            tree.decay_with(|usage| decay.decayed(usage, seconds));
        } else {
            let seconds = u32::try_from(seconds).unwrap_or(u32::MAX);
            let factor = HalfLife::new(self.policy.conf.decay_half_life).factor(seconds);
            // a factor of a half-life is from 0 to 1
            let _ = tree.decay(factor);
        }
    }

    /// How usage decays under OpenPBS's policy.
    pub(crate) fn decay_by_periods(&self) -> IntervalDecay {
        let factor = self.config.fairshare_decay_factor;
        IntervalDecay::new(factor, self.config.fairshare_decay_time)
    }

    /// The unit of the usage in the tree: what `fairshare_usage_res` names for OpenPBS's files,
    /// `billing` seconds for a tree of Slurm, node-seconds for one of flux-accounting, whose other
    /// weights are 0 by default, and the unit of the document for another.
    pub(crate) fn usage_unit(&self) -> String {
        match &self.tree {
            Some(tree) if tree.is_of_openpbs() => match self.config.fairshare_usage_res.as_str() {
                "cput" | "walltime" => format!("seconds of {}", self.config.fairshare_usage_res),
                formula => format!("units of `{formula}` (fairshare_usage_res)"),
            },
            Some(tree) if tree.is_of_slurm() => "TRES-seconds (billing)".to_owned(),
            Some(tree) if tree.origin == Some(TreeOrigin::FluxAccounting) => {
                "node-seconds".to_owned()
            }
            _ => "units of the tree's file".to_owned(),
        }
    }

    fn required_tree(&self) -> Result<&SiteTree, SiteError> {
        let tree = self.tree.as_ref();
        tree.ok_or_else(|| SiteError::missing("no tree: ", Need::Tree))
    }

    /// The jobs of the queue, none without one, and the warnings about them.
    fn queue_table(&self) -> Result<(JobTable, Vec<Message>), SiteError> {
        if !self.files.has(Role::Queue) {
            return Ok((JobTable::default(), Vec::new()));
        }
        let mut jobs = self.read_columns(&self.request(&[]).again())?;
        let missing = jobs_without_entity(&jobs.table, self.config.fairshare_entity);
        jobs.warnings.extend(missing);
        Ok((jobs.table, jobs.warnings))
    }
}

/// A note on the users that the weighted walk ignores: those beside a group.
fn users_beside_groups(tree: &ShareTree) -> Option<Message> {
    let is_user = |node: &NodeId| tree.kind(*node) == NodeKind::Entity;
    let groups = tree.nodes().filter(|node| !is_user(node));
    let with_groups: HashSet<NodeId> = groups.filter_map(|group| tree.parent(group)).collect();
    let mut beside = Vec::new();
    for user in tree.nodes().filter(is_user) {
        if let Some(parent) = tree.parent(user)
            && with_groups.contains(&parent)
        {
            beside.push((user, parent));
        }
    }
    let (first, parent) = *beside.first()?;
    let message = format!(
        "weighted-walk leaves out {} beside a group, such as `{}` of `{}`: each has the factor 0.5, and the usage counts \
         nowhere",
        count(beside.len(), "user"),
        tree.name(first),
        tree.name(parent)
    );
    Some(message.into())
}

/// A fair-share tree under the policy in force.
#[derive(Debug)]
pub enum AppliedTree {
    /// OpenPBS's.
    Pbs(PbsTree),
    /// A tree under a policy of Slurm, or flux-accounting's.
    Slurm(AssessedTree),
}

impl AppliedTree {
    /// OpenPBS's tree, if it is one.
    pub fn pbs(&self) -> Option<&PbsTree> {
        match self {
            Self::Pbs(tree) => Some(tree),
            Self::Slurm(_) => None,
        }
    }

    /// The tree with its numbers.
    pub fn assessed(&self) -> &AssessedTree {
        match self {
            Self::Pbs(tree) => &tree.assessed,
            Self::Slurm(assessed) => assessed,
        }
    }

    /// The same without what only OpenPBS has.
    pub fn into_assessed(self) -> AssessedTree {
        match self {
            Self::Pbs(tree) => tree.assessed,
            Self::Slurm(assessed) => assessed,
        }
    }
}

impl Site {
    /// Whether a formula with these inputs, or the order of the jobs, depends on fair share.
    pub(crate) fn needs_shares(&self, inputs: &[impl AsRef<str>]) -> bool {
        let mut keys = self.config.job_sort_key.prime.iter();
        let mut inputs = inputs.iter();
        self.config.fair_share.prime
            || keys.any(|key| key.name == "fair_share_perc")
            || inputs.any(|input| FairshareInput::from_name(input.as_ref()).is_some())
    }

    /// Fills in the fair-share numbers that the formula or the order of jobs reads, and those of
    /// which the table has columns if rankings are compared. Returns the tree if it is applied.
    pub(crate) fn fill_shares(
        &self,
        inputs: &[Box<str>],
        table: &mut JobTable,
        assumed: &SharesRequest,
        applies_tree: bool,
        warnings: &mut Vec<Message>,
    ) -> Result<Option<AppliedTree>, SiteError> {
        let reads_shares = self.needs_shares(inputs);
        if !reads_shares && !applies_tree {
            return Ok(None);
        }
        let mut names = FairshareInput::NAMES.iter();
        let fills = reads_shares || names.any(|(name, _)| table.column(name).is_some());
        let Some(tree) = &self.tree else {
            if fills {
                self.require_own_shares(inputs, table)?;
            }
            return Ok(None);
        };
        let tree = self.apply_policy(self.policy.name, tree, table, assumed)?;
        if fills {
            self.fill_from(&tree, table, warnings);
        }
        Ok(Some(tree))
    }

    /// The fair-share tree, with the entities of these jobs and the usage that a request assumes, under a
    /// policy.
    pub(crate) fn apply_policy(
        &self,
        name: PolicyName,
        tree: &SiteTree,
        table: &JobTable,
        assumed: &SharesRequest,
    ) -> Result<AppliedTree, SiteError> {
        if name != PolicyName::Pbs {
            let mut shares = tree.share_tree()?;
            self.assume_usage(&mut shares, name, assumed)?;
            let active = active_nodes(assumed, table, &shares)?;
            let policy = self.policy.build_policy(name, &active);
            return Ok(AppliedTree::Slurm(AssessedTree::new(shares, &*policy)));
        }
        // unlike Slurm, OpenPBS adds the entities of jobs without a line, to the group `unknown`
        let mut tree = tree.pbs_tree(self.policy.rules, table.entities())?;
        if assumed.assumes_usage() {
            let mut changed = tree.tree().clone();
            self.assume_usage(&mut changed, name, assumed)?;
            tree = tree.with_usage_of(changed, &*self.policy.build_policy(name, &[]));
        }
        for name in &assumed.active {
            // OpenPBS's policy knows no pending jobs, but a misspelled name is refused
            find_node(tree.tree(), name)?;
        }
        Ok(AppliedTree::Pbs(tree))
    }

    /// Fills in the fair-share numbers of a tree.
    fn fill_from(&self, tree: &AppliedTree, table: &mut JobTable, warnings: &mut Vec<Message>) {
        let numbers = self.options.numbers;
        warnings.extend(jobs_without_entity(table, self.config.fairshare_entity));
        match tree {
            AppliedTree::Pbs(tree) => {
                warnings.extend(unknown_entities(table, tree));
                fill_fairshare(table, tree, |ratio| numbers.fairshare(ratio));
            }
            AppliedTree::Slurm(assessed) => {
                let unknown = fill_fairshare(table, assessed, |ratio| numbers.fairshare(ratio));
                for entity in unknown.iter().take(MAX_WARNINGS) {
                    let why = explain_unresolved(assessed.tree(), entity);
                    warnings.push(format!("the jobs of `{entity}` get 0: {why}").into());
                }
                if unknown.len() > MAX_WARNINGS {
                    let more = unknown.len() - MAX_WARNINGS;
                    let more = counted(more, "more entity", "more entities");
                    warnings.push(format!("the jobs of {more} get 0").into());
                }
            }
        }
    }

    /// The fair-share tree with the entities of these jobs, to look up which group an entity
    /// belongs to; `None` if the site has no tree.
    ///
    /// # Errors
    /// The tree cannot be built.
    pub fn tree_of_jobs(&self, table: &JobTable) -> Result<Option<ShareTree>, SiteError> {
        let Some(tree) = &self.tree else {
            return Ok(None);
        };
        let tree = tree.tree_for(self.policy.name, self.policy.rules, table.entities())?;
        Ok(Some(tree))
    }

    /// Without a tree, every job must contain the fair-share numbers that the formula needs.
    pub(crate) fn require_own_shares(
        &self,
        inputs: &[Box<str>],
        table: &JobTable,
    ) -> Result<(), SiteError> {
        let Some((job, name)) = missing_fairshare_input(table, inputs) else {
            return Ok(());
        };
        let missing = format!("the formula needs `{name}`, which job `{job}` does not have: ");
        let need = match self.slurm {
            Some(_) => Need::Sshare,
            None => Need::Tree,
        };
        Err(SiteError::missing(missing, need))
    }
}

/// The nodes that are active for ticket-based fair share: those that a request names, else those of
/// the entities with pending jobs.
pub fn active_nodes(
    request: &SharesRequest,
    table: &JobTable,
    tree: &ShareTree,
) -> Result<Vec<NodeId>, SiteError> {
    use JobState::{Held, Queued, Waiting};

    let mut nodes = Vec::new();
    for name in &request.active {
        nodes.push(find_node(tree, name)?);
    }
    if nodes.is_empty() {
        let mut pending = BTreeSet::new();
        for row in 0..table.len() {
            // to slurmctld a held job is pending, see `TicketBased::new`
            if matches!(table.state(row), Queued | Held | Waiting) {
                pending.insert(table.entity_index(row));
            }
        }
        for entity in pending {
            nodes.extend(tree.resolve(&table.entities()[entity]));
        }
    }
    Ok(nodes)
}

#[cfg(test)]
mod tests {
    use job_sort_formula::fairshare::{Member, TreeBuilder};

    use super::*;

    /// The note, with the groups beside a user found by a search of all siblings.
    fn plain_users_beside_groups(tree: &ShareTree) -> Vec<&str> {
        let users = tree
            .nodes()
            .filter(|&node| tree.kind(node) == NodeKind::Entity);
        let beside = users.filter(|&user| {
            let siblings = tree
                .parent(user)
                .map(|parent| tree.children(parent))
                .unwrap_or_default();
            siblings
                .iter()
                .any(|&sibling| tree.kind(sibling) != NodeKind::Entity)
        });
        beside.map(|user| tree.name(user)).collect()
    }

    #[test]
    fn users_beside_groups_are_counted() {
        let mut bits = 1_u64;
        for _ in 0..300 {
            let mut builder = TreeBuilder::new("root");
            let mut groups = vec![builder.root()];
            for number in 0..12 {
                bits = bits
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407);
                let parent = groups[(bits >> 40) as usize % groups.len()];
                let is_group = bits >> 33 & 3 == 0;
                let name = format!("n{number}");
                let member = if is_group {
                    Member::group(name)
                } else {
                    Member::entity(name)
                };
                let node = builder.add(parent, member).expect("sound");
                groups.extend(is_group.then_some(node));
            }
            let tree = builder.finish();
            let beside = plain_users_beside_groups(&tree);
            let note = users_beside_groups(&tree);
            let Some(first) = beside.first() else {
                assert_eq!(note, None);
                continue;
            };
            let note = note.expect("a note").to_string();
            let users = count(beside.len(), "user");
            let expected =
                format!("weighted-walk leaves out {users} beside a group, such as `{first}` of ");
            assert!(note.starts_with(&expected), "{note}");
        }
    }

    #[test]
    fn a_hundred_thousand_users_beside_a_group_are_not_compared_with_each_other() {
        let mut builder = TreeBuilder::new("root");
        for user in 0..100_000 {
            builder
                .add(builder.root(), Member::entity(format!("u{user}")))
                .expect("sound");
        }
        builder
            .add(builder.root(), Member::group("bank"))
            .expect("sound");
        let note = users_beside_groups(&builder.finish())
            .expect("a note")
            .to_string();
        assert!(
            note.contains("leaves out 100000 users beside a group, such as `u0` of `root`"),
            "{note}"
        );
    }
}
