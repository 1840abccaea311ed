//! What a simulation tells: when each job of a workload starts, is suspended and ends.

use std::collections::HashMap;
use std::iter;

use serde::Serialize;

use crate::workload::{Workload, WorkloadJob};

mod event_loop;
mod simulation_rules;
mod tree_usage;
mod waiting_jobs;

pub use event_loop::{Observer, simulate};
pub use simulation_rules::{Backfill, NonPrimeRules, OrderRules, SimulationRules};
pub use tree_usage::{Decay, Fairshare, FairsharePolicy, UsageMeasure};
pub use waiting_jobs::{ErrorKind, EvaluationErrors};

/// Stands for a job that has not started.
const NOT_STARTED: i64 = i64::MIN;
/// The shortest run time that the bounded slowdown divides by, in seconds.
const SLOWDOWN_BOUND: i64 = 10;
/// When the jobs of a workload start.
#[derive(Debug, Clone, Default)]
pub struct Schedule {
    starts: Vec<i64>,
    /// The value of each job when it starts; not a number for one that does not.
    start_values: Vec<f64>,
    /// When jobs were suspended in the run that counts, and when they went on.
    pauses: HashMap<u32, Vec<(i64, i64)>>,
    /// What preemption does; `None` if no job can preempt another one.
    pub preemptions: Option<Preemptions>,
    /// The jobs that were deleted to make room.
    pub deleted: Vec<usize>,
    /// The jobs that ask for more than there is, so that they can never start. They never wait
    /// either.
    pub too_large: Vec<usize>,
    /// The errors of the formula.
    pub errors: EvaluationErrors,
    /// Whether the simulation reached the end of the workload.
    pub is_complete: bool,
}

impl Schedule {
    /// When a job starts, the last time if it was queued again; `None` if it does not, or is
    /// deleted.
    pub fn start(&self, job: usize) -> Option<i64> {
        match self.starts.get(job) {
            Some(&start) if start != NOT_STARTED => Some(start),
            _ => None,
        }
    }

    /// When a job ends; `None` if it does not start.
    pub fn end(&self, workload: &Workload, job: usize) -> Option<i64> {
        Some(self.started(workload, job)?.end())
    }

    pub(crate) fn started(&self, workload: &Workload, job: usize) -> Option<StartedJob<'_>> {
        let start = self.start(job)?;
        let pauses = match self.pauses.get(&(job as u32)) {
            Some(pauses) => pauses,
            None => &[][..],
        };
        let job = *workload.jobs().get(job)?;
        Some(StartedJob { job, start, pauses })
    }

    /// The value of a job under the formula when it starts; `None` if it does not start, or has no
    /// value.
    pub fn start_value(&self, job: usize) -> Option<f64> {
        match self.start_values.get(job) {
            Some(value) if value.is_finite() => Some(*value),
            _ => None,
        }
    }

    /// The jobs that never run to their ends although the machine is large enough for each: a limit,
    /// a threshold or a stopped queue lets none start, or they are deleted to make room. None of a simulation that did not reach the end.
    pub fn never_start(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.starts.len()).filter(|job| {
            let is_too_large = self.too_large.binary_search(job).is_ok();
            self.is_complete && self.start(*job).is_none() && !is_too_large
        })
    }
}

/// What running jobs suffer that give way to jobs of a higher level.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Preemptions {
    /// How often a job was suspended.
    pub suspended: usize,
    /// How often a job was queued again, to run from its beginning.
    pub requeued: usize,
    /// How many jobs were deleted.
    pub deleted: usize,
    /// The processors times seconds of the runs that were lost.
    pub lost_core_seconds: u128,
}

/// A job that starts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StartedJob<'s> {
    pub job: WorkloadJob,
    /// When it started, the last time if it was queued again.
    pub start: i64,
    /// When it was suspended since, and when it went on.
    pauses: &'s [(i64, i64)],
}

impl<'s> StartedJob<'s> {
    pub fn wait(&self) -> i64 {
        self.start - self.job.submit
    }

    pub fn end(&self) -> i64 {
        self.start + self.job.duration() + sum_of(self.pauses)
    }

    /// When it runs: from when to when.
    pub fn runs(&self) -> impl Iterator<Item = (i64, i64)> + use<'s> {
        let resumed = self.pauses.iter().map(|&(_, to)| to);
        let suspended = self.pauses.iter().map(|&(from, _)| from);
        let begins = iter::once(self.start).chain(resumed);
        begins.zip(suspended.chain([self.end()]))
    }

    /// The bounded slowdown: how many times longer it took than it ran, where a run time of less
    /// than 10 s counts as 10 s. The time for which it is suspended counts as time that it waits.
    ///
    /// Source: D. G. Feitelson, "Metrics for Parallel Job Scheduling and Their Convergence", 2001.
    pub fn slowdown(&self) -> f64 {
        let run = self.job.duration();
        ((self.end() - self.job.submit) as f64 / run.max(SLOWDOWN_BOUND) as f64).max(1.0)
    }
}

/// How long a job was suspended in all.
fn sum_of(pauses: &[(i64, i64)]) -> i64 {
    pauses.iter().map(|(from, to)| to - from).sum()
}
