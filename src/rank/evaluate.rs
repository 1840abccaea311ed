//! Evaluates a program for all jobs of a table: first in columns, then row by row where the columnar executor falls back.

use std::ops::Range;
use std::sync::Mutex;

use rust_decimal::Decimal;

use crate::diagnostic::Span;
use crate::formula::program::{EvalError, Interpreter, LANES, Program};
use crate::jobs::{BLOCK_ROWS, Column, JobTable};
use crate::parallel;
use crate::python::{Arithmetic, ColumnView, DecimalArithmetic, DecimalValue, ErrorKind, Python, Raised, Value};
use crate::rank::scores::Partition;
use crate::rank::{FormulaResult, OnError, ScoreError, ScorePrecision, Scores};

/// The most blocks in a partition.
const PARTITION_BLOCKS: usize = 8;

/// Evaluates a program for every job of a table, in parallel if there are many jobs. An excluded job has no score.
///
/// The table has a column for every name in [`Program::inputs`]; without one every job has an error that names it.
pub fn score(program: &Program, table: &JobTable, precision: ScorePrecision, on_error: OnError) -> Scores {
    score_with_buffers(program, table, precision, on_error, Vec::new())
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
    score_with_buffers(program, table, precision, on_error, old.into_buffers())
}

fn score_with_buffers(
    program: &Program,
    table: &JobTable,
    precision: ScorePrecision,
    on_error: OnError,
    buffers: Vec<Vec<f64>>,
) -> Scores {
    let scorer = TableScorer {
        buffers: Mutex::new(buffers),
        program,
        table,
        precision,
        columns: find_columns(program, table),
        formula_span: program.expr().node(program.expr().root()).span,
    };
    let partitions = match precision {
        ScorePrecision::Decimal => scorer.map_partitions(|| scorer.decimal_evaluator()),
        ScorePrecision::Float32 | ScorePrecision::Double => scorer.map_partitions(|| scorer.python_evaluator()),
    };
    Scores::concat(partitions, table.excluded_rows().collect(), precision, on_error)
}

/// The column of each input.
///
/// # Errors
/// The table has none for an input.
fn find_columns<'t>(program: &Program, table: &'t JobTable) -> Result<Vec<&'t Column>, ScoreError> {
    let span = program.expr().node(program.expr().root()).span;
    let column = |name: &str| {
        table.column(name).ok_or_else(|| {
            let raised = Raised::new(ErrorKind::Name, format!("the table has no column `{name}`"));
            ScoreError::Raised(EvalError { raised, span, operands: Vec::new() })
        })
    };
    program.inputs().iter().map(|name| column(name)).collect()
}

/// Checks that a result is a number. `span` is the whole formula.
pub(crate) fn python_result(value: Value, span: Span) -> Result<FormulaResult, ScoreError> {
    match (value.to_f64(), &value) {
        (Some(_), _) => Ok(FormulaResult::Python(value)),
        (None, Value::Big(_)) => Err(ScoreError::TooLarge { span }),
        (None, _) => Err(ScoreError::NotANumber { type_name: value.type_name(), span }),
    }
}

/// Computes scores in Python's numbers, for one job at a time.
pub(crate) struct RowScorer<'p> {
    interpreter: Interpreter<'p, Python>,
    formula_span: Span,
    precision: ScorePrecision,
    on_error: OnError,
}

impl<'p> RowScorer<'p> {
    pub(crate) fn new(program: &'p Program, precision: ScorePrecision, on_error: OnError) -> Self {
        let formula_span = program.expr().node(program.expr().root()).span;
        Self { interpreter: program.interpreter(Python::new()), formula_span, precision, on_error }
    }

    /// The score of a job with these inputs, in the order of [`Program::inputs`].
    pub(crate) fn score(&mut self, inputs: &[Value]) -> f64 {
        let result = self.interpreter.evaluate(inputs).map_err(ScoreError::Raised);
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
    formula_span: Span,
}

impl<'t> TableScorer<'t> {
    /// Evaluates all partitions in parallel. For each, a new evaluator is called with the range of its rows, which starts
    /// at the first row of a block.
    fn map_partitions<E>(&self, new_evaluator: impl Fn() -> E + Sync) -> Vec<Partition>
    where
        E: FnMut(Range<usize>) -> Partition,
    {
        let end = self.table.len();
        let blocks = end.div_ceil(BLOCK_ROWS).div_ceil(rayon::current_num_threads()).clamp(1, PARTITION_BLOCKS);
        let step = blocks * BLOCK_ROWS;
        parallel::map((0..end).step_by(step).collect(), |start| new_evaluator()(start..end.min(start + step)))
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
    fn python_evaluator<'s>(&'s self) -> impl FnMut(Range<usize>) -> Partition + use<'s, 't> {
        let mut columnar = self.program.columnar();
        let mut interpreter = RowInterpreter::new(self, Python::new());
        let (mut inputs, mut inexact) = (Vec::new(), Vec::new());
        move |rows| {
            let mut partition = Partition::new(rows.start, self.precision, self.take_buffers());
            for start in rows.clone().step_by(LANES) {
                let count = LANES.min(rows.end - start);
                self.view_inputs(start, count, &mut inputs);
                self.find_inexact(start, count, &mut inexact);
                let outcome = columnar.evaluate(&inputs, count, &inexact);
                let interpret =
                    |lane| (lane, interpreter.evaluate(start + lane).and_then(|value| self.python_result(value)));
                partition.extend(outcome, outcome.fallback_lanes().map(interpret).collect());
            }
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

    /// Finds the rows, counted from `start`, that cannot be evaluated in columns: whose columns hold a value that a double does not represent exactly.
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

impl<'s, 't, A: Arithmetic> RowInterpreter<'s, 't, A> {
    fn new(scorer: &'s TableScorer<'t>, arithmetic: A) -> Self {
        Self { scorer, interpreter: scorer.program.interpreter(arithmetic), inputs: Vec::new() }
    }

    /// Evaluates a row. The result for the row of an excluded job is unspecified.
    fn evaluate(&mut self, row: usize) -> Result<A::Value, ScoreError> {
        self.inputs.clear();
        if let Err(missing) = &self.scorer.columns {
            return Err(missing.clone());
        }
        for column in self.scorer.columns() {
            let value = column.value(row);
            let number = self.interpreter.arithmetic().number(&value);
            let input_error =
                |raised: Raised| EvalError { raised, span: self.scorer.formula_span, operands: Vec::new() };
            self.inputs.push(number.map_err(|raised| ScoreError::Raised(input_error(raised)))?);
        }
        self.interpreter.evaluate(&self.inputs).map_err(ScoreError::Raised)
    }
}
