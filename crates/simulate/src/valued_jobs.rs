//! Waiting jobs as columns, and their values under a formula, which are computed in each cycle.

use std::cmp::Ordering;

use job_sort_formula::formula::program::Program;
use job_sort_formula::python::Value;
use job_sort_formula::rank::{
    ColumnError, ColumnScratch, InputColumn, OnError, ScoreError, ScorePrecision, double_key,
};
use job_sort_formula::schema::FairshareInput;

use jsf_openpbs::cycle::{Cycle, JobOrder, SortedCandidates};
use jsf_openpbs::share_tree::SharePath;

use super::errors::EvaluationErrors;
use super::fairshare::{EntityNumbers, Fairshare};
use super::jobs::RequestedJobs;
use super::keyed_candidates::{Key, KeyedCandidates, key};
use super::rules::OrderRules;
use super::schedule::Outcome;
use super::workload::{Workload, WorkloadJob};

/// Where an input of the formula comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Input {
    Processors,
    Walltime,
    /// The time since the submission.
    Wait,
    Fairshare(FairshareInput),
    /// One that was taken from the log, by its index.
    Logged(usize),
    /// 0 for every job.
    Zero,
}

impl Input {
    fn new(name: &str, workload: &Workload) -> Self {
        let logged = || workload.input(name).map_or(Self::Zero, Self::Logged);
        match name {
            "ncpus" => Self::Processors,
            "walltime" => Self::Walltime,
            "eligible_time" => Self::Wait,
            _ => FairshareInput::from_name(name).map_or_else(logged, Self::Fairshare),
        }
    }

    /// Whether the input of a job changes while it waits.
    fn changes(self) -> bool {
        matches!(self, Self::Wait | Self::Fairshare(_))
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
        self.eligible_time + if self.is_eligible { now - self.since } else { 0 }
    }

    fn set(&mut self, is_eligible: bool, now: i64) {
        if is_eligible != self.is_eligible {
            *self = Self { eligible_time: self.eligible_time(now), since: now, is_eligible };
        }
    }
}

/// Waiting jobs, in the order of their submission.
pub(super) struct ValuedJobs<'p> {
    program: &'p Program,
    workload: &'p Workload,
    inputs: Vec<Input>,
    precision: ScorePrecision,
    on_error: OnError,
    threshold: Option<f64>,
    /// Whether the values of jobs change while they wait.
    is_dynamic: bool,
    jobs: Vec<u32>,
    processors: Vec<i64>,
    /// The fewest of them; as many as possible if no job waits.
    least_processors: i64,
    walltimes: Vec<i64>,
    submits: Vec<i64>,
    entities: Vec<u32>,
    waits: Vec<i64>,
    /// Of every job; `None` if all that wait are eligible.
    accruals: Option<Vec<Accrual>>,
    /// By the index of the input.
    logged: Vec<LoggedColumn>,
    /// The value of each job, of the last evaluation.
    values: Vec<f64>,
    /// How many waiting jobs each entity has.
    waiting_of_entity: Vec<u32>,
    scratch: ColumnScratch,
    failed: Vec<(usize, ScoreError)>,
    /// The keys of the jobs that fit.
    keys: Vec<Key>,
    /// The job of each tie, if they differ.
    jobs_of_ties: Vec<u32>,
    /// By job of the workload, for [`SortedCandidates`].
    subjobs: Vec<u32>,
    values_by_job: Vec<u64>,
}

impl<'p> ValuedJobs<'p> {
    pub(super) fn new(
        program: &'p Program,
        workload: &'p Workload,
        order: &OrderRules,
        threshold: Option<f64>,
        has_accrual: bool,
        (precision, on_error): (ScorePrecision, OnError),
    ) -> Self {
        let inputs: Vec<Input> = program.inputs().iter().map(|name| Input::new(name, workload)).collect();
        let columns =
            inputs.iter().filter_map(|input| if let Input::Logged(index) = input { Some(index + 1) } else { None });
        let columns = columns.max().unwrap_or(0);
        let mut jobs_of_ties = vec![0; order.ties.len()];
        for (&tie, job) in order.ties.iter().zip(0..) {
            jobs_of_ties[tie as usize] = job;
        }
        Self {
            program,
            workload,
            logged: std::iter::repeat_with(LoggedColumn::default).take(columns).collect(),
            is_dynamic: inputs.iter().any(|input| input.changes()),
            inputs,
            precision,
            on_error,
            threshold,
            jobs: Vec::new(),
            processors: Vec::new(),
            least_processors: i64::MAX,
            walltimes: Vec::new(),
            submits: Vec::new(),
            entities: Vec::new(),
            waits: Vec::new(),
            accruals: has_accrual.then(Vec::new),
            values: Vec::new(),
            waiting_of_entity: vec![0; workload.entities().len()],
            scratch: ColumnScratch::new(),
            failed: Vec::new(),
            keys: Vec::new(),
            jobs_of_ties,
            subjobs: Vec::new(),
            values_by_job: Vec::new(),
        }
    }

    /// Whether the values of jobs change while they wait.
    pub(super) fn is_dynamic(&self) -> bool {
        self.is_dynamic
    }

    /// Whether some waiting jobs may not be eligible.
    pub(super) fn has_accrual(&self) -> bool {
        self.accruals.is_some()
    }

    /// The job at a place among equal ones.
    pub(super) fn job_of_tie(&self, tie: u32) -> u32 {
        self.jobs_of_ties.get(tie as usize).copied().unwrap_or(tie)
    }

    pub(super) fn len(&self) -> usize {
        self.jobs.len()
    }

    pub(super) fn push(&mut self, job: u32, of: &WorkloadJob) {
        self.jobs.push(job);
        self.processors.push(of.processors.into());
        self.least_processors = self.least_processors.min(of.processors.into());
        self.walltimes.push(of.walltime);
        self.submits.push(of.submit);
        self.entities.push(of.entity);
        if let Some(accruals) = &mut self.accruals {
            accruals.push(Accrual { eligible_time: 0, since: of.submit, is_eligible: true });
        }
        for (column, amount) in self.logged.iter_mut().zip(self.workload.amounts(of)) {
            column.values.push(amount.value);
            column.is_int.push(amount.is_int);
        }
        self.waiting_of_entity[of.entity as usize] += 1;
    }

    /// The fewest processors that a waiting job asks for; as many as possible if none waits.
    pub(super) fn least_processors(&self) -> i64 {
        self.least_processors
    }

    /// The value of a waiting job of the last evaluation.
    pub(super) fn value(&self, job: u32) -> Option<f64> {
        self.values.get(self.jobs.binary_search(&job).ok()?).copied()
    }

    /// The values of jobs of the workload at these times, where no tree is needed.
    pub(super) fn values_at(mut self, times: Vec<(u32, i64)>) -> Result<Vec<(u32, f64)>, ColumnError> {
        for &(job, time) in &times {
            // evaluated at 0, so that it waits as long as until that time
            let mut moved = self.workload.jobs()[job as usize];
            moved.submit -= time;
            self.push(job, &moved);
        }
        self.evaluate(0, None, &mut EvaluationErrors::default())?;
        Ok(self.jobs.into_iter().zip(self.values).collect())
    }

    /// Removes jobs.
    pub(super) fn remove(&mut self, jobs: &[u32]) {
        if jobs.is_empty() {
            return;
        }
        let mut rows: Vec<usize> = jobs.iter().filter_map(|job| self.jobs.binary_search(job).ok()).collect();
        rows.sort_unstable();
        let rows = &rows[..];
        let has_least = rows.iter().any(|&row| self.processors[row] == self.least_processors);
        for &row in rows {
            self.waiting_of_entity[self.entities[row] as usize] -= 1;
        }
        remove_rows(&mut self.jobs, rows);
        remove_rows(&mut self.processors, rows);
        remove_rows(&mut self.walltimes, rows);
        remove_rows(&mut self.submits, rows);
        remove_rows(&mut self.entities, rows);
        remove_rows(&mut self.values, rows);
        if let Some(accruals) = &mut self.accruals {
            remove_rows(accruals, rows);
        }
        for column in &mut self.logged {
            remove_rows(&mut column.values, rows);
            remove_rows(&mut column.is_int, rows);
        }
        if has_least {
            self.least_processors = self.processors.iter().copied().min().unwrap_or(i64::MAX);
        }
    }

    /// Notes which jobs were found eligible or not by a cycle. One under the threshold is not.
    pub(super) fn set_eligible(&mut self, now: i64, decided: &[(u32, bool)]) {
        let Some(accruals) = &mut self.accruals else { return };
        let threshold = self.threshold;
        for (accrual, _) in accruals.iter_mut().zip(&self.values).filter(|(_, value)| is_under(threshold, **value)) {
            accrual.set(false, now);
        }
        for &(job, is_eligible) in decided {
            if let Ok(row) = self.jobs.binary_search(&job) {
                accruals[row].set(is_eligible, now);
            }
        }
    }

    /// The keys of all waiting jobs that are considered.
    pub(super) fn keys<'k>(&'k self, order: &'k OrderRules) -> impl Iterator<Item = (Key, i64)> + 'k {
        let rows = self.jobs.iter().zip(&self.values).zip(&self.processors);
        let considered = rows.filter(|((_, value), _)| !is_under(self.threshold, **value));
        considered.map(|((&job, &value), &processors)| {
            let place = if order.places.is_empty() { 0 } else { order.place(self.workload.jobs()[job as usize].queue) };
            (key(place, double_key(value), order.tie(job)), processors)
        })
    }

    /// Lets a cycle decide the jobs, of which `free` processors can be given to one.
    pub(super) fn decide(
        &mut self,
        mut cycle: Cycle<'_, RequestedJobs<'_>>,
        free: i64,
        order: &OrderRules,
        fairshare: Option<&Fairshare>,
        outcome: &mut Outcome<'_>,
    ) {
        if order.takes_turns || order.by_fair_share {
            return self.decide_sorted(cycle, order, fairshare, outcome);
        }
        let mut keys = std::mem::take(&mut self.keys);
        keys.clear();
        // where eligibility is noted, every job is decided
        let fitting = if self.has_accrual() { i64::MAX } else { free };
        let first_other = match order.places.is_empty() && order.ties.is_empty() && self.threshold.is_none() {
            true => self.split_by_value(fitting, &mut keys),
            false => self.split_by_key(fitting, order, &mut keys),
        };
        let other_after = |after: Key| {
            let others = self.keys(order).filter(|(key, processors)| *processors > fitting && *key > after);
            others.map(|(key, _)| key).min()
        };
        let jobs = self.workload.jobs();
        let candidates = KeyedCandidates::new(&mut keys, first_other, other_after, jobs, &self.jobs_of_ties);
        cycle.run(&mut candidates.with_all(self.has_accrual()), outcome);
        self.keys = keys;
    }

    /// Collects the keys of the jobs that fit, and returns the first of the others.
    fn split_by_key(&self, fitting: i64, order: &OrderRules, keys: &mut Vec<Key>) -> Option<Key> {
        let mut first_other: Option<Key> = None;
        for (key, processors) in self.keys(order) {
            match processors <= fitting {
                true => keys.push(key),
                false => first_other = Some(first_other.map_or(key, |first| first.min(key))),
            }
        }
        first_other
    }

    /// The same where nothing but the value and the submission orders the jobs: the others are compared by their values, of
    /// which no key is made.
    fn split_by_value(&self, fitting: i64, keys: &mut Vec<Key>) -> Option<Key> {
        let mut first_other: Option<usize> = None;
        let mut highest = f64::NEG_INFINITY;
        for (row, (&value, &processors)) in self.values.iter().zip(&self.processors).enumerate() {
            if processors <= fitting {
                keys.push(key(0, double_key(value), self.jobs[row]));
            } else if value > highest || first_other.is_none() {
                highest = value;
                first_other = Some(row);
            }
        }
        first_other.map(|row| key(0, double_key(self.values[row]), self.jobs[row]))
    }

    /// Lets a cycle decide the jobs of queues that take turns, or that fair share orders again after each start.
    fn decide_sorted(
        &mut self,
        mut cycle: Cycle<'_, RequestedJobs<'_>>,
        order: &OrderRules,
        fairshare: Option<&Fairshare>,
        outcome: &mut Outcome<'_>,
    ) {
        let jobs = self.workload.jobs();
        self.subjobs.resize(jobs.len(), 1);
        self.values_by_job.resize(jobs.len(), 0);
        let mut lists: std::collections::BTreeMap<(u32, u32), Vec<u32>> = std::collections::BTreeMap::new();
        for (&job, &value) in self.jobs.iter().zip(&self.values) {
            if is_under(self.threshold, value) {
                continue;
            }
            self.values_by_job[job as usize] = double_key(value);
            let queue = jobs[job as usize].queue;
            lists.entry((order.place(queue), order.turn(queue))).or_default().push(job);
        }
        let mut groups: Vec<(u32, Vec<Vec<u32>>)> = Vec::new();
        for ((place, _), list) in lists {
            match groups.last_mut().filter(|(last, _)| *last == place) {
                Some((_, queues)) => queues.push(list),
                None => groups.push((place, vec![list])),
            }
        }
        let groups = groups.into_iter().map(|(_, queues)| queues).collect();
        let fairshare = fairshare.filter(|_| order.by_fair_share);
        let order_of_jobs = SimulatedOrder {
            jobs,
            order,
            values: &self.values_by_job,
            paths: fairshare.map(Fairshare::paths).unwrap_or_default(),
            fairshare,
        };
        let mut candidates = SortedCandidates::new(order_of_jobs, groups, order.takes_turns, &mut self.subjobs);
        cycle.run(&mut candidates, outcome);
    }

    /// Computes the values of the waiting jobs, as far as they can have changed. Returns their number.
    pub(super) fn evaluate(
        &mut self,
        now: i64,
        fairshare: Option<&mut Fairshare>,
        errors: &mut EvaluationErrors,
    ) -> Result<usize, ColumnError> {
        let first = if self.is_dynamic { 0 } else { self.values.len() };
        self.values.resize(self.len(), 0.0);
        if self.inputs.contains(&Input::Wait) {
            self.waits.clear();
            match &self.accruals {
                Some(accruals) => self.waits.extend(accruals.iter().map(|accrual| accrual.eligible_time(now))),
                None => self.waits.extend(self.submits.iter().map(|submit| now - submit)),
            }
        }
        let none = EntityNumbers::default();
        let mut numbers = &none;
        if let Some(fairshare) = fairshare {
            if self.inputs.iter().any(|input| matches!(input, Input::Fairshare(_))) {
                let needs_factor = self.inputs.contains(&Input::Fairshare(FairshareInput::Factor));
                fairshare.assess(needs_factor, |entity| self.waiting_of_entity[entity] > 0);
            }
            numbers = &fairshare.numbers;
        }
        let column = |input: Input| match input {
            Input::Processors => InputColumn::I64(&self.processors[first..]),
            Input::Walltime => InputColumn::I64(&self.walltimes[first..]),
            Input::Wait => InputColumn::I64(&self.waits[first..]),
            Input::Zero => InputColumn::Same(Value::Int(0)),
            Input::Logged(index) => InputColumn::Mixed {
                values: &self.logged[index].values[first..],
                is_int: &self.logged[index].is_int[first..],
            },
            Input::Fairshare(input) => {
                let values = match input {
                    FairshareInput::Perc => &numbers.perc,
                    FairshareInput::TreeUsage => &numbers.tree_usage,
                    FairshareInput::Factor => &numbers.factor,
                };
                match values.is_empty() {
                    true => InputColumn::Same(Value::Int(0)),
                    false => InputColumn::ByEntity { index: &self.entities[first..], values },
                }
            }
        };
        let names = self.program.inputs().iter().map(|name| &**name);
        let columns: Vec<(&str, InputColumn<'_>)> = names.zip(self.inputs.iter().map(|&input| column(input))).collect();
        let values = &mut self.values[first..];
        self.program.score_columns(&columns, OnError::ZeroLikePbs, &mut self.scratch, values, &mut self.failed)?;
        for (row, error) in &self.failed {
            values[*row] = if self.on_error == OnError::Null { f64::NEG_INFINITY } else { 0.0 };
            errors.add(self.jobs[first + row], error);
        }
        if self.precision != ScorePrecision::Double {
            values.iter_mut().for_each(|value| *value = self.precision.round(*value));
        }
        if values.iter().fold(false, |has_nan, value| has_nan | value.is_nan()) {
            for (row, value) in values.iter_mut().enumerate().filter(|(_, value)| value.is_nan()) {
                *value = 0.0;
                errors.add_nan(self.jobs[first + row]);
            }
        }
        Ok(self.len() - first)
    }
}

/// Whether a job with a value is not considered.
fn is_under(threshold: Option<f64>, value: f64) -> bool {
    threshold.is_some_and(|threshold| value <= threshold)
}

/// The order of the waiting jobs of a queue, which fair share changes in a cycle.
struct SimulatedOrder<'c> {
    jobs: &'c [WorkloadJob],
    order: &'c OrderRules,
    /// The sort key of the value of each job.
    values: &'c [u64],
    /// By entity; none if fair share does not order jobs.
    paths: Vec<SharePath>,
    fairshare: Option<&'c Fairshare>,
}

impl JobOrder for SimulatedOrder<'_> {
    fn compare(&mut self, left: u32, right: u32) -> Ordering {
        let path = |job: u32| self.paths.get(self.jobs[job as usize].entity as usize);
        let by_fair_share = || match (path(left), path(right)) {
            (Some(left), Some(right)) => left.compare(right),
            _ => Ordering::Equal,
        };
        let by_value = self.values[left as usize].cmp(&self.values[right as usize]);
        by_value.then_with(by_fair_share).then_with(|| self.order.tie(left).cmp(&self.order.tie(right)))
    }

    fn charge(&mut self, job: u32) -> bool {
        let Some(fairshare) = self.fairshare else { return false };
        let job = &self.jobs[job as usize];
        let charge = fairshare.requested_usage(job);
        let Some(charged) = self.paths.get(job.entity as usize).cloned().filter(|_| charge != 0.0) else {
            return false;
        };
        self.paths.iter_mut().for_each(|path| path.charge(&charged, charge));
        true
    }
}

/// Removes elements at ascending indices.
fn remove_rows<T: Copy>(items: &mut Vec<T>, rows: &[usize]) {
    let (mut end, mut start) = (0, 0);
    for &row in rows.iter().chain([&items.len()]) {
        if end != start {
            items.copy_within(start..row, end);
        }
        (end, start) = (end + row - start, row + 1);
    }
    items.truncate(end);
}
