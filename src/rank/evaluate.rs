//! Evaluates a program for all jobs of a table: first in columns, then row by row where the columnar executor falls back.

use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use rust_decimal::Decimal;

use crate::diagnostic::Span;
use crate::formula::program::{ColumnarBuffers, EvalError, Interpreter, LANES, Program};
use crate::jobs::{BLOCK_ROWS, Column, JobTable};
use crate::parallel;
use crate::python::limits::{FREE_FUEL, FUEL, QUEUE_FUEL};
use crate::python::{Arithmetic, ColumnView, DecimalArithmetic, DecimalValue, ErrorKind, Python, Raised, Value};
use crate::rank::entity_terms::EntityTerms;
use crate::rank::scores::Partition;
use crate::rank::{FormulaResult, OnError, ScoreError, ScorePrecision, Scores};
use crate::schema::current_name;

/// The most blocks in a partition.
const PARTITION_BLOCKS: usize = 8;
/// The work, in words, after which a thread looks again whether the budget of the queue is spent.
const WORK_PER_CHECK: u64 = 1 << 22;

/// Evaluates a program for every job of a table, in parallel if there are more than 4,096 jobs. An excluded job has no score.
///
/// The table has a column for every name in [`Program::inputs`]; without one every job has an error that names it.
pub fn score(program: &Program, table: &JobTable, precision: ScorePrecision, on_error: OnError) -> Scores {
    score_with_buffers(program, table, precision, on_error, Vec::new(), QUEUE_FUEL)
}

/// Evaluates a program as [`score`] does, and reuses the buffers of scores that are no longer needed. This saves the
/// allocations of a program that scores a queue repeatedly.
///
/// ```
/// use job_sort_formula::rank::{ScorePrecision, OnError, rescore, score};
/// use job_sort_formula::{Formula, JobTable, Schema};
///
/// let program = Formula::parse("ncpus * 10")?.compile(&Schema::openpbs())?;
/// let table = JobTable::new(["ncpus"]);
/// let mut scores = score(&program, &table, ScorePrecision::Float32, OnError::ZeroLikePbs);
/// for _cycle in 0..3 {
///     scores = rescore(&program, &table, ScorePrecision::Float32, OnError::ZeroLikePbs, scores);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn rescore(
    program: &Program,
    table: &JobTable,
    precision: ScorePrecision,
    on_error: OnError,
    old: Scores,
) -> Scores {
    score_with_buffers(program, table, precision, on_error, old.into_buffers(), QUEUE_FUEL)
}

fn score_with_buffers(
    program: &Program,
    table: &JobTable,
    precision: ScorePrecision,
    on_error: OnError,
    buffers: Vec<Vec<f64>>,
    budget: u64,
) -> Scores {
    let columns = find_columns(program, table);
    let scorer = TableScorer {
        budget,
        buffers: Mutex::new(buffers),
        program,
        table,
        precision,
        entity_terms: entity_terms(program, table, columns.as_deref().unwrap_or_default()),
        columns,
        formula_span: program.expr().node(program.expr().root()).span,
        work: (0..table.len().div_ceil(partition_rows(table))).map(|_| AtomicU64::new(0)).collect(),
    };
    let mut partitions = match precision {
        ScorePrecision::Decimal => scorer.map_partitions(|_| scorer.decimal_evaluator()),
        ScorePrecision::Float32 | ScorePrecision::Double => {
            scorer.map_partitions(|partition| scorer.python_evaluator(partition))
        }
    };
    scorer.fail_beyond_the_budget(&mut partitions);
    Scores::concat(partitions, table.excluded_rows().collect(), precision, on_error)
}

/// The column of each input; that of `fairshare_perc` has the values of the deprecated `fair_share_perc` too.
///
/// # Errors
/// The table has none for an input.
fn find_columns<'t>(program: &Program, table: &'t JobTable) -> Result<Vec<&'t Column>, ScoreError> {
    let span = program.expr().node(program.expr().root()).span;
    let columns = program.inputs().iter().map(|name| {
        let column = table.column(name).or_else(|| table.column(current_name(name)));
        column.ok_or_else(|| {
            let raised = Raised::new(ErrorKind::Name, format!("the table has no column `{name}`"));
            ScoreError::Raised(EvalError { raised, span, operands: Vec::new() })
        })
    });
    columns.collect()
}

/// The terms of the program whose inputs were filled by entity.
fn entity_terms(program: &Program, table: &JobTable, columns: &[&Column]) -> EntityTerms {
    let mut terms = EntityTerms::default();
    let inputs = columns.iter().map(|column| column.entity_values().map(|values| &**values));
    terms.evaluate(program, inputs, table.len(), &mut ColumnarBuffers::default());
    terms
}

/// Checks that a result is a number. `span` is the whole formula.
pub fn python_result(value: Value, span: Span) -> Result<FormulaResult, ScoreError> {
    match (value.to_f64(), &value) {
        (Some(_), _) => Ok(FormulaResult::Python(value)),
        (None, Value::Big(_)) => Err(ScoreError::TooLarge { span }),
        (None, _) => Err(ScoreError::NotANumber { type_name: value.type_name(), span }),
    }
}

/// Computes scores in Python's numbers, for one job at a time.
pub struct RowScorer<'p> {
    program: &'p Program,
    interpreter: Interpreter<'p, Python>,
    formula_span: Span,
    precision: ScorePrecision,
    on_error: OnError,
    /// The work that the evaluations may still do beyond [`FREE_FUEL`] for each, in words; `None` once one needed more.
    left: Option<u64>,
}

impl<'p> RowScorer<'p> {
    /// A scorer whose evaluations may do this much work beyond [`FREE_FUEL`] for each, in words.
    pub fn with_work(program: &'p Program, precision: ScorePrecision, on_error: OnError, words: u64) -> Self {
        let formula_span = program.expr().node(program.expr().root()).span;
        let interpreter = program.interpreter(Python::new());
        Self { program, interpreter, formula_span, precision, on_error, left: Some(words) }
    }

    /// The work that the evaluations may still do; `None` once one needed more, and its score is not to be used.
    pub fn left(&self) -> Option<u64> {
        self.left
    }

    /// The work of the last evaluation, in words.
    pub(crate) fn work(&self) -> u64 {
        self.interpreter.arithmetic().work()
    }

    /// The score of a job with these inputs, in the order of [`Program::inputs`].
    pub fn score(&mut self, inputs: &[Value]) -> f64 {
        let granted = FREE_FUEL.saturating_add(self.left.unwrap_or(0));
        self.interpreter.grant(granted);
        let result = self.interpreter.evaluate(inputs);
        let is_cut_short = granted < FUEL && self.interpreter.arithmetic().needed_more_work();
        let excess = self.interpreter.arithmetic().work().saturating_sub(FREE_FUEL);
        self.left = self.left.filter(|_| !is_cut_short).map(|left| left.saturating_sub(excess));
        let result = result.map_err(|error| ScoreError::from_evaluation::<Python>(error, self.program, inputs));
        match result.and_then(|value| python_result(value, self.formula_span)) {
            Ok(result) => self.precision.round(result.to_f64()),
            Err(error) => self.on_error.value(&error),
        }
    }
}

/// A program, and the table whose jobs it scores. Shared by the threads.
struct TableScorer<'t> {
    /// Buffers that the partitions reuse.
    buffers: Mutex<Vec<Vec<f64>>>,
    program: &'t Program,
    table: &'t JobTable,
    precision: ScorePrecision,
    /// The column of each input of the program, unless the table lacks one.
    columns: Result<Vec<&'t Column>, ScoreError>,
    entity_terms: EntityTerms,
    formula_span: Span,
    /// The most work of all rows beyond [`FREE_FUEL`] for each, in words.
    budget: u64,
    /// By partition: the work so far that counts towards the budget.
    work: Vec<AtomicU64>,
}

/// The number of rows of a partition, a multiple of [`BLOCK_ROWS`].
fn partition_rows(table: &JobTable) -> usize {
    let blocks = table.len().div_ceil(BLOCK_ROWS);
    // a small table starts no threads
    let threads = if blocks > 1 { parallel::threads() } else { 1 };
    blocks.div_ceil(threads).clamp(1, PARTITION_BLOCKS) * BLOCK_ROWS
}

impl<'t> TableScorer<'t> {
    /// Evaluates all partitions in parallel. For each, a new evaluator is made from its index, and called with the range of
    /// its rows, which starts at the first row of a block.
    fn map_partitions<E>(&self, new_evaluator: impl Fn(usize) -> E + Sync) -> Vec<Partition>
    where
        E: FnMut(Range<usize>) -> Partition,
    {
        let end = self.table.len();
        let step = partition_rows(self.table);
        parallel::map((0..end).step_by(step).collect(), |start| {
            new_evaluator(start / step)(start..end.min(start + step))
        })
    }

    /// Whether the budget of the queue is spent in this partition, whatever the earlier ones still do.
    fn is_spent(&self, partition: usize) -> bool {
        self.work[..=partition].iter().map(|work| work.load(Ordering::Relaxed)).sum::<u64>() >= self.budget
    }

    /// Fails the rows that exceed the budget of the queue in the order of the rows. The threads have stopped such work only
    /// where they knew that the budget was spent; the result does not depend on how far each of them came.
    fn fail_beyond_the_budget(&self, partitions: &mut [Partition]) {
        let mut work = 0_u64;
        let mut interpreter = None;
        for partition in partitions {
            let mut errors = Vec::new();
            for &(row, excess) in partition.costly_rows() {
                work = work.saturating_add(excess);
                if work > self.budget {
                    let interpreter = interpreter.get_or_insert_with(|| {
                        let mut interpreter = RowInterpreter::new(self, Python::new());
                        interpreter.grant(FREE_FUEL);
                        interpreter
                    });
                    errors.extend(interpreter.evaluate(row as usize).err().map(|error| (row, error)));
                }
            }
            partition.fail(errors);
        }
    }

    /// The columns; none if one is missing.
    fn columns(&self) -> &[&'t Column] {
        self.columns.as_deref().unwrap_or_default()
    }

    fn python_result(&self, value: Value) -> Result<FormulaResult, ScoreError> {
        python_result(value, self.formula_span)
    }

    fn decimal_result(&self, value: &DecimalValue) -> Result<Decimal, ScoreError> {
        value.decimal().ok_or_else(|| ScoreError::NotANumber { type_name: value.type_name(), span: self.formula_span })
    }
}

impl<'t> TableScorer<'t> {
    /// An evaluator in Python's numbers: in columns, and row by row for the lanes that fall back.
    fn python_evaluator<'s>(&'s self, index: usize) -> impl FnMut(Range<usize>) -> Partition + use<'s, 't> {
        let mut columnar = self.program.columnar();
        let mut interpreter = RowInterpreter::new(self, Python::new());
        let mut inputs = Vec::new();
        let mut inexact = Vec::new();
        let mut granted = FUEL;
        let mut unchecked = WORK_PER_CHECK;
        move |rows| {
            let mut partition = Partition::new(rows.start, self.precision, self.take_buffers());
            let mut costly = Vec::new();
            for start in rows.clone().step_by(LANES) {
                let count = LANES.min(rows.end - start);
                self.view_inputs(start, count, &mut inputs);
                self.find_inexact(start, count, &mut inexact);
                let entities = self.table.entity_indices().get(start..start + count).unwrap_or_default();
                self.entity_terms.list_fallback(entities, &mut inexact);
                let terms = self.entity_terms.ranges();
                let values = self.entity_terms.views(entities);
                let views = inputs.iter().copied();
                let results = columnar.evaluate_views(views, self.program.code_range(), terms, values, count, &inexact);
                let interpreted = results.fallback_lanes().map(|lane| {
                    if unchecked >= WORK_PER_CHECK && granted > FREE_FUEL {
                        unchecked = 0;
                        granted = if self.is_spent(index) { FREE_FUEL } else { FUEL };
                        interpreter.grant(granted);
                    }
                    let result = interpreter.evaluate(start + lane).and_then(|value| self.python_result(value));
                    let excess = interpreter.work().saturating_sub(FREE_FUEL);
                    if excess > 0 {
                        costly.push(((start + lane) as u32, excess));
                        self.work[index].fetch_add(excess, Ordering::Relaxed);
                        unchecked += excess;
                    }
                    (lane, result)
                });
                partition.extend(results, interpreted.collect());
            }
            partition.set_costly_rows(costly);
            partition
        }
    }

    /// Takes the buffers for one partition, or fewer if not so many are left.
    fn take_buffers(&self) -> Vec<Vec<f64>> {
        let mut buffers = self.buffers.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let remaining = buffers.len().saturating_sub(PARTITION_BLOCKS);
        buffers.split_off(remaining)
    }

    /// An evaluator in base ten, row by row.
    fn decimal_evaluator<'s>(&'s self) -> impl FnMut(Range<usize>) -> Partition + use<'s, 't> {
        let mut interpreter = RowInterpreter::new(self, DecimalArithmetic::new());
        move |rows| {
            let mut partition = Partition::new(rows.start, ScorePrecision::Decimal, Vec::new());
            for row in rows {
                let result = interpreter.evaluate(row).and_then(|value| self.decimal_result(&value));
                partition.push(result.map(FormulaResult::Decimal));
            }
            partition
        }
    }

    /// Collects views of the inputs of `count` rows from `start` on.
    fn view_inputs(&self, start: usize, count: usize, inputs: &mut Vec<ColumnView<'t>>) {
        inputs.clear();
        let blocks = self.columns().iter().filter_map(|column| column.block(start / BLOCK_ROWS));
        inputs.extend(blocks.map(|block| block.window(start % BLOCK_ROWS, count)));
    }

    /// Finds the rows, counted from `start`, that cannot be evaluated in columns, because a double does not represent one of
    /// their values exactly.
    fn find_inexact(&self, start: usize, count: usize, inexact: &mut Vec<usize>) {
        inexact.clear();
        if self.columns.is_err() {
            inexact.extend(0..count);
        }
        for column in self.columns() {
            let first = column.exceptions().partition_point(|(row, _)| (*row as usize) < start);
            let rows = column.exceptions()[first..].iter().map(|(row, _)| *row as usize - start);
            inexact.extend(rows.take_while(|&row| row < count));
        }
    }
}

/// Interprets a program for single rows.
struct RowInterpreter<'s, 't, A: Arithmetic> {
    scorer: &'s TableScorer<'t>,
    interpreter: Interpreter<'t, A>,
    inputs: Vec<A::Value>,
}

impl<'s, 't, A: Arithmetic + Default> RowInterpreter<'s, 't, A> {
    fn new(scorer: &'s TableScorer<'t>, arithmetic: A) -> Self {
        Self { scorer, interpreter: scorer.program.interpreter(arithmetic), inputs: Vec::new() }
    }

    /// Grants the next evaluations this much work.
    fn grant(&mut self, words: u64) {
        self.interpreter.grant(words);
    }

    /// The work of the last evaluation.
    fn work(&self) -> u64 {
        self.interpreter.arithmetic().work()
    }

    /// Evaluates a row. The result for the row of an excluded job is unspecified.
    fn evaluate(&mut self, row: usize) -> Result<A::Value, ScoreError> {
        self.inputs.clear();
        if let Err(missing) = &self.scorer.columns {
            return Err(missing.clone());
        }
        for column in self.scorer.columns() {
            let value = column.value(row);
            let number = self.interpreter.arithmetic().number(&value).map_err(|raised| {
                ScoreError::Raised(EvalError { raised, span: self.scorer.formula_span, operands: Vec::new() })
            });
            self.inputs.push(number?);
        }
        let result = self.interpreter.evaluate(&self.inputs);
        result.map_err(|error| ScoreError::from_evaluation::<A>(error, self.scorer.program, &self.inputs))
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
        let program = Formula::parse(formula).unwrap().compile(&Schema::openpbs()).unwrap();
        let mut table = JobTable::new(["ncpus"]);
        for row in 0..rows {
            let id = row.to_string();
            let job = Job { id: &id, entity: "", queue: "", state: JobState::Queued, queued_at: None, exclusion: None };
            table.push(&job, &[Ok(Value::Int(row))]).unwrap();
        }
        let scores = Threads::new(threads).unwrap().run(|| {
            score_with_buffers(&program, &table, ScorePrecision::Double, OnError::ZeroLikePbs, Vec::new(), budget)
        });
        scores.errors().map(|(row, error)| (row, error.to_string())).collect()
    }

    #[test]
    fn the_budget_is_spent_in_the_order_of_the_rows() {
        // about 5,000 words for each row but the first ones
        let formula = "(3 + ncpus) ** 1500 % 7";
        let rows = 3 * BLOCK_ROWS as i64;
        let one = failed(formula, rows, 1, 1 << 20);
        assert!(one.len() > 1000 && one.len() < rows as usize - 50, "{}", one.len());
        assert!(one.iter().all(|(_, error)| error.contains("after those of the jobs before it")), "{:?}", one[0]);
        // of the rows after the first that fails, only those that need little work do not fail
        assert_eq!(one.len(), rows as usize - one[0].0);
        for threads in [2, 3, 8] {
            assert_eq!(failed(formula, rows, threads, 1 << 20), one, "{threads} threads");
        }
        assert_eq!(failed(formula, 40, 2, QUEUE_FUEL), []);
    }

    #[test]
    fn rows_that_need_little_work_do_not_fail() {
        let formula = "(3 + ncpus) ** 1500 % 7 if ncpus % 2 else ncpus * 2";
        let failed = failed(formula, 2000, 2, 1 << 18);
        assert!(failed.len() > 800 && failed.iter().all(|(row, _)| row % 2 == 1), "{}", failed.len());
        assert_eq!(self::failed("ncpus ** 2 + ncpus / 3", 5000, 2, 0), []);
    }
}
