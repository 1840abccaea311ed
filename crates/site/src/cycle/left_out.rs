//! What a site has and a cycle or a simulation does without.

use jsf_simulate::UsageMeasure;
use serde::Serialize;

use crate::{Role, Site};

/// What of Slurm's scheduling is not simulated.
const LEFT_OUT_OF_SLURM: &str = "the interval and the depth of Slurm's backfill, the limits of QOS, associations and partitions, \
     PriorityTier, preemption, reservations";

/// Something that the site has and a cycle or a simulation does without.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    /// What it is, in words.
    pub what: String,
    /// The number of jobs that it concerns.
    pub jobs: usize,
}

impl LeftOut {
    /// Those of what was found that concern jobs.
    pub(crate) fn of_some_jobs(
        found: impl IntoIterator<Item = (impl Into<String>, usize)>,
    ) -> Vec<Self> {
        let mut left_out = Vec::new();
        for (what, jobs) in found {
            if jobs > 0 {
                let what = what.into();
                left_out.push(Self { what, jobs });
            }
        }
        left_out
    }

    /// What was found concerns all jobs.
    pub(crate) fn of_all_jobs(found: Vec<impl Into<String>>, jobs: usize) -> Vec<Self> {
        Self::of_some_jobs(found.into_iter().map(|what| (what, jobs)))
    }
}

impl Site {
    /// What the site has and a simulation or a cycle does without. The queues are those with jobs,
    /// each with their number.
    pub(crate) fn left_out(&self, queues: &[(&str, usize)]) -> Vec<LeftOut> {
        let all: usize = queues.iter().map(|(_, jobs)| jobs).sum();
        let config = &self.config;
        let mut found: Vec<String> = Vec::new();
        if self.slurm.is_some() {
            found.push(LEFT_OUT_OF_SLURM.to_owned());
            if self.tree.is_some() {
                found.push("billing TRES in usage".to_owned());
            }
        }
        for attribute in &self.queues.limits.unread {
            found.push(format!("`{attribute}`"));
        }
        // those of placement sets and of preemption are named where they are not followed
        let named_elsewhere = [
            "node_group_enable",
            "do_not_span_psets",
            "only_explicit_psets",
        ];
        for (attribute, value) in self.server.others() {
            if !named_elsewhere.contains(&attribute) && !attribute.contains("preempt_") {
                found.push(format!("{attribute} = {value}"));
            }
        }
        let is_charged = config.fair_share.prime || self.tree.is_some();
        let has_measure = UsageMeasure::from_formula(&config.fairshare_usage_res).is_some();
        if self.files.has(Role::SchedConfig) && is_charged && !has_measure {
            let formula = &config.fairshare_usage_res;
            found.push(format!(
                "fairshare_usage_res `{formula}` (usage is processors times seconds)"
            ));
        }
        LeftOut::of_all_jobs(found, all)
    }

    /// What of preemption a simulation does without.
    pub(crate) fn left_out_of_preemption(&self, preempts: bool, jobs: usize) -> Vec<LeftOut> {
        let mut found = Vec::new();
        // without a `sched_config` it is not known what they do
        if !self.files.has(Role::SchedConfig) {
            for attribute in &self.queues.limits.soft_attributes {
                found.push(format!("`{attribute}`"));
            }
        }
        if preempts {
            found.push("targets and checkpoints of preemption".to_owned());
        }
        LeftOut::of_all_jobs(found, jobs)
    }
}
