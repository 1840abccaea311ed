//! The waiting jobs, in the order in which a cycle considers them.

use std::cmp::Ordering;

use job_sort_formula::formula::program::Program;
use job_sort_formula::rank::{ColumnError, double_key};
use jsf_openpbs::cycle::{
    Candidates, Cycle, CycleEvent, JobOrder, MostProcessors, SortedCandidates, UrgentJobs,
};
use jsf_openpbs::share_tree::SharePaths;

use super::fairshare::Fairshare;
use super::simulation_rules::{OrderRules, SimulationRules};
use super::valued_jobs::{EvaluationErrors, ValuedJobs};
use crate::workload::{Workload, WorkloadJob};

/// The waiting jobs.
pub struct WaitingJobs<'p> {
    workload: &'p Workload,
    order: &'p OrderRules,
    /// A job whose value is at most this is not considered.
    threshold: Option<f64>,
    /// The job at each place among equal ones; empty if they are in the order of submission.
    jobs_of_ties: Vec<u32>,
    pub valued: ValuedJobs<'p>,
    /// Where nothing changes the order of the jobs while they wait.
    ordered: Option<OrderedJobs>,
}

impl<'p> WaitingJobs<'p> {
    /// No job waits yet. `too_large` never will.
    pub fn new(
        program: &'p Program,
        workload: &'p Workload,
        rules: &'p SimulationRules,
        has_accrual: bool,
        too_large: &[usize],
    ) -> Result<Self, ColumnError> {
        let mut waiting = Self::empty(program, workload, rules, has_accrual);
        let changes = waiting.valued.is_dynamic
            || has_accrual
            || rules.order.changes_in_cycle()
            || rules.cycle.levels.is_some()
            || rules.non_prime.is_some();
        if !changes {
            let all = Self::empty(program, workload, rules, has_accrual);
            waiting.ordered = all.into_order(too_large)?;
        }
        Ok(waiting)
    }

    fn empty(
        program: &'p Program,
        workload: &'p Workload,
        rules: &'p SimulationRules,
        has_accrual: bool,
    ) -> Self {
        let mut waiting = Self {
            workload,
            order: &rules.order,
            threshold: rules.threshold,
            jobs_of_ties: Vec::new(),
            valued: ValuedJobs::new(program, workload, rules, has_accrual),
            ordered: None,
        };
        waiting.set_order(&rules.order);
        waiting
    }

    /// The order of all jobs of the workload. `None` if their values together take too long: those
    /// of the jobs of a cycle may not.
    fn into_order(mut self, too_large: &[usize]) -> Result<Option<OrderedJobs>, ColumnError> {
        let jobs = self.workload.jobs();
        for (index, job) in jobs.iter().enumerate() {
            if too_large.binary_search(&index).is_err() {
                self.push(index as u32, job);
            }
        }
        let mut errors = EvaluationErrors::default();
        self.evaluate(0, None, &mut errors)?;
        if errors.has_reached_limit {
            return Ok(None);
        }
        let mut keys = self.keys();
        keys.sort_unstable();
        let ordered = keys.into_iter().map(|key| self.job_of(key)).collect();
        Ok(Some(OrderedJobs::new(ordered, jobs.len())))
    }

    /// Notes that a job waits from now on, unless its queue is stopped.
    pub fn push(&mut self, job: u32, of: &WorkloadJob) {
        if self.order.is_stopped(of.queue) {
            return;
        }
        self.valued.push(job, of);
        if let Some(ordered) = &mut self.ordered {
            ordered.push(job, of);
        }
    }

    /// Notes that jobs, which have values, do not wait any more.
    pub fn remove(&mut self, jobs: &[u32]) {
        self.valued.remove(jobs);
        if let Some(ordered) = &mut self.ordered {
            for &job in jobs {
                ordered.remove(job);
            }
        }
    }

    /// Sets what orders the jobs from now on.
    pub fn set_order(&mut self, order: &'p OrderRules) {
        self.order = order;
        self.jobs_of_ties = vec![0; order.ties.len()];
        for (&tie, job) in order.ties.iter().zip(0..) {
            self.jobs_of_ties[tie as usize] = job;
        }
        self.set_keys(0);
    }

    /// Notes which jobs were found eligible or not by a cycle. One that is not considered is not.
    pub fn set_eligible(&mut self, now: i64, decided: &[(u32, bool)]) {
        for row in 0..self.valued.jobs.len() {
            if !self.is_considered(row) {
                self.valued.set_eligible(row, false, now);
            }
        }
        for &(job, is_eligible) in decided {
            if let Some(row) = self.valued.row(job) {
                self.valued.set_eligible(row, is_eligible, now);
            }
        }
    }

    /// Lets a cycle decide the jobs.
    pub fn decide(
        &self,
        cycle: &mut Cycle<'_>,
        has_levels: bool,
        fairshare: Option<&Fairshare>,
    ) -> Vec<CycleEvent> {
        if self.order.changes_in_cycle() || has_levels {
            return cycle.run(&mut self.sorted_candidates(fairshare, has_levels));
        }
        match &self.ordered {
            Some(ordered) => cycle.run(&mut OrderedCandidates(ordered, 0)),
            None => cycle.run(&mut ValuedCandidates::new(self)),
        }
    }

    /// The jobs of queues that take turns, or that fair share orders again after each start.
    fn sorted_candidates<'c>(
        &'c self,
        fairshare: Option<&'c Fairshare>,
        has_levels: bool,
    ) -> SortedCandidates<SimulatedOrder<'c>> {
        let queues = 0..self.workload.queues().len() as u32;
        let places: Vec<_> = queues
            .map(|queue| self.order.group(queue, has_levels))
            .collect();
        let keys = self.keys().into_iter();
        let is_by_queue = has_levels && !self.order.takes_turns && !self.order.groups.is_empty();
        let urgent = match (is_by_queue, self.order.by_fair_share) {
            (true, true) => UrgentJobs::QueueByQueue,
            (true, false) => UrgentJobs::OfAll,
            (false, _) => UrgentJobs::None,
        };
        SortedCandidates::new(
            self.simulated_order(fairshare),
            &places,
            keys.map(|key| self.job_of(key)),
            self.order.takes_turns,
            urgent,
        )
    }

    fn simulated_order<'c>(&'c self, fairshare: Option<&'c Fairshare>) -> SimulatedOrder<'c> {
        let fairshare = if self.order.by_fair_share {
            fairshare
        } else {
            None
        };
        SimulatedOrder {
            waiting: self,
            paths: fairshare.map(Fairshare::paths).unwrap_or_default(),
            fairshare,
        }
    }

    /// All jobs in the order in which those give way that started in the same second: queue by
    /// queue, in a queue by the order of the scheduler, which sorts them only where it chooses the
    /// queue first.
    pub fn in_order_of_giving_way(&self, fairshare: Option<&Fairshare>) -> Vec<u32> {
        let mut order = self.simulated_order(fairshare);
        let sorts_queues = !self.order.groups.is_empty();
        let mut jobs = self.valued.jobs.to_vec();
        jobs.sort_by(|&left, &right| {
            match self.place_of_queue(left).cmp(&self.place_of_queue(right)) {
                Ordering::Equal if sorts_queues => order.compare(left, right),
                Ordering::Equal => left.cmp(&right),
                by_place => by_place,
            }
        });
        jobs
    }

    /// The place of the queue of a job.
    fn place_of_queue(&self, job: u32) -> (u32, u32) {
        let queue = self.workload.jobs()[job as usize].queue;
        self.order.queue_place(queue)
    }

    /// What orders the jobs that are considered.
    fn keys(&self) -> Vec<Key> {
        let mut keys = Vec::new();
        for (row, key) in self.valued.keys.iter().enumerate() {
            if self.is_considered(row) {
                keys.push(*key);
            }
        }
        keys
    }

    /// Whether the job of a row is considered: it neither runs, nor is it under the threshold.
    fn is_considered(&self, row: usize) -> bool {
        self.valued.keys[row] != NOT_CONSIDERED && !self.valued.is_running(self.valued.jobs[row])
    }

    /// Computes the values of the waiting jobs, and what orders these by them.
    pub fn evaluate(
        &mut self,
        now: i64,
        fairshare: Option<&mut Fairshare>,
        errors: &mut EvaluationErrors,
    ) -> Result<(), ColumnError> {
        let first = self.valued.evaluate(now, fairshare, errors)?;
        self.set_keys(first);
        Ok(())
    }

    /// Computes what orders the jobs of the rows from this one on.
    fn set_keys(&mut self, first: usize) {
        self.valued.keys.truncate(first);
        for row in first..self.valued.values.len() {
            let key = self.key(row);
            self.valued.keys.push(key);
        }
    }

    /// What orders the job of a row, if it waits.
    fn key(&self, row: usize) -> Key {
        let value = self.valued.values[row];
        if Some(value) <= self.threshold {
            return NOT_CONSIDERED;
        }
        let job = self.valued.jobs[row];
        let places = &self.order.places;
        let place = if places.is_empty() {
            0
        } else {
            self.order.place(self.workload.jobs()[job as usize].queue)
        };
        Key::from(place) << 96 | Key::from(double_key(value)) << 32 | Key::from(self.order.tie(job))
    }

    fn job_of(&self, key: Key) -> u32 {
        let tie = key as u32;
        self.jobs_of_ties.get(tie as usize).copied().unwrap_or(tie)
    }
}

/// What orders a waiting job, in one number: the place of its queue, its value, and its place among
/// equal ones, which identifies it. The one that comes first is the smallest.
pub type Key = u128;
/// The key of a job that is not considered, which comes last.
pub const NOT_CONSIDERED: Key = Key::MAX;

/// The jobs by their values as candidates of one cycle. Few of them start in a cycle, so that the
/// next one is looked for among all jobs each time.
struct ValuedCandidates<'c> {
    waiting: &'c WaitingJobs<'c>,
    /// The key of the job that was returned last.
    last: Option<Key>,
    /// The jobs that are left, the first one last, where each is asked for.
    all: Option<Vec<Key>>,
}

impl<'c> ValuedCandidates<'c> {
    fn new(waiting: &'c WaitingJobs<'c>) -> Self {
        let mut all = None;
        if waiting.valued.has_accrual {
            // where eligibility is noted, it matters how each job is decided
            let mut keys = waiting.valued.keys.to_vec();
            keys.retain(|key| *key != NOT_CONSIDERED);
            keys.sort_unstable_by(|left, right| right.cmp(left));
            all = Some(keys);
        }
        Self {
            waiting,
            last: None,
            all,
        }
    }
}

impl Candidates for ValuedCandidates<'_> {
    fn next(&mut self, cycle: &Cycle<'_>) -> Option<u32> {
        let key = match &mut self.all {
            Some(all) => all.pop(),
            None => {
                let most = cycle.most_processors();
                self.waiting.valued.first_key(self.last, most)
            }
        };
        self.last = key;
        Some(self.waiting.job_of(key?))
    }
}

/// The order of the waiting jobs of a queue, which fair share changes in a cycle.
struct SimulatedOrder<'c> {
    waiting: &'c WaitingJobs<'c>,
    /// By entity; none if fair share does not order jobs.
    paths: SharePaths,
    fairshare: Option<&'c Fairshare>,
}

impl SimulatedOrder<'_> {
    fn job(&self, job: u32) -> &WorkloadJob {
        &self.waiting.workload.jobs()[job as usize]
    }

    fn place_and_value(&self, job: u32) -> (u32, Option<u64>) {
        let value = self.waiting.valued.value(job);
        let place = self.waiting.order.place(self.job(job).queue);
        (place, value.map(double_key))
    }
}

impl JobOrder for SimulatedOrder<'_> {
    fn queue(&self, job: u32) -> usize {
        self.job(job).queue as usize
    }

    fn compare(&mut self, left: u32, right: u32) -> Ordering {
        // within a group only jobs that have levels are at several places
        let by_value = self.place_and_value(left).cmp(&self.place_and_value(right));
        if by_value.is_ne() {
            return by_value;
        }
        let [of_left, of_right] = [left, right].map(|job| self.job(job).entity as usize);
        let by_share = self.paths.compare(of_left, of_right);
        let order = self.waiting.order;
        by_share.then(order.tie(left).cmp(&order.tie(right)))
    }

    fn charge(&mut self, job: u32) -> bool {
        let Some(fairshare) = self.fairshare else {
            return false;
        };
        let job = self.job(job);
        let (entity, charge) = (job.entity as usize, fairshare.measure.requested(job));
        self.paths.charge(entity, charge)
    }
}

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

/// The waiting jobs in an order that never changes: the next one that fits is found without looking
/// at those that do not. With 10,000 waiting jobs a simulation takes less than a tenth of the time.
#[derive(Debug)]
struct OrderedJobs {
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
    fn new(jobs: Vec<u32>, count: usize) -> Self {
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

    fn push(&mut self, job: u32, of: &WorkloadJob) {
        let least = Least {
            processors: of.processors.into(),
            walltime: of.walltime,
        };
        self.set(job, least);
    }

    fn remove(&mut self, job: u32) {
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
struct OrderedCandidates<'j>(&'j OrderedJobs, usize);

impl Candidates for OrderedCandidates<'_> {
    fn next(&mut self, cycle: &Cycle<'_>) -> Option<u32> {
        let (place, job) = self.0.first(self.1, cycle.most_processors())?;
        self.1 = place + 1;
        Some(job)
    }
}
