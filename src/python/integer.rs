//! Operators on integers of any size, whose results are exact and have at most
//! [`limits::INTEGER_BITS`]; conversion between integers and doubles, exact or rounded once, ties to
//! even.

use std::cmp::Ordering;

use num_bigint::{BigInt, BigUint, Sign};
use num_integer::Integer as _;
use num_traits::{FromPrimitive, One, Signed, ToPrimitive, Zero};

use crate::python::limits::{self, WorkLimit};
use crate::python::value::Integer;
use crate::python::{BinaryOperator, Raised, Value, float};

pub(super) const DIVISION_BY_ZERO: &str = "division by zero";
pub(super) const FLOOR_DIVISION_BY_ZERO: &str = "integer division or modulo by zero";
const MODULO_BY_ZERO: &str = "integer modulo by zero";
const NEGATIVE_SHIFT: &str = "negative shift count";

/// `x op y`; `None` for `@`, which integers do not implement.
#[inline]
pub(super) fn binary(
    op: BinaryOperator,
    x: Integer,
    y: Integer,
    work: &WorkLimit,
) -> Result<Option<Value>, Raised> {
    if let (Integer::Small(a), Integer::Small(b)) = (x, y)
        && let Some(value) = binary_in_64_bits(op, a, b)
    {
        return Ok(Some(value));
    }
    binary_of_any_size(op, x, y, work)
}

/// The result, or `None` if 64-bit arithmetic overflows or the operation fails.
#[inline]
fn binary_in_64_bits(op: BinaryOperator, a: i64, b: i64) -> Option<Value> {
    use BinaryOperator as Op;
    match op {
        Op::Add => a.checked_add(b).map(Value::Int),
        Op::Subtract => a.checked_sub(b).map(Value::Int),
        Op::Multiply => a.checked_mul(b).map(Value::Int),
        Op::Divide => small_quotient(a, b).map(Value::Float),
        Op::FloorDivide => small_floor_divide(a, b).map(Value::Int),
        Op::Modulo => small_modulo(a, b).map(Value::Int),
        // a negative exponent gives a float, and is left to `power`
        Op::Power => Some(Value::Int(a.checked_pow(u32::try_from(b).ok()?)?)),
        Op::BitAnd => Some(Value::Int(a & b)),
        Op::BitOr => Some(Value::Int(a | b)),
        Op::BitXor => Some(Value::Int(a ^ b)),
        // a longer shift would panic, and leaves nothing but the sign as well
        Op::ShiftRight => Some(Value::Int(a >> u32::try_from(b).ok()?.min(63))),
        // `checked_shl` checks the count only, not the bits that are shifted out
        Op::ShiftLeft | Op::MatrixMultiply => None,
    }
}

fn small_quotient(a: i64, b: i64) -> Option<f64> {
    // Both operands are exact as doubles, so the quotient is rounded once.
    let are_exact = a.unsigned_abs().max(b.unsigned_abs()) <= MAX_EXACT_INT.unsigned_abs();
    (are_exact && b != 0).then(|| a as f64 / b as f64)
}

fn small_floor_divide(a: i64, b: i64) -> Option<i64> {
    // `None` also for the least integer by -1, whose quotient is 2^63
    let quotient = a.checked_div(b)?;
    Some(if a % b != 0 && (a < 0) != (b < 0) {
        quotient - 1
    } else {
        quotient
    })
}

fn small_modulo(a: i64, b: i64) -> Option<i64> {
    let remainder = a.checked_rem(b)?;
    Some(if remainder != 0 && (remainder < 0) != (b < 0) {
        remainder + b
    } else {
        remainder
    })
}

/// Computes the result for operands of any size, and raises all errors.
#[cold]
fn binary_of_any_size(
    op: BinaryOperator,
    x: Integer,
    y: Integer,
    work: &WorkLimit,
) -> Result<Option<Value>, Raised> {
    use BinaryOperator as Op;
    match op {
        Op::Add | Op::Subtract | Op::BitAnd | Op::BitOr | Op::BitXor => {
            linear_time_operation(op, &x.to_big(), &y.to_big(), work)
        }
        Op::Multiply => multiply(x, y, work),
        Op::Divide if y.is_zero() => Err(Raised::zero_division(DIVISION_BY_ZERO)),
        Op::Divide => {
            work.take(division_cost(x, y))?;
            quotient(&x.to_big(), &y.to_big()).map(Value::Float)
        }
        Op::FloorDivide if y.is_zero() => Err(Raised::zero_division(FLOOR_DIVISION_BY_ZERO)),
        Op::Modulo if y.is_zero() => Err(Raised::zero_division(MODULO_BY_ZERO)),
        Op::FloorDivide => Ok(Value::int(floor_divide(x, y, work)?.0)),
        Op::Modulo => Ok(Value::int(floor_divide(x, y, work)?.1)),
        Op::Power => power(x, y, work),
        Op::ShiftLeft => shift_left(x, y),
        Op::ShiftRight => shift_right(x, y),
        Op::MatrixMultiply => return Ok(None),
    }
    .map(Some)
}

/// Applies an operator whose cost is linear in the length of the longer operand.
fn linear_time_operation(
    op: BinaryOperator,
    a: &BigInt,
    b: &BigInt,
    work: &WorkLimit,
) -> Result<Value, Raised> {
    work.take(a.bits().max(b.bits()) / 64 + 1)?;
    value_within_limit(match op {
        BinaryOperator::Add => a + b,
        BinaryOperator::Subtract => a - b,
        BinaryOperator::BitAnd => a & b,
        BinaryOperator::BitOr => a | b,
        _ => a ^ b,
    })
}

/// The integer as a value, if it is within the limit.
pub(super) fn value_within_limit(value: BigInt) -> Result<Value, Raised> {
    limits::check_bits(value.bits())?;
    Ok(Value::int(value))
}

/// `x * y`.
pub(super) fn multiply(x: Integer, y: Integer, work: &WorkLimit) -> Result<Value, Raised> {
    // a product of m and n bits has at least m + n - 1, so it need not be computed
    limits::check_bits((x.bits() + y.bits()).saturating_sub(1))?;
    // an upper bound: num-bigint multiplies long integers in less than quadratic time
    work.take(x.word_count() * y.word_count())?;
    value_within_limit(x.to_big() * y.to_big())
}

/// The cost of a division, in operations on 64-bit words.
fn division_cost(x: Integer, y: Integer) -> u64 {
    // an upper bound: the schoolbook method passes over `y` once for each word of the quotient
    x.word_count() + (x.word_count().saturating_sub(y.word_count()) + 1) * y.word_count()
}

/// The quotient rounded towards minus infinity, and the remainder, which has the sign of `y`. `y`
/// is not zero.
pub(super) fn floor_divide(
    x: Integer,
    y: Integer,
    work: &WorkLimit,
) -> Result<(BigInt, BigInt), Raised> {
    work.take(division_cost(x, y))?;
    Ok(x.to_big().div_mod_floor(&y.to_big()))
}

/// The integer nearest to `x / y` for `y > 0`, ties to even.
pub(super) fn divide_to_nearest(x: &BigInt, y: &BigInt) -> BigInt {
    let (quotient, remainder) = x.div_mod_floor(y);
    match (remainder * 2_u32).cmp(y) {
        Ordering::Less => quotient,
        Ordering::Equal if quotient.is_even() => quotient,
        _ => quotient + 1_u32,
    }
}

/// `x ** y`. With a negative exponent, both operands are converted to floats first.
fn power(x: Integer, y: Integer, work: &WorkLimit) -> Result<Value, Raised> {
    // first, also for a base of 0 or 1: `1 ** -1` is `1.0`, and `0 ** -1` is an error
    if y.is_negative() {
        return float::power(x.to_float()?, y.to_float()?).map(Value::Float);
    }
    let base = x.to_big();
    let exponent = y.to_big();
    // before the limit, because these are short whatever the exponent is
    if exponent.is_zero() || base.is_one() {
        return Ok(Value::Int(1));
    }
    if base.is_zero() {
        return Ok(Value::Int(0));
    }
    if base.magnitude().is_one() {
        return Ok(Value::Int(if exponent.is_even() { 1 } else { -1 }));
    }
    // the base is at least 2 in magnitude here
    let exponent = exponent.to_u32().ok_or_else(limits::integer_too_long)?;
    // a base of n bits is at least 2^(n-1)
    let bits = (base.bits() - 1)
        .saturating_mul(u64::from(exponent))
        .saturating_add(1);
    limits::check_bits(bits)?;
    // the last square dominates, and multiplying is quadratic
    let words = base.bits().saturating_mul(u64::from(exponent)) / 64 + 1;
    work.take(words.saturating_mul(words))?;
    value_within_limit(base.pow(exponent))
}

fn shift_left(x: Integer, y: Integer) -> Result<Value, Raised> {
    if y.is_negative() {
        return Err(Raised::value(NEGATIVE_SHIFT));
    }
    // before the limit: CPython shifts a zero by any count
    if x.is_zero() {
        return Ok(Value::Int(0));
    }
    let count = match y {
        Integer::Small(count) => count,
        // CPython shifts by whole digits of 30 bits, and their number must fit in 64 bits
        Integer::Big(count) if (count / 30_u32).to_i64().is_none() => {
            return Err(Raised::overflow("too many digits in integer"));
        }
        Integer::Big(_) => return Err(limits::integer_too_long()),
    };
    limits::check_bits(x.bits().saturating_add(count.unsigned_abs()))?;
    value_within_limit(x.to_big() << count)
}

fn shift_right(x: Integer, y: Integer) -> Result<Value, Raised> {
    if y.is_negative() {
        return Err(Raised::value(NEGATIVE_SHIFT));
    }
    match y {
        Integer::Small(count) if count.unsigned_abs() < x.bits() => {
            Ok(Value::int(x.to_big() >> count))
        }
        // all digits are shifted out; rounding is towards minus infinity
        _ => Ok(Value::Int(if x.is_negative() { -1 } else { 0 })),
    }
}

/// `-x`.
pub(super) fn negate(x: Integer) -> Value {
    match x {
        Integer::Small(value) => match value.checked_neg() {
            Some(negated) => Value::Int(negated),
            None => Value::int(-BigInt::from(value)),
        },
        Integer::Big(value) => Value::int(-value),
    }
}

/// `~x`.
pub(super) fn invert(x: Integer) -> Value {
    match x {
        Integer::Small(value) => Value::Int(!value),
        Integer::Big(value) => Value::int(-value - 1),
    }
}

/// `abs(x)`.
pub(super) fn magnitude(x: Integer) -> Value {
    if x.is_negative() {
        negate(x)
    } else {
        x.to_value()
    }
}

/// The largest integer up to which every integer is exactly a double: 2^53.
pub const MAX_EXACT_INT: i64 = 1 << 53;

/// [`MAX_EXACT_INT`] as a double.
pub const MAX_EXACT_FLOAT: f64 = MAX_EXACT_INT as f64;

/// The leading 64 bits of an integer, and their exponent. The last bit is also set if any bit after
/// it is (a sticky bit).
fn leading_bits(magnitude: &BigUint) -> (u64, i32) {
    let shift = magnitude.bits().saturating_sub(64);
    // at most 64 bits are left, so it never saturates
    let top = (magnitude >> shift).to_u64().unwrap_or(u64::MAX);
    let cut_off = magnitude
        .trailing_zeros()
        .is_some_and(|zeros| zeros < shift);
    (top | u64::from(cut_off), shift as i32)
}

/// The nearest double to an integer of any size.
///
/// # Errors
/// `OverflowError` for an integer beyond the largest double.
pub(super) fn big_to_float(value: &BigInt) -> Result<f64, Raised> {
    let (significand, exponent) = leading_bits(value.magnitude());
    // rounded once, because of the sticky bit
    let float = libm::ldexp(significand as f64, exponent);
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
    // rounded once: because of the sticky bit, a number above a midpoint is not taken for a tie
    let mantissa = libm::ldexp(significand as f64, -64);
    let bits = f64::from(exponent + 64);
    // rounding 64 bits to 53 may give 1
    if mantissa < 1.0 {
        (mantissa, bits)
    } else {
        (0.5, bits + 1.0)
    }
}

/// The integer part of a finite double.
pub(super) fn truncated(value: f64) -> BigInt {
    BigInt::from_f64(value).unwrap_or_default()
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
fn quotient(x: &BigInt, y: &BigInt) -> Result<f64, Raised> {
    // the quotient is between 2^(size - 1) and 2^(size + 1)
    let size = x.bits() as i64 - y.bits() as i64;
    // a double below 2^-1021 is a multiple of the least double
    let is_multiple_of_least = size <= -1022;
    let unit = if is_multiple_of_least {
        -1074
    } else {
        size - 57
    };
    let numerator = x.abs() << (-unit).max(0);
    let denominator = y.abs() << unit.max(0);
    let significand = if is_multiple_of_least {
        divide_to_nearest(&numerator, &denominator)
    } else {
        // 57 or 58 bits, and a sticky bit for the remainder
        let (quotient, remainder) = numerator.div_rem(&denominator);
        quotient | BigInt::from(u8::from(!remainder.is_zero()))
    };
    let significand = significand.to_f64().unwrap_or_default();
    let float = libm::ldexp(significand, unit as i32);
    if float.is_infinite() {
        return Err(Raised::overflow(
            "integer division result too large for a float",
        ));
    }
    Ok(if x.is_negative() == y.is_negative() {
        float
    } else {
        -float
    })
}
