//! The order of jobs in words: its criteria, and why a job is not considered.

use std::fmt;

use crate::amounts;
use crate::files::sched_config::SortFirst;
use crate::order::{Criterion, NotConsidered, Order};

impl Order<'_> {
    /// The criteria by which jobs are ordered, the first one first, in a few words each.
    pub fn criteria(&self) -> Vec<(Criterion, String)> {
        let config = self.config;
        let mut criteria = Vec::new();
        let mut add = |criterion, words: &str| criteria.push((criterion, words.to_owned()));
        if config.by_queue.prime || config.round_robin.prime {
            add(Criterion::Queue, "priority of the queue");
        }
        if config.round_robin.prime {
            add(Criterion::RoundRobin, "queues in turn (round_robin)");
        }
        if config.preemptive_sched.prime {
            let priority = config.preempt_queue_prio;
            let words = format!("express queues (priority {priority} or higher)");
            add(Criterion::ExpressQueue, &words);
        }
        add(Criterion::Value, "value of the formula");
        if self.active_tree().is_some() {
            add(Criterion::FairShare, "fair share (fair_share)");
        }
        for (key, number) in config.job_sort_key.prime.iter().zip(1..) {
            let first = match key.first {
                SortFirst::High => "HIGH",
                SortFirst::Low => "LOW",
            };
            let words = format!("job_sort_key {} {first}", key.name);
            add(Criterion::SortKey(number), &words);
        }
        add(Criterion::Submission, "order of submission");
        criteria
    }
}

impl fmt::Display for Criterion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Queue => "queue",
            Self::RoundRobin => "round robin",
            Self::Considered => "considered",
            Self::ExpressQueue => "express queue",
            Self::Value => "value",
            Self::FairShare => "fair share",
            Self::SortKey(number) => return write!(f, "sort key {number}"),
            Self::Submission => "submission",
        })
    }
}

impl fmt::Display for NotConsidered {
    /// OpenPBS's log message, where it is recorded.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::NoShares => f.write_str("the job's fair-share entity has no shares"),
            Self::UnderThreshold { value, threshold } => {
                let value = amounts::logged(value);
                let threshold = amounts::printed(threshold);
                write!(
                    f,
                    "Job's formula value {value} is under threshold {threshold}"
                )
            }
        }
    }
}
