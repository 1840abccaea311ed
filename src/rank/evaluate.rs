//! Evaluates a program for all jobs of a table: first in columns, then row by row where the columnar
//! executor falls back.

use rust_decimal::Decimal;

use crate::diagnostic::Span;
use crate::formula::program::{
    ColumnarExecutor, EvalError, Interpreter, LANES, LaneResults, LaneType, Program,
};
use crate::jobs::{Column, JobTable};
use crate::parallel;
use crate::python::limits::{EVALUATION_WORK, FREE_WORK, QUEUE_WORK};
use crate::python::{ErrorKind, Python, Raised, Value};
use crate::rank::{OnError, QueueWork, ScoreError, ScorePrecision, Scores};
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
    score_within(program, table, precision, on_error, QUEUE_WORK)
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
        has_decimals: precision == ScorePrecision::Decimal,
    };
    let (results, mut errors) = scorer.results(budget);
    let excluded: Vec<u32> = table.excluded_rows().collect();
    // the lanes of excluded jobs are computed with their blocks, and do not count
    errors.retain(|(row, _)| excluded.binary_search(row).is_err());
    Scores {
        results,
        errors,
        excluded,
        precision,
        on_error,
    }
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
///
/// # Errors
/// The formula has no numeric result.
pub fn number_of(
    result: Result<Value, EvalError>,
    interpreter: &Interpreter<'_>,
    inputs: &[Value],
) -> Result<Value, ScoreError> {
    match result {
        Ok(value) => python_result(value, interpreter.program().expr().span()),
        Err(error) => Err(ScoreError::from_evaluation(error, interpreter, inputs)),
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
    interpreter: Interpreter<'p>,
    precision: ScorePrecision,
    on_error: OnError,
    /// The work that the evaluations may still do beyond [`FREE_WORK`] for each, in words; `None`
    /// once one needed more.
    left: Option<u64>,
}

impl<'p> RowScorer<'p> {
    /// A scorer whose evaluations may do this much work beyond [`FREE_WORK`] for each, in words.
    pub fn with_work(
        program: &'p Program,
        precision: ScorePrecision,
        on_error: OnError,
        words: u64,
    ) -> Self {
        Self {
            interpreter: program.interpreter(Python::new()),
            precision,
            on_error,
            left: Some(words),
        }
    }

    /// The work of the last evaluation, in words.
    pub fn work(&self) -> u64 {
        self.interpreter.arithmetic().work()
    }

    /// The score of a job with these inputs, in the order of [`Program::inputs`]; `None` once an
    /// evaluation needs more work than is left.
    pub fn score(&mut self, inputs: &[Value]) -> Option<f64> {
        let left = self.left?;
        let granted = FREE_WORK.saturating_add(left);
        self.interpreter.grant(granted);
        let result = self.interpreter.evaluate(inputs);
        let arithmetic = self.interpreter.arithmetic();
        // with all of `EVALUATION_WORK`, the error is the formula's own
        if granted < EVALUATION_WORK && arithmetic.needed_more_work() {
            self.left = None;
            return None;
        }
        // an evaluation may need less than what is free
        self.left = Some(left.saturating_sub(arithmetic.work().saturating_sub(FREE_WORK)));
        Some(match number_of(result, &self.interpreter, inputs) {
            // never NaN for want of a number: `number_of` has refused it
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
    /// Whether it computes in base ten.
    has_decimals: bool,
}

/// Errors with their rows, ascending.
type RowErrors = Vec<(u32, ScoreError)>;

/// The results of consecutive rows, which one thread computes.
#[derive(Default)]
struct PartResults {
    numbers: Vec<f64>,
    is_int: Vec<bool>,
    /// The results that their doubles do not represent, with their rows, ascending.
    exceptions: Vec<(u32, Value)>,
    errors: RowErrors,
}

impl PartResults {
    fn with_capacity(rows: usize) -> Self {
        Self {
            numbers: Vec::with_capacity(rows),
            is_int: Vec::with_capacity(rows),
            ..Self::default()
        }
    }

    /// Adds a block of which the first row has this number. A truth value is an exception.
    fn push_block(&mut self, start: usize, results: &LaneResults<'_>) {
        let numbers = results.lanes();
        self.numbers.extend_from_slice(numbers);
        if let Some(kind @ (LaneType::Float | LaneType::Int)) = results.uniform_type() {
            self.is_int
                .resize(self.numbers.len(), kind == LaneType::Int);
            return;
        }
        for lane in 0..numbers.len() {
            self.is_int.push(results.lane_type(lane) != LaneType::Float);
            if results.lane_type(lane) == LaneType::Bool
                && let Some(truth) = results.value(lane)
            {
                self.exceptions.push(((start + lane) as u32, truth));
            }
        }
    }
}

impl<'t> TableScorer<'t> {
    /// The results and the errors. `budget` is the most work of all rows beyond [`FREE_WORK`] for
    /// each, in words.
    fn results(&self, budget: u64) -> (Column, RowErrors) {
        let work = QueueWork::of_budget(budget);
        let mut parts = parallel::map(self.starts(), |start| self.evaluate(start, &work));
        // the threads decide which rows were late; alone, it is those behind in the table
        if work.is_beyond_the_budget() && parts.len() > 1 {
            let work = QueueWork::of_budget(budget);
            let starts = self.starts().into_iter();
            parts = starts.map(|start| self.evaluate(start, &work)).collect();
        }
        let mut all = PartResults::with_capacity(self.table.len());
        for part in parts {
            all.numbers.extend(part.numbers);
            all.is_int.extend(part.is_int);
            all.exceptions.extend(part.exceptions);
            all.errors.extend(part.errors);
        }
        let column = Column::from_rows(all.numbers, all.is_int, all.exceptions);
        (column, all.errors)
    }

    /// The first rows of the parts that threads evaluate.
    fn starts(&self) -> Vec<usize> {
        (0..self.table.len()).step_by(PARTITION_ROWS).collect()
    }

    /// Evaluates the part that begins with a row: in columns, and row by row the lanes that fall back;
    /// in base ten all of them.
    fn evaluate(&self, first: usize, work: &QueueWork) -> PartResults {
        let end = self.table.len().min(first + PARTITION_ROWS);
        let mut executor = ColumnarExecutor::default();
        let mut interpreter = self.program.interpreter(if self.has_decimals {
            Python::new().with_decimals()
        } else {
            Python::new()
        });
        let mut inputs = Vec::new();
        let mut found = PartResults::with_capacity(end - first);
        let mut fallback = Vec::new();
        for start in (first..end).step_by(LANES) {
            let count = LANES.min(end - start);
            fallback.clear();
            if self.has_decimals {
                found.numbers.resize(start + count - first, f64::NAN);
                found.is_int.resize(start + count - first, true);
                fallback.extend(0..count);
            } else {
                let input =
                    // without a column, all lanes fall back, and `interpreted` gives the error
                    |slot: usize| Some(self.columns.as_ref().ok()?.get(slot)?.view(start, count));
                let results = executor.evaluate(self.program, &input, count);
                found.push_block(start, &results);
                fallback.extend(results.fallback_lanes());
            }
            for &lane in &fallback {
                let row = start + lane;
                match self.interpreted(row, &mut interpreter, &mut inputs, work) {
                    Ok(value) => {
                        let (number, is_int, is_exact) = Column::number_of(&value);
                        found.numbers[row - first] = number;
                        found.is_int[row - first] = is_int;
                        if !is_exact {
                            found.exceptions.push((row as u32, value));
                        }
                    }
                    Err(error) => {
                        found.errors.push((row as u32, error));
                        // `Scores::comparable_values` expects a decimal in each row
                        if self.has_decimals {
                            let zero = Value::Decimal(Decimal::ZERO);
                            found.exceptions.push((row as u32, zero));
                        }
                    }
                }
            }
        }
        // those of each block come in two passes: truth values, then lanes that fall back
        found.exceptions.sort_by_key(|(row, _)| *row);
        found
    }

    /// The result of one row. That of an excluded job is unspecified.
    fn interpreted(
        &self,
        row: usize,
        interpreter: &mut Interpreter<'_>,
        inputs: &mut Vec<Value>,
        work: &QueueWork,
    ) -> Result<Value, ScoreError> {
        let columns = self.columns.as_ref().map_err(Clone::clone)?;
        inputs.clear();
        inputs.extend(columns.iter().map(|column| column.value(row)));
        if !self.has_decimals {
            return number_of(work.evaluate(interpreter, inputs), interpreter, inputs);
        }
        for input in &mut *inputs {
            let number = interpreter.arithmetic().number(input);
            let span = self.program.expr().span();
            *input = number.map_err(|raised| ScoreError::Raised(EvalError::new(raised, span)))?;
        }
        let value = number_of(interpreter.evaluate(inputs), interpreter, inputs)?;
        // a truth value is a number
        Ok(value.decimal().map_or(value, Value::Decimal))
    }
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
        let scores = Threads::new(threads).run(|| {
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
        assert_eq!(failed(formula, 40, 2, QUEUE_WORK), []);
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
