//! CPython 3.11's numbers, behind the trait that a program is run on.

use crate::python::limits::Fuel;
use crate::python::{
    Arithmetic, BinaryOperator, ComparisonOperator, Raised, UnaryOperator, Value, compare, functions, limits, operate,
};

/// Python's numbers, with the work that one evaluation may still do.
///
/// The bounds of [`limits`] apart, every value, type and error is that of CPython 3.11 on the
/// GNU C library 2.36, bit by bit; of `hypot` and `dist`, to a unit in the last place.
/// Python's unions of types, `int | float`, are a `TypeError` here.
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
}

impl Python {
    /// With all of [`limits::FUEL`] to spend.
    pub fn new() -> Self {
        Self { fuel: Fuel::new(limits::FUEL) }
    }

    /// With so much to spend on each evaluation, in operations on 64-bit words; never more than
    /// [`limits::FUEL`].
    pub fn with_fuel(words: u64) -> Self {
        Self { fuel: Fuel::new(words) }
    }

    /// Begins another evaluation: what the last one spent is given back.
    pub fn reset(&self) {
        self.fuel.reset();
    }
}

impl Default for Python {
    fn default() -> Self {
        Self::new()
    }
}

impl Arithmetic for Python {
    type Value = Value;

    #[inline]
    fn begin(&self) {
        self.reset();
    }

    #[inline]
    fn unary(&self, op: UnaryOperator, x: &Value) -> Result<Value, Raised> {
        operate::unary(op, x)
    }

    #[inline]
    fn binary(&self, op: BinaryOperator, x: &Value, y: &Value) -> Result<Value, Raised> {
        operate::binary(op, x, y, &self.fuel)
    }

    #[inline]
    fn compare(&self, op: ComparisonOperator, x: &Value, y: &Value) -> Result<bool, Raised> {
        compare::compare(op, x, y, &self.fuel)
    }

    #[inline]
    fn truth(&self, x: &Value) -> bool {
        x.truth()
    }

    #[inline]
    fn call(&self, callee: &Value, positional: &[Value], keywords: &[(&str, Value)]) -> Result<Value, Raised> {
        functions::call(callee, positional, keywords, &self.fuel)
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
