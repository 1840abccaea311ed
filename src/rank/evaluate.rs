//! From a program and a table to scores: by columns, and row by row what the columns leave.

use std::sync::Mutex;

use rust_decimal::Decimal;

use crate::diagnostic::Span;
use crate::formula::program::{EvalError, Interpreter, LANES, Program};
use crate::jobs::{BLOCK_ROWS, Column, JobTable};
use crate::parallel;
use crate::python::{
    Arithmetic, ColumnValues, ColumnView, DecimalArithmetic, DecimalValue, IntMask, Python, Raised, Value,
};
use crate::rank::score::double;
use crate::rank::scores::Part;
use crate::rank::{Exact, OnError, ScoreError, ScorePrecision, Scores};

/// How many blocks a thread takes at a time.
const BLOCKS_AT_ONCE: usize = 8;

/// Evaluates a program for every job of a table, on all processors where there are many jobs. A job that the reader
/// set aside has no score.
///
/// The table should have a column for every name in [`Program::inputs`]; a missing one counts as 0.
pub fn score(program: &Program, table: &JobTable, keep: ScorePrecision, on_error: OnError) -> Scores {
    score_in(program, table, keep, on_error, Vec::new())
}

/// Evaluates as [`score`] does, in the memory of scores that are no longer needed: whoever ranks the queue again and
/// again need not ask the system for it each time.
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
pub fn rescore(program: &Program, table: &JobTable, keep: ScorePrecision, on_error: OnError, old: Scores) -> Scores {
    score_in(program, table, keep, on_error, old.into_memory())
}

fn score_in(
    program: &Program,
    table: &JobTable,
    keep: ScorePrecision,
    on_error: OnError,
    spare: Vec<Vec<f64>>,
) -> Scores {
    let scorer = Scorer {
        spare: Mutex::new(spare),
        program,
        table,
        keep,
        columns: program.inputs().iter().map(|name| table.column(name)).collect(),
        whole: program.expr().node(program.expr().root()).span,
    };
    let parts = match keep {
        ScorePrecision::Decimal => scorer.parts(|| scorer.in_base_ten()),
        ScorePrecision::Float32 | ScorePrecision::Double => scorer.parts(|| scorer.in_python()),
    };
    Scores::of_parts(parts, table.excluded_rows().collect(), keep, on_error)
}

struct Scorer<'t> {
    /// Memory for the scores.
    spare: Mutex<Vec<Vec<f64>>>,
    program: &'t Program,
    table: &'t JobTable,
    keep: ScorePrecision,
    columns: Vec<Option<&'t Column>>,
    whole: Span,
}

impl<'t> Scorer<'t> {
    /// The scores of all rows, in parts that follow each other. A runner gives those from one row, the first of a
    /// block, up to another; each part has its own.
    fn parts<R: FnMut(usize, usize) -> Part>(&self, runner: impl Fn() -> R + Sync) -> Vec<Part> {
        let (step, end) = (BLOCKS_AT_ONCE * BLOCK_ROWS, self.table.len());
        parallel::map((0..end).step_by(step).collect(), |start| runner()(start, end.min(start + step)))
    }

    /// The inputs of one row.
    fn inputs(&self, row: usize) -> impl Iterator<Item = Value> {
        self.columns.iter().map(move |column| column.map_or(Value::Int(0), |column| column.value(row)))
    }

    /// A Python number as a score.
    fn number(&self, value: Value) -> Result<Exact, ScoreError> {
        match double(&value) {
            Ok(Some(_)) => Ok(Exact::Python(value)),
            Ok(None) => Err(ScoreError::TooLarge { span: self.whole }),
            Err(type_name) => Err(ScoreError::NotANumber { type_name, span: self.whole }),
        }
    }

    fn decimal(&self, value: &DecimalValue) -> Result<Decimal, ScoreError> {
        value.decimal().ok_or_else(|| ScoreError::NotANumber { type_name: value.type_name(), span: self.whole })
    }
}

impl<'t> Scorer<'t> {
    /// A runner in Python's numbers: by columns, and what they leave row by row.
    fn in_python<'s>(&'s self) -> impl FnMut(usize, usize) -> Part + use<'s, 't> {
        let mut columnar = self.program.columnar();
        let mut rows = RowByRow::new(self, Python::new());
        let (mut strips, mut inexact) = (Vec::new(), Vec::new());
        move |from, to| {
            let mut part = Part::new(from, self.keep, self.spare_blocks());
            for start in (from..to).step_by(LANES) {
                let count = LANES.min(to - start);
                self.gather(start, count, &mut strips);
                self.gather_inexact(start, count, &mut inexact);
                let outcome = columnar.evaluate(&strips, count, &inexact);
                let again = |lane| (lane, rows.evaluate(start + lane).and_then(|value| self.number(value)));
                part.extend(outcome, outcome.fallback_lanes().map(again).collect());
            }
            part
        }
    }

    /// Memory for one part, if there is some.
    fn spare_blocks(&self) -> Vec<Vec<f64>> {
        let mut spare = self.spare.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let rest = spare.len().saturating_sub(BLOCKS_AT_ONCE);
        spare.split_off(rest)
    }

    /// A runner in base ten, row by row.
    fn in_base_ten<'s>(&'s self) -> impl FnMut(usize, usize) -> Part + use<'s, 't> {
        let mut rows = RowByRow::new(self, DecimalArithmetic::new());
        move |from, to| {
            let mut part = Part::new(from, ScorePrecision::Decimal, Vec::new());
            for row in from..to {
                part.push(rows.evaluate(row).and_then(|value| self.decimal(&value)).map(Exact::Decimal));
            }
            part
        }
    }

    /// The inputs of some rows side by side.
    fn gather(&self, start: usize, rows: usize, strips: &mut Vec<ColumnView<'t>>) {
        strips.clear();
        for column in &self.columns {
            let missing = ColumnView { values: ColumnValues::Constant(0.0), ints: IntMask::All };
            let strip = column.and_then(|column| column.block(start / BLOCK_ROWS));
            strips.push(strip.map_or(missing, |strip| strip.window(start % BLOCK_ROWS, rows)));
        }
    }

    /// The rows of which the strips do not hold the true value.
    fn gather_inexact(&self, start: usize, rows: usize, inexact: &mut Vec<usize>) {
        inexact.clear();
        for column in self.columns.iter().flatten() {
            let first = column.exceptions().partition_point(|(row, _)| (*row as usize) < start);
            let here = column.exceptions()[first..].iter().map(|(row, _)| *row as usize - start);
            inexact.extend(here.take_while(|&row| row < rows));
        }
    }
}

/// Evaluates single rows.
struct RowByRow<'s, 't, A: Arithmetic> {
    scorer: &'s Scorer<'t>,
    evaluator: Interpreter<'t, A>,
    inputs: Vec<A::Value>,
}

impl<'s, 't, A: Arithmetic> RowByRow<'s, 't, A> {
    fn new(scorer: &'s Scorer<'t>, arithmetic: A) -> Self {
        Self { scorer, evaluator: scorer.program.interpreter(arithmetic), inputs: Vec::new() }
    }

    /// What the formula gives for this row; for a row that was set aside, anything.
    fn evaluate(&mut self, row: usize) -> Result<A::Value, ScoreError> {
        self.inputs.clear();
        for value in self.scorer.inputs(row) {
            let number = self.evaluator.arithmetic().number(&value);
            let outside = |raised: Raised| EvalError { raised, span: self.scorer.whole, operands: Vec::new() };
            self.inputs.push(number.map_err(|raised| ScoreError::Raised(outside(raised)))?);
        }
        self.evaluator.evaluate(&self.inputs).map_err(ScoreError::Raised)
    }
}
