//! One value per job, or one error: a job's error is its own and stops no other.

use std::collections::BTreeMap;
use std::fmt;

use rust_decimal::Decimal;
use rust_decimal::prelude::ToPrimitive;

use crate::formula::number::{Arithmetic, BaseTen, BaseTenValue, ErrorKind, Function, Python, Raised, Value};
use crate::formula::program::{EvalError, Evaluator, Program};
use crate::jobs::JobTable;
use crate::span::Span;

/// What becomes of a job whose formula raises an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum OnError {
    /// The job is worth 0, as in OpenPBS; -1 where the result is no number.
    #[default]
    ZeroLikePbs,
    /// The job is worth 0, and the caller is told that the ranking failed.
    Fail,
    /// The job is worth nothing and stands behind all others.
    Null,
}

/// In which form a value is kept and compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Keep {
    /// A C `float`, 24 bits: OpenPBS.
    #[default]
    Float32,
    /// The double that the formula gave.
    Double,
    /// The formula is computed in base ten, and its 28 digits are kept.
    Decimal,
}

/// The value of one job.
#[derive(Debug, Clone)]
pub struct Score {
    /// What the formula gave.
    pub exact: Result<Exact, ScoreError>,
    /// What jobs are compared by.
    pub kept: f64,
}

/// What a formula gave, before anything was rounded.
#[derive(Debug, Clone)]
pub enum Exact {
    /// A Python number.
    Python(Value),
    /// A number in base ten.
    Decimal(Decimal),
}

impl Exact {
    /// The nearest double; an integer beyond all doubles gives NaN.
    pub fn to_f64(&self) -> f64 {
        match self {
            Self::Python(value) => double(value).ok().flatten().unwrap_or(f64::NAN),
            Self::Decimal(decimal) => decimal.to_f64().unwrap_or(f64::NAN),
        }
    }
}

impl fmt::Display for Exact {
    /// Python's `repr`, or the decimal's digits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Python(value) => f.write_str(&value.repr()),
            Self::Decimal(decimal) => decimal.fmt(f),
        }
    }
}

/// Why a job has no value.
#[derive(Debug, Clone)]
pub enum ScoreError {
    /// The formula raised an error.
    Raised(EvalError),
    /// The formula gave something that is no number; OpenPBS's scheduler dies of it.
    NotANumber {
        /// Python's name of its type.
        type_name: &'static str,
        /// The whole formula.
        span: Span,
    },
    /// The formula gave an integer that no double holds; OpenPBS's scheduler dies of it.
    TooLarge {
        /// The whole formula.
        span: Span,
    },
}

impl ScoreError {
    /// The kind, in words under which errors are counted.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Raised(error) => error.raised.kind.words(),
            Self::NotANumber { .. } => "not a number",
            Self::TooLarge { .. } => "too large",
        }
    }

    /// Where in the formula.
    pub fn span(&self) -> Span {
        match self {
            Self::Raised(error) => error.span,
            Self::NotANumber { span, .. } | Self::TooLarge { span } => *span,
        }
    }

    /// Whether OpenPBS's scheduler dies of it instead of counting the job as 0. A complex number on the way is taken
    /// for one at the end, which it is unless `abs` or a comparison makes a real number or an error of it.
    pub fn crashes_the_scheduler(&self) -> bool {
        match self {
            Self::Raised(error) => error.raised.kind == ErrorKind::Complex,
            Self::NotANumber { .. } | Self::TooLarge { .. } => true,
        }
    }
}

impl fmt::Display for ScoreError {
    /// Python's text of an exception, as OpenPBS logs it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Raised(error) => f.write_str(&error.raised.text),
            Self::NotANumber { type_name, .. } => write!(f, "the result is no number but of type `{type_name}`"),
            Self::TooLarge { .. } => f.write_str("the result is an integer too large for a double"),
        }
    }
}

/// Evaluates a program for every job of a table. A job that the reader set aside has no score.
///
/// The table must have a column for every name in [`Program::inputs`]; a missing one counts as 0.
pub fn score(program: &Program, table: &JobTable, keep: Keep, on_error: OnError) -> Vec<Option<Score>> {
    match keep {
        Keep::Decimal => run(program, table, BaseTen::new(), on_error, |value: BaseTenValue| {
            let decimal = value.decimal().ok_or_else(|| value.type_name())?;
            Ok(Some((Exact::Decimal(decimal), decimal.to_f64().unwrap_or(f64::NAN))))
        }),
        Keep::Double | Keep::Float32 => run(program, table, Python::new(), on_error, |value: Value| {
            let double = double(&value)?;
            let kept = if keep == Keep::Float32 { double.map(|double| f64::from(double as f32)) } else { double };
            Ok(kept.map(|kept| (Exact::Python(value), kept)))
        }),
    }
}

/// The double of a number; `None` when it is too large for one, the name of its type when it is no number.
fn double(value: &Value) -> Result<Option<f64>, &'static str> {
    match value {
        Value::Float(double) => Ok(Some(*double)),
        Value::Int(integer) => Ok(Some(*integer as f64)),
        Value::Bool(truth) => Ok(Some(f64::from(u8::from(*truth)))),
        Value::Big(_) => {
            match Python::new().call(&Value::Function(Function::Float), std::slice::from_ref(value), &[]) {
                Ok(Value::Float(double)) => Ok(Some(double)),
                _ => Ok(None),
            }
        }
        other => Err(other.type_name()),
    }
}

/// `read` gives the exact form of a result and what is kept of it; `None` when it is too large, the name of its
/// type when it is no number.
fn run<A: Arithmetic>(
    program: &Program,
    table: &JobTable,
    arithmetic: A,
    on_error: OnError,
    read: impl Fn(A::Value) -> Result<Option<(Exact, f64)>, &'static str>,
) -> Vec<Option<Score>> {
    let columns: Vec<_> = program.inputs().iter().map(|name| table.column(name)).collect();
    let mut evaluator = program.evaluator(arithmetic);
    let mut inputs = Vec::with_capacity(columns.len());
    let whole = program.expr().node(program.expr().root()).span;
    let score_row = |row: usize| {
        if table.ignored(row).is_some() {
            return None;
        }
        let values = columns.iter().map(|column| column.map_or(Value::Int(0), |column| column.value(row)));
        let result = evaluate(&mut evaluator, values, &mut inputs, whole);
        let exact = result.map_err(ScoreError::Raised).and_then(|value| match read(value) {
            Ok(Some(number)) => Ok(number),
            Ok(None) => Err(ScoreError::TooLarge { span: whole }),
            Err(type_name) => Err(ScoreError::NotANumber { type_name, span: whole }),
        });
        Some(match exact {
            Ok((exact, kept)) => Score { exact: Ok(exact), kept },
            Err(error) => Score { kept: on_error.value(&error), exact: Err(error) },
        })
    };
    (0..table.len()).map(score_row).collect()
}

fn evaluate<A: Arithmetic>(
    evaluator: &mut Evaluator<'_, A>,
    values: impl Iterator<Item = Value>,
    inputs: &mut Vec<A::Value>,
    whole: Span,
) -> Result<A::Value, EvalError> {
    inputs.clear();
    for value in values {
        let number = evaluator.arithmetic().number(&value);
        inputs.push(number.map_err(|raised: Raised| EvalError { raised, span: whole, operands: Vec::new() })?);
    }
    evaluator.evaluate(inputs)
}

impl OnError {
    /// What a job with an error is compared by. A result that is no number is no error yet for OpenPBS: the job
    /// has -1, and it is the job evaluated next at which the scheduler dies.
    fn value(self, error: &ScoreError) -> f64 {
        match (self, error) {
            (Self::Null, _) => f64::NEG_INFINITY,
            (Self::ZeroLikePbs, ScoreError::NotANumber { .. } | ScoreError::TooLarge { .. }) => -1.0,
            (Self::ZeroLikePbs | Self::Fail, _) => 0.0,
        }
    }
}

/// How many jobs have an error, by kind.
pub fn errors_by_kind<'s>(scores: impl IntoIterator<Item = &'s Score>) -> BTreeMap<&'static str, usize> {
    let mut counts = BTreeMap::new();
    for error in scores.into_iter().filter_map(|score| score.exact.as_ref().err()) {
        *counts.entry(error.kind()).or_default() += 1;
    }
    counts
}
