//! The waiting jobs as candidates of a cycle, in the order of keys that are computed for this cycle.

use jsf_openpbs::cycle::{Candidates, MostProcessors, Wanted};

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
pub(super) struct KeyedCandidates<'c, F> {
    /// The keys of the jobs that fit. Sorted backwards once `scans` is beyond [`SCANS`].
    keys: &'c mut Vec<Key>,
    /// The first of those that do not and were not returned.
    other: NextOther,
    /// Finds the first of them after a key.
    other_after: F,
    scans: u32,
    is_filtered: bool,
    /// Whether those that cannot start are returned too.
    has_all: bool,
    jobs: &'c [WorkloadJob],
    /// The job of each tie; empty if they are the same.
    jobs_of_ties: &'c [u32],
}

/// The next of the jobs that do not fit.
#[derive(Debug, Clone, Copy)]
enum NextOther {
    Known(Option<Key>),
    /// It is looked for when it is asked for, which it mostly is not.
    After(Key),
}

impl<'c, F: Fn(Key) -> Option<Key>> KeyedCandidates<'c, F> {
    /// `keys` are those of the jobs that fit, and `first_other` is that of the first one that does not.
    pub(super) fn new(
        keys: &'c mut Vec<Key>,
        first_other: Option<Key>,
        other_after: F,
        jobs: &'c [WorkloadJob],
        jobs_of_ties: &'c [u32],
    ) -> Self {
        Self {
            keys,
            other: NextOther::Known(first_other),
            other_after,
            scans: 0,
            is_filtered: false,
            has_all: false,
            jobs,
            jobs_of_ties,
        }
    }

    /// Returns all jobs, where it matters how each of them is decided.
    pub(super) fn with_all(self, has_all: bool) -> Self {
        Self { has_all, ..self }
    }

    fn job_of(&self, key: Key) -> u32 {
        job_of(self.jobs_of_ties, key)
    }

    /// The first job, whether it fits or not.
    fn next_of_all(&mut self) -> Option<u32> {
        let fitting = self.first_index();
        let other = match self.other {
            NextOther::Known(other) => other,
            NextOther::After(key) => (self.other_after)(key),
        };
        self.other = NextOther::Known(other);
        if let Some(other) = other.filter(|other| fitting.is_none_or(|index| *other < self.keys[index])) {
            self.other = NextOther::After(other);
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
    fn next_that_may_start(&mut self, most: MostProcessors) -> Option<u32> {
        let (jobs, ties) = (self.jobs, self.jobs_of_ties);
        let may_start = |key: Key| {
            let job = &jobs[job_of(ties, key) as usize];
            i64::from(job.processors) <= most.of(job.walltime)
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

fn job_of(jobs_of_ties: &[u32], key: Key) -> u32 {
    if jobs_of_ties.is_empty() { tie(key) } else { jobs_of_ties[tie(key) as usize] }
}

impl<F: Fn(Key) -> Option<Key>> Candidates for KeyedCandidates<'_, F> {
    fn next(&mut self, wanted: &Wanted<'_>) -> Option<u32> {
        match wanted {
            _ if self.has_all => self.next_of_all(),
            Wanted::Any => self.next_of_all(),
            Wanted::ThatMayStart { .. } => self.next_that_may_start(wanted.most()),
        }
    }

    fn started(&mut self, _job: u32) {}
}
