//! The jobs that start in a simulation, and what preemption makes of them.

use std::iter;

use serde::Serialize;

use crate::results::statistics::bounded_slowdown;
use crate::workload::WorkloadJob;

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
    pub(crate) job: WorkloadJob,
    /// When it started, the last time if it was queued again.
    pub(crate) start: i64,
    /// When it was suspended since, and when it went on.
    pub(crate) pauses: &'s [(i64, i64)],
}

impl<'s> StartedJob<'s> {
    pub(crate) fn wait(&self) -> i64 {
        self.start - self.job.submit
    }

    pub(crate) fn end(&self) -> i64 {
        let paused: i64 = self.pauses.iter().map(|(from, to)| to - from).sum();
        self.start + self.job.duration() + paused
    }

    /// When it runs: from when to when.
    pub(crate) fn runs(&self) -> impl Iterator<Item = (i64, i64)> + use<'s> {
        let resumed = self.pauses.iter().map(|&(_, to)| to);
        let suspended = self.pauses.iter().map(|&(from, _)| from);
        let begins = iter::once(self.start).chain(resumed);
        begins.zip(suspended.chain([self.end()]))
    }

    /// The time for which it is suspended counts as time that it waits.
    pub(crate) fn slowdown(&self) -> f64 {
        let run = self.job.duration();
        bounded_slowdown(self.end() - run - self.job.submit, run)
    }
}
