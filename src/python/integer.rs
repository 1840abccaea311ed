//! Operators on integers of any size. Integer results are exact and have at most
//! [`limits::INTEGER_BITS`].

use std::cmp::Ordering;

use num_bigint::BigInt;
use num_integer::Integer as _;
use num_traits::{One, ToPrimitive, Zero};

use crate::python::limits::Fuel;
use crate::python::value::Integer;
use crate::python::{BinaryOperator, MAX_EXACT_INT, Raised, Value, conversion, float, limits};

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
    fuel: &Fuel,
) -> Result<Option<Value>, Raised> {
    if let (Integer::Small(a), Integer::Small(b)) = (x, y)
        && let Some(value) = binary_in_64_bits(op, a, b)
    {
        return Ok(Some(value));
    }
    binary_of_any_size(op, x, y, fuel)
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
    fuel: &Fuel,
) -> Result<Option<Value>, Raised> {
    use BinaryOperator as Op;
    match op {
        Op::Add | Op::Subtract | Op::BitAnd | Op::BitOr | Op::BitXor => {
            linear_time_operation(op, &x.to_big(), &y.to_big(), fuel)
        }
        Op::Multiply => multiply(x, y, fuel),
        Op::Divide if y.is_zero() => Err(Raised::zero_division(DIVISION_BY_ZERO)),
        Op::Divide => {
            fuel.consume(division_cost(x, y))?;
            conversion::quotient(&x.to_big(), &y.to_big()).map(Value::Float)
        }
        Op::FloorDivide if y.is_zero() => Err(Raised::zero_division(FLOOR_DIVISION_BY_ZERO)),
        Op::Modulo if y.is_zero() => Err(Raised::zero_division(MODULO_BY_ZERO)),
        Op::FloorDivide => Ok(Value::int(floor_divide(x, y, fuel)?.0)),
        Op::Modulo => Ok(Value::int(floor_divide(x, y, fuel)?.1)),
        Op::Power => power(x, y, fuel),
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
    fuel: &Fuel,
) -> Result<Value, Raised> {
    fuel.consume(a.bits().max(b.bits()) / 64 + 1)?;
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
pub(super) fn multiply(x: Integer, y: Integer, fuel: &Fuel) -> Result<Value, Raised> {
    // a product of m and n bits has at least m + n - 1, so it need not be computed
    limits::check_bits((x.bits() + y.bits()).saturating_sub(1))?;
    // an upper bound: num-bigint multiplies long integers in less than quadratic time
    fuel.consume(x.word_count() * y.word_count())?;
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
    fuel: &Fuel,
) -> Result<(BigInt, BigInt), Raised> {
    fuel.consume(division_cost(x, y))?;
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
fn power(x: Integer, y: Integer, fuel: &Fuel) -> Result<Value, Raised> {
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
    fuel.consume(words.saturating_mul(words))?;
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
