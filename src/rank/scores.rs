//! The score of a job: a value in some precision, or an error that concerns its job alone, and what is
//! made of it.

use std::collections::BTreeMap;

use num_traits::FromPrimitive;
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};

use crate::diagnostic::Span;
use crate::formula::program::{EvalError, Interpreter};
use crate::jobs::Column;
use crate::python::limits::FREE_WORK;
use crate::python::{ErrorKind, Value};

/// The value of a job whose formula raises an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "kebab-case")]
pub enum OnError {
    /// 0, as in OpenPBS; -1 if the result is not a real number; 0 if the value that OpenPBS gives
    /// is not known.
    #[default]
    #[cfg_attr(
        feature = "clap",
        value(name = "zero", help = "0, or -1 if OpenPBS's scheduler crashes")
    )]
    #[serde(rename = "zero")]
    ZeroLikePbs,
    /// 0; [`Ranking::failure`](super::Ranking::failure) returns the first such job, and
    /// `Site::rank` returns it as an error.
    #[cfg_attr(feature = "clap", value(help = "0, and exit code 1"))]
    Fail,
    /// Negative infinity: the job comes after all others.
    #[cfg_attr(feature = "clap", value(help = "No value: ranked last"))]
    Null,
}

/// The precision to which values are rounded before they are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum ScorePrecision {
    /// A C `float`, 24 bits: OpenPBS.
    #[default]
    Float32,
    /// A double: the result of the formula, unrounded.
    Double,
    /// 28 decimal digits: the formula is evaluated in base ten.
    Decimal,
}

/// The score of one job.
#[derive(Debug, Clone)]
pub struct Score<'s> {
    /// The result of the formula before it is rounded, or the error.
    pub unrounded: Result<Value, &'s ScoreError>,
    /// The value that jobs are compared by: the result rounded to the [`ScorePrecision`], or the
    /// value that [`OnError`] gives to an error.
    pub value: f64,
}

impl ScorePrecision {
    /// Rounds a double to the precision.
    #[inline]
    pub fn round(self, double: f64) -> f64 {
        if self == Self::Float32 {
            f64::from(double as f32)
        } else {
            double
        }
    }
}

/// Why a formula has no numeric result for a job. It displays the text of the Python exception
/// without the name of its type, as OpenPBS logs it: `division by zero`. The [`EvalError`] of
/// [`ScoreError::Raised`] displays the name too, as Python's traceback does:
/// `ZeroDivisionError: division by zero`.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum ScoreError {
    /// The formula raised an error.
    #[error("{}{}", .0.text(), doubt(.0))]
    Raised(EvalError),
    /// The result is not a real number; the scheduler of OpenPBS crashes.
    #[error("the result has type `{type_name}`, expected a real number")]
    NotANumber {
        /// The Python name of its type.
        type_name: &'static str,
        /// The whole formula.
        span: Span,
    },
    /// The result is an integer too large for a double; the scheduler of OpenPBS crashes.
    #[error("the result is an integer too large for a double")]
    TooLarge {
        /// The whole formula.
        span: Span,
    },
}

/// What is added to an error after which Python may have a value.
fn doubt(error: &EvalError) -> &'static str {
    if error.kind() == ErrorKind::Complex {
        "; cannot tell what the scheduler makes of it"
    } else {
        ""
    }
}

/// What the scheduler of OpenPBS makes of a job for which the formula has no numeric result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Consequence {
    /// The job has the value 0.
    Zero,
    /// The job has the value -1, and the scheduler crashes.
    Crash,
    /// It is not known: the error is one of this crate, which computes no complex numbers and has
    /// limits.
    Unknown,
}

impl Consequence {
    /// The consequence as a clause; the subject is such a job or such a result.
    pub fn in_words(self) -> &'static str {
        match self {
            Self::Zero => "counted as 0, as in OpenPBS",
            Self::Crash => "counted as -1; OpenPBS's scheduler crashes on such a result",
            Self::Unknown => "counted as 0 here, but OpenPBS may compute another value",
        }
    }
}

impl ScoreError {
    /// The error of an evaluation with these inputs. Where it met a complex number, it is evaluated
    /// again to find out whether the result is one.
    pub(super) fn from_evaluation(
        error: EvalError,
        interpreter: &Interpreter<'_>,
        inputs: &[Value],
    ) -> Self {
        if error.raised.kind != ErrorKind::Complex {
            return Self::Raised(error);
        }
        let program = interpreter.program();
        let mut arithmetic = interpreter.arithmetic().clone().following_complex();
        // so little work needs no share of the budget of the queue
        arithmetic.grant(FREE_WORK);
        match program.interpreter(arithmetic).evaluate(inputs) {
            Ok(Value::OfType(type_name)) => Self::NotANumber {
                type_name,
                span: program.expr().span(),
            },
            // the operand that is a complex number has no value
            Err(later) if later.kind().is_raised_by_python() => Self::Raised(EvalError {
                operands: Vec::new(),
                ..later
            }),
            _ => Self::Raised(error),
        }
    }

    /// The kind of the error.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Raised(error) => error.kind(),
            Self::NotANumber {
                type_name: "complex",
                ..
            } => ErrorKind::ComplexResult,
            Self::NotANumber { .. } => ErrorKind::NotANumber,
            Self::TooLarge { .. } => ErrorKind::TooLarge,
        }
    }

    /// The part of the formula that failed.
    pub fn span(&self) -> Span {
        match self {
            Self::Raised(error) => error.span,
            Self::NotANumber { span, .. } | Self::TooLarge { span } => *span,
        }
    }

    /// What the scheduler of OpenPBS makes of such a job.
    pub fn consequence(&self) -> Consequence {
        match self {
            Self::Raised(error) if error.kind().is_raised_by_python() => Consequence::Zero,
            Self::Raised(_) => Consequence::Unknown,
            Self::NotANumber { .. } | Self::TooLarge { .. } => Consequence::Crash,
        }
    }

    /// Whether the scheduler of OpenPBS crashes instead of giving the job a value.
    pub fn crashes_the_scheduler(&self) -> bool {
        self.consequence() == Consequence::Crash
    }
}

impl OnError {
    /// The value of a job with this error. OpenPBS does not treat a result that is not a number as
    /// an error: the value of the job is -1, and the scheduler crashes when it evaluates the next
    /// job.
    pub fn value(self, error: &ScoreError) -> f64 {
        match (self, error.consequence()) {
            (Self::Null, _) => f64::NEG_INFINITY,
            (Self::ZeroLikePbs, Consequence::Crash) => -1.0,
            (Self::ZeroLikePbs | Self::Fail, _) => 0.0,
        }
    }
}

/// The scores of all jobs of a table, by row.
#[derive(Debug, Clone)]
pub struct Scores {
    /// The unrounded results, as Python's numbers or in base ten. The result of a row that failed
    /// is unspecified.
    pub(super) results: Column,
    /// The rows that failed, ascending; none of an excluded job.
    pub(super) errors: Vec<(u32, ScoreError)>,
    /// The rows of the excluded jobs, ascending.
    pub(super) excluded: Vec<u32>,
    pub(super) precision: ScorePrecision,
    pub(super) on_error: OnError,
}

impl Scores {
    /// The number of rows, including those of excluded jobs.
    pub fn len(&self) -> usize {
        self.results.len()
    }

    /// The value of a job whose formula raises an error.
    pub fn on_error(&self) -> OnError {
        self.on_error
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether the row has a score: it exists, and its job is not excluded.
    pub fn is_scored(&self, row: usize) -> bool {
        // the length first: a row beyond it may have more than 32 bits
        row < self.len() && self.excluded.binary_search(&(row as u32)).is_err()
    }

    /// The score of a row; `None` if its job is excluded.
    pub fn get(&self, row: usize) -> Option<Score<'_>> {
        if !self.is_scored(row) {
            return None;
        }
        if let Some(error) = self.error(row) {
            return Some(Score {
                unrounded: Err(error),
                value: self.on_error.value(error),
            });
        }
        let result = self.results.value(row);
        // never NaN for want of a number: `python_result` has refused such a result
        let value = self.precision.round(result.to_f64().unwrap_or(f64::NAN));
        Some(Score {
            unrounded: Ok(result),
            value,
        })
    }

    /// Every score with its row, by ascending row.
    pub fn iter(&self) -> impl Iterator<Item = (usize, Score<'_>)> {
        (0..self.len()).filter_map(|row| Some((row, self.get(row)?)))
    }

    /// The number of rows that have a score.
    pub fn count(&self) -> usize {
        self.len() - self.excluded.len()
    }

    /// The error of a row, if the formula raised one.
    pub fn error(&self, row: usize) -> Option<&ScoreError> {
        let index = self
            .errors
            .binary_search_by_key(&row, |(failed_row, _)| *failed_row as usize)
            .ok()?;
        Some(&self.errors[index].1)
    }

    /// Every error with its row, by ascending row.
    pub fn errors(&self) -> impl ExactSizeIterator<Item = (usize, &ScoreError)> {
        self.errors
            .iter()
            .map(|(row, error)| (*row as usize, error))
    }

    /// The number of jobs with an error, by the kind of the error.
    pub fn errors_by_kind(&self) -> BTreeMap<ErrorKind, usize> {
        let mut counts = BTreeMap::new();
        for (_, error) in self.errors() {
            *counts.entry(error.kind()).or_default() += 1;
        }
        counts
    }

    /// The values that jobs are compared by, or, in base ten, ordinals of them: different decimals
    /// may have the same double.
    pub(super) fn comparable_values(&self) -> Vec<f64> {
        let values = self.values();
        if self.precision != ScorePrecision::Decimal {
            return values;
        }
        let mut decimals = Vec::with_capacity(self.len());
        // a double holds none of them, so that each row has one
        for (row, result) in self.results.exceptions() {
            let row = *row as usize;
            let decimal = match self.error(row) {
                Some(_) => Decimal::from_f64(values[row]),
                None => result.decimal(),
            };
            // an infinity, which an error may give, is told apart by its double
            decimals.push(decimal.unwrap_or_default());
        }
        let compare = |left: usize, right: usize| {
            // both zeros are one value
            let by_value = (values[left] + 0.0).total_cmp(&(values[right] + 0.0));
            by_value.then_with(|| decimals[left].cmp(&decimals[right]))
        };
        let mut rows: Vec<usize> = (0..values.len()).collect();
        rows.sort_unstable_by(|&left, &right| compare(left, right));
        let mut ordinals = vec![0.0; values.len()];
        let mut ordinal = 0.0;
        for (place, &row) in rows.iter().enumerate() {
            if place > 0 && compare(rows[place - 1], row).is_ne() {
                ordinal += 1.0;
            }
            ordinals[row] = ordinal;
        }
        ordinals
    }

    /// The values that jobs are compared by, in the order of the rows; 0 for an excluded job.
    pub fn values(&self) -> Vec<f64> {
        let mut values = Vec::with_capacity(self.len());
        for row in 0..self.len() {
            values.push(self.precision.round(self.results.nearest_double(row)));
        }
        // in this order: an error overrules a result, and an exclusion both
        for (row, value) in self.results.exceptions() {
            values[*row as usize] = self.precision.round(value.to_f64().unwrap_or(f64::NAN));
        }
        for (row, error) in &self.errors {
            values[*row as usize] = self.on_error.value(error);
        }
        for &row in &self.excluded {
            values[row as usize] = 0.0;
        }
        values
    }
}
