//! Which fair-share policy judges the tree, and with which constants.

use job_sort_formula::fairshare::policy::classic::Classic;
use job_sort_formula::fairshare::policy::depth_oblivious::DepthOblivious;
use job_sort_formula::fairshare::policy::fair_tree::FairTree;
use job_sort_formula::fairshare::policy::pbs::Pp718;
use job_sort_formula::fairshare::policy::ticket_based::TicketBased;
use job_sort_formula::fairshare::policy::weighted_walk::WeightedWalk;
use job_sort_formula::fairshare::{NodeId, Policy, Release, Rules};
use job_sort_formula::pbs::daemon_policy::SchedulerShares;
use job_sort_formula::slurm::conf::{ConfPolicy, SlurmConf};

use super::args::{PolicyName, ReleaseName, RulesName, SiteArgs};
use super::{CliError, remark};

/// The policy's name and all it depends on.
pub(super) struct Choice {
    pub name: PolicyName,
    pub rules: Rules,
    /// The release of Slurm that was asked for.
    release: Option<Release>,
    pub conf: SlurmConf,
}

impl Choice {
    /// Reads `slurm.conf`, if one is given; it chooses the policy where `--policy` does not.
    pub(super) fn read(arguments: &SiteArgs) -> Result<Self, CliError> {
        let rules = match arguments.rules {
            RulesName::Scheduler => Rules::Scheduler,
            RulesName::Documented => Rules::Documented,
        };
        let release = arguments.slurm_release.map(|name| match name {
            ReleaseName::V22_05 => Release::V22_05,
            ReleaseName::V26_11 => Release::V26_11,
        });
        let Some(path) = &arguments.slurm_conf else {
            let name = arguments.policy.unwrap_or(PolicyName::Pbs);
            return Ok(Self { name, rules, release, conf: SlurmConf::default() });
        };
        let conf = SlurmConf::read(path).map_err(CliError::content)?;
        for warning in &conf.warnings {
            remark("warning", warning);
        }
        let by_conf = match conf.policy {
            ConfPolicy::FairTree => PolicyName::FairTree,
            ConfPolicy::DepthOblivious => PolicyName::DepthOblivious,
            ConfPolicy::Classic => PolicyName::Classic,
        };
        Ok(Self { name: arguments.policy.unwrap_or(by_conf), rules, release, conf })
    }

    /// The names to judge by: one, or every one.
    pub(super) fn names(&self) -> Vec<PolicyName> {
        match self.name {
            PolicyName::All => PolicyName::EVERY.to_vec(),
            one => vec![one],
        }
    }

    /// The policy of that name; `waiting` are the nodes with jobs that wait. The release that was asked for decides,
    /// then the one that wrote the tree's document, then the newest.
    pub(super) fn policy(&self, name: PolicyName, waiting: &[NodeId], written_by: Option<Release>) -> Box<dyn Policy> {
        let (rules, damping) = (self.rules, self.conf.dampening_factor);
        let release = self.release.or(written_by).unwrap_or_default();
        match (name, rules) {
            (PolicyName::Pbs | PolicyName::All, Rules::Scheduler) => Box::new(SchedulerShares),
            (PolicyName::Pbs | PolicyName::All, Rules::Documented) => Box::new(Pp718),
            (PolicyName::Classic, _) => Box::new(Classic::new(rules).release(release).damping(damping)),
            (PolicyName::DepthOblivious, _) => Box::new(DepthOblivious::new(rules).release(release).damping(damping)),
            (PolicyName::TicketBased, _) => Box::new(TicketBased::new(rules, waiting.iter().copied())),
            (PolicyName::FairTree, _) => Box::new(FairTree::new(rules).release(release)),
            (PolicyName::WeightedWalk, _) => Box::new(WeightedWalk),
        }
    }
}
