//! The waiting jobs as columns, and their values under a formula.

use job_sort_formula::formula::program::Program;
use job_sort_formula::python::Value;
use job_sort_formula::rank::{ColumnError, ColumnScratch, InputColumn, OnError, ScoreError, ScorePrecision};
use job_sort_formula::schema::FairshareInput;

use super::fairshare::{EntityNumbers, Fairshare};
use super::schedule::EvaluationErrors;
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

/// The waiting jobs, in the order of their submission.
pub(super) struct WaitingJobs<'p> {
    program: &'p Program,
    workload: &'p Workload,
    inputs: Vec<Input>,
    precision: ScorePrecision,
    on_error: OnError,
    /// Whether the values of jobs change while they wait.
    is_dynamic: bool,
    pub(super) jobs: Vec<u32>,
    pub(super) processors: Vec<i64>,
    /// The fewest of them; as many as possible if no job waits.
    least_processors: i64,
    pub(super) walltimes: Vec<i64>,
    submits: Vec<i64>,
    entities: Vec<u32>,
    waits: Vec<i64>,
    /// By the index of the input.
    logged: Vec<LoggedColumn>,
    /// The value of each job, of the last evaluation.
    pub(super) values: Vec<f64>,
    /// How many waiting jobs each entity has.
    waiting_of_entity: Vec<u32>,
    scratch: ColumnScratch,
    failed: Vec<(usize, ScoreError)>,
}

impl<'p> WaitingJobs<'p> {
    pub(super) fn new(
        program: &'p Program,
        workload: &'p Workload,
        precision: ScorePrecision,
        on_error: OnError,
    ) -> Self {
        let inputs: Vec<Input> = program.inputs().iter().map(|name| Input::new(name, workload)).collect();
        let columns =
            inputs.iter().filter_map(|input| if let Input::Logged(index) = input { Some(index + 1) } else { None });
        let columns = columns.max().unwrap_or(0);
        Self {
            program,
            workload,
            logged: std::iter::repeat_with(LoggedColumn::default).take(columns).collect(),
            is_dynamic: inputs.iter().any(|input| input.changes()),
            inputs,
            precision,
            on_error,
            jobs: Vec::new(),
            processors: Vec::new(),
            least_processors: i64::MAX,
            walltimes: Vec::new(),
            submits: Vec::new(),
            entities: Vec::new(),
            waits: Vec::new(),
            values: Vec::new(),
            waiting_of_entity: vec![0; workload.entities().len()],
            scratch: ColumnScratch::new(),
            failed: Vec::new(),
        }
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

    /// Removes rows, which ascend.
    pub(super) fn remove(&mut self, rows: &[usize]) {
        if rows.is_empty() {
            return;
        }
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
        for column in &mut self.logged {
            remove_rows(&mut column.values, rows);
            remove_rows(&mut column.is_int, rows);
        }
        if has_least {
            self.least_processors = self.processors.iter().copied().min().unwrap_or(i64::MAX);
        }
    }

    /// Computes the value of every waiting job.
    pub(super) fn evaluate(
        &mut self,
        now: i64,
        fairshare: Option<&mut Fairshare>,
        errors: &mut EvaluationErrors,
    ) -> Result<(), ColumnError> {
        let first = if self.is_dynamic { 0 } else { self.values.len() };
        self.values.resize(self.len(), 0.0);
        if self.inputs.contains(&Input::Wait) {
            self.waits.clear();
            self.waits.extend(self.submits.iter().map(|submit| now - submit));
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
        self.program.score_columns(&columns, &mut self.scratch, values, &mut self.failed)?;
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
        Ok(())
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
