//! Evaluates a program for all jobs of a table: first in columns, then row by row where the columnar
//! executor falls back; and counts the work that the evaluations for the jobs of a queue, and the
//! searches of one explanation, may do together.
//!
//! Of evaluations only the operations on the words of long integers count. Of a search it is what it
//! computes, whatever kind of step it does: the instructions of the formula that are evaluated, the
//! operations on the words of long integers, the parts of the formula whose ranges are analysed, and
//! the results that are kept. A unit is about a nanosecond, an operation on a 64-bit word. The count
//! does not depend on the machine, so the same search ends at the same place everywhere.

use std::sync::atomic::{AtomicU64, Ordering};

use rust_decimal::Decimal;

use crate::diagnostic::Span;
use crate::formula::program::{
    ColumnarExecutor, EvalError, Interpreter, LANES, LaneResults, LaneType, Program,
};
use crate::jobs::{Column, JobTable};
use crate::parallel;
use crate::python::limits::{FREE_FUEL, FUEL, QUEUE_FUEL};
use crate::python::{Arithmetic, DecimalArithmetic, ErrorKind, Python, Raised, Value};
use crate::rank::{OnError, ScoreError, ScorePrecision, Scores};
use crate::schema::current_name;

/// The number of rows that one thread evaluates at a time, a multiple of [`LANES`]. A smaller table
/// starts no threads.
const PARTITION_ROWS: usize = 32 * LANES;

/// Evaluates a program for every job of a table, in parallel if there are more than 65,536 jobs. An
/// excluded job has no score.
///
/// The table has a column for every name in [`Program::inputs`]; without one every job has an error
/// that names it.
pub fn score(
    program: &Program,
    table: &JobTable,
    precision: ScorePrecision,
    on_error: OnError,
) -> Scores {
    score_within(program, table, precision, on_error, QUEUE_FUEL)
}

fn score_within(
    program: &Program,
    table: &JobTable,
    precision: ScorePrecision,
    on_error: OnError,
    budget: u64,
) -> Scores {
    let scorer = TableScorer {
        program,
        table,
        columns: find_columns(program, table),
    };
    let (results, mut errors) = match precision {
        ScorePrecision::Decimal => scorer.decimal_results(),
        ScorePrecision::Float32 | ScorePrecision::Double => scorer.python_results(budget),
    };
    let excluded: Vec<u32> = table.excluded_rows().collect();
    // the lanes of excluded jobs are computed with their blocks, and do not count
    errors.retain(|(row, _)| excluded.binary_search(row).is_err());
    Scores::new(results, errors, excluded, precision, on_error)
}

/// The column of each input; that of `fairshare_perc` has the values of the deprecated
/// `fair_share_perc` too.
///
/// # Errors
/// The table has none for an input.
fn find_columns<'t>(program: &Program, table: &'t JobTable) -> Result<Vec<&'t Column>, ScoreError> {
    let span = program.expr().span();
    let mut columns = Vec::with_capacity(program.inputs().len());
    for name in program.inputs() {
        let known = [name, current_name(name)];
        let Some(column) = known.into_iter().find_map(|name| table.column(name)) else {
            let raised = Raised::new(ErrorKind::Name, format!("the table has no column `{name}`"));
            return Err(ScoreError::Raised(EvalError::new(raised, span)));
        };
        columns.push(column);
    }
    Ok(columns)
}

/// The number that an evaluation with these inputs has given.
pub(super) fn number_of<A: Arithmetic<Value = Value> + Default>(
    result: Result<Value, EvalError>,
    program: &Program,
    inputs: &[Value],
) -> Result<Value, ScoreError> {
    match result {
        Ok(value) => python_result(value, program.expr().span()),
        Err(error) => Err(ScoreError::from_evaluation::<A>(error, program, inputs)),
    }
}

/// Checks that a result is a number. `span` is the whole formula.
pub fn python_result(value: Value, span: Span) -> Result<Value, ScoreError> {
    match (value.to_f64(), &value) {
        (Some(_), _) => Ok(value),
        (None, Value::Big(_)) => Err(ScoreError::TooLarge { span }),
        (None, _) => Err(ScoreError::NotANumber {
            type_name: value.type_name(),
            span,
        }),
    }
}

/// Computes scores in Python's numbers, for one job at a time.
pub struct RowScorer<'p> {
    program: &'p Program,
    interpreter: Interpreter<'p, Python>,
    precision: ScorePrecision,
    on_error: OnError,
    /// The work that the evaluations may still do beyond [`FREE_FUEL`] for each, in words; `None`
    /// once one needed more.
    left: Option<u64>,
}

impl<'p> RowScorer<'p> {
    /// A scorer whose evaluations may do this much work beyond [`FREE_FUEL`] for each, in words.
    pub fn with_work(
        program: &'p Program,
        precision: ScorePrecision,
        on_error: OnError,
        words: u64,
    ) -> Self {
        Self {
            program,
            interpreter: program.interpreter(Python::new()),
            precision,
            on_error,
            left: Some(words),
        }
    }

    /// The work of the last evaluation, in words.
    pub(crate) fn work(&self) -> u64 {
        self.interpreter.arithmetic().work()
    }

    /// The score of a job with these inputs, in the order of [`Program::inputs`]; `None` once an
    /// evaluation needs more work than is left.
    pub fn score(&mut self, inputs: &[Value]) -> Option<f64> {
        let left = self.left?;
        let granted = FREE_FUEL.saturating_add(left);
        self.interpreter.grant(granted);
        let result = self.interpreter.evaluate(inputs);
        let arithmetic = self.interpreter.arithmetic();
        // with all of `FUEL`, the error is the formula's own
        if granted < FUEL && arithmetic.needed_more_work() {
            self.left = None;
            return None;
        }
        self.left = Some(left.saturating_sub(arithmetic.work().saturating_sub(FREE_FUEL)));
        Some(match number_of::<Python>(result, self.program, inputs) {
            Ok(result) => self.precision.round(result.to_f64().unwrap_or(f64::NAN)),
            Err(error) => self.on_error.value(&error),
        })
    }
}

/// A program, and the table whose jobs it scores. Shared by the threads.
struct TableScorer<'t> {
    program: &'t Program,
    table: &'t JobTable,
    /// The column of each input of the program, unless the table lacks one.
    columns: Result<Vec<&'t Column>, ScoreError>,
}

/// Errors with their rows, ascending.
type RowErrors = Vec<(u32, ScoreError)>;

/// The memory of the results of consecutive rows, which one thread computes.
struct Partition<'r> {
    start: usize,
    numbers: &'r mut [f64],
    is_int: &'r mut [bool],
}

/// What is found in a partition beside its numbers.
#[derive(Default)]
struct PartitionResults {
    /// The results that their doubles do not represent, with their rows, ascending.
    exceptions: Vec<(u32, Value)>,
    errors: RowErrors,
}

impl PartitionResults {
    /// Sets which results are integers. A truth value is an exception.
    fn set_types(&mut self, start: usize, results: &LaneResults<'_>, is_int: &mut [bool]) {
        if let Some(kind @ (LaneType::Float | LaneType::Int)) = results.common_type() {
            return is_int.fill(kind == LaneType::Int);
        }
        for (lane, is_int) in is_int.iter_mut().enumerate() {
            *is_int = results.lane_type(lane) != LaneType::Float;
            if results.lane_type(lane) == LaneType::Bool
                && let Some(truth) = results.value(lane)
            {
                self.exceptions.push(((start + lane) as u32, truth));
            }
        }
    }
}

impl<'t> TableScorer<'t> {
    /// The results in Python's numbers, and the errors. `budget` is the most work of all rows
    /// beyond [`FREE_FUEL`] for each, in words.
    fn python_results(&self, budget: u64) -> (Column, RowErrors) {
        let mut numbers = vec![0.0; self.table.len()];
        let mut is_int = vec![false; self.table.len()];
        let work = QueueWork::of_budget(budget);
        let mut found = parallel::map(partitions(&mut numbers, &mut is_int), |partition| {
            self.evaluate(partition, &work)
        });
        // the threads decide which rows were late; alone, it is those behind in the table
        if work.is_beyond_the_budget() && found.len() > 1 {
            let work = QueueWork::of_budget(budget);
            found.clear();
            for partition in partitions(&mut numbers, &mut is_int) {
                found.push(self.evaluate(partition, &work));
            }
        }
        let mut errors = Vec::new();
        let mut exceptions = Vec::new();
        for part in found {
            errors.extend(part.errors);
            exceptions.extend(part.exceptions);
        }
        (Column::from_rows(numbers, is_int, exceptions), errors)
    }

    /// Evaluates a partition in columns, and row by row the lanes that fall back.
    fn evaluate(&self, partition: Partition<'_>, work: &QueueWork) -> PartitionResults {
        let Partition {
            start,
            numbers,
            is_int,
        } = partition;
        let mut executor = ColumnarExecutor::default();
        let mut interpreter = self.program.interpreter(Python::new());
        let mut inputs = Vec::new();
        let mut found = PartitionResults::default();
        let blocks = numbers.chunks_mut(LANES).zip(is_int.chunks_mut(LANES));
        for (start, (numbers, is_int)) in (start..).step_by(LANES).zip(blocks) {
            let count = numbers.len();
            let input =
                // without a column, all lanes fall back, and `read_inputs` gives the error
                |slot: usize| Some(self.columns.as_ref().ok()?.get(slot)?.view(start, count));
            let results = executor.evaluate(self.program, &input, count);
            numbers.copy_from_slice(results.lanes());
            found.set_types(start, &results, is_int);
            for lane in results.fallback_lanes() {
                let row = start + lane;
                match self.interpreted(row, &mut interpreter, &mut inputs, work) {
                    Ok(value) => {
                        let (number, integer, is_exact) = Column::number_of(&value);
                        (numbers[lane], is_int[lane]) = (number, integer);
                        if !is_exact {
                            found.exceptions.push((row as u32, value));
                        }
                    }
                    Err(error) => found.errors.push((row as u32, error)),
                }
            }
        }
        // those of each block come in two passes: truth values, then lanes that fall back
        found.exceptions.sort_by_key(|(row, _)| *row);
        found
    }

    /// The result of one row in Python's numbers. That of an excluded job is unspecified.
    fn interpreted(
        &self,
        row: usize,
        interpreter: &mut Interpreter<'_, Python>,
        inputs: &mut Vec<Value>,
        work: &QueueWork,
    ) -> Result<Value, ScoreError> {
        self.read_inputs(row, inputs)?;
        number_of::<Python>(work.evaluate(interpreter, inputs), self.program, inputs)
    }

    /// Reads the inputs of a row.
    fn read_inputs(&self, row: usize, inputs: &mut Vec<Value>) -> Result<(), ScoreError> {
        inputs.clear();
        match &self.columns {
            Ok(columns) => inputs.extend(columns.iter().map(|column| column.value(row))),
            Err(missing) => return Err(missing.clone()),
        }
        Ok(())
    }

    /// The results in base ten, row by row, and the errors.
    fn decimal_results(&self) -> (Column, RowErrors) {
        let starts: Vec<usize> = (0..self.table.len()).step_by(PARTITION_ROWS).collect();
        let parts = parallel::map(starts, |start| {
            let mut interpreter = self.program.interpreter(DecimalArithmetic::new());
            let mut inputs = Vec::new();
            let mut results = Vec::new();
            for row in start..self.table.len().min(start + PARTITION_ROWS) {
                results.push(self.interpreted_in_base_ten(row, &mut interpreter, &mut inputs));
            }
            results
        });
        let mut column = Column::new();
        let mut errors = Vec::new();
        for (row, result) in parts.into_iter().flatten().enumerate() {
            match result {
                Ok(value) => column.push(Ok(&value)),
                Err(error) => {
                    errors.push((row as u32, error));
                    // `Scores::decimals` expects a decimal in each row
                    column.push(Ok(&Value::Decimal(Decimal::ZERO)));
                }
            }
        }
        (column, errors)
    }

    fn interpreted_in_base_ten(
        &self,
        row: usize,
        interpreter: &mut Interpreter<'_, DecimalArithmetic>,
        inputs: &mut Vec<Value>,
    ) -> Result<Value, ScoreError> {
        self.read_inputs(row, inputs)?;
        let span = self.program.expr().span();
        for input in &mut *inputs {
            match interpreter.arithmetic().number(input) {
                Ok(number) => *input = number,
                Err(raised) => return Err(ScoreError::Raised(EvalError::new(raised, span))),
            }
        }
        let result = interpreter.evaluate(inputs);
        let value = number_of::<DecimalArithmetic>(result, self.program, inputs)?;
        // a truth value is a number
        Ok(value.decimal().map_or(value, Value::Decimal))
    }
}

/// Cuts the memory of results into partitions.
fn partitions<'r>(numbers: &'r mut [f64], is_int: &'r mut [bool]) -> Vec<Partition<'r>> {
    let mut partitions = Vec::new();
    let parts = numbers
        .chunks_mut(PARTITION_ROWS)
        .zip(is_int.chunks_mut(PARTITION_ROWS));
    for (index, (numbers, is_int)) in parts.enumerate() {
        partitions.push(Partition {
            start: index * PARTITION_ROWS,
            numbers,
            is_int,
        });
    }
    partitions
}

/// The most work of all searches for one job: about two seconds.
pub const SEARCH_WORK: u64 = 1 << 31;
/// The work of an instruction that is interpreted for one job.
const INTERPRETED_INSTRUCTION: u64 = 32;
/// The work of the range and slope analysis of one part of a formula.
const ANALYSED_NODE: u64 = 192;

/// The work that the evaluations for the jobs of a queue have done beyond [`FREE_FUEL`] for each,
/// in words. Calls that score parts of a queue share it.
#[derive(Debug, Default)]
pub struct QueueWork(AtomicU64);

impl QueueWork {
    /// Whether it is more than [`QUEUE_FUEL`]. If calls on several threads did it, they are then to
    /// be made again one after the other, because it depends on the threads which jobs failed.
    pub fn is_beyond_the_budget(&self) -> bool {
        // relaxed: the sum is all that the threads share, and no other memory depends on it
        self.0.load(Ordering::Relaxed) > QUEUE_FUEL
    }

    /// That of a queue whose evaluations may do this much.
    fn of_budget(words: u64) -> Self {
        // a smaller budget is the whole one of which the rest is spent
        Self(AtomicU64::new(QUEUE_FUEL - words))
    }

    /// Evaluates a job with what the jobs before it have left.
    pub(super) fn evaluate(
        &self,
        interpreter: &mut Interpreter<'_, Python>,
        inputs: &[Value],
    ) -> Result<Value, EvalError> {
        interpreter.grant(if self.is_beyond_the_budget() {
            FREE_FUEL
        } else {
            FUEL
        });
        let result = interpreter.evaluate(inputs);
        if !self.add(interpreter.arithmetic().work()) {
            return result;
        }
        // evaluated again for its error, which names the jobs before as the cause
        interpreter.grant(FREE_FUEL);
        interpreter.evaluate(inputs)
    }

    /// Adds the work of an evaluation. Returns whether its job fails, because it exceeds what the
    /// jobs before it have left.
    pub fn add(&self, words: u64) -> bool {
        let excess = words.saturating_sub(FREE_FUEL);
        excess > 0 && self.0.fetch_add(excess, Ordering::Relaxed) + excess > QUEUE_FUEL
    }
}

/// The work that some searches may still do.
#[derive(Debug, Clone)]
pub struct WorkBudget {
    left: u64,
    is_spent: bool,
}

impl Default for WorkBudget {
    /// The work that one explanation may do.
    fn default() -> Self {
        Self::new(SEARCH_WORK)
    }
}

impl WorkBudget {
    /// A budget of this many units.
    pub fn new(units: u64) -> Self {
        Self {
            left: units,
            is_spent: false,
        }
    }

    /// Whether a search needed more than was left.
    pub fn is_spent(&self) -> bool {
        self.is_spent
    }

    /// The units that are left.
    pub fn left(&self) -> u64 {
        self.left
    }

    /// Takes units for work that is to be done next; `None` if fewer are left, after which nothing
    /// can be taken.
    pub fn take(&mut self, units: u64) -> Option<()> {
        match self.left.checked_sub(units) {
            Some(left) if !self.is_spent => {
                self.left = left;
                Some(())
            }
            _ => {
                self.is_spent = true;
                None
            }
        }
    }

    /// Takes units for work that was done already, where it cannot be known before.
    pub fn charge(&mut self, units: u64) {
        self.left = self.left.saturating_sub(units);
    }

    /// Does a search with an equal part of what is left, one of `parts`, and takes what it needed.
    pub fn with_part<T>(&mut self, parts: u64, search: impl FnOnce(&mut Self) -> T) -> T {
        let mut part = Self {
            left: self.left / parts.max(1),
            is_spent: self.is_spent,
        };
        let granted = part.left;
        let found = search(&mut part);
        // that a part is spent is not passed on: what is left is for the others
        self.left -= granted - part.left;
        found
    }
}

/// The work of an evaluation for one job, without that on long integers.
pub fn row_work(program: &Program) -> u64 {
    (program.instruction_count() as u64 + 1) * INTERPRETED_INSTRUCTION
}

/// The work of an evaluation in columns, for each job.
pub(super) fn lane_work(program: &Program) -> u64 {
    program.lane_work()
}

/// The work of the analysis of a formula over a range of one input.
pub(super) fn analysis_work(program: &Program) -> u64 {
    program.expr().nodes().len() as u64 * ANALYSED_NODE
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formula::Formula;
    use crate::jobs::{Job, JobState};
    use crate::parallel::Threads;
    use crate::schema::Schema;

    /// The rows that fail under a budget, and their errors.
    fn failed(formula: &str, rows: i64, threads: usize, budget: u64) -> Vec<(usize, String)> {
        let program = Formula::parse(formula)
            .unwrap()
            .compile(&Schema::openpbs())
            .unwrap();
        let mut table = JobTable::new(["ncpus"]);
        for row in 0..rows {
            let id = row.to_string();
            let job = Job {
                id: &id,
                entity: "",
                queue: "",
                state: JobState::Queued,
                queued_at: None,
                exclusion: None,
            };
            table.push(&job, &[Ok(Value::Int(row))]).unwrap();
        }
        let scores = Threads::new(threads).unwrap().run(|| {
            score_within(
                &program,
                &table,
                ScorePrecision::Double,
                OnError::ZeroLikePbs,
                budget,
            )
        });
        scores
            .errors()
            .map(|(row, error)| (row, error.to_string()))
            .collect()
    }

    #[test]
    fn the_budget_is_spent_in_the_order_of_the_rows() {
        // about 5,000 words for each row but the first ones
        let formula = "(3 + ncpus) ** 1500 % 7";
        let rows = 40 * LANES as i64;
        let one = failed(formula, rows, 1, 1 << 20);
        assert!(
            one.len() > 1000 && one.len() < rows as usize - 50,
            "{}",
            one.len()
        );
        assert!(
            one.iter()
                .all(|(_, error)| error.contains("after those of the jobs before it")),
            "{:?}",
            one[0]
        );
        // of the rows after the first that fails, only those that need little work do not fail
        assert_eq!(one.len(), rows as usize - one[0].0);
        for threads in [2, 3, 8] {
            assert_eq!(
                failed(formula, rows, threads, 1 << 20),
                one,
                "{threads} threads"
            );
        }
        assert_eq!(failed(formula, 40, 2, QUEUE_FUEL), []);
    }

    #[test]
    fn rows_that_need_little_work_do_not_fail() {
        let formula = "(3 + ncpus) ** 1500 % 7 if ncpus % 2 else ncpus * 2";
        let failed = failed(formula, 2000, 2, 1 << 18);
        assert!(
            failed.len() > 800 && failed.iter().all(|(row, _)| row % 2 == 1),
            "{}",
            failed.len()
        );
        assert_eq!(self::failed("ncpus ** 2 + ncpus / 3", 5000, 2, 0), []);
    }
}
