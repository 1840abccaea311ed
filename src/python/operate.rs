//! The operators, told apart by the types of their operands.

use crate::python::limits::Fuel;
use crate::python::value::{Integer, Number};
use crate::python::{BinaryOperator, Raised, UnaryOperator, Value, float, integer, sequence};

/// `op x`.
#[inline]
pub(super) fn unary(op: UnaryOperator, x: &Value) -> Result<Value, Raised> {
    if op == UnaryOperator::Not {
        return Ok(Value::Bool(!x.truth()));
    }
    match (op, x.number()) {
        (UnaryOperator::Plus, Some(Number::Integer(a))) => Ok(a.to_value()),
        (UnaryOperator::Minus, Some(Number::Integer(a))) => Ok(integer::negate(a)),
        (UnaryOperator::Invert, Some(Number::Integer(a))) => Ok(integer::invert(a)),
        (UnaryOperator::Plus, Some(Number::Float(a))) => Ok(Value::Float(a)),
        (UnaryOperator::Minus, Some(Number::Float(a))) => Ok(Value::Float(-a)),
        _ => Err(Raised::type_error(format!("bad operand type for unary {}: '{}'", op.symbol(), x.type_name()))),
    }
}

/// `x op y`.
#[inline]
pub(super) fn binary(op: BinaryOperator, x: &Value, y: &Value, fuel: &Fuel) -> Result<Value, Raised> {
    let result = match (x, y) {
        (Value::Int(a), Value::Int(b)) => integer::binary(op, Integer::Small(*a), Integer::Small(*b), fuel)?,
        (Value::Float(a), Value::Float(b)) => float::binary(op, *a, *b)?.map(Value::Float),
        (Value::Bool(a), Value::Bool(b)) if is_logical(op) => return Ok(Value::Bool(logical(op, *a, *b))),
        _ => mixed(op, x, y, fuel)?,
    };
    result.ok_or_else(|| unsupported(spelling(op), x, y))
}

/// The operators under which two bools stay bools.
fn is_logical(op: BinaryOperator) -> bool {
    matches!(op, BinaryOperator::BitAnd | BinaryOperator::BitOr | BinaryOperator::BitXor)
}

fn logical(op: BinaryOperator, a: bool, b: bool) -> bool {
    match op {
        BinaryOperator::BitAnd => a & b,
        BinaryOperator::BitOr => a | b,
        _ => a ^ b,
    }
}

fn mixed(op: BinaryOperator, x: &Value, y: &Value, fuel: &Fuel) -> Result<Option<Value>, Raised> {
    match (x.number(), y.number()) {
        (Some(Number::Integer(a)), Some(Number::Integer(b))) => integer::binary(op, a, b, fuel),
        // A float does not know the operator before it asks whether the integer fits in a float.
        (Some(_), Some(_)) if is_logical(op) || is_shift_or_matrix(op) => Ok(None),
        (Some(a), Some(b)) => Ok(float::binary(op, a.to_float()?, b.to_float()?)?.map(Value::Float)),
        _ => sequences(op, x, y, fuel),
    }
}

fn is_shift_or_matrix(op: BinaryOperator) -> bool {
    matches!(op, BinaryOperator::ShiftLeft | BinaryOperator::ShiftRight | BinaryOperator::MatrixMultiply)
}

fn sequences(op: BinaryOperator, x: &Value, y: &Value, fuel: &Fuel) -> Result<Option<Value>, Raised> {
    match (op, x.items(), y.items()) {
        (BinaryOperator::Add, Some(_), _) => sequence::concatenate(x, y, fuel).map(Some),
        (BinaryOperator::Multiply, Some(items), _) => sequence::repeat(x, items, y, fuel).map(Some),
        (BinaryOperator::Multiply, None, Some(items)) => sequence::repeat(y, items, x, fuel).map(Some),
        _ => Ok(None),
    }
}

/// The operator as Python names it in a message.
fn spelling(op: BinaryOperator) -> &'static str {
    if op == BinaryOperator::Power { "** or pow()" } else { op.symbol() }
}

/// The `TypeError` of operands that do not go together.
pub(super) fn unsupported(spelling: &str, x: &Value, y: &Value) -> Raised {
    mistyped(spelling, x.type_name(), y.type_name())
}

/// The `TypeError` of operands of these types.
pub(super) fn mistyped(spelling: &str, x: &str, y: &str) -> Raised {
    Raised::type_error(format!("unsupported operand type(s) for {spelling}: '{x}' and '{y}'"))
}

impl Number<'_> {
    /// The nearest double.
    ///
    /// # Errors
    /// `OverflowError` of an integer beyond the largest double.
    #[inline]
    pub(super) fn to_float(self) -> Result<f64, Raised> {
        match self {
            Number::Integer(value) => value.to_float(),
            Number::Float(value) => Ok(value),
        }
    }
}
