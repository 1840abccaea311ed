//! Prime time and dedicated time: which queues have their jobs run at a time, and by when these
//! must end.
//!
//! Source: the cycles recorded in `tests/golden/cycles2`, and section e of the `SPEC2.md` there.

use std::ops::Range;

use super::CycleJob;
use crate::files::sched_config::ByTime;

/// When the jobs of which queues may run. Times are in seconds since 1970. The default holds back
/// no job.
#[derive(Debug, Clone, Default)]
pub struct Times {
    /// Whether it is prime time before the first of the changes.
    pub begins_in_prime: bool,
    /// When prime time and the time outside it begin in turn, in order.
    pub prime_changes: Vec<i64>,
    /// The dedicated times, in the order of their begins.
    pub dedicated: Vec<Range<i64>>,
    /// When the jobs of each queue run, by its index; those of the queues beyond the list always
    /// do.
    pub queues: Vec<QueueTime>,
    /// Whether no job may run across the end of prime time, or of the time outside it.
    pub backfill_prime: ByTime<bool>,
    /// By how many seconds it may.
    pub prime_spill: ByTime<i64>,
    /// Whether `backfill_prime` leaves out the jobs of ordinary queues.
    pub are_ordinary_exempt: bool,
}

/// When the jobs of a queue run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum QueueTime {
    /// At all times but dedicated ones.
    #[default]
    Ordinary,
    /// In prime time only.
    Prime,
    /// Outside prime time only.
    NonPrime,
    /// In dedicated time only.
    Dedicated,
    /// When its reservation says.
    Reservation,
}

/// Why a job does not run at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeConflict {
    /// Its queue is one of prime time, and it is not.
    PrimeOnly,
    /// Its queue is one of the time outside prime time.
    NonPrimeOnly,
    /// Its queue is one of dedicated time, and it is not.
    DedicatedOnly,
    /// It is dedicated time, and its queue is another one.
    NotInDedicated,
    /// It would run into dedicated time.
    IntoDedicated,
    /// It would run beyond dedicated time, in which its queue's jobs run.
    BeyondDedicated,
    /// It would run into prime time.
    IntoPrime,
    /// It would run into the time outside prime time.
    IntoNonPrime,
}

impl Times {
    /// Why the scheduler does not consider the jobs of a queue.
    pub(super) fn closes(&self, queue: u32, at: i64) -> Option<TimeConflict> {
        let kind = self.kind(queue);
        let is_prime = self.is_prime_at(at);
        let is_dedicated = self.dedicated.iter().any(|time| time.contains(&at));
        match kind {
            QueueTime::Reservation => None,
            QueueTime::Prime if !is_prime => Some(TimeConflict::PrimeOnly),
            QueueTime::NonPrime if is_prime => Some(TimeConflict::NonPrimeOnly),
            QueueTime::Dedicated if is_dedicated => None,
            QueueTime::Dedicated => Some(TimeConflict::DedicatedOnly),
            _ if is_dedicated => Some(TimeConflict::NotInDedicated),
            _ => None,
        }
    }

    /// Why a job whose queue is considered does not start at a time: it would not end soon enough.
    pub(super) fn crossed(&self, job: &CycleJob<'_>, at: i64) -> Option<TimeConflict> {
        let kind = self.kind(job.queue);
        if kind == QueueTime::Reservation {
            return None;
        }
        let end = at.saturating_add(job.walltime);
        if let Some(time) = self.dedicated.iter().find(|time| time.end > at) {
            if time.start > at && end > time.start {
                return Some(TimeConflict::IntoDedicated);
            }
            if time.start <= at && end > time.end {
                return Some(TimeConflict::BeyondDedicated);
            }
        }
        let is_prime = self.is_prime_at(at);
        let is_exempt = self.are_ordinary_exempt && kind == QueueTime::Ordinary;
        if !self.backfill_prime.at(is_prime) || is_exempt {
            return None;
        }
        let change = self.prime_changes.iter().find(|&&change| change > at)?;
        if end < change.saturating_add(*self.prime_spill.at(is_prime)) {
            None
        } else if is_prime {
            Some(TimeConflict::IntoNonPrime)
        } else {
            Some(TimeConflict::IntoPrime)
        }
    }

    /// Whether a job may start at a time.
    pub(super) fn allow(&self, job: &CycleJob<'_>, at: i64) -> bool {
        self.closes(job.queue, at).is_none() && self.crossed(job, at).is_none()
    }

    /// Whether nothing changes with time.
    pub fn is_empty(&self) -> bool {
        self.prime_changes.is_empty() && self.dedicated.is_empty()
    }

    /// When other jobs may start than at a time, in order.
    pub fn changes_after(&self, at: i64) -> Vec<i64> {
        let mut changes = self.prime_changes.clone();
        for time in &self.dedicated {
            changes.extend([time.start, time.end]);
        }
        changes.retain(|&change| change > at);
        changes.sort_unstable();
        changes.dedup();
        changes
    }

    /// Whether it is prime time.
    pub fn is_prime_at(&self, at: i64) -> bool {
        let changes = self.prime_changes.partition_point(|&change| change <= at);
        self.begins_in_prime == changes.is_multiple_of(2)
    }

    fn kind(&self, queue: u32) -> QueueTime {
        self.queues.get(queue as usize).copied().unwrap_or_default()
    }
}
