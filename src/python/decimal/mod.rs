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

pub use crate::python::decimal::value::BaseTenValue;

use crate::python::{Arithmetic, BinaryOperator, ComparisonOperator, Python, Raised, UnaryOperator, Value};

/// Base ten, with the work that one evaluation may still do on whole numbers.
///
/// ```
/// use job_sort_formula::python::{Arithmetic, BaseTen, Value};
/// use job_sort_formula::python::BinaryOperator;
///
/// let ten = BaseTen::new();
/// let (x, y) = (ten.number(&Value::Float(0.1))?, ten.number(&Value::Float(0.2))?);
/// let sum = ten.binary(BinaryOperator::Add, &x, &y)?;
/// assert_eq!(ten.to_python(&sum).repr(), "0.3");
/// # Ok::<(), job_sort_formula::python::Raised>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct BaseTen {
    integers: Python,
}

impl BaseTen {
    /// With all of [`limits::WORK`](crate::python::limits::WORK) to spend.
    pub fn new() -> Self {
        Self::default()
    }

    /// Begins another evaluation: what the last one spent is given back.
    pub fn reset(&self) {
        self.integers.reset();
    }
}

impl Arithmetic for BaseTen {
    type Value = BaseTenValue;

    #[inline]
    fn begin(&self) {
        self.reset();
    }

    fn unary(&self, op: UnaryOperator, x: &BaseTenValue) -> Result<BaseTenValue, Raised> {
        operate::unary(op, x, &self.integers)
    }

    fn binary(&self, op: BinaryOperator, x: &BaseTenValue, y: &BaseTenValue) -> Result<BaseTenValue, Raised> {
        operate::binary(op, x, y, &self.integers)
    }

    fn compare(&self, op: ComparisonOperator, x: &BaseTenValue, y: &BaseTenValue) -> Result<bool, Raised> {
        compare::compare(op, x, y)
    }

    fn truth(&self, x: &BaseTenValue) -> bool {
        x.truth()
    }

    fn call(
        &self,
        callee: &BaseTenValue,
        positional: &[BaseTenValue],
        keywords: &[(&str, BaseTenValue)],
    ) -> Result<BaseTenValue, Raised> {
        functions::call(callee, positional, keywords, &self.integers)
    }

    fn tuple(&self, items: Vec<BaseTenValue>) -> BaseTenValue {
        BaseTenValue::Tuple(items.into())
    }

    fn list(&self, items: Vec<BaseTenValue>) -> BaseTenValue {
        BaseTenValue::List(items.into())
    }

    fn number(&self, value: &Value) -> Result<BaseTenValue, Raised> {
        BaseTenValue::from_python(value)
    }

    fn literal(&self, text: &str, value: &Value) -> Result<BaseTenValue, Raised> {
        match value {
            // Only the text of a float has digits that its value lost; an integer's value is exact.
            Value::Float(_) => scaled::parse(text).map(BaseTenValue::Decimal),
            _ => self.number(value),
        }
    }

    fn to_python(&self, value: &BaseTenValue) -> Value {
        value.to_python()
    }
}
