//! Complex numbers, by their type alone: a fractional power of a negative number is followed from
//! the operator that makes it to the result. What depends on more than the type of such a number is
//! an [`ErrorKind::Complex`].

use crate::python::{
    BinaryOperator, ComparisonOperator, ErrorKind, Raised, UnaryOperator, Value, float, operators,
};

/// A fractional power of a negative number.
const COMPLEX: Value = Value::OfType("complex");

/// `op x` of a value whose type alone is known.
pub(super) fn unary(op: UnaryOperator, x: &Value) -> Result<Value, Raised> {
    match (op, x) {
        (UnaryOperator::Plus | UnaryOperator::Minus, Value::OfType("complex")) => Ok(COMPLEX),
        _ => Err(Raised::complex_power()),
    }
}

/// `x op y`, of at least one of which the type alone is known.
pub(super) fn binary(op: BinaryOperator, x: &Value, y: &Value) -> Result<Value, Raised> {
    use BinaryOperator as Op;
    let ((Value::OfType("complex"), other) | (other, Value::OfType("complex"))) = (x, y) else {
        return Err(Raised::complex_power());
    };
    match op {
        // a float without a value is an input of the check whether a formula is complex for every
        // job
        Op::Add | Op::Subtract | Op::Multiply
            if matches!(other, Value::OfType("complex" | "float")) =>
        {
            Ok(COMPLEX)
        }
        Op::Add | Op::Subtract | Op::Multiply => double(other).map(|_| COMPLEX),
        // only a real divisor is known to be 0
        Op::Divide if x.is_identical(&COMPLEX) => match double(other)? {
            0.0 => Err(Raised::zero_division("complex division by zero")),
            _ => Ok(COMPLEX),
        },
        _ => Err(Raised::complex_power()),
    }
}

/// What `x op y` is where complex numbers are followed, and where it is the error `raised` else.
#[cold]
pub(super) fn instead_of_error(
    op: BinaryOperator,
    x: &Value,
    y: &Value,
    raised: Raised,
) -> Result<Value, Raised> {
    let is_type = |value: &Value| matches!(value, Value::Function(function) if function.is_type());
    // since 3.10 a type, such as `int | float`
    if op == BinaryOperator::BitOr && is_type(x) && is_type(y) {
        return Err(Raised::complex_power());
    }
    // no other operator than `**` gives this error
    if raised.kind != ErrorKind::Complex {
        return Err(raised);
    }
    // `_Py_c_pow` overflows where `pow(|x|, y)` does, and `x` is negative
    if float::library_power(-double(x)?, double(y)?).is_infinite() {
        return Err(Raised::overflow("complex exponentiation"));
    }
    Ok(COMPLEX)
}

/// `x op y`, of at least one of which the type alone is known.
pub(super) fn compare(op: ComparisonOperator, x: &Value, y: &Value) -> Result<bool, Raised> {
    use ComparisonOperator as Op;
    let are_ordered = matches!(
        op,
        Op::Less | Op::LessOrEqual | Op::Greater | Op::GreaterOrEqual
    );
    let has_complex = [x, y].iter().any(|value| value.is_identical(&COMPLEX));
    if are_ordered && has_complex {
        return Err(operators::incomparable(op, x, y));
    }
    Err(Raised::complex_power())
}

/// The double that CPython converts a real operand of a complex operation to.
fn double(value: &Value) -> Result<f64, Raised> {
    value.to_f64().ok_or_else(Raised::complex_power)
}
