//! Waiting jobs whose order never changes: the next one that fits is found without looking at those
//! that do not. With 10,000 waiting jobs a simulation takes less than a tenth of the time.

use jsf_openpbs::cycle::{Candidates, Cycle, MostProcessors};

use crate::workload::WorkloadJob;

/// The least that any waiting job of a part of the order asks for.
#[derive(Debug, Clone, Copy)]
struct Least {
    processors: i64,
    walltime: i64,
}

/// Of a part in which no job waits.
const NONE_WAITS: Least = Least {
    processors: i64::MAX,
    walltime: i64::MAX,
};

/// The place of a job that is never considered.
const NO_PLACE: u32 = u32::MAX;

/// The waiting jobs in an order that never changes.
#[derive(Debug)]
pub struct OrderedJobs {
    /// The place of each job of the workload in the order.
    places: Vec<u32>,
    /// The job at each place.
    jobs: Vec<u32>,
    /// A complete binary tree: the parts of node `n` are `2 n` and `2 n + 1`, and the second half of
    /// the nodes are the leaves, one for each place.
    least: Vec<Least>,
}

impl OrderedJobs {
    /// No job waits yet. `jobs` are those of `count` that are ever considered, in their order.
    pub fn new(jobs: Vec<u32>, count: usize) -> Self {
        let mut places = vec![NO_PLACE; count];
        for (&job, place) in jobs.iter().zip(0..) {
            places[job as usize] = place;
        }
        let least = vec![NONE_WAITS; 2 * jobs.len().next_power_of_two()];
        Self {
            places,
            jobs,
            least,
        }
    }

    pub fn push(&mut self, job: u32, of: &WorkloadJob) {
        let least = Least {
            processors: of.processors.into(),
            walltime: of.walltime,
        };
        self.set(job, least);
    }

    pub fn remove(&mut self, job: u32) {
        self.set(job, NONE_WAITS);
    }

    fn set(&mut self, job: u32, least: Least) {
        let place = self.places[job as usize];
        if place == NO_PLACE {
            return;
        }
        let mut node = self.least.len() / 2 + place as usize;
        self.least[node] = least;
        while node > 1 {
            node /= 2;
            let [left, right] = [self.least[2 * node], self.least[2 * node + 1]];
            self.least[node] = Least {
                processors: left.processors.min(right.processors),
                walltime: left.walltime.min(right.walltime),
            };
        }
    }

    /// The first place from this one on whose job asks for at most so much, and the job.
    fn first(&self, from: usize, most: MostProcessors) -> Option<(usize, u32)> {
        let places = self.least.len() / 2;
        if from >= places {
            return None;
        }
        let mut node = places + from;
        loop {
            let Least {
                processors,
                walltime,
            } = self.least[node];
            let may_have_one = processors != i64::MAX && processors <= most.of(walltime);
            if may_have_one && node >= places {
                return Some((node - places, self.jobs[node - places]));
            }
            if may_have_one {
                node *= 2;
                continue;
            }
            // to the next part that is no part of this one
            node += 1;
            while node.is_multiple_of(2) {
                node /= 2;
            }
            if node == 1 {
                return None;
            }
        }
    }
}

/// The candidates of one cycle, from a place on.
pub struct OrderedCandidates<'j>(pub &'j OrderedJobs, pub usize);

impl Candidates for OrderedCandidates<'_> {
    fn next(&mut self, cycle: &Cycle<'_>) -> Option<u32> {
        let (place, job) = self.0.first(self.1, cycle.most_processors())?;
        self.1 = place + 1;
        Some(job)
    }
}
