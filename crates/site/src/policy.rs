//! The fair-share policy in force, and the shares under it or others.
//!
//! In: the rules, `slurm.conf` or the scheduler's settings, and the tree. Out: the policy with its
//! constants, and the numbers of each node under one or more policies, as it is or with assumed usage
//! and decay.

use std::collections::HashSet;
use std::str::FromStr;

use job_sort_formula::diagnostic::{Message, Need};
use job_sort_formula::fairshare::decay::{HalfLife, IntervalDecay};
use job_sort_formula::fairshare::{
    AssessedTree, Classic, DepthOblivious, DocumentedOpenPbs, FairTree, NodeId, NodeKind, OpenPbs,
    Policy, PolicyRules, Release, TicketBased, WeightedWalk,
};
use job_sort_formula::{JobTable, ShareTree};
use jsf_openpbs::SchedConfig;
use jsf_slurm::SlurmConf;
use jsf_words::count;
use serde::{Deserialize, Serialize};

use crate::site_jobs::jobs_without_entity;
use crate::site_tree::{SiteTree, TreeOrigin, active_nodes, explain_unresolved, find_node};
use crate::{Role, Site, SiteError, SiteFiles, SiteOptions};

/// A published fair-share policy, by its name on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum PolicyName {
    /// OpenPBS, PP-718.
    #[default]
    Pbs,
    /// Slurm's classic fair share.
    Classic,
    /// Slurm's depth-oblivious factor.
    DepthOblivious,
    /// Slurm's ticket-based factor.
    TicketBased,
    /// Slurm's fair tree.
    FairTree,
    /// flux-accounting's weighted walk.
    WeightedWalk,
}

impl PolicyName {
    /// Every policy.
    pub const ALL: [Self; 6] = [
        Self::Pbs,
        Self::Classic,
        Self::DepthOblivious,
        Self::TicketBased,
        Self::FairTree,
        Self::WeightedWalk,
    ];

    /// The name, such as `fair-tree`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pbs => "pbs",
            Self::Classic => "classic",
            Self::DepthOblivious => "depth-oblivious",
            Self::TicketBased => "ticket-based",
            Self::FairTree => "fair-tree",
            Self::WeightedWalk => "weighted-walk",
        }
    }
}

impl FromStr for PolicyName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut all = Self::ALL.into_iter();
        let named = all.find(|policy| policy.as_str() == text);
        named.ok_or_else(|| {
            let known = Self::ALL.map(Self::as_str).join(", ");
            format!("`{text}` is not a policy, expected one of {known}")
        })
    }
}

/// The policy in force and the settings that it depends on.
#[derive(Debug, Default)]
pub struct PolicySelection {
    pub name: PolicyName,
    pub rules: PolicyRules,
    pub release: Release,
    /// Whether the release is given or read from a file.
    is_release_known: bool,
    pub conf: SlurmConf,
    /// Whether the shares are those of the first cycle of slurmctld, and then the users of the
    /// pending jobs, see [`DepthOblivious::first_cycle`].
    pub first_cycle: Option<Vec<NodeId>>,
    /// Where the policy comes from.
    source: &'static str,
}

impl PolicySelection {
    /// Selects the policy and the release of Slurm.
    ///
    /// The policy is the first that is known of: the explicit one, that of `slurm.conf`, the one
    /// under which a document of Slurm was printed (fair tree if the document does not show it),
    /// that of the tree's scheduler, OpenPBS's. The release is the first that is known of: the
    /// explicit one, that of `scontrol show config`, the one that wrote the tree's document, the
    /// newest.
    pub fn new(
        rules: &SiteOptions,
        conf: Option<SlurmConf>,
        tree: Option<TreeOrigin>,
        written_by: Option<Release>,
        warnings: &mut Vec<Message>,
    ) -> Self {
        use PolicyName::{Classic, DepthOblivious, FairTree, WeightedWalk};

        let value = |key| conf.as_ref().and_then(|conf: &SlurmConf| conf.value(key));
        let by_conf = conf.as_ref().and_then(|conf| conf.policy.parse().ok());
        let (name, source) = match (rules.policy, by_conf, tree) {
            (Some(policy), ..) => (policy, "given"),
            (_, Some(policy), _) => {
                let flags = value("PriorityFlags").unwrap_or_default();
                let source = if flags.split(',').all(|flag| flag.trim().is_empty()) {
                    "slurm.conf sets no PriorityFlags: the default since Slurm 19.05"
                } else {
                    "from slurm.conf"
                };
                (policy, source)
            }
            (.., Some(TreeOrigin::Slurm { is_fair_tree })) => match is_fair_tree {
                Some(true) => (FairTree, "from the tree's file"),
                Some(false) => (Classic, "from the tree's file"),
                None => (FairTree, "default for a tree of Slurm"),
            },
            (.., Some(TreeOrigin::FluxAccounting)) => {
                (WeightedWalk, "default for a tree of flux-accounting")
            }
            (None, None, None) => (PolicyName::Pbs, "default"),
        };
        if rules.policy.is_none()
            && let Some(TreeOrigin::Slurm {
                is_fair_tree: Some(printed),
            }) = tree
        {
            if by_conf.is_none() && !printed {
                warnings.push(Message::asking(
                    "the tree's file was not printed under fair tree, but under classic or depth-oblivious: classic is assumed; ",
                    [Need::SlurmConf, Need::Policy(DepthOblivious.as_str())],
                ));
            } else if printed != (name == FairTree) {
                let name = name.as_str();
                warnings.push(
                    format!("the tree's file was not printed under {name}, which `slurm.conf` says or has by default, and which is used").into(),
                );
            }
        }
        let by_version = value("SLURM_VERSION").and_then(Release::from_version);
        let release = rules.slurm_release.or(by_version).or(written_by);
        if conf.is_some() && value("PriorityType").is_none() && release != Some(Release::V26_11) {
            warnings.push(
                "`slurm.conf` has no `PriorityType`: before 23.11 that means `priority/basic`, under which fair share \
                 has no effect; from then on it means `priority/multifactor`"
                    .into(),
            );
        }
        Self {
            name,
            rules: rules.rules,
            release: release.unwrap_or_default(),
            is_release_known: release.is_some(),
            conf: conf.unwrap_or_default(),
            first_cycle: None,
            source,
        }
    }

    /// A policy, whose rules it follows and how usage decays under it; of the one in force that was
    /// not asked for also where it comes from.
    pub fn in_words(&self, name: Option<PolicyName>, config: &SchedConfig) -> String {
        let policy = name.unwrap_or(self.name);
        let settings = self.settings(policy, config);
        let mut words = vec![policy.as_str().to_owned()];
        if name.is_none() {
            words[0] += &format!(" ({})", self.source);
        }
        words.push(match (policy, self.rules) {
            (PolicyName::Pbs, PolicyRules::Scheduler) => {
                "as OpenPBS's scheduler computes it".to_owned()
            }
            (PolicyName::Pbs, PolicyRules::Documented) => "as PP-718 documents it".to_owned(),
            (PolicyName::WeightedWalk, _) => "as in flux-accounting 0.60".to_owned(),
            _ => match settings.release {
                None => "as Slurm's manual documents it".to_owned(),
                Some(TICKETS) => format!("as in Slurm {TICKETS}"),
                Some(release) => {
                    format!("as in Slurm {release}{}", or_default(self.is_release_known))
                }
            },
        });
        if let Some(factor) = settings.dampening_factor {
            let default = or_default(self.is_set("FairShareDampeningFactor"));
            words.push(format!("dampening factor {factor}{default}"));
        }
        words.push(match settings {
            PolicySettings {
                decay_factor: Some(factor),
                decay_time: Some(time),
                ..
            } => format!("usage is multiplied by {factor} every {}", clock(time)),
            PolicySettings {
                half_life: Some(time @ 1..),
                ..
            } => {
                let default = or_default(self.is_set("PriorityDecayHalfLife"));
                format!("half-life {}{default}", days_and_clock(time.into()))
            }
            _ => "usage does not decay".to_owned(),
        });
        words.join(", ")
    }

    fn is_set(&self, key: &str) -> bool {
        self.conf.value(key).is_some()
    }

    /// The settings of a policy that are in force.
    fn settings(&self, name: PolicyName, config: &SchedConfig) -> PolicySettings {
        let is_pbs = name == PolicyName::Pbs;
        let is_dampened = matches!(name, PolicyName::Classic | PolicyName::DepthOblivious);
        PolicySettings {
            dampening_factor: is_dampened.then_some(self.conf.dampening_factor),
            decay_factor: is_pbs.then(|| shortest_decimal(config.fairshare_decay_factor)),
            decay_time: is_pbs.then_some(config.fairshare_decay_time),
            half_life: (!is_pbs).then_some(self.conf.decay_half_life),
            release: match (name, self.rules) {
                (PolicyName::Pbs | PolicyName::WeightedWalk, _) => None,
                (PolicyName::TicketBased, PolicyRules::Scheduler) => Some(TICKETS),
                (_, PolicyRules::Scheduler) => Some(self.release.as_str()),
                (_, PolicyRules::Documented) => None,
            },
        }
    }

    /// Builds the policy of that name; `active` are the nodes with pending jobs, which only the
    /// ticket-based policy uses.
    pub fn build_policy(&self, name: PolicyName, active: &[NodeId]) -> Box<dyn Policy> {
        self.build_policy_for(name, self.release, active)
    }

    /// Builds the policy of that name under another release of Slurm.
    pub fn build_policy_for(
        &self,
        name: PolicyName,
        release: Release,
        active: &[NodeId],
    ) -> Box<dyn Policy> {
        let rules = self.rules;
        let dampening = self.conf.dampening_factor;
        match (name, rules) {
            (PolicyName::Pbs, PolicyRules::Scheduler) => Box::new(OpenPbs),
            (PolicyName::Pbs, PolicyRules::Documented) => Box::new(DocumentedOpenPbs),
            (PolicyName::Classic, _) => {
                Box::new(Classic::new(rules).release(release).dampening(dampening))
            }
            (PolicyName::DepthOblivious, _) => {
                let policy = DepthOblivious::new(rules)
                    .release(release)
                    .dampening(dampening);
                Box::new(match &self.first_cycle {
                    Some(requested) => policy.first_cycle(requested),
                    None => policy,
                })
            }
            (PolicyName::TicketBased, _) => {
                Box::new(TicketBased::new(rules, active.iter().copied()))
            }
            (PolicyName::FairTree, _) => Box::new(FairTree::new(rules).release(release)),
            (PolicyName::WeightedWalk, _) => Box::new(WeightedWalk),
        }
    }
}

fn or_default(is_known: bool) -> &'static str {
    if is_known { "" } else { " (default)" }
}

/// A time in seconds as `HH:MM:SS`.
pub fn clock(seconds: u64) -> String {
    format!(
        "{:02}:{:02}:{:02}",
        seconds / 3600,
        seconds % 3600 / 60,
        seconds % 60
    )
}

/// A time in seconds as `DAYS-HH:MM:SS`, as `slurm.conf` has it.
pub fn days_and_clock(seconds: u64) -> String {
    format!("{}-{}", seconds / 86_400, clock(seconds % 86_400))
}

/// A warning about a tree without a `sched_config`: what the shares depend on, as it is then.
const DEFAULTS_ASSUMED: &str = "there is no `sched_config`, so its defaults are assumed: unknown_shares 0, \
     fairshare_usage_res cput, fairshare_entity euser, fairshare_decay_factor 0.5 every fairshare_decay_time 24:00:00; ";

/// The last release of Slurm with the ticket-based policy.
const TICKETS: &str = "14.11";

/// The settings in force that a policy depends on.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct PolicySettings {
    /// The dampening factor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dampening_factor: Option<u16>,
    /// By what OpenPBS multiplies usage.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decay_factor: Option<f64>,
    /// The time between two decays of OpenPBS, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decay_time: Option<u64>,
    /// The half-life of usage in seconds, 0 for usage that does not decay.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub half_life: Option<u32>,
    /// The release of Slurm.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub release: Option<&'static str>,
}

impl Site {
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

    /// Selects the policy by the rules, the settings of Slurm, and the tree.
    ///
    /// # Errors
    /// The file with the version of Slurm cannot be read.
    pub(crate) fn select_policy(
        &mut self,
        files: &SiteFiles,
        conf: Option<SlurmConf>,
    ) -> Result<(), SiteError> {
        let tree = self.tree.as_ref();
        let warnings = &mut self.warnings.of_shares;
        if !files.has(Role::SchedConfig) && tree.is_some_and(SiteTree::is_of_openpbs) {
            warnings.push(Message::asking(DEFAULTS_ASSUMED, [Need::SchedConfig]));
        }
        let mut written_by = tree.and_then(|tree| tree.document.release);
        written_by = written_by.or(self.slurm.as_ref().and_then(|slurm| slurm.release));
        if let Some(source) = files.first(Role::SlurmVersion) {
            let version = source.read_slurm_conf()?;
            let version = version.value("SLURM_VERSION");
            written_by = written_by.or(version.and_then(Release::from_version));
        }
        let origin = tree.and_then(|tree| tree.origin);
        self.policy =
            PolicySelection::new(&self.options, conf, origin, written_by, &mut warnings.all);
        self.compare_printed_fairshare();
        Ok(())
    }

    /// The policy in force.
    pub fn policy(&self) -> PolicyName {
        self.policy.name
    }
}

/// The number that the shortest decimals of a C float denote: 0.1, not 0.10000000149.
fn shortest_decimal(float: f32) -> f64 {
    float.to_string().parse().unwrap_or(float.into())
}

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
        let mut tree = self.tree_under(policy, tree, table)?;
        let mut as_it_is = None;
        if request.assumes_usage() {
            as_it_is = Some(tree.clone());
            self.assume_usage(&mut tree, policy, request)?;
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
            notes.extend(users_beside_groups(&tree));
        }
        let active = active_nodes(request, table, &tree)?;
        let rules = self.policy.build_policy(policy, &active);
        let before = as_it_is.map(|tree| AssessedTree::new(tree, &*rules));
        let asked_for = (!request.policies.is_empty()).then_some(policy);
        Ok(PolicyShares {
            policy,
            assessed: AssessedTree::new(tree, &*rules),
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
