//! Waiting jobs as columns, and their values under a formula, and the errors that it raises.

use std::collections::{BTreeMap, HashSet};

use job_sort_formula::diagnostic::Span;
use job_sort_formula::formula::program::Program;
use job_sort_formula::python::{ErrorKind as PythonError, Value};
use job_sort_formula::rank::{
    ColumnError, ColumnScratch, Consequence, InputColumn, OnError, ScoreError, ScorePrecision,
};
use job_sort_formula::schema::FairshareInput;
use jsf_openpbs::cycle::MostProcessors;
use jsf_slurm::priority::age_factor;

use super::fairshare::{EntityNumbers, Fairshare};
use super::simulation_rules::SimulationRules;
use super::waiting_jobs::{Key, NOT_CONSIDERED};
use crate::workload::{Workload, WorkloadJob};

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
const NO_ROW: u32 = u32::MAX;

/// Waiting jobs, each in a row. The rows are in no order.
pub struct ValuedJobs<'p> {
    program: &'p Program,
    workload: &'p Workload,
    inputs: Vec<Input>,
    precision: ScorePrecision,
    on_error: OnError,
    /// Whether the values of jobs change while they wait.
    pub is_dynamic: bool,
    /// The row of each job of the workload.
    rows: Vec<u32>,
    pub jobs: Vec<u32>,
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
    pub values: Vec<f64>,
    /// What orders the jobs by these values.
    pub keys: Vec<Key>,
    /// How many waiting jobs each entity has.
    waiting_of_entity: Vec<u32>,
    /// The jobs that run, where they may give way and wait again.
    running: HashSet<u32>,
    scratch: ColumnScratch,
    failed: Vec<(usize, ScoreError)>,
}

impl<'p> ValuedJobs<'p> {
    pub fn new(
        program: &'p Program,
        workload: &'p Workload,
        rules: &SimulationRules,
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
        Self {
            program,
            workload,
            is_dynamic,
            inputs,
            precision: rules.precision,
            on_error: rules.on_error,
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
            waiting_of_entity: vec![0; workload.entities().len()],
            running: HashSet::new(),
            scratch: ColumnScratch::new(),
            failed: Vec::new(),
        }
    }

    /// The row of a job, if it waits.
    pub fn row(&self, job: u32) -> Option<usize> {
        let row = self.rows[job as usize];
        (row != NO_ROW).then_some(row as usize)
    }

    /// The value of a waiting job of the last evaluation.
    pub fn value(&self, job: u32) -> Option<f64> {
        self.values.get(self.row(job)?).copied()
    }

    /// The first key after another one whose job asks for at most so much. All rows are looked at,
    /// column by column: this is most of the time of a simulation with a long queue.
    pub fn first_key(&self, after: Option<Key>, most: MostProcessors) -> Option<Key> {
        let mut first = NOT_CONSIDERED;
        let requests = self.processors.iter().zip(&self.walltimes);
        for (&key, (&processors, &walltime)) in self.keys.iter().zip(requests) {
            if processors <= most.of(walltime) && key < first && Some(key) > after {
                first = key;
            }
        }
        (first != NOT_CONSIDERED).then_some(first)
    }

    pub fn push(&mut self, job: u32, of: &WorkloadJob) {
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
    }

    /// Removes jobs, which have values.
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
        }
        if fewest == self.least_processors {
            self.least_processors = self.processors.iter().copied().min().unwrap_or(i64::MAX);
        }
    }

    /// Whether a job waits.
    pub fn has_waiting(&self) -> bool {
        self.jobs.len() > self.running.len()
    }

    /// Whether a job runs, which may give way and wait again.
    pub fn is_running(&self, job: u32) -> bool {
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
            self.set_eligible(row, !is_running, now);
        }
    }

    /// Notes whether the job of a row is eligible from now on.
    pub fn set_eligible(&mut self, row: usize, is_eligible: bool, now: i64) {
        if self.has_accrual {
            self.accruals[row].set(is_eligible, now);
        }
    }

    /// Computes the values of the waiting jobs, as far as they can have changed, and returns the
    /// first row with another value.
    pub fn evaluate(
        &mut self,
        now: i64,
        fairshare: Option<&mut Fairshare>,
        errors: &mut EvaluationErrors,
    ) -> Result<usize, ColumnError> {
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
        let none = EntityNumbers::default();
        let mut numbers = &none;
        if let Some(fairshare) = fairshare {
            if reads_fairshare {
                fairshare.assess(&self.waiting_of_entity);
            }
            numbers = &fairshare.numbers;
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
            Input::Fairshare(input) => {
                let values = match input {
                    FairshareInput::Perc => &numbers.perc,
                    FairshareInput::TreeUsage => &numbers.tree_usage,
                    FairshareInput::Factor => &numbers.factor,
                };
                if values.is_empty() {
                    InputColumn::Same(Value::Int(0))
                } else {
                    InputColumn::ByEntity {
                        index: &self.entities[first..],
                        values,
                    }
                }
            }
        };
        let mut columns: Vec<(&str, InputColumn<'_>)> = Vec::with_capacity(self.inputs.len());
        for (name, &input) in self.program.inputs().iter().zip(&self.inputs) {
            columns.push((name, column(input)));
        }
        let values = &mut self.values[first..];
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
        Ok(first)
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
    pub(super) has_reached_limit: bool,
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

    pub(crate) fn add_nan(&mut self, job: u32) {
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
