//! Conversion between integers and doubles, exact or rounded once, ties to even.

use num_bigint::{BigInt, BigUint, Sign};
use num_traits::{ToPrimitive, Zero};

use crate::python::float_parts::{MIN_EXPONENT, compose, decompose, power_of_two};
use crate::python::{Raised, Value};

/// The largest integer up to which every integer is exactly a double: 2^53.
pub const MAX_EXACT_INT: i64 = 1 << 53;

/// [`MAX_EXACT_INT`] as a double.
pub const MAX_EXACT_FLOAT: f64 = MAX_EXACT_INT as f64;

/// The leading 64 bits of an integer, and their exponent. The last bit is also set if any bit after
/// it is (a sticky bit).
fn leading_bits(magnitude: &BigUint) -> (u64, i64) {
    let shift = magnitude.bits().saturating_sub(64);
    // at most 64 bits are left, so it never saturates
    let top = (magnitude >> shift).to_u64().unwrap_or(u64::MAX);
    let cut_off = magnitude
        .trailing_zeros()
        .is_some_and(|zeros| zeros < shift);
    (top | u64::from(cut_off), shift as i64)
}

/// The nearest double to an integer of any size.
///
/// # Errors
/// `OverflowError` for an integer beyond the largest double.
pub(super) fn big_to_float(value: &BigInt) -> Result<f64, Raised> {
    let (significand, exponent) = leading_bits(value.magnitude());
    let float = compose(significand, exponent);
    if float.is_infinite() {
        return Err(Raised::overflow("int too large to convert to float"));
    }
    Ok(if value.sign() == Sign::Minus {
        -float
    } else {
        float
    })
}

/// A positive integer, rounded to 53 bits, as `(m, e)` where it is `m * 2^e` and `0.5 <= m < 1`.
pub(super) fn big_fraction(value: &BigInt) -> (f64, f64) {
    let (significand, exponent) = leading_bits(value.magnitude());
    let mantissa = significand as f64 * power_of_two(-64);
    let bits = (exponent + 64) as f64;
    // rounding 64 bits to 53 may give 1
    if mantissa < 1.0 {
        (mantissa, bits)
    } else {
        (0.5, bits + 1.0)
    }
}

/// The integer part of a finite double.
pub(super) fn truncated(value: f64) -> BigInt {
    let (significand, exponent) = decompose(value);
    // a shift by 64 or more would overflow, and leave nothing
    let magnitude = if exponent >= 0 {
        BigUint::from(significand) << exponent
    } else if exponent > -64 {
        BigUint::from(significand >> -exponent)
    } else {
        BigUint::zero()
    };
    BigInt::from_biguint(
        if value < 0.0 { Sign::Minus } else { Sign::Plus },
        magnitude,
    )
}

/// Converts a double without a fraction to an integer.
///
/// # Errors
/// `ValueError` for a nan and `OverflowError` for an infinity, with the texts of `int()`.
pub fn float_to_int(value: f64) -> Result<Value, Raised> {
    const TWO_63: f64 = 9_223_372_036_854_775_808.0;
    // the upper bound excluded: 2^63 itself does not fit
    if (-TWO_63..TWO_63).contains(&value) {
        Ok(Value::Int(value as i64))
    } else if value.is_nan() {
        Err(Raised::value("cannot convert float NaN to integer"))
    } else if value.is_infinite() {
        Err(Raised::overflow("cannot convert float infinity to integer"))
    } else {
        Ok(Value::int(truncated(value)))
    }
}

/// `x / y` of integers, rounded once; `y` is not zero.
pub(super) fn quotient(x: &BigInt, y: &BigInt) -> Result<f64, Raised> {
    // The integer quotient gets at least 56 bits, and a sticky bit for the remainder; fewer below
    // the subnormals.
    let shift = (x.bits() as i64 - y.bits() as i64 - 57).max(MIN_EXPONENT - 3);
    let (numerator, denominator) = if shift >= 0 {
        (x.magnitude().clone(), y.magnitude() << shift)
    } else {
        (x.magnitude() << -shift, y.magnitude().clone())
    };
    let (significand, remainder) = num_integer::Integer::div_rem(&numerator, &denominator);
    // 57 or 58 bits above the subnormals, so it never saturates
    let significand = significand.to_u64().unwrap_or(u64::MAX) | u64::from(!remainder.is_zero());
    let float = compose(significand, shift);
    if float.is_infinite() {
        return Err(Raised::overflow(
            "integer division result too large for a float",
        ));
    }
    let negative = (x.sign() == Sign::Minus) != (y.sign() == Sign::Minus);
    Ok(if negative { -float } else { float })
}
