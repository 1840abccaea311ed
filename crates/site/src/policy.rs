//! Which fair-share policy is in force: by the rules, `slurm.conf` or the tree; its settings, and both in
//! words.

use std::str::FromStr;

use job_sort_formula::diagnostic::{Message, Need};
use job_sort_formula::fairshare::{
    Classic, DepthOblivious, DocumentedOpenPbs, FairTree, NodeId, OpenPbs, Policy, PolicyRules,
    Release, TicketBased, WeightedWalk,
};
use jsf_openpbs::SchedConfig;
use jsf_slurm::SlurmConf;
use serde::{Deserialize, Serialize};

use crate::site_tree::{SiteTree, TreeOrigin};
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
        // `V26_11` is any release since 23.11
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
    pub fn settings(&self, name: PolicyName, config: &SchedConfig) -> PolicySettings {
        let is_pbs = name == PolicyName::Pbs;
        // under fair tree the factor has no effect
        let is_dampened = matches!(name, PolicyName::Classic | PolicyName::DepthOblivious);
        PolicySettings {
            dampening_factor: is_dampened.then_some(self.conf.dampening_factor),
            decay_factor: is_pbs.then(|| shortest_decimal(config.fairshare_decay_factor)),
            decay_time: is_pbs.then_some(config.fairshare_decay_time),
            half_life: (!is_pbs).then_some(self.conf.decay_half_life),
            release: match (name, self.rules) {
                (PolicyName::Pbs | PolicyName::WeightedWalk, _) => None,
                // no later release has the policy, whichever one the site runs
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
