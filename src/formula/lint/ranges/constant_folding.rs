//! Constant folding: expressions that have the same value for every job are computed once, if that is fast. `None` means
//! that an operand is not constant or that the computation could take long.

use crate::python::{
    Arithmetic, BinaryOperator, ComparisonOperator, Function, Python, PythonVersion, Raised, UnaryOperator, Value,
};

/// Larger integers are not computed; their range is used instead.
const MAX_BITS: u64 = 4096;

/// An integer of more bits raises an error without being computed.
const REFUSED_BITS: u64 = crate::python::limits::INTEGER_BITS;

fn bits(value: &Value) -> u64 {
    match value {
        Value::Int(x) => u64::from(u64::BITS - x.unsigned_abs().leading_zeros()),
        Value::Big(x) => x.digits().bits(),
        _ => 0,
    }
}

/// Whether a value is small enough to be kept as a constant.
pub(super) fn is_small(value: &Value) -> bool {
    !matches!(value, Value::Tuple(_) | Value::List(_)) && bits(value) <= MAX_BITS
}

/// `op x`.
pub(super) fn unary(op: UnaryOperator, x: Option<&Value>) -> Option<Result<Value, Raised>> {
    Some(Python::new().unary(op, x?))
}

/// `x op y`, unless the result is large.
pub(super) fn binary(op: BinaryOperator, x: Option<&Value>, y: Option<&Value>) -> Option<Result<Value, Raised>> {
    let x = x?;
    let y = y?;
    let count = match y {
        Value::Int(count) => count.unsigned_abs(),
        _ => 0,
    };
    let result_bits = match op {
        BinaryOperator::Power => bits(x).saturating_sub(1).saturating_mul(count),
        BinaryOperator::ShiftLeft => count,
        _ => 0,
    };
    (!(MAX_BITS..=REFUSED_BITS).contains(&result_bits)).then(|| Python::new().binary(op, x, y))
}

/// `x op y` for a comparison.
pub(super) fn compare(op: ComparisonOperator, x: Option<&Value>, y: Option<&Value>) -> Option<Result<bool, Raised>> {
    Some(Python::new().compare(op, x?, y?))
}

/// `function(arguments…)`, unless the function can return a large integer for small arguments.
pub(super) fn call(
    function: Function,
    python: PythonVersion,
    arguments: &[Option<&Value>],
) -> Option<Result<Value, Raised>> {
    let arguments: Vec<Value> = arguments.iter().map(|argument| argument.cloned()).collect::<Option<_>>()?;
    let grows = matches!(function, Function::Factorial | Function::Comb | Function::Perm | Function::Lcm);
    let is_slow =
        grows && arguments.iter().any(|x| !matches!(x, Value::Int(..=170) | Value::Bool(_) | Value::Float(_)));
    if arguments.len() > 64 || is_slow {
        return None;
    }
    Some(Python::new().of_version(python).call(&Value::Function(function), &arguments, &[]))
}
