//! Conversion between integers and doubles, rounded at most once, half to even.

use num_bigint::{BigInt, BigUint, Sign};
use num_traits::{ToPrimitive, Zero};

use crate::python::value::Integer;
use crate::python::{Raised, Value};

/// The largest integer up to which every integer is exactly a double: 2^53.
pub(crate) const MAX_EXACT_INT: i64 = 1 << 53;

/// [`MAX_EXACT_INT`] as a double.
pub(crate) const MAX_EXACT_FLOAT: f64 = MAX_EXACT_INT as f64;

/// The exponent of the smallest double, `2^-1074`.
const SMALLEST: i64 = -1074;

/// `2^exponent`; zero below the smallest double, infinity beyond the largest.
pub(super) fn power_of_two(exponent: i64) -> f64 {
    match exponent {
        ..SMALLEST => 0.0,
        SMALLEST..-1022 => f64::from_bits(1 << (exponent - SMALLEST)),
        -1022..1024 => f64::from_bits(((exponent + 1023) as u64) << 52),
        1024.. => f64::INFINITY,
    }
}

/// The double nearest to `digits * 2^exponent`, subnormals included; infinity when it is too large.
///
/// The lowest bit of `digits` may stand for all that was cut off, if there are at least 56 bits.
pub(super) fn nearest(digits: u64, exponent: i64) -> f64 {
    let length = 64 - i64::from(digits.leading_zeros());
    let precision = length.saturating_add(exponent).saturating_sub(SMALLEST).min(53);
    if digits == 0 || precision < 0 {
        return 0.0;
    }
    let cut = (length - precision).max(0);
    let kept = if cut >= 64 { 0 } else { digits >> cut };
    let rest = if cut >= 64 { digits } else { digits & ((1 << cut) - 1) };
    let half = if cut == 0 { u64::MAX } else { 1 << (cut - 1) };
    let up = rest > half || (rest == half && kept & 1 == 1);
    (kept + u64::from(up)) as f64 * power_of_two(exponent.saturating_add(cut))
}

/// The leading 64 bits of an integer, with whatever follows them told by the last, and their exponent.
fn leading(magnitude: &BigUint) -> (u64, i64) {
    let shift = magnitude.bits().saturating_sub(64);
    let top = (magnitude >> shift).to_u64().unwrap_or(u64::MAX);
    let cut_off = magnitude.trailing_zeros().is_some_and(|zeros| zeros < shift);
    (top | u64::from(cut_off), shift as i64)
}

/// The nearest double to an integer of any size.
///
/// # Errors
/// `OverflowError` beyond the largest double.
pub(super) fn big_to_float(value: &BigInt) -> Result<f64, Raised> {
    let (digits, exponent) = leading(value.magnitude());
    let float = nearest(digits, exponent);
    if float.is_infinite() {
        return Err(Raised::overflow("int too large to convert to float"));
    }
    Ok(if value.sign() == Sign::Minus { -float } else { float })
}

/// `(m, e)` with `0.5 <= m < 1` and `m * 2^e` the integer rounded to 53 bits; for positive integers.
pub(super) fn big_fraction(value: &BigInt) -> (f64, f64) {
    let (digits, exponent) = leading(value.magnitude());
    let mantissa = digits as f64 * power_of_two(-64);
    let bits = (exponent + 64) as f64;
    if mantissa < 1.0 { (mantissa, bits) } else { (0.5, bits + 1.0) }
}

impl Integer<'_> {
    /// The nearest double.
    ///
    /// # Errors
    /// `OverflowError` beyond the largest double.
    #[inline]
    pub(super) fn to_float(self) -> Result<f64, Raised> {
        match self {
            Integer::Small(value) => Ok(value as f64),
            Integer::Big(value) => big_to_float(value),
        }
    }
}

/// A finite double as `digits * 2^exponent`, without its sign.
pub(super) fn parts(value: f64) -> (u64, i64) {
    let bits = value.to_bits();
    let fraction = bits & ((1 << 52) - 1);
    match (bits >> 52) & 0x7ff {
        0 => (fraction, SMALLEST),
        biased => (fraction | (1 << 52), biased as i64 - 1075),
    }
}

/// The integer part of a finite double.
pub(super) fn truncated(value: f64) -> BigInt {
    let (digits, exponent) = parts(value);
    let magnitude = if exponent >= 0 {
        BigUint::from(digits) << exponent
    } else if exponent > -64 {
        BigUint::from(digits >> -exponent)
    } else {
        BigUint::zero()
    };
    BigInt::from_biguint(if value < 0.0 { Sign::Minus } else { Sign::Plus }, magnitude)
}

/// A double without a fraction as an integer.
///
/// # Errors
/// `ValueError` of a nan and `OverflowError` of an infinity, in the words of `int()`.
pub(super) fn float_to_int(value: f64) -> Result<Value, Raised> {
    const TWO_63: f64 = 9_223_372_036_854_775_808.0;
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
    // Of the quotient, 56 bits or more and a last one for the remainder; below the doubles, fewer.
    let shift = (x.bits() as i64 - y.bits() as i64 - 57).max(SMALLEST - 3);
    let (numerator, denominator) = if shift >= 0 {
        (x.magnitude().clone(), y.magnitude() << shift)
    } else {
        (x.magnitude() << -shift, y.magnitude().clone())
    };
    let (digits, remainder) = num_integer::Integer::div_rem(&numerator, &denominator);
    let digits = digits.to_u64().unwrap_or(u64::MAX) | u64::from(!remainder.is_zero());
    let float = nearest(digits, shift);
    if float.is_infinite() {
        return Err(Raised::overflow("integer division result too large for a float"));
    }
    let negative = (x.sign() == Sign::Minus) != (y.sign() == Sign::Minus);
    Ok(if negative { -float } else { float })
}
