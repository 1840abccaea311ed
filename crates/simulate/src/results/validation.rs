//! Simulated waits against recorded ones: whether the model explains the waits in a log.

use job_sort_formula::rank::measures::tau_b;
use serde::Serialize;

use super::statistics::{Distribution, wait_of, without_fraction};
use crate::schedule::Schedule;
use crate::workload::Workload;

/// Simulated waits against recorded ones.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Validation {
    /// The number of jobs with a recorded start that also start in the simulation.
    pub jobs: usize,
    /// How many of them start at the recorded second.
    pub equal: usize,
    /// The mean recorded wait, in seconds.
    #[serde(rename = "recorded_mean_wait")]
    pub recorded_mean: f64,
    /// The mean simulated wait, in seconds.
    #[serde(rename = "simulated_mean_wait")]
    pub simulated_mean: f64,
    /// The median of the differences without their signs, in seconds.
    #[serde(serialize_with = "without_fraction")]
    pub median_error: f64,
    /// The difference, without its sign, that 95 % of the jobs do not exceed, in seconds.
    #[serde(serialize_with = "without_fraction")]
    pub p95_error: f64,
    /// The mean simulated wait as a multiple of the recorded one; `None` if no job waited in the
    /// log.
    pub ratio_of_means: Option<f64>,
    /// Kendall's tau-b of the waits: 1 if both order the jobs alike; `None` if all waits are equal.
    pub rank_correlation: Option<f64>,
    /// How many other jobs have a recorded start before their submission, which is no wait.
    pub started_before_submission: usize,
}

/// Below this rank correlation, the simulation orders the waits otherwise than the log does.
const MIN_CORRELATION: f64 = 0.5;

/// Means of which one is more times the other differ by more than the order of some jobs explains.
const MAX_RATIO: f64 = 4.0;

/// Means that are closer, in seconds, are alike: on an idle machine a job waits for a cycle, and
/// the longest time between two is OpenPBS's `scheduler_iteration`.
const MAX_IDLE_WAIT: f64 = 600.0;

impl Validation {
    /// Whether the model does not explain the waits in the log: it orders them otherwise, or one of
    /// the means is several times the other.
    pub fn is_doubtful(&self) -> bool {
        let shorter = self.recorded_mean.min(self.simulated_mean);
        let longer = self.recorded_mean.max(self.simulated_mean);
        let differ = longer > shorter * MAX_RATIO && longer - shorter > MAX_IDLE_WAIT;
        differ || matches!(self.rank_correlation, Some(tau) if tau < MIN_CORRELATION)
    }

    /// Compares the waits of a schedule with those in the log, leaving out the jobs of the first
    /// `warm_up` seconds; `None` if the log records no wait.
    pub fn new(workload: &Workload, schedule: &Schedule, warm_up: i64) -> Option<Self> {
        let (mut recorded, mut simulated) = (Vec::new(), Vec::new());
        let mut started_before_submission = 0;
        for index in workload.after_warm_up(warm_up) {
            let job = &workload.jobs()[index];
            if let (Some(started), Some(wait)) = (job.started, wait_of(workload, schedule, index)) {
                if started < job.submit {
                    started_before_submission += 1;
                    continue;
                }
                recorded.push((started - job.submit) as f64);
                simulated.push(wait as f64);
            }
        }
        let jobs = recorded.len();
        if jobs == 0 {
            return None;
        }
        let mut errors = Vec::new();
        let mut equal = 0;
        for (recorded, simulated) in recorded.iter().zip(&simulated) {
            errors.push((recorded - simulated).abs());
            equal += usize::from(recorded == simulated);
        }
        let distribution = Distribution::new(&mut errors);
        let recorded_mean = recorded.iter().sum::<f64>() / jobs as f64;
        let simulated_mean = simulated.iter().sum::<f64>() / jobs as f64;
        Some(Self {
            jobs,
            equal,
            recorded_mean,
            simulated_mean,
            median_error: distribution.median,
            p95_error: distribution.p95,
            ratio_of_means: (recorded_mean > 0.0).then_some(simulated_mean / recorded_mean),
            rank_correlation: tau_b(&recorded, &simulated),
            started_before_submission,
        })
    }
}
