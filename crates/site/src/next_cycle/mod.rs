//! The next cycle of a site's scheduler.
//!
//! In: the jobs of a site with their values, its nodes, reservations, limits and times. Out: which
//! jobs start, which are promised a start, and why each other one waits.

pub mod cycle_decisions;
pub mod cycled_queue;
pub mod node_pools;
pub mod places;
pub mod preemption_inputs;
pub mod queue_rules;
pub mod site_machine;
pub mod times_and_reservations;
pub mod waiting_reasons;

use serde::Serialize;

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
