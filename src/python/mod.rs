//! The arithmetic, once: what an operator or a function makes of values, and which error it raises.
//!
//! Nothing here knows of formulas, names or places in a text; a caller attaches those. [`Python`] is the
//! reference: CPython 3.11's numbers to the last bit. A second system, base ten, stands beside it behind the
//! same trait.

mod argument;
mod column_view;
mod compare;
mod conversion;
mod decimal;
mod error;
mod float;
mod function;
mod functions;
mod integer;
pub mod limits;
mod operate;
pub mod operator;
mod python;
mod repr;
mod sequence;
#[cfg(test)]
mod tests;
mod value;
pub mod vector_math;

pub use crate::python::column_view::{ColumnValues, ColumnView, IntMask};
pub(crate) use crate::python::conversion::{MAX_EXACT_FLOAT, MAX_EXACT_INT};
pub use crate::python::decimal::{DecimalArithmetic, DecimalValue};
pub use crate::python::error::{ErrorKind, Raised};
pub use crate::python::float::binary as float_binary;
pub use crate::python::function::{Function, constant};
pub use crate::python::functions::real as real_function;
pub use crate::python::python::Python;
pub(crate) use crate::python::repr::fixed_point_digits;
pub use crate::python::value::Value;

pub use crate::python::operator::{BinaryOperator, BooleanOperator, ComparisonOperator, UnaryOperator};

/// A number system that a program can be run on.
pub trait Arithmetic {
    /// What the system computes with.
    type Value: Clone + std::fmt::Debug;

    /// Begins another evaluation; whatever bounds the work of one starts anew.
    fn begin(&self) {}
    /// `op x`; `not` gives the system's truth value.
    fn unary(&self, op: UnaryOperator, x: &Self::Value) -> Result<Self::Value, Raised>;
    /// `x op y`.
    fn binary(&self, op: BinaryOperator, x: &Self::Value, y: &Self::Value) -> Result<Self::Value, Raised>;
    /// `x op y`, one link of a comparison chain.
    fn compare(&self, op: ComparisonOperator, x: &Self::Value, y: &Self::Value) -> Result<bool, Raised>;
    /// Python's truth of a value: false is zero, empty, `None`.
    fn truth(&self, x: &Self::Value) -> bool;
    /// `callee(positional…, keyword=…)`. A callee that is no function is a `TypeError`, as in Python.
    fn call(
        &self,
        callee: &Self::Value,
        positional: &[Self::Value],
        keywords: &[(&str, Self::Value)],
    ) -> Result<Self::Value, Raised>;
    /// The display `(a, b)`.
    fn tuple(&self, items: Vec<Self::Value>) -> Self::Value;
    /// The display `[a, b]`.
    fn list(&self, items: Vec<Self::Value>) -> Self::Value;
    /// A number as it arrives from a literal or an input.
    fn number(&self, value: &Value) -> Result<Self::Value, Raised>;
    /// A literal: its source text, and the value that Python reads in it.
    ///
    /// Only base ten looks at the text, which it keeps digit by digit.
    fn literal(&self, text: &str, value: &Value) -> Result<Self::Value, Raised> {
        let _ = text;
        self.number(value)
    }
    /// A value of this system as Python's, for reports and ordering.
    fn to_python(&self, value: &Self::Value) -> Value;
}
