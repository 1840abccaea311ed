//! Python's numbers: the results of operators and functions, and the exceptions that they raise.
//!
//! Values and an operation enter; a [`Value`] or a [`Raised`] exception leaves. This module knows
//! no formulas, names or source positions; callers add them. [`Python`] is the reference: CPython
//! 3.11, to the last bit. [`DecimalArithmetic`] does the same with 28 decimal digits, behind the
//! same trait, [`Arithmetic`]. [`vector_math`] computes some functions of `math` on whole columns,
//! with the same bits.

mod complex;
mod decimal;
mod float;
mod function;
mod functions;
mod integer;
pub mod limits;
mod operators;
mod value;
pub mod vector_math;
mod version;

use std::borrow::Cow;

use crate::python::limits::Fuel;

pub use crate::python::complex::{KnownOrType, WithComplex};
pub use crate::python::decimal::DecimalArithmetic;
pub(crate) use crate::python::function::bind;
pub use crate::python::function::{Function, constant};
pub use crate::python::functions::real_function;
pub use crate::python::integer::{MAX_EXACT_FLOAT, MAX_EXACT_INT, float_to_int};
pub use crate::python::operators::{
    BinaryOperator, BooleanOperator, ComparisonOperator, UnaryOperator,
};
pub use crate::python::value::{BigInteger, Value};
pub(crate) use crate::python::version::ContinuedIndentation;
pub use crate::python::version::PythonVersion;

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

/// Why there is no number: one of Python's exceptions, a result that the scheduler of OpenPBS
/// cannot use, or what this crate does not compute.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum ErrorKind {
    /// `ZeroDivisionError`
    ZeroDivision,
    /// `ValueError`
    Value,
    /// `OverflowError`
    Overflow,
    /// `TypeError`
    Type,
    /// `NameError`
    Name,
    /// `SyntaxError`, where CPython's parser accepts the text and only its compiler rejects it
    Syntax,
    /// Python raises nothing, and the result is a complex number
    ComplexResult,
    /// Python raises nothing, and the result is no number, such as `None` or a function
    NotANumber,
    /// Python raises nothing, and the result is an integer too large for a double
    TooLarge,
    /// a complex number on the way to the result, which is not computed: Python may have a value
    Complex,
    /// an integer or a computation beyond the documented limits: Python may have a value
    Limit,
    /// a value or a function that decimal arithmetic does not have
    Decimal,
}

/// The exception that one operation raises, with Python's text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}: {text}", .kind.exception())]
pub struct Raised {
    /// The exception's type.
    pub kind: ErrorKind,
    /// The text: `str(exception)` in Python.
    pub text: Cow<'static, str>,
}

impl Raised {
    /// An exception of this kind with this text.
    pub fn new(kind: ErrorKind, text: impl Into<Cow<'static, str>>) -> Self {
        Self {
            kind,
            text: text.into(),
        }
    }

    /// A `TypeError`.
    fn type_error(text: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorKind::Type, text)
    }

    /// A `ValueError`.
    pub(super) fn value(text: &'static str) -> Self {
        Self::new(ErrorKind::Value, text)
    }

    /// An `OverflowError`.
    pub(super) fn overflow(text: &'static str) -> Self {
        Self::new(ErrorKind::Overflow, text)
    }

    /// A `ZeroDivisionError`.
    fn zero_division(text: &'static str) -> Self {
        Self::new(ErrorKind::ZeroDivision, text)
    }

    /// The `ZeroDivisionError` of zero to a negative power.
    fn zero_to_negative_power() -> Self {
        Self::zero_division("0.0 cannot be raised to a negative power")
    }

    /// The error of a fractional power of a negative number, and of what is computed from one.
    fn complex_power() -> Self {
        let text =
            "a fractional power of a negative number is complex; jsf computes real numbers only";
        Self::new(ErrorKind::Complex, text)
    }

    /// The `ValueError` of a `math` function whose argument is outside its domain.
    pub(super) fn domain() -> Self {
        Self::value("math domain error")
    }

    /// The `OverflowError` of a `math` function whose result exceeds the largest double.
    pub(super) fn range() -> Self {
        Self::overflow("math range error")
    }
}

impl ErrorKind {
    /// Python's name of the exception; a short name for the crate's own kinds.
    pub fn exception(self) -> &'static str {
        match self {
            Self::ZeroDivision => "ZeroDivisionError",
            Self::Value => "ValueError",
            Self::Overflow => "OverflowError",
            Self::Type => "TypeError",
            Self::Name => "NameError",
            Self::Syntax => "SyntaxError",
            Self::ComplexResult | Self::Complex => "complex number",
            Self::NotANumber => "not a number",
            Self::TooLarge => "too large",
            Self::Limit => "limit",
            Self::Decimal => "decimal",
        }
    }

    /// Whether CPython raises this exception, and the scheduler notices it. It does not notice a
    /// `MemoryError`.
    pub fn is_raised_by_python(self) -> bool {
        use ErrorKind::{Name, Overflow, Syntax, Type, Value, ZeroDivision};
        matches!(self, ZeroDivision | Value | Overflow | Type | Name | Syntax)
    }

    /// The name of the kind in reports and summaries.
    pub fn description(self) -> &'static str {
        match self {
            Self::ZeroDivision => "division by zero",
            Self::Value => "domain error",
            Self::Overflow => "overflow",
            Self::Type => "type error",
            Self::Name => "unknown name",
            Self::Syntax => "syntax error",
            Self::ComplexResult => "complex number",
            Self::NotANumber => "not a number",
            Self::TooLarge => "too large",
            Self::Complex => "complex intermediate value",
            Self::Limit => "beyond the limits",
            Self::Decimal => "not decimal",
        }
    }
}

/// One input of every job, borrowed from the caller. The rows of all columns are the same jobs in
/// the same order. Infinities and NaN are taken as Python floats; a score that is NaN is no error,
/// and equals every other in an order.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum InputColumn<'a> {
    /// Python integers.
    I32(&'a [i32]),
    /// Python integers.
    I64(&'a [i64]),
    /// Python floats.
    F64(&'a [f64]),
    /// Python integers of less than 2^53, each as a double.
    Whole(&'a [f64]),
    /// Python integers in the rows that are set in `is_int`, else floats.
    Mixed {
        /// The number of each row; that of an integer is whole.
        values: &'a [f64],
        /// Whether the number of each row is an integer.
        is_int: &'a [bool],
    },
    /// Amounts of a resource as OpenPBS's scheduler holds them. The input is the number of
    /// [`openpbs_digits`](crate::rank::openpbs_digits): an integer for one job, a float for the next.
    PbsAmount(&'a [f64]),
    /// The same value for every job.
    Same(Value),
    /// A Python float for each entity: `values[index[row]]` is the input of a row.
    ByEntity {
        /// The entity of each row.
        index: &'a [u32],
        /// The number of each entity.
        values: &'a [f64],
    },
}

#[cfg(test)]
mod tests;
