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

use num_bigint::BigInt;
use rust_decimal::Decimal;

use crate::python::{
    Arithmetic, BinaryOperator, ComparisonOperator, ErrorKind, Python, PythonVersion, Raised,
    UnaryOperator, Value,
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
    type Value = Value;

    fn set_version(&mut self, version: PythonVersion) {
        self.integers.set_version(version);
    }

    #[inline]
    fn begin(&self) {
        self.integers.begin();
    }

    fn unary(&self, op: UnaryOperator, x: &Value) -> Result<Value, Raised> {
        operators::unary(op, x, &self.integers)
    }

    fn binary(&self, op: BinaryOperator, x: &Value, y: &Value) -> Result<Value, Raised> {
        operators::binary(op, x, y, &self.integers)
    }

    fn compare(&self, op: ComparisonOperator, x: &Value, y: &Value) -> Result<bool, Raised> {
        operators::compare(op, x, y)
    }

    fn truth(&self, x: &Value) -> Result<bool, Raised> {
        Ok(x.truth())
    }

    fn call(
        &self,
        callee: &Value,
        positional: &[Value],
        keywords: &[(&str, Value)],
    ) -> Result<Value, Raised> {
        functions::call(callee, positional, keywords, &self.integers)
    }

    fn tuple(&self, items: Vec<Value>) -> Value {
        Value::tuple(items)
    }

    fn list(&self, items: Vec<Value>) -> Value {
        Value::list(items)
    }

    fn number(&self, value: &Value) -> Result<Value, Raised> {
        from_python(value)
    }

    fn literal(&self, text: &str, value: &Value) -> Result<Value, Raised> {
        match value {
            // A float literal has lost digits; an integer literal is exact.
            Value::Float(_) => scaled::parse(text).map(Value::Decimal),
            _ => self.number(value),
        }
    }

    fn to_python(&self, value: &Value) -> Value {
        to_python(value)
    }
}

/// The decimal as a value, or the error that the number is too large.
fn checked(value: Option<Decimal>) -> Result<Value, Raised> {
    value.map(Value::Decimal).ok_or_else(scaled::too_large)
}

/// Converts Python's value: an integer exactly, a float as its shortest `repr` reads.
///
/// # Errors
/// [`ErrorKind::Decimal`] for infinities, nans, numbers that are too large, and floats too near to
/// zero.
fn from_python(value: &Value) -> Result<Value, Raised> {
    match value {
        Value::Int(value) => Ok(Decimal::from(*value).into()),
        Value::Big(value) => checked(scaled::to_decimal(value.digits(), 0)),
        Value::Float(float) if !float.is_finite() => Err(Raised::new(
            ErrorKind::Decimal,
            format!("`{value}`, which decimal arithmetic does not have"),
        )),
        Value::Float(_) => scaled::parse(&value.repr()).map(Value::Decimal),
        Value::Tuple(items) => Ok(Value::tuple(all_from_python(items)?)),
        Value::List(items) => Ok(Value::list(all_from_python(items)?)),
        other => Ok(other.clone()),
    }
}

fn all_from_python(items: &[Value]) -> Result<Vec<Value>, Raised> {
    items.iter().map(from_python).collect()
}

/// Converts to Python's value: an `int` where there is no fraction, else the nearest `float`.
fn to_python(value: &Value) -> Value {
    match value {
        Value::Decimal(value) if value.is_integer() => {
            Value::int(BigInt::from(value.trunc().mantissa()))
        }
        Value::Decimal(_) => Value::Float(value.to_f64().unwrap_or(f64::NAN)),
        Value::Tuple(items) => Value::tuple(items.iter().map(to_python).collect()),
        Value::List(items) => Value::list(items.iter().map(to_python).collect()),
        other => other.clone(),
    }
}
