//! Numbers in base ten, 28 digits of them, behind the same trait as Python's.
//!
//! Literals are kept as they are written, so that `0.1 + 0.2` is `0.3`. The meaning of every operator and function
//! follows Python's numbers; but integers and fractions are one type, there is no infinity and no nan, and what is
//! smaller than `1e-28` is zero.

mod aggregates;
mod compare;
mod functions;
mod operate;
mod reals;
mod rounding;
mod scaled;
#[cfg(test)]
mod tests;
mod value;

pub use crate::python::decimal::value::DecimalValue;

use crate::python::{Arithmetic, BinaryOperator, ComparisonOperator, Python, Raised, UnaryOperator, Value};

/// Base ten, with the work that one evaluation may still do on whole numbers.
///
/// ```
/// use job_sort_formula::python::{Arithmetic, DecimalArithmetic, Value};
/// use job_sort_formula::python::BinaryOperator;
///
/// let ten = DecimalArithmetic::new();
/// let (x, y) = (ten.number(&Value::Float(0.1))?, ten.number(&Value::Float(0.2))?);
/// let sum = ten.binary(BinaryOperator::Add, &x, &y)?;
/// assert_eq!(ten.to_python(&sum).repr(), "0.3");
/// # Ok::<(), job_sort_formula::python::Raised>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct DecimalArithmetic {
    integers: Python,
}

impl DecimalArithmetic {
    /// With all of [`limits::FUEL`](crate::python::limits::FUEL) to spend.
    pub fn new() -> Self {
        Self::default()
    }

    /// Begins another evaluation: what the last one spent is given back.
    pub fn reset(&self) {
        self.integers.reset();
    }
}

impl Arithmetic for DecimalArithmetic {
    type Value = DecimalValue;

    #[inline]
    fn begin(&self) {
        self.reset();
    }

    fn unary(&self, op: UnaryOperator, x: &DecimalValue) -> Result<DecimalValue, Raised> {
        operate::unary(op, x, &self.integers)
    }

    fn binary(&self, op: BinaryOperator, x: &DecimalValue, y: &DecimalValue) -> Result<DecimalValue, Raised> {
        operate::binary(op, x, y, &self.integers)
    }

    fn compare(&self, op: ComparisonOperator, x: &DecimalValue, y: &DecimalValue) -> Result<bool, Raised> {
        compare::compare(op, x, y)
    }

    fn truth(&self, x: &DecimalValue) -> bool {
        x.truth()
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
            // Only the text of a float has digits that its value lost; an integer's value is exact.
            Value::Float(_) => scaled::parse(text).map(DecimalValue::Decimal),
            _ => self.number(value),
        }
    }

    fn to_python(&self, value: &DecimalValue) -> Value {
        value.to_python()
    }
}
