//! Scaled integers, `digits * 10^-scale`: exact intermediate results that are rounded once to a
//! decimal.

use num_bigint::BigInt;
use num_traits::{ToPrimitive, Zero};
use rust_decimal::Decimal;

use crate::python::integer::divide_to_nearest;
use crate::python::{ErrorKind, Raised};

/// The largest scale of a decimal.
const MAX_SCALE: i64 = 28;

/// The largest length of a decimal's digits, in bits.
const DIGIT_BITS: u64 = 96;

/// The largest number of zeros at the end of a decimal.
// the largest decimal, 2^96 - 1, has 29 digits
const MAX_TRAILING_ZEROS: i64 = 29;

/// `10^exponent`
pub(super) fn power_of_ten(exponent: u32) -> BigInt {
    BigInt::from(10).pow(exponent)
}

/// The decimal nearest to `digits * 10^-scale`; zero when that is too small, `None` when it is too
/// large.
pub(super) fn to_decimal(digits: &BigInt, scale: i64) -> Option<Decimal> {
    // n bits are at most n decimal digits, so the number rounds to 0 without a division
    if digits.is_zero() || scale > MAX_SCALE + 3 + digits.bits() as i64 {
        return Some(Decimal::ZERO);
    }
    if scale < 0 {
        if -scale > MAX_TRAILING_ZEROS {
            return None;
        }
        return to_decimal(&(digits * power_of_ten(-scale as u32)), 0);
    }
    // A bit is worth more than 0.3 digits, so at least this many digits must be dropped; the loop
    // drops the rest.
    let excess = (digits.bits().saturating_sub(DIGIT_BITS) * 3 / 10) as i64;
    let mut dropped = excess.max(scale - MAX_SCALE).max(0);
    while dropped <= scale {
        let kept = divide_to_nearest(digits, &power_of_ten(dropped as u32));
        if kept.bits() <= DIGIT_BITS {
            return Decimal::try_from_i128_with_scale(kept.to_i128()?, (scale - dropped) as u32)
                .ok();
        }
        dropped += 1;
    }
    None
}

/// The digits of two decimals at the same scale, and that scale.
pub(super) fn aligned(x: Decimal, y: Decimal) -> (BigInt, BigInt, i64) {
    let scale = x.scale().max(y.scale());
    (digits_at(scale, x), digits_at(scale, y), i64::from(scale))
}

/// The digits of a decimal at a scale of at least its own.
fn digits_at(scale: u32, value: Decimal) -> BigInt {
    BigInt::from(value.mantissa()) * power_of_ten(scale - value.scale())
}

/// Parses a decimal literal; the nearest decimal.
///
/// # Errors
/// [`ErrorKind::Decimal`] for a number that is too large, for one that rounds to zero and is not
/// zero, and for any other text.
pub(super) fn parse(text: &str) -> Result<Decimal, Raised> {
    let (digits, scale) = split_literal(text).ok_or_else(|| {
        Raised::new(
            ErrorKind::Decimal,
            format!("`{text}`, which is not a decimal number"),
        )
    })?;
    let decimal = to_decimal(&digits, scale).ok_or_else(too_large)?;
    if decimal.is_zero() && !digits.is_zero() {
        return Err(Raised::new(
            ErrorKind::Decimal,
            "a number that is less than 1e-28, but not zero",
        ));
    }
    Ok(decimal)
}

/// The digits and the scale of a literal; `None` if the text is not a decimal literal.
fn split_literal(text: &str) -> Option<(BigInt, i64)> {
    let text = text.replace('_', "");
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, parse_exponent(exponent)?),
        None => (text.as_str(), 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}").parse().ok()?;
    Some((digits, (fraction.len() as i64).saturating_sub(exponent)))
}

/// The error for a number beyond the largest decimal.
pub(super) fn too_large() -> Raised {
    Raised::new(
        ErrorKind::Decimal,
        "a number of more than 28 digits before the point",
    )
}

/// Parses an exponent, whose magnitude saturates at [`u32::MAX`].
fn parse_exponent(exponent: &str) -> Option<i64> {
    let digits = exponent.trim_start_matches(['+', '-']);
    if digits.is_empty() || !digits.bytes().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    let size = digits.parse().unwrap_or(u32::MAX);
    Some(if exponent.starts_with('-') {
        -i64::from(size)
    } else {
        i64::from(size)
    })
}

/// The square root of a decimal that is not negative, rounded once.
pub(super) fn square_root(x: Decimal) -> Option<Decimal> {
    root(&BigInt::from(x.mantissa()), x.scale())
}

/// The square root of the sum of squares, rounded once.
pub(super) fn norm(lengths: &[Decimal]) -> Option<Decimal> {
    let scale = lengths.iter().map(Decimal::scale).max().unwrap_or(0);
    let squares = lengths
        .iter()
        .map(|&length| digits_at(scale, length).pow(2))
        .sum();
    root(&squares, 2 * scale)
}

/// The square root of `digits * 10^-scale`.
fn root(digits: &BigInt, scale: u32) -> Option<Decimal> {
    // An even scale, with enough digits for 29 in the root, and a sticky digit after them.
    let shift = 60 + scale % 2;
    let digits = digits * power_of_ten(shift);
    let root = digits.sqrt();
    let is_exact = &root * &root == digits;
    let sticky = root * 10_u32 + u32::from(!is_exact);
    to_decimal(&sticky, i64::from((scale + shift) / 2 + 1))
}
