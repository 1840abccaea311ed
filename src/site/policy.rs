//! The fair-share policy in force, and its constants.

use std::str::FromStr;

use super::SiteRules;
use crate::fairshare::policy::classic::Classic;
use crate::fairshare::policy::depth_oblivious::DepthOblivious;
use crate::fairshare::policy::fair_tree::FairTree;
use crate::fairshare::policy::pbs::Pp718;
use crate::fairshare::policy::ticket_based::TicketBased;
use crate::fairshare::policy::weighted_walk::WeightedWalk;
use crate::fairshare::{NodeId, Policy, Release, Rules};
use crate::pbs::daemon_policy::DaemonPolicy;
use crate::slurm::conf::{ConfPolicy, SlurmConf};

/// A published fair-share policy, by its name on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PolicyName {
    /// `pbs`: OpenPBS, PP-718.
    Pbs,
    /// `classic`: Slurm's classic fair share.
    Classic,
    /// `depth-oblivious`: Slurm's depth-oblivious factor.
    DepthOblivious,
    /// `ticket-based`: Slurm's ticket-based factor.
    TicketBased,
    /// `fair-tree`: Slurm's fair tree.
    FairTree,
    /// `weighted-walk`: flux-accounting's weighted walk.
    WeightedWalk,
}

impl PolicyName {
    /// Every policy.
    pub const ALL: [Self; 6] =
        [Self::Pbs, Self::Classic, Self::DepthOblivious, Self::TicketBased, Self::FairTree, Self::WeightedWalk];

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
        let found = Self::ALL.into_iter().find(|policy| policy.as_str() == text);
        found.ok_or_else(|| {
            format!("`{text}` is not a policy, expected one of {}", Self::ALL.map(Self::as_str).join(", "))
        })
    }
}

/// The policy in force and the settings that it depends on.
#[derive(Debug)]
pub(super) struct PolicySelection {
    pub name: PolicyName,
    pub rules: Rules,
    release: Release,
    pub conf: SlurmConf,
}

impl PolicySelection {
    /// An explicit policy wins over that of `slurm.conf`, and that over OpenPBS's; an explicit release wins over the one
    /// that wrote the tree's document, and that over the newest.
    pub(super) fn new(rules: &SiteRules, conf: Option<SlurmConf>, written_by: Option<Release>) -> Self {
        let by_conf = conf.as_ref().map(|conf| match conf.policy {
            ConfPolicy::FairTree => PolicyName::FairTree,
            ConfPolicy::DepthOblivious => PolicyName::DepthOblivious,
            ConfPolicy::Classic => PolicyName::Classic,
        });
        Self {
            name: rules.policy.or(by_conf).unwrap_or(PolicyName::Pbs),
            rules: rules.rules,
            release: rules.slurm_release.or(written_by).unwrap_or_default(),
            conf: conf.unwrap_or_default(),
        }
    }

    /// The policy in force and whose rules it follows, in a few words.
    pub(super) fn in_force(&self) -> String {
        let rules = match (self.name, self.rules) {
            (PolicyName::Pbs, Rules::Scheduler) => "as OpenPBS's scheduler computes it",
            (PolicyName::Pbs, Rules::Documented) => "as PP-718 documents it",
            (PolicyName::WeightedWalk, _) => "as in flux-accounting",
            (_, Rules::Documented) => "as Slurm's manual documents it",
            (_, Rules::Scheduler) => match self.release {
                Release::V22_05 => "as in Slurm 22.05",
                Release::V26_11 => "as in Slurm 26.11",
            },
        };
        format!("{}, {rules}", self.name.as_str())
    }

    /// The policy of that name; `active` are the nodes with pending jobs, which only the ticket-based policy uses.
    pub(super) fn policy(&self, name: PolicyName, active: &[NodeId]) -> Box<dyn Policy> {
        let (rules, release, dampening) = (self.rules, self.release, self.conf.dampening_factor);
        match (name, rules) {
            (PolicyName::Pbs, Rules::Scheduler) => Box::new(DaemonPolicy),
            (PolicyName::Pbs, Rules::Documented) => Box::new(Pp718),
            (PolicyName::Classic, _) => Box::new(Classic::new(rules).release(release).dampening(dampening)),
            (PolicyName::DepthOblivious, _) => {
                Box::new(DepthOblivious::new(rules).release(release).dampening(dampening))
            }
            (PolicyName::TicketBased, _) => Box::new(TicketBased::new(rules, active.iter().copied())),
            (PolicyName::FairTree, _) => Box::new(FairTree::new(rules).release(release)),
            (PolicyName::WeightedWalk, _) => Box::new(WeightedWalk),
        }
    }
}
