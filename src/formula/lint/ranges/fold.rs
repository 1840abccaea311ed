//! Parts that are the same for every job: computed once, where that takes no time.

use crate::python::{Arithmetic, BinaryOperator, ComparisonOperator, Function, Python, Raised, UnaryOperator, Value};

/// Integers of more bits are left to their bounds.
const MOST_BITS: u64 = 4096;

/// From these bits on the arithmetic itself refuses at once.
const REFUSED_BITS: u64 = crate::python::limits::INTEGER_BITS;

fn bits(value: &Value) -> u64 {
    match value {
        Value::Int(x) => u64::from(u64::BITS - x.unsigned_abs().leading_zeros()),
        Value::Big(x) => x.bits(),
        _ => 0,
    }
}

/// Whether a value may be kept and computed with.
pub(super) fn is_kept(value: &Value) -> bool {
    !matches!(value, Value::Tuple(_) | Value::List(_)) && bits(value) <= MOST_BITS
}

/// `op x`
pub(super) fn unary(op: UnaryOperator, x: Option<&Value>) -> Option<Result<Value, Raised>> {
    Some(Python::new().unary(op, x?))
}

/// `x op y`
pub(super) fn binary(op: BinaryOperator, x: Option<&Value>, y: Option<&Value>) -> Option<Result<Value, Raised>> {
    let (x, y) = (x?, y?);
    let count = match y {
        Value::Int(count) => count.unsigned_abs(),
        _ => 0,
    };
    let grown = match op {
        BinaryOperator::Power => bits(x).saturating_sub(1).saturating_mul(count),
        BinaryOperator::ShiftLeft => count,
        _ => 0,
    };
    (!(MOST_BITS..=REFUSED_BITS).contains(&grown)).then(|| Python::new().binary(op, x, y))
}

/// `x op y`, one link of a chain.
pub(super) fn compare(op: ComparisonOperator, x: Option<&Value>, y: Option<&Value>) -> Option<Result<bool, Raised>> {
    Some(Python::new().compare(op, x?, y?))
}

/// `function(arguments…)`, functions apart that can make much of little.
pub(super) fn call(function: Function, arguments: &[Option<&Value>]) -> Option<Result<Value, Raised>> {
    let arguments: Vec<Value> = arguments.iter().map(|argument| argument.cloned()).collect::<Option<_>>()?;
    let grows = matches!(function, Function::Factorial | Function::Comb | Function::Perm | Function::Lcm);
    let is_small = |value: &Value| matches!(value, Value::Int(..=170) | Value::Bool(_) | Value::Float(_));
    if arguments.len() > 64 || (grows && !arguments.iter().all(is_small)) {
        return None;
    }
    Some(Python::new().call(&Value::Function(function), &arguments, &[]))
}
