//! The operators of decimal arithmetic: exact where 28 digits hold the result, with Python's
//! meaning of `//` and `%`.

use num_bigint::BigInt;
use num_integer::Integer as _;
use rust_decimal::{Decimal, MathematicalOps};

use crate::python::decimal::{checked, from_python, scaled, to_python};
use crate::python::generic::{compare_sequences, contains};
use crate::python::integer::DIVISION_BY_ZERO;
use crate::python::{
    Arithmetic, BinaryOperator, ComparisonOperator, ErrorKind, Python, Raised, UnaryOperator,
    Value, operators as python_operators,
};

/// `op x`.
pub(super) fn unary(op: UnaryOperator, x: &Value, python: &Python) -> Result<Value, Raised> {
    match (op, x.decimal()) {
        (UnaryOperator::Not, _) => Ok(Value::Bool(!x.truth())),
        (UnaryOperator::Plus, Some(value)) => Ok(value.into()),
        (UnaryOperator::Minus, Some(value)) => Ok((-value).into()),
        _ => from_python(&python.unary(op, &to_python(x))?),
    }
}

/// `x op y`.
pub(super) fn binary(
    op: BinaryOperator,
    x: &Value,
    y: &Value,
    python: &Python,
) -> Result<Value, Raised> {
    use BinaryOperator as Op;
    if let (Some(a), Some(b)) = (x.decimal(), y.decimal()) {
        return match op {
            Op::Add => checked(a.checked_add(b)),
            Op::Subtract => checked(a.checked_sub(b)),
            Op::Multiply => checked(a.checked_mul(b)),
            Op::Divide => divide(a, b),
            Op::FloorDivide => Ok(divmod(a, b)?.0.into()),
            Op::Modulo => Ok(divmod(a, b)?.1.into()),
            Op::Power => power(a, b),
            // Bitwise operators are Python's: defined on integers, a TypeError for a number with a
            // fraction.
            _ => from_python(&python.binary(op, &to_python(x), &to_python(y))?),
        };
    }
    if matches!(op, Op::Add | Op::Multiply) && (x.items().is_some() || y.items().is_some()) {
        return Err(Raised::new(
            ErrorKind::Decimal,
            "`+` and `*` of tuples and lists, which decimal arithmetic does not have",
        ));
    }
    Err(python_operators::unsupported_types(
        python_operators::spelling(op),
        x.type_name(),
        y.type_name(),
    ))
}

/// `x / y`.
pub(super) fn divide(x: Decimal, y: Decimal) -> Result<Value, Raised> {
    if y.is_zero() {
        return Err(Raised::zero_division(DIVISION_BY_ZERO));
    }
    checked(x.checked_div(y))
}

/// `divmod(x, y)`: the quotient rounded towards minus infinity, and the remainder, which has the
/// sign of `y`.
pub(super) fn divmod(x: Decimal, y: Decimal) -> Result<(Decimal, Decimal), Raised> {
    if y.is_zero() {
        return Err(Raised::zero_division(DIVISION_BY_ZERO));
    }
    let (a, b, scale) = scaled::aligned(x, y);
    let (quotient, remainder) = a.div_mod_floor(&b);
    Ok((rounded(&quotient, 0)?, rounded(&remainder, scale)?))
}

/// `digits * 10^-scale`, rounded to a decimal.
pub(super) fn rounded(digits: &BigInt, scale: i64) -> Result<Decimal, Raised> {
    scaled::to_decimal(digits, scale).ok_or_else(scaled::too_large)
}

/// `x ** y`.
///
/// # Errors
/// `ZeroDivisionError` for zero to a negative power; [`ErrorKind::Complex`] for a fractional power
/// of a negative number; [`ErrorKind::Decimal`] for a result beyond the largest decimal.
pub(super) fn power(x: Decimal, y: Decimal) -> Result<Value, Raised> {
    if x.is_zero() && y.is_sign_negative() && !y.is_zero() {
        return Err(Raised::zero_to_negative_power());
    }
    if y.is_integer() {
        return integer_power(x, y);
    }
    if x.is_zero() {
        return Ok(Decimal::ZERO.into());
    }
    if x.is_sign_negative() {
        return Err(Raised::complex_power());
    }
    // a root is rounded once, unlike `exp(ln(x) / 2)`
    if y == Decimal::new(5, 1) {
        return checked(scaled::square_root(x));
    }
    checked(fractional_power(x, y))
}

fn fractional_power(x: Decimal, y: Decimal) -> Option<Decimal> {
    x.checked_ln()?.checked_mul(y)?.checked_exp()
}

/// `x ** y` for an integer `y`.
fn integer_power(x: Decimal, y: Decimal) -> Result<Value, Raised> {
    // `trunc` also removes zeros after the point, which are digits of the mantissa
    let is_even = (y.trunc().mantissa() & 1) == 0;
    // exact for any exponent, where `checked_powd` refuses one of more than 32 bits
    if x.abs() == Decimal::ONE {
        return Ok(if is_even { Decimal::ONE } else { x }.into());
    }
    if x.is_zero() {
        return Ok(if y.is_zero() {
            Decimal::ONE
        } else {
            Decimal::ZERO
        }
        .into());
    }
    if y.is_sign_negative() && x.abs() < Decimal::ONE {
        // The positive power would be rounded to few digits before the division.
        let inverse = Decimal::ONE.checked_div(x).ok_or_else(scaled::too_large)?;
        return checked(inverse.checked_powd(-y));
    }
    checked(x.checked_powd(y))
}

/// `x op y`.
pub(super) fn compare(op: ComparisonOperator, x: &Value, y: &Value) -> Result<bool, Raised> {
    if let (Some(a), Some(b)) = (x.decimal(), y.decimal())
        // `in` of a number is a `TypeError`, not a comparison
        && !matches!(op, ComparisonOperator::In | ComparisonOperator::NotIn)
    {
        return Ok(python_operators::holds(op, Some(a.cmp(&b))));
    }
    let is_equal = |x: &Value, y: &Value| compare(ComparisonOperator::Equal, x, y);
    match (op, x, y) {
        (ComparisonOperator::In, ..) => contains(y, x, is_equal),
        (ComparisonOperator::NotIn, ..) => Ok(!contains(y, x, is_equal)?),
        (_, Value::Tuple(a), Value::Tuple(b)) | (_, Value::List(a), Value::List(b)) => {
            compare_sequences(op, a, b, is_equal, |x, y| compare(op, x, y))
        }
        (ComparisonOperator::Equal, ..) => Ok(x.is_identical(y)),
        (ComparisonOperator::NotEqual, ..) => Ok(!x.is_identical(y)),
        _ => Err(python_operators::incomparable(
            op,
            x.type_name(),
            y.type_name(),
        )),
    }
}
