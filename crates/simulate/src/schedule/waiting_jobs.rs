//! The waiting jobs, in the order in which a cycle considers them; as columns with their values under a
//! formula, and the errors that it raises.

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashSet};

use job_sort_formula::diagnostic::Span;
use job_sort_formula::formula::program::Program;
use job_sort_formula::python::{ErrorKind as PythonError, Value};
use job_sort_formula::rank::{
    ColumnError, ColumnScratch, Consequence, InputColumn, OnError, ScoreError, ScorePrecision,
    double_key,
};
use job_sort_formula::schema::FairshareInput;
use jsf_openpbs::cycle::{
    Candidates, Cycle, CycleEvent, JobOrder, MostProcessors, SortedCandidates, UrgentJobs,
};
use jsf_openpbs::share_tree::SharePaths;
use jsf_slurm::priority::age_factor;

use crate::schedule::{Fairshare, OrderRules, SimulationRules};
use crate::workload::{Workload, WorkloadJob};

/// The waiting jobs, each in a row. The rows are in no order.
pub struct WaitingJobs<'p> {
    program: &'p Program,
    workload: &'p Workload,
    order: &'p OrderRules,
    /// A job whose value is at most this is not considered.
    threshold: Option<f64>,
    inputs: Vec<Input>,
    precision: ScorePrecision,
    on_error: OnError,
    /// Whether the values of jobs change while they wait.
    is_dynamic: bool,
    /// The row of each job of the workload.
    rows: Vec<u32>,
    jobs: Vec<u32>,
    processors: Vec<i64>,
    /// The fewest of them; as many as possible if no job waits.
    pub least_processors: i64,
    walltimes: Vec<i64>,
    entities: Vec<u32>,
    waits: Vec<i64>,
    ages: Vec<f64>,
    /// Whether some waiting jobs may not be eligible.
    pub has_accrual: bool,
    accruals: Vec<Accrual>,
    /// By the index of the input.
    logged: Vec<LoggedColumn>,
    /// Of the last evaluation; the jobs that came since have none.
    values: Vec<f64>,
    /// What orders the jobs by these values.
    keys: Vec<Key>,
    /// The job at each place among equal ones; empty if they are in the order of submission.
    jobs_of_ties: Vec<u32>,
    /// Where nothing changes the order of the jobs while they wait.
    ordered: Option<OrderedJobs>,
    /// How many waiting jobs each entity has.
    waiting_of_entity: Vec<u32>,
    /// The jobs that run, where they may give way and wait again.
    running: HashSet<u32>,
    scratch: ColumnScratch,
    failed: Vec<(usize, ScoreError)>,
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
        let changes = waiting.is_dynamic
            || has_accrual
            || rules.order.changes_in_cycle()
            || rules.cycle.levels.is_preemptive
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
        let mut inputs = Vec::new();
        let mut logged = Vec::new();
        let mut is_dynamic = false;
        for name in program.inputs() {
            let input = Input::new(name, workload, rules.max_age);
            if let Input::Logged(index) = input {
                logged.resize_with(logged.len().max(index + 1), LoggedColumn::default);
            }
            is_dynamic |= input.changes();
            inputs.push(input);
        }
        let mut waiting = Self {
            program,
            workload,
            order: &rules.order,
            threshold: rules.threshold,
            inputs,
            precision: rules.precision,
            on_error: rules.on_error,
            is_dynamic,
            rows: vec![NO_ROW; workload.jobs().len()],
            jobs: Vec::new(),
            processors: Vec::new(),
            least_processors: i64::MAX,
            walltimes: Vec::new(),
            entities: Vec::new(),
            waits: Vec::new(),
            ages: Vec::new(),
            has_accrual,
            accruals: Vec::new(),
            logged,
            values: Vec::new(),
            keys: Vec::new(),
            jobs_of_ties: Vec::new(),
            ordered: None,
            waiting_of_entity: vec![0; workload.entities().len()],
            running: HashSet::new(),
            scratch: ColumnScratch::new(),
            failed: Vec::new(),
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
        // a limit on the work of all jobs together says nothing of those that wait at one time
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
        self.rows[job as usize] = self.jobs.len() as u32;
        self.jobs.push(job);
        self.processors.push(of.processors.into());
        self.least_processors = self.least_processors.min(of.processors.into());
        self.walltimes.push(of.walltime);
        self.entities.push(of.entity);
        self.accruals.push(Accrual {
            eligible_time: 0,
            since: of.submit,
            is_eligible: true,
        });
        for (column, amount) in self.logged.iter_mut().zip(self.workload.amounts(of)) {
            column.values.push(amount.value);
            column.is_int.push(amount.is_int);
        }
        self.waiting_of_entity[of.entity as usize] += 1;
        if let Some(ordered) = &mut self.ordered {
            let least = Least {
                processors: of.processors.into(),
                walltime: of.walltime,
            };
            ordered.set(job, least);
        }
    }

    /// Notes that jobs, which have values, do not wait any more.
    pub fn remove(&mut self, jobs: &[u32]) {
        let mut fewest = i64::MAX;
        for &job in jobs {
            let Some(row) = self.row(job) else { continue };
            self.rows[job as usize] = NO_ROW;
            self.running.remove(&job);
            self.jobs.swap_remove(row);
            if let Some(&moved) = self.jobs.get(row) {
                self.rows[moved as usize] = row as u32;
            }
            fewest = fewest.min(self.processors.swap_remove(row));
            self.walltimes.swap_remove(row);
            self.waiting_of_entity[self.entities.swap_remove(row) as usize] -= 1;
            self.values.swap_remove(row);
            self.keys.swap_remove(row);
            self.accruals.swap_remove(row);
            for column in &mut self.logged {
                column.values.swap_remove(row);
                column.is_int.swap_remove(row);
            }
            if let Some(ordered) = &mut self.ordered {
                ordered.set(job, NONE_WAITS);
            }
        }
        if fewest == self.least_processors {
            self.least_processors = self.processors.iter().copied().min().unwrap_or(i64::MAX);
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
        for row in 0..self.jobs.len() {
            if !self.is_considered(row) {
                self.accrue(row, false, now);
            }
        }
        for &(job, is_eligible) in decided {
            if let Some(row) = self.row(job) {
                self.accrue(row, is_eligible, now);
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
            return cycle.run(&mut self.sorted_candidates(fairshare));
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
    ) -> SortedCandidates<SimulatedOrder<'c>> {
        let order = self.order;
        let chooses_queue_first = !order.groups.is_empty();
        let mut places = Vec::new();
        for queue in 0..self.workload.queues().len() as u32 {
            places.push(if chooses_queue_first {
                order.queue_place(queue)
            } else {
                (0, 0)
            });
        }
        SortedCandidates::new(
            self.simulated_order(fairshare),
            &places,
            self.keys().into_iter().map(|key| self.job_of(key)),
            order.takes_turns,
            UrgentJobs::new(chooses_queue_first, order.takes_turns, order.by_fair_share),
        )
    }

    fn simulated_order<'c>(&'c self, fairshare: Option<&'c Fairshare>) -> SimulatedOrder<'c> {
        let fairshare = fairshare.filter(|_| self.order.by_fair_share);
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
        let mut jobs = self.jobs.to_vec();
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
        for (row, key) in self.keys.iter().enumerate() {
            if self.is_considered(row) {
                keys.push(*key);
            }
        }
        keys
    }

    /// Whether the job of a row is considered: it neither runs, nor is it under the threshold.
    fn is_considered(&self, row: usize) -> bool {
        self.keys[row] != NOT_CONSIDERED && !self.is_running(self.jobs[row])
    }

    /// Computes what orders the jobs of the rows from this one on.
    fn set_keys(&mut self, first: usize) {
        self.keys.truncate(first);
        for row in first..self.values.len() {
            let key = self.key(row);
            self.keys.push(key);
        }
    }

    /// What orders the job of a row, if it waits.
    fn key(&self, row: usize) -> Key {
        let value = self.values[row];
        if Some(value) <= self.threshold {
            return NOT_CONSIDERED;
        }
        let job = self.jobs[row];
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
type Key = u128;
/// The key of a job that is not considered, which comes last.
const NOT_CONSIDERED: Key = Key::MAX;

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
        if waiting.has_accrual {
            // where eligibility is noted, it matters how each job is decided
            let mut keys = waiting.keys.to_vec();
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
                self.waiting.first_key(self.last, most)
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
        let value = self.waiting.value(job);
        let place = self.waiting.order.place(self.job(job).queue);
        (place, value.map(double_key))
    }
}

impl JobOrder for SimulatedOrder<'_> {
    fn queue(&self, job: u32) -> usize {
        self.job(job).queue as usize
    }

    fn compare(&mut self, left: u32, right: u32) -> Ordering {
        // where no queue is chosen first, one list has the jobs of express queues before the others
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

    /// Notes what a job asks for that waits from now on, or that it waits no more.
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

/// Where an input of the formula comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Input {
    Processors,
    Walltime,
    /// The time since the submission.
    Wait,
    /// The time since the submission as a part of so many seconds.
    Age(u32),
    Fairshare(FairshareInput),
    /// One that was taken from the log, by its index.
    Logged(usize),
    /// 0 for every job.
    Zero,
}

impl Input {
    fn new(name: &str, workload: &Workload, max_age: Option<u32>) -> Self {
        let computed = match name {
            "age_factor" => max_age.map(Self::Age),
            "ncpus" => Some(Self::Processors),
            "walltime" => Some(Self::Walltime),
            "eligible_time" => Some(Self::Wait),
            _ => FairshareInput::from_name(name).map(Self::Fairshare),
        };
        let logged = workload.input(name).map(Self::Logged);
        computed.or(logged).unwrap_or(Self::Zero)
    }

    /// Whether the input of a job changes while it waits.
    fn changes(self) -> bool {
        matches!(self, Self::Wait | Self::Age(_) | Self::Fairshare(_))
    }
}

/// The numbers of the waiting jobs for an input that was taken from the log.
#[derive(Debug, Default)]
struct LoggedColumn {
    values: Vec<f64>,
    is_int: Vec<bool>,
}

/// Since when a waiting job is eligible or not, and how long it was eligible before.
#[derive(Debug, Clone, Copy)]
struct Accrual {
    eligible_time: i64,
    since: i64,
    is_eligible: bool,
}

impl Accrual {
    fn eligible_time(self, now: i64) -> i64 {
        self.eligible_time
            + if self.is_eligible {
                now - self.since
            } else {
                0
            }
    }

    fn set(&mut self, is_eligible: bool, now: i64) {
        if is_eligible != self.is_eligible {
            *self = Self {
                eligible_time: self.eligible_time(now),
                since: now,
                is_eligible,
            };
        }
    }
}

/// The row of a job that does not wait.
// no Option, since there is one for each job of a log, of which there may be millions
const NO_ROW: u32 = u32::MAX;

impl WaitingJobs<'_> {
    /// The row of a job, if it waits.
    fn row(&self, job: u32) -> Option<usize> {
        let row = self.rows[job as usize];
        (row != NO_ROW).then_some(row as usize)
    }

    /// The value of a waiting job of the last evaluation.
    pub fn value(&self, job: u32) -> Option<f64> {
        self.values.get(self.row(job)?).copied()
    }

    /// The first key after another one whose job asks for at most so much. All rows are looked at,
    /// column by column: this is most of the time of a simulation with a long queue.
    fn first_key(&self, after: Option<Key>, most: MostProcessors) -> Option<Key> {
        let mut first = NOT_CONSIDERED;
        let requests = self.processors.iter().zip(&self.walltimes);
        for (&key, (&processors, &walltime)) in self.keys.iter().zip(requests) {
            if processors <= most.of(walltime) && key < first && Some(key) > after {
                first = key;
            }
        }
        (first != NOT_CONSIDERED).then_some(first)
    }

    /// Whether a job waits.
    pub fn has_waiting(&self) -> bool {
        self.jobs.len() > self.running.len()
    }

    /// Whether a job runs, which may give way and wait again.
    fn is_running(&self, job: u32) -> bool {
        !self.running.is_empty() && self.running.contains(&job)
    }

    /// Notes that a job runs from now on, or waits again. While it runs it does not become older.
    pub fn set_running(&mut self, job: u32, is_running: bool, now: i64) {
        if is_running {
            self.running.insert(job);
        } else {
            self.running.remove(&job);
        }
        if let Some(row) = self.row(job) {
            self.accrue(row, !is_running, now);
        }
    }

    /// Notes whether the job of a row is eligible from now on.
    fn accrue(&mut self, row: usize, is_eligible: bool, now: i64) {
        if self.has_accrual {
            self.accruals[row].set(is_eligible, now);
        }
    }

    /// Computes the values of the waiting jobs, as far as they can have changed, and what orders
    /// the jobs by them.
    pub fn evaluate(
        &mut self,
        now: i64,
        mut fairshare: Option<&mut Fairshare>,
        errors: &mut EvaluationErrors,
    ) -> Result<(), ColumnError> {
        let first = if self.is_dynamic {
            0
        } else {
            self.values.len()
        };
        self.values.resize(self.jobs.len(), 0.0);
        let (mut max_age, mut reads_waits, mut reads_fairshare) = (None, false, false);
        for input in &self.inputs {
            match input {
                Input::Age(seconds) => max_age = Some(*seconds),
                Input::Wait => reads_waits = true,
                Input::Fairshare(_) => reads_fairshare = true,
                _ => {}
            }
        }
        if reads_waits || max_age.is_some() {
            self.waits.clear();
            let waits = self
                .accruals
                .iter()
                .map(|accrual| accrual.eligible_time(now));
            self.waits.extend(waits);
        }
        if let Some(max_age) = max_age {
            self.ages.clear();
            let ages = self.waits.iter().map(|&wait| age_factor(wait, max_age));
            self.ages.extend(ages);
        }
        if reads_fairshare && let Some(fairshare) = &mut fairshare {
            fairshare.assess(&self.waiting_of_entity);
        }
        let column = |input: Input| match input {
            Input::Processors => InputColumn::I64(&self.processors[first..]),
            Input::Walltime => InputColumn::I64(&self.walltimes[first..]),
            Input::Wait => InputColumn::I64(&self.waits[first..]),
            Input::Age(_) => InputColumn::F64(&self.ages[first..]),
            Input::Zero => InputColumn::Same(Value::Int(0)),
            Input::Logged(index) => InputColumn::Mixed {
                values: &self.logged[index].values[first..],
                is_int: &self.logged[index].is_int[first..],
            },
            Input::Fairshare(input) => match &fairshare {
                Some(fairshare) => InputColumn::ByEntity {
                    index: &self.entities[first..],
                    values: fairshare.numbers(input),
                },
                None => InputColumn::Same(Value::Int(0)),
            },
        };
        let mut columns: Vec<(&str, InputColumn<'_>)> = Vec::with_capacity(self.inputs.len());
        for (name, &input) in self.program.inputs().iter().zip(&self.inputs) {
            columns.push((name, column(input)));
        }
        let values = &mut self.values[first..];
        // errors get their value below, where each is also counted
        self.program.score_columns(
            &columns,
            OnError::ZeroLikePbs,
            &mut self.scratch,
            values,
            &mut self.failed,
        )?;
        // the rows are in no order, and the first job of each error is shown
        self.failed.sort_by_key(|(row, _)| self.jobs[first + row]);
        for (row, error) in &self.failed {
            values[*row] = if self.on_error == OnError::Null {
                f64::NEG_INFINITY
            } else {
                0.0
            };
            errors.add(self.jobs[first + row], error);
        }
        if self.precision != ScorePrecision::Double {
            for value in &mut *values {
                *value = self.precision.round(*value);
            }
        }
        // counted first, as that is fast and none is the rule
        if values.iter().filter(|value| value.is_nan()).count() > 0 {
            let mut jobs = Vec::new();
            for (row, value) in values.iter_mut().enumerate() {
                if value.is_nan() {
                    *value = 0.0;
                    jobs.push(self.jobs[first + row]);
                }
            }
            jobs.sort_unstable();
            for job in jobs {
                errors.add_nan(job);
            }
        }
        self.set_keys(first);
        Ok(())
    }
}

/// The jobs for which the formula raised an error, at whatever time.
#[derive(Debug, Clone, Default)]
pub struct EvaluationErrors {
    failed: Vec<bool>,
    jobs: usize,
    kinds: BTreeMap<&'static str, ErrorKind>,
    /// Whether a limit of the evaluation was reached: other jobs, or fewer together, may not reach
    /// it.
    has_reached_limit: bool,
}

/// Errors of one kind.
#[derive(Debug, Clone)]
pub struct ErrorKind {
    /// The number of jobs whose first error is of this kind.
    pub jobs: usize,
    /// The first of these jobs.
    pub job: usize,
    /// Its error.
    pub message: String,
    /// What the scheduler of OpenPBS makes of it.
    pub consequence: Consequence,
    /// The part of the formula that failed; `None` where that cannot be told.
    pub span: Option<Span>,
}

impl EvaluationErrors {
    /// The number of jobs with an error.
    pub fn jobs(&self) -> usize {
        self.jobs
    }

    /// Whether the formula raised an error for a job.
    pub fn has_failed(&self, job: usize) -> bool {
        self.failed.get(job).copied().unwrap_or(false)
    }

    /// The errors by kind.
    pub fn kinds(&self) -> impl Iterator<Item = (&'static str, &ErrorKind)> + '_ {
        self.kinds.iter().map(|(name, kind)| (*name, kind))
    }

    pub(crate) fn add(&mut self, job: u32, error: &ScoreError) {
        self.has_reached_limit |= error.kind() == PythonError::Limit;
        // the text of an error is made for the first job of its kind
        self.note(job, error.kind().description(), || ErrorKind {
            jobs: 0,
            job: job as usize,
            message: error.to_string(),
            consequence: error.consequence(),
            span: Some(error.span()),
        });
    }

    fn add_nan(&mut self, job: u32) {
        self.note(job, "not a number", || ErrorKind {
            jobs: 0,
            job: job as usize,
            message: "the value is not a number (nan)".to_owned(),
            consequence: Consequence::Zero,
            span: None,
        });
    }

    /// Notes an error of a job if it is its first one.
    fn note(&mut self, job: u32, kind: &'static str, first: impl FnOnce() -> ErrorKind) {
        let job = job as usize;
        if self.failed.len() <= job {
            self.failed.resize(job + 1, false);
        }
        if !std::mem::replace(&mut self.failed[job], true) {
            self.jobs += 1;
            self.kinds.entry(kind).or_insert_with(first).jobs += 1;
        }
    }
}
