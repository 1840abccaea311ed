//! What the limits would count if all jobs ran that a cycle has considered so far.

use super::CycleJob;
use super::limits::{Counts, Limits};

/// The jobs that run and those that the cycle has considered. A job is not eligible if the first
/// limit that it would pass if all these ran is one of its user, its group or its project (section
/// 6).
#[derive(Debug, Default)]
pub(super) struct Totals {
    /// They come into being, as a copy of what runs, with the first job that is decided.
    counts: Option<Counts>,
}

impl Totals {
    /// A job starts; it does not run yet.
    pub(super) fn count_started(&mut self, limits: &Limits, job: &CycleJob<'_>) {
        if let Some(counts) = self.begin(limits) {
            limits.count(counts, job, 1);
        }
    }

    fn begin(&mut self, limits: &Limits) -> Option<&mut Counts> {
        if !limits.has_personal() {
            return None;
        }
        Some(self.counts.get_or_insert_with(|| limits.running().clone()))
    }

    /// A job gives way.
    pub(super) fn count_ended(&mut self, limits: &Limits, job: &CycleJob<'_>) {
        if let Some(counts) = &mut self.counts {
            limits.count(counts, job, -1);
        }
    }

    /// A job does not start.
    pub(super) fn count_refused(&mut self, limits: &Limits, job: &CycleJob<'_>) {
        if let Some(counts) = self.begin(limits) {
            limits.count_considered(counts, job);
        }
    }

    /// The first limit that a job would pass if all these ran.
    pub(super) fn passed_limit(&self, limits: &Limits, job: &CycleJob<'_>) -> Option<usize> {
        match &self.counts {
            Some(counts) => limits.passed_by_jobs(counts, job),
            None if limits.has_personal() => limits.passed_by_jobs(&Counts::none(limits), job),
            None => None,
        }
    }
}
