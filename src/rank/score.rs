//! What a job is worth, or why it is worth nothing.

use std::fmt;

use rust_decimal::Decimal;
use rust_decimal::prelude::ToPrimitive;

use crate::diagnostic::Span;
use crate::formula::program::EvalError;
use crate::python::{Arithmetic, ErrorKind, Function, Python, Value};

/// What becomes of a job whose formula raises an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum OnError {
    /// The job is worth 0, as in OpenPBS; -1 where the result is no number.
    #[default]
    ZeroLikePbs,
    /// The job is worth 0, and [`Ranking::failure`](super::Ranking::failure) reports the first such job; `Site::rank`
    /// returns it as an error.
    Fail,
    /// The job is worth nothing and stands behind all others.
    Null,
}

/// In which form a value is kept and compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum ScorePrecision {
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
pub struct Score<'s> {
    /// What the formula gave.
    pub exact: Result<Exact, &'s ScoreError>,
    /// What jobs are compared by.
    pub kept: f64,
}

impl ScorePrecision {
    /// What is kept of a double.
    #[inline]
    pub(super) fn kept(self, double: f64) -> f64 {
        if self == Self::Float32 { f64::from(double as f32) } else { double }
    }
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
            Self::Raised(error) => error.raised.kind.description(),
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

/// The double of a number; `None` when it is too large for one, the name of its type when it is no number.
pub(super) fn double(value: &Value) -> Result<Option<f64>, &'static str> {
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

impl OnError {
    /// What a job with an error is compared by. A result that is no number is no error yet for OpenPBS: the job
    /// has -1, and it is the job evaluated next at which the scheduler dies.
    pub(super) fn value(self, error: &ScoreError) -> f64 {
        match (self, error) {
            (Self::Null, _) => f64::NEG_INFINITY,
            (Self::ZeroLikePbs, ScoreError::NotANumber { .. } | ScoreError::TooLarge { .. }) => -1.0,
            (Self::ZeroLikePbs | Self::Fail, _) => 0.0,
        }
    }
}
