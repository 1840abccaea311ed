//! The fair-share policy in force, and its constants.

use std::str::FromStr;

use job_sort_formula::diagnostic::{Message, Need};
use job_sort_formula::fairshare::policy::classic::Classic;
use job_sort_formula::fairshare::policy::depth_oblivious::DepthOblivious;
use job_sort_formula::fairshare::policy::documented_openpbs::DocumentedOpenPbs;
use job_sort_formula::fairshare::policy::fair_tree::FairTree;
use job_sort_formula::fairshare::policy::openpbs::OpenPbs;
use job_sort_formula::fairshare::policy::ticket_based::TicketBased;
use job_sort_formula::fairshare::policy::weighted_walk::WeightedWalk;
use job_sort_formula::fairshare::{NodeId, Policy, PolicyRules, Release};
use jsf_openpbs::files::sched_priv::SchedConfig;
use jsf_slurm::conf::{ConfPolicy, SlurmConf};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::shares::site_tree::TreeOrigin;
use crate::{Site, SiteOptions};

/// A published fair-share policy, by its name on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum PolicyName {
    /// OpenPBS, PP-718.
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
        for policy in Self::ALL {
            if policy.as_str() == text {
                return Ok(policy);
            }
        }
        Err(format!(
            "`{text}` is not a policy, expected one of {}",
            Self::ALL.map(Self::as_str).join(", ")
        ))
    }
}

/// The policy in force and the settings that it depends on.
#[derive(Debug)]
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

        let by_conf = conf.as_ref().map(|conf| match conf.policy {
            ConfPolicy::FairTree => FairTree,
            ConfPolicy::DepthOblivious => DepthOblivious,
            ConfPolicy::Classic => Classic,
        });
        let sets_flags = matches!(&conf, Some(conf) if conf.sets_flags);
        let printed_under_fair_tree = match tree {
            Some(TreeOrigin::Slurm { is_fair_tree }) => is_fair_tree,
            Some(TreeOrigin::FluxAccounting) | None => None,
        };
        let default = "slurm.conf sets no PriorityFlags: the default since Slurm 19.05";
        let (name, source) = match (rules.policy, by_conf, tree) {
            (Some(policy), ..) => (policy, "given"),
            (_, Some(policy), _) if sets_flags => (policy, "from slurm.conf"),
            (_, Some(policy), _) => (policy, default),
            (.., Some(TreeOrigin::Slurm { .. })) => match printed_under_fair_tree {
                Some(true) => (FairTree, "from the tree's file"),
                Some(false) => (Classic, "from the tree's file"),
                None => (FairTree, "default for a tree of Slurm"),
            },
            (.., Some(TreeOrigin::FluxAccounting)) => {
                (WeightedWalk, "default for a tree of flux-accounting")
            }
            (None, None, None) => (PolicyName::Pbs, "default"),
        };
        match (by_conf, printed_under_fair_tree) {
            _ if rules.policy.is_some() => {}
            (Some(by_conf), Some(printed)) if printed != (by_conf == FairTree) => {
                let under = if printed { "fair-tree" } else { "another policy" };
                let conf = if sets_flags {
                    "says"
                } else {
                    "has no `PriorityFlags`, whose default is"
                };
                let by_conf = by_conf.as_str();
                warnings.push(
                    format!("the tree's file was printed under {under}, but `slurm.conf` {conf} {by_conf}, which is used").into(),
                );
            }
            (None, Some(false)) => warnings.push(Message::asking(
                "the tree's file was not printed under fair tree, but under classic or depth-oblivious: classic is assumed; ",
                [Need::SlurmConf, Need::Policy(DepthOblivious.as_str())],
            )),
            _ => {}
        }
        let version = conf.as_ref().and_then(|conf| conf.version.as_deref());
        let by_version = version.and_then(Release::from_version);
        let release = rules.slurm_release.or(by_version).or(written_by);
        let has_no_type = matches!(&conf, Some(conf) if conf.priority_type.is_none());
        if has_no_type && release != Some(Release::V26_11) {
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

    /// A policy, whose rules it follows and how usage decays under it.
    pub fn described(&self, name: PolicyName, config: &SchedConfig) -> String {
        format!("{}, {}", name.as_str(), self.rules_and_decay(name, config))
    }

    /// The policy in force, where it comes from, whose rules it follows and how usage decays.
    pub fn in_force(&self, config: &SchedConfig) -> String {
        format!(
            "{} ({}), {}",
            self.name.as_str(),
            self.source,
            self.rules_and_decay(self.name, config)
        )
    }

    /// Whose rules a policy follows and how usage decays under it, in a few words.
    fn rules_and_decay(&self, name: PolicyName, config: &SchedConfig) -> String {
        let daemon = format!(
            "as in Slurm {}{}",
            self.release.as_str(),
            or_default(self.is_release_known)
        );
        let rules = match (name, self.rules) {
            (PolicyName::Pbs, PolicyRules::Scheduler) => "as OpenPBS's scheduler computes it",
            (PolicyName::Pbs, PolicyRules::Documented) => "as PP-718 documents it",
            (PolicyName::WeightedWalk, _) => "as in flux-accounting 0.60",
            (_, PolicyRules::Documented) => "as Slurm's manual documents it",
            (PolicyName::TicketBased, _) => "as in Slurm 14.11",
            (_, PolicyRules::Scheduler) => &daemon,
        };
        let mut dampening = String::new();
        if matches!(name, PolicyName::Classic | PolicyName::DepthOblivious) {
            dampening = format!(
                ", dampening factor {}{}",
                self.conf.dampening_factor,
                or_default(self.conf.sets_dampening)
            );
        }
        let decay = match (name, self.conf.decay_half_life) {
            (PolicyName::Pbs, _) => {
                let period = clock(config.fairshare_decay_time);
                format!(
                    "usage is multiplied by {} every {period}",
                    config.fairshare_decay_factor
                )
            }
            (_, 0) => "usage does not decay".to_owned(),
            (_, seconds) => {
                let time = days_and_clock(seconds.into());
                format!("half-life {time}{}", or_default(self.conf.sets_half_life))
            }
        };
        format!("{rules}{dampening}, {decay}")
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

impl Site {
    /// The settings of a policy that are in force.
    pub(crate) fn policy_settings(&self, name: PolicyName) -> Map<String, Value> {
        let conf = &self.policy.conf;
        let mut settings = Map::new();
        let mut add = |key: &str, value| settings.insert(key.to_owned(), value);
        if name == PolicyName::Pbs {
            let factor = shortest_decimal(self.config.fairshare_decay_factor);
            add("decay_factor", json!(factor));
            add("decay_time", json!(self.config.fairshare_decay_time));
        } else {
            add("half_life", json!(conf.decay_half_life));
        }
        match (name, self.policy.rules) {
            (PolicyName::Pbs | PolicyName::WeightedWalk, _) | (_, PolicyRules::Documented) => {}
            (PolicyName::TicketBased, _) => _ = add("release", json!("14.11")),
            _ => _ = add("release", json!(self.policy.release.as_str())),
        }
        if matches!(name, PolicyName::Classic | PolicyName::DepthOblivious) {
            add("dampening_factor", json!(conf.dampening_factor));
        }
        settings
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

    /// The policy in force.
    pub fn policy(&self) -> PolicyName {
        self.policy.name
    }
}

/// The number that the shortest decimals of a C float denote: 0.1, not 0.10000000149.
fn shortest_decimal(float: f32) -> f64 {
    float.to_string().parse().unwrap_or(float.into())
}
