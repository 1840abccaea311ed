//! Waiting jobs whose order never changes: a tree over all jobs of the workload in that order, in which the next one that fits
//! is found without looking at those that do not.

use jsf_openpbs::cycle::{Candidates, MostProcessors, Wanted};

use super::workload::WorkloadJob;

/// The least that any waiting job of a part of the order asks for.
#[derive(Debug, Clone, Copy)]
struct Least {
    processors: i64,
    walltime: i64,
}

/// Of a part in which no job waits.
const NOTHING: Least = Least { processors: i64::MAX, walltime: i64::MAX };

impl Least {
    fn of_both(self, other: Self) -> Self {
        Self { processors: self.processors.min(other.processors), walltime: self.walltime.min(other.walltime) }
    }

    /// Whether a job of the part may be wanted.
    fn may_be_wanted(self, most: MostProcessors) -> bool {
        self.processors != i64::MAX && self.processors <= most.of(self.walltime)
    }
}

/// The place of a job that is never considered.
const NOT_CONSIDERED: u32 = u32::MAX;

/// The waiting jobs in an order that never changes.
#[derive(Debug)]
pub(super) struct OrderedJobs {
    /// The place of each job in the order.
    places: Vec<u32>,
    /// The job at each place.
    jobs: Vec<u32>,
    /// A complete binary tree: the parts of node `n` are `2 n` and `2 n + 1`, and the leaves are the places.
    least: Vec<Least>,
    leaves: usize,
}

impl OrderedJobs {
    /// No job waits. `jobs` are those of `count` jobs that are considered, in their order.
    pub(super) fn new(jobs: Vec<u32>, count: usize) -> Self {
        let mut places = vec![NOT_CONSIDERED; count];
        for (place, &job) in jobs.iter().enumerate() {
            places[job as usize] = place as u32;
        }
        let leaves = jobs.len().next_power_of_two();
        Self { places, jobs, least: vec![NOTHING; 2 * leaves], leaves }
    }

    pub(super) fn push(&mut self, job: u32, of: &WorkloadJob) {
        self.set(job, Least { processors: of.processors.into(), walltime: of.walltime });
    }

    pub(super) fn remove(&mut self, job: u32) {
        self.set(job, NOTHING);
    }

    /// The fewest processors that a waiting job asks for; as many as possible if none waits.
    pub(super) fn least_processors(&self) -> i64 {
        self.least[1].processors
    }

    fn set(&mut self, job: u32, least: Least) {
        let place = self.places[job as usize];
        if place == NOT_CONSIDERED {
            return;
        }
        let mut node = self.leaves + place as usize;
        self.least[node] = least;
        while node > 1 {
            node /= 2;
            self.least[node] = self.least[2 * node].of_both(self.least[2 * node + 1]);
        }
    }

    /// The first place from this one on whose job is wanted.
    fn find(&self, from: usize, most: MostProcessors) -> Option<usize> {
        let is_wanted = |node: usize| self.least[node].may_be_wanted(most);
        let mut node = self.leaves + from;
        if from >= self.leaves {
            return None;
        }
        // up to the right until a part can have one, then down to the first one
        loop {
            if is_wanted(node) {
                if node >= self.leaves {
                    return Some(node - self.leaves);
                }
                node *= 2;
                continue;
            }
            while node % 2 == 1 {
                node /= 2;
            }
            if node == 0 {
                return None;
            }
            node += 1;
        }
    }

    /// The candidates of a cycle.
    pub(super) fn candidates(&self) -> OrderedCandidates<'_> {
        OrderedCandidates { jobs: self, next: 0 }
    }
}

/// The candidates of one cycle.
pub(super) struct OrderedCandidates<'j> {
    jobs: &'j OrderedJobs,
    /// The place after that of the job that was returned last.
    next: usize,
}

impl Candidates for OrderedCandidates<'_> {
    fn next(&mut self, wanted: &Wanted<'_>) -> Option<u32> {
        let place = self.jobs.find(self.next, wanted.most())?;
        self.next = place + 1;
        self.jobs.jobs.get(place).copied()
    }

    fn started(&mut self, _job: u32) {}
}
