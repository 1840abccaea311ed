//! Python's numbers: the results of operators and functions, and the exceptions that they raise.
//!
//! Values and an operation enter; a [`Value`] or a [`Raised`] exception leaves. This module knows
//! no formulas, names or source positions; callers add them. [`Python`] is the reference: CPython
//! 3.11, to the last bit. [`DecimalArithmetic`] does the same with 28 decimal digits, behind the
//! same trait, [`Arithmetic`]. [`vector_math`] computes some functions of `math` on whole columns,
//! with the same bits.

mod complex;
mod conversion;
mod decimal;
mod differences;
mod error;
mod float;
mod float_parts;
mod function;
mod functions;
mod generic;
mod input_column;
mod integer;
pub mod limits;
mod operators;
pub mod repr;
#[cfg(test)]
mod tests;
mod value;
pub mod vector_math;
mod version;

pub use crate::python::complex::{KnownOrType, WithComplex};
pub use crate::python::conversion::{MAX_EXACT_FLOAT, MAX_EXACT_INT, float_to_int};
pub use crate::python::decimal::DecimalArithmetic;
pub(crate) use crate::python::differences::ContinuedIndentation;
pub use crate::python::error::{ErrorKind, Raised};
pub(crate) use crate::python::function::bind;
pub use crate::python::function::{Function, constant};
pub use crate::python::functions::real_function;
pub use crate::python::input_column::InputColumn;
pub use crate::python::operators::{
    BinaryOperator, BooleanOperator, ComparisonOperator, UnaryOperator,
};
pub use crate::python::value::{BigInteger, Value};
pub use crate::python::version::PythonVersion;

use crate::python::limits::Fuel;

/// A number system that can run a program.
pub trait Arithmetic {
    /// The values of the system.
    type Value: Clone + std::fmt::Debug;

    /// Follows this version of Python. A program sets it to the one that it was compiled for.
    fn set_version(&mut self, version: PythonVersion);
    /// Starts another evaluation. A system that limits the work of one evaluation resets its count.
    fn begin(&self) {}
    /// Grants the next evaluations this much work, in operations on 64-bit words, if the system
    /// limits it.
    fn grant(&mut self, words: u64) {
        let _ = words;
    }
    /// The work of the evaluation so far, in operations on 64-bit words; 0 if the system does not
    /// limit it.
    fn work(&self) -> u64 {
        0
    }
    /// Whether the evaluation so far needed more work than it was granted.
    fn needed_more_work(&self) -> bool {
        false
    }
    /// `op x`; `not` returns the system's truth value.
    fn unary(&self, op: UnaryOperator, x: &Self::Value) -> Result<Self::Value, Raised>;
    /// `x op y`.
    fn binary(
        &self,
        op: BinaryOperator,
        x: &Self::Value,
        y: &Self::Value,
    ) -> Result<Self::Value, Raised>;
    /// `x op y`, one link of a comparison chain.
    fn compare(
        &self,
        op: ComparisonOperator,
        x: &Self::Value,
        y: &Self::Value,
    ) -> Result<bool, Raised>;
    /// Python's truth value: zero, an empty sequence and `None` are false. Only an unknown value is
    /// an error.
    fn truth(&self, x: &Self::Value) -> Result<bool, Raised>;
    /// `callee(positional…, keyword=…)`. A callee that is not a function raises `TypeError`, as in
    /// Python.
    fn call(
        &self,
        callee: &Self::Value,
        positional: &[Self::Value],
        keywords: &[(&str, Self::Value)],
    ) -> Result<Self::Value, Raised>;
    /// The tuple display `(a, b)`.
    fn tuple(&self, items: Vec<Self::Value>) -> Self::Value;
    /// The list display `[a, b]`.
    fn list(&self, items: Vec<Self::Value>) -> Self::Value;
    /// Converts a literal or an input to this system.
    fn number(&self, value: &Value) -> Result<Self::Value, Raised>;
    /// Converts a literal, given its source text and Python's value of it.
    ///
    /// Only decimal arithmetic reads the text, because the nearest double has lost some of its
    /// digits.
    fn literal(&self, text: &str, value: &Value) -> Result<Self::Value, Raised> {
        let _ = text;
        self.number(value)
    }
    /// Converts a value of this system to Python's, for reports and ordering.
    fn to_python(&self, value: &Self::Value) -> Value;
}

/// CPython 3.11's numbers on the GNU C library 2.36.
///
/// Every value, type and error is CPython's, to the last bit, with three exceptions: the [`limits`]
/// are this crate's, `hypot` and `dist` may differ by a unit in the last place, and a union of
/// types, `int | float`, raises `TypeError`.
///
/// ```
/// use job_sort_formula::python::{Arithmetic, Python, Value};
/// use job_sort_formula::python::BinaryOperator;
///
/// let python = Python::new();
/// let quotient = python.binary(BinaryOperator::Divide, &Value::Int(7), &Value::Int(2));
/// assert_eq!(quotient.map(|value| value.repr()).as_deref(), Ok("3.5"));
/// ```
#[derive(Debug, Clone)]
pub struct Python {
    fuel: Fuel,
    version: PythonVersion,
}

impl Python {
    /// Grants each evaluation all of [`limits::FUEL`].
    pub fn new() -> Self {
        Self::with_fuel(limits::FUEL)
    }

    /// Grants each evaluation this much work, in operations on 64-bit words; at most
    /// [`limits::FUEL`].
    pub fn with_fuel(words: u64) -> Self {
        Self {
            fuel: Fuel::new(words),
            version: PythonVersion::default(),
        }
    }

    /// The numbers of this version of Python.
    pub fn of_version(self, version: PythonVersion) -> Self {
        Self { version, ..self }
    }
}

impl Default for Python {
    fn default() -> Self {
        Self::new()
    }
}

impl Arithmetic for Python {
    type Value = Value;

    fn set_version(&mut self, version: PythonVersion) {
        self.version = version;
    }

    #[inline]
    fn begin(&self) {
        self.fuel.refill();
    }

    fn grant(&mut self, words: u64) {
        self.fuel.set_capacity(words);
    }

    fn work(&self) -> u64 {
        self.fuel.consumed()
    }

    fn needed_more_work(&self) -> bool {
        self.fuel.is_spent()
    }

    #[inline]
    fn unary(&self, op: UnaryOperator, x: &Value) -> Result<Value, Raised> {
        operators::unary(op, x)
    }

    #[inline]
    fn binary(&self, op: BinaryOperator, x: &Value, y: &Value) -> Result<Value, Raised> {
        let is_shift = matches!(op, BinaryOperator::ShiftLeft | BinaryOperator::ShiftRight);
        // before the operator: CPython 3.6 converts the count first, so even `0 << 2**70` fails
        if is_shift && self.version.limits_shift_counts() {
            operators::check_shift_count(x, y)?;
        }
        operators::binary(op, x, y, &self.fuel).map_err(|raised| raised.worded_for(self.version))
    }

    #[inline]
    fn compare(&self, op: ComparisonOperator, x: &Value, y: &Value) -> Result<bool, Raised> {
        operators::compare(op, x, y, &self.fuel)
    }

    #[inline]
    fn truth(&self, x: &Value) -> Result<bool, Raised> {
        Ok(x.truth())
    }

    #[inline]
    fn call(
        &self,
        callee: &Value,
        positional: &[Value],
        keywords: &[(&str, Value)],
    ) -> Result<Value, Raised> {
        functions::call(callee, positional, keywords, self)
            .map_err(|raised| raised.worded_for(self.version))
    }

    fn tuple(&self, items: Vec<Value>) -> Value {
        Value::tuple(items)
    }

    fn list(&self, items: Vec<Value>) -> Value {
        Value::list(items)
    }

    fn number(&self, value: &Value) -> Result<Value, Raised> {
        Ok(value.clone())
    }

    fn to_python(&self, value: &Value) -> Value {
        value.clone()
    }
}
