//! The waiting jobs as candidates of a cycle, in the order of keys that are computed for this cycle.

use jsf_openpbs::cycle::{Candidates, Wanted};

use super::workload::WorkloadJob;

/// How many jobs are taken from the front one by one before all others are sorted.
const SCANS: u32 = 4;

/// What orders a waiting job, in one number: the place of its queue, its value and its place among equal ones.
pub(super) type Key = u128;

/// A key; the one that sorts first is the smallest. `value` is the sort key of the job's value, which descends.
pub(super) fn key(place: u32, value: u64, tie: u32) -> Key {
    Key::from(place) << 96 | Key::from(value) << 32 | Key::from(tie)
}

/// The place among equal ones, which identifies the job.
pub(super) fn tie(key: Key) -> u32 {
    key as u32
}

/// The candidates of one cycle. Where only those that fit can start, one of the others at a time is known: the first, which the
/// scheduler may promise a start.
pub(super) struct KeyedCandidates<'c> {
    /// The keys of the jobs that fit. Sorted backwards once `scans` is beyond [`SCANS`].
    keys: &'c mut Vec<Key>,
    /// The keys of those that do not.
    others: &'c [Key],
    /// The first of the others that was not returned.
    next_other: Option<Key>,
    scans: u32,
    is_filtered: bool,
    jobs: &'c [WorkloadJob],
    /// The job of each tie; empty if they are the same.
    jobs_of_ties: &'c [u32],
}

impl<'c> KeyedCandidates<'c> {
    pub(super) fn new(
        keys: &'c mut Vec<Key>,
        others: &'c [Key],
        jobs: &'c [WorkloadJob],
        jobs_of_ties: &'c [u32],
    ) -> Self {
        let next_other = others.iter().min().copied();
        Self { keys, others, next_other, scans: 0, is_filtered: false, jobs, jobs_of_ties }
    }

    fn job_of(&self, key: Key) -> u32 {
        self.jobs_of_ties.get(tie(key) as usize).copied().unwrap_or(tie(key))
    }

    /// The first job, whether it fits or not.
    fn next_of_all(&mut self) -> Option<u32> {
        let fitting = self.first_index();
        let other = self.next_other.filter(|other| fitting.is_none_or(|index| *other < self.keys[index]));
        if let Some(other) = other {
            self.next_other = self.others.iter().filter(|key| **key > other).min().copied();
            return Some(self.job_of(other));
        }
        self.scans += 1;
        let key = self.keys.swap_remove(fitting?);
        Some(self.job_of(key))
    }

    /// The index of the first job that fits.
    fn first_index(&mut self) -> Option<usize> {
        if self.scans == SCANS {
            self.sort();
        }
        match self.scans > SCANS {
            true => self.keys.len().checked_sub(1),
            false => (0..self.keys.len()).min_by_key(|&index| self.keys[index]),
        }
    }

    fn sort(&mut self) {
        self.keys.sort_unstable_by(|one, other| other.cmp(one));
        self.scans = SCANS + 1;
    }

    /// The next job that may start. What is free only gets less in a cycle, so the others are left out once.
    fn next_that_may_start(&mut self, wanted: &Wanted<'_>) -> Option<u32> {
        let (jobs, ties) = (self.jobs, self.jobs_of_ties);
        let may_start = |key: Key| {
            let job = &jobs[ties.get(tie(key) as usize).copied().unwrap_or(tie(key)) as usize];
            i64::from(job.processors) <= wanted.most_processors(job.walltime)
        };
        if !self.is_filtered {
            self.keys.retain(|key| may_start(*key));
            self.sort();
            self.is_filtered = true;
        }
        while let Some(key) = self.keys.pop() {
            if may_start(key) {
                return Some(self.job_of(key));
            }
        }
        None
    }
}

impl Candidates for KeyedCandidates<'_> {
    fn next(&mut self, wanted: &Wanted<'_>) -> Option<u32> {
        match wanted {
            Wanted::Any => self.next_of_all(),
            Wanted::ThatMayStart { .. } => self.next_that_may_start(wanted),
        }
    }

    fn started(&mut self, _job: u32) {}
}
