//! The operators in base ten: exact where 28 digits hold the result, with Python's meaning of `//` and `%`.

use num_bigint::BigInt;
use num_integer::Integer as _;
use rust_decimal::{Decimal, MathematicalOps};

use crate::python::decimal::scaled;
use crate::python::decimal::value::{DecimalValue, held};
use crate::python::{Arithmetic, BinaryOperator, ErrorKind, Python, Raised, UnaryOperator, operate};

pub(super) const DIVISION_BY_ZERO: &str = "division by zero";

/// `op x`.
pub(super) fn unary(op: UnaryOperator, x: &DecimalValue, python: &Python) -> Result<DecimalValue, Raised> {
    match (op, x.decimal()) {
        (UnaryOperator::Not, _) => Ok(DecimalValue::Bool(!x.truth())),
        (UnaryOperator::Plus, Some(value)) => Ok(value.into()),
        (UnaryOperator::Minus, Some(value)) => Ok((-value).into()),
        _ => DecimalValue::from_python(&python.unary(op, &x.to_python())?),
    }
}

/// `x op y`.
pub(super) fn binary(
    op: BinaryOperator,
    x: &DecimalValue,
    y: &DecimalValue,
    python: &Python,
) -> Result<DecimalValue, Raised> {
    use BinaryOperator as Op;
    if let (Some(a), Some(b)) = (x.decimal(), y.decimal()) {
        return match op {
            Op::Add => held(a.checked_add(b)),
            Op::Subtract => held(a.checked_sub(b)),
            Op::Multiply => held(a.checked_mul(b)),
            Op::Divide => divide(a, b),
            Op::FloorDivide => divmod(a, b).map(|(quotient, _)| quotient.into()),
            Op::Modulo => divmod(a, b).map(|(_, remainder)| remainder.into()),
            Op::Power => power(a, b),
            // Bits are those of integers; a fraction is told so in Python's words.
            _ => DecimalValue::from_python(&python.binary(op, &x.to_python(), &y.to_python())?),
        };
    }
    if matches!(op, Op::Add | Op::Multiply) && (x.items().is_some() || y.items().is_some()) {
        return Err(Raised::new(ErrorKind::Decimal, "`+` and `*` of tuples and lists, which base ten does not have"));
    }
    let spelling = if op == Op::Power { "** or pow()" } else { op.symbol() };
    Err(operate::mistyped(spelling, x.type_name(), y.type_name()))
}

/// `x / y`.
pub(super) fn divide(x: Decimal, y: Decimal) -> Result<DecimalValue, Raised> {
    if y.is_zero() {
        return Err(Raised::zero_division(DIVISION_BY_ZERO));
    }
    held(x.checked_div(y))
}

/// `divmod(x, y)`: the quotient towards minus infinity, and what remains, with the sign of `y`.
pub(super) fn divmod(x: Decimal, y: Decimal) -> Result<(Decimal, Decimal), Raised> {
    if y.is_zero() {
        return Err(Raised::zero_division(DIVISION_BY_ZERO));
    }
    let (a, b, scale) = scaled::aligned(x, y);
    let (quotient, remainder) = a.div_mod_floor(&b);
    rounded(&quotient, 0).and_then(|quotient| Ok((quotient, rounded(&remainder, scale)?)))
}

/// `digits * 10^-scale`.
pub(super) fn rounded(digits: &BigInt, scale: i64) -> Result<Decimal, Raised> {
    scaled::to_decimal(digits, scale).ok_or_else(scaled::too_large)
}

/// `x ** y`.
///
/// # Errors
/// Zero to a negative power; [`ErrorKind::Complex`]; a result beyond the decimals.
pub(super) fn power(x: Decimal, y: Decimal) -> Result<DecimalValue, Raised> {
    if x.is_zero() && y.is_sign_negative() && !y.is_zero() {
        return Err(Raised::zero_division("0.0 cannot be raised to a negative power"));
    }
    if y.is_integer() {
        return whole_power(x, y);
    }
    if x.is_zero() {
        return Ok(Decimal::ZERO.into());
    }
    if x.is_sign_negative() {
        return Err(Raised::new(
            ErrorKind::Complex,
            "a fractional power of a negative number, which Python makes a complex number",
        ));
    }
    if y == Decimal::new(5, 1) {
        return held(scaled::square_root(x));
    }
    held(x.checked_ln().and_then(|logarithm| logarithm.checked_mul(y)).and_then(|product| product.checked_exp()))
}

fn whole_power(x: Decimal, y: Decimal) -> Result<DecimalValue, Raised> {
    let is_even = (y.trunc().mantissa() & 1) == 0;
    if x.abs() == Decimal::ONE {
        return Ok(if is_even { Decimal::ONE } else { x }.into());
    }
    if x.is_zero() {
        return Ok(if y.is_zero() { Decimal::ONE } else { Decimal::ZERO }.into());
    }
    if y.is_sign_negative() && x.abs() < Decimal::ONE {
        // The power itself would lose its digits before it is divided by.
        return held(Decimal::ONE.checked_div(x).and_then(|inverse| inverse.checked_powd(-y)));
    }
    held(x.checked_powd(y))
}
