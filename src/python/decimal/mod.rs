//! Decimal arithmetic: numbers of 28 significant digits, behind the same trait as Python's.
//!
//! Literals keep the digits of their text, so that `0.1 + 0.2` is `0.3`. Operators and functions
//! mean what they mean for Python's numbers, with these differences: integers and fractions have
//! one type, there are no infinities and no nans, and results have at most 28 decimals, so that one
//! of less than half of `1e-28` is zero.

mod functions;
mod operators;
mod scaled;
#[cfg(test)]
mod tests;
mod value;

pub use crate::python::decimal::value::DecimalValue;

use crate::python::{
    Arithmetic, BinaryOperator, ComparisonOperator, Python, PythonVersion, Raised, UnaryOperator,
    Value,
};

/// Decimal arithmetic with 28 significant digits.
///
/// ```
/// use job_sort_formula::python::{Arithmetic, DecimalArithmetic, Value};
/// use job_sort_formula::python::BinaryOperator;
///
/// let decimal = DecimalArithmetic::new();
/// let x = decimal.number(&Value::Float(0.1))?;
/// let y = decimal.number(&Value::Float(0.2))?;
/// let sum = decimal.binary(BinaryOperator::Add, &x, &y)?;
/// assert_eq!(decimal.to_python(&sum).repr(), "0.3");
/// # Ok::<(), job_sort_formula::python::Raised>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct DecimalArithmetic {
    /// Computes the operations that are defined on integers only.
    integers: Python,
}

impl DecimalArithmetic {
    /// Creates the arithmetic. Each evaluation may spend
    /// [`limits::FUEL`](crate::python::limits::FUEL) on operations on integers.
    pub fn new() -> Self {
        Self::default()
    }
}

impl Arithmetic for DecimalArithmetic {
    type Value = DecimalValue;

    fn set_version(&mut self, version: PythonVersion) {
        self.integers.set_version(version);
    }

    #[inline]
    fn begin(&self) {
        self.integers.begin();
    }

    fn unary(&self, op: UnaryOperator, x: &DecimalValue) -> Result<DecimalValue, Raised> {
        operators::unary(op, x, &self.integers)
    }

    fn binary(
        &self,
        op: BinaryOperator,
        x: &DecimalValue,
        y: &DecimalValue,
    ) -> Result<DecimalValue, Raised> {
        operators::binary(op, x, y, &self.integers)
    }

    fn compare(
        &self,
        op: ComparisonOperator,
        x: &DecimalValue,
        y: &DecimalValue,
    ) -> Result<bool, Raised> {
        operators::compare(op, x, y)
    }

    fn truth(&self, x: &DecimalValue) -> Result<bool, Raised> {
        Ok(x.truth())
    }

    fn call(
        &self,
        callee: &DecimalValue,
        positional: &[DecimalValue],
        keywords: &[(&str, DecimalValue)],
    ) -> Result<DecimalValue, Raised> {
        functions::call(callee, positional, keywords, &self.integers)
    }

    fn tuple(&self, items: Vec<DecimalValue>) -> DecimalValue {
        DecimalValue::Tuple(items.into())
    }

    fn list(&self, items: Vec<DecimalValue>) -> DecimalValue {
        DecimalValue::List(items.into())
    }

    fn number(&self, value: &Value) -> Result<DecimalValue, Raised> {
        DecimalValue::from_python(value)
    }

    fn literal(&self, text: &str, value: &Value) -> Result<DecimalValue, Raised> {
        match value {
            // A float literal has lost digits; an integer literal is exact.
            Value::Float(_) => scaled::parse(text).map(DecimalValue::Decimal),
            _ => self.number(value),
        }
    }

    fn to_python(&self, value: &DecimalValue) -> Value {
        value.to_python()
    }
}
