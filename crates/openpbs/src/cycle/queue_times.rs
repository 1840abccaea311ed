//! Prime time and dedicated time, which say the jobs of which queues run at a time, and by when these
//! must end.
//!
//! Source: the cycles recorded in `tests/golden/cycles2`, and section e of the `SPEC2.md` there.

use std::ops::Range;

use crate::files::sched_config::ByTime;

/// How many changes between prime time and the time outside it a cycle looks at: those of a month.
pub const MAX_CHANGES: usize = 64;

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

impl Times {
    /// Why the scheduler does not consider the jobs of a queue, in words.
    pub(super) fn closes(&self, queue: u32, at: i64) -> Option<&'static str> {
        let kind = self.kind(queue);
        let is_prime = self.is_prime_at(at);
        let is_dedicated = self.dedicated.iter().any(|time| time.contains(&at));
        match kind {
            QueueTime::Reservation => None,
            QueueTime::Prime if !is_prime => Some("will run in prime time only"),
            QueueTime::NonPrime if is_prime => Some("will run in non-prime time only"),
            QueueTime::Dedicated if is_dedicated => None,
            QueueTime::Dedicated => Some("will run in dedicated time only"),
            _ if is_dedicated => Some("will run outside dedicated time only"),
            _ => None,
        }
    }

    /// Why a job whose queue is considered does not run in a time: it would not end soon enough.
    pub(super) fn crossed(&self, queue: u32, runs: Range<i64>) -> Option<&'static str> {
        let kind = self.kind(queue);
        if kind == QueueTime::Reservation {
            return None;
        }
        let Range { start: at, end } = runs;
        if let Some(time) = self.dedicated.iter().find(|time| time.end > at) {
            if time.start > at && end > time.start {
                return Some("would run into dedicated time");
            }
            if time.start <= at && end > time.end {
                return Some("would run beyond the end of dedicated time");
            }
        }
        let is_prime = self.is_prime_at(at);
        let is_exempt = self.are_ordinary_exempt && kind == QueueTime::Ordinary;
        if !self.backfill_prime.at(is_prime) || is_exempt {
            return None;
        }
        let over = self.prime_changes.partition_point(|&change| change <= at);
        let change = self.prime_changes.get(over)?;
        if end < change.saturating_add(*self.prime_spill.at(is_prime)) {
            None
        } else if is_prime {
            Some("would run into non-prime time (backfill_prime)")
        } else {
            Some("would run into prime time (backfill_prime)")
        }
    }

    /// Whether a job of a queue may run in a time.
    pub(super) fn allow(&self, queue: u32, runs: Range<i64>) -> bool {
        self.closes(queue, runs.start).is_none() && self.crossed(queue, runs).is_none()
    }

    /// Whether nothing changes with time.
    pub fn is_empty(&self) -> bool {
        self.prime_changes.is_empty() && self.dedicated.is_empty()
    }

    /// When other jobs may start than at a time.
    pub fn next_change(&self, at: i64) -> Option<i64> {
        self.changes_after(at).first().copied()
    }

    /// When other jobs may start than at a time, in order, as far as [`MAX_CHANGES`] allows.
    pub(super) fn changes_after(&self, at: i64) -> Vec<i64> {
        let over = self.prime_changes.partition_point(|&change| change <= at);
        let next = self.prime_changes[over..].iter().take(MAX_CHANGES);
        let mut changes: Vec<i64> = next.copied().collect();
        for time in &self.dedicated {
            changes.extend([time.start, time.end].iter().filter(|&&change| change > at));
        }
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
