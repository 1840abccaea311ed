//! Functions that convert and round numbers: the builtins `abs`, `float`, `int`, `divmod` and `round`, and
//! `floor`, `ceil` and `trunc` of `math`.

use num_bigint::BigInt;
use num_traits::{Signed, Zero};

use crate::python::functions::missing_method;
use crate::python::limits::WorkLimit;
use crate::python::value::{Integer, Number};
use crate::python::{Raised, Value, float, integer, operators};

/// `abs(x)`.
pub(super) fn abs(x: &Value) -> Result<Value, Raised> {
    match x.number() {
        Some(Number::Integer(value)) => Ok(integer::magnitude(value)),
        Some(Number::Float(value)) => Ok(Value::Float(value.abs())),
        None => Err(Raised::type_error(format!(
            "bad operand type for abs(): '{}'",
            x.type_name()
        ))),
    }
}

/// `float(x)`.
pub(super) fn to_float(x: &Value) -> Result<f64, Raised> {
    match x.number() {
        Some(number) => number.to_float(),
        None => Err(Raised::type_error(format!(
            "float() argument must be a string or a real number, not '{}'",
            x.type_name()
        ))),
    }
}

/// `int()`, `int(x)`, `int(x, base)`.
pub(super) fn int(x: Option<&Value>, base: Option<&Value>) -> Result<Value, Raised> {
    match (x, base) {
        (None, None) => Ok(Value::Int(0)),
        (None, Some(_)) => Err(Raised::type_error("int() missing string argument")),
        (Some(_), Some(base)) => Err(int_base_error(base)),
        (Some(x), None) => match x.number() {
            Some(Number::Integer(value)) => Ok(value.to_value()),
            Some(Number::Float(value)) => integer::float_to_int(value.trunc()),
            None => Err(Raised::type_error(format!(
                "int() argument must be a string, a bytes-like object or a real number, not '{}'",
                x.type_name()
            ))),
        },
    }
}

/// The error of `int(x, base)`: a base needs a string, and formulas have no strings.
fn int_base_error(base: &Value) -> Raised {
    match base.integer_argument() {
        Err(error) => error,
        Ok(Integer::Small(0 | 2..=36)) => {
            Raised::type_error("int() can't convert non-string with explicit base")
        }
        Ok(_) => Raised::value("int() base must be >= 2 and <= 36, or 0"),
    }
}

/// `divmod(x, y)`.
pub(super) fn divmod(x: &Value, y: &Value, work: &WorkLimit) -> Result<Value, Raised> {
    let pair = match (x.number(), y.number()) {
        (Some(Number::Integer(_)), Some(Number::Integer(b))) if b.is_zero() => {
            return Err(Raised::zero_division(integer::FLOOR_DIVISION_BY_ZERO));
        }
        (Some(Number::Integer(a)), Some(Number::Integer(b))) => {
            let (quotient, remainder) = integer::floor_divide(a, b, work)?;
            [Value::int(quotient), Value::int(remainder)]
        }
        (Some(a), Some(b)) => {
            let (quotient, remainder) = float::divmod(a.to_float()?, b.to_float()?)?;
            [Value::Float(quotient), Value::Float(remainder)]
        }
        _ => return Err(operators::unsupported("divmod()", x, y)),
    };
    Ok(Value::Tuple(pair.into()))
}

/// `floor(x)` and `ceil(x)`.
pub(super) fn to_integer(x: &Value, round: fn(f64) -> f64) -> Result<Value, Raised> {
    // not by way of a double, which would round it
    match x.integer() {
        Some(value) => Ok(value.to_value()),
        None => integer::float_to_int(round(x.math_argument()?)),
    }
}

/// `trunc(x)`.
pub(super) fn trunc(x: &Value) -> Result<Value, Raised> {
    match x.number() {
        Some(Number::Integer(value)) => Ok(value.to_value()),
        Some(Number::Float(value)) => integer::float_to_int(value.trunc()),
        None => Err(missing_method(x.type_name(), "__trunc__")),
    }
}

/// `round(number, ndigits=None)`.
pub(super) fn round(x: &Value, digits: Option<&Value>, work: &WorkLimit) -> Result<Value, Raised> {
    let number = x
        .number()
        .ok_or_else(|| missing_method(x.type_name(), "__round__"))?;
    let digits = match digits {
        None | Some(Value::None) => None,
        Some(value) => Some(saturated(value.integer_argument()?)),
    };
    match (number, digits) {
        (Number::Integer(value), None) => Ok(value.to_value()),
        (Number::Integer(value), Some(digits)) => round_integer(value, digits, work),
        // without `ndigits`, Python's result is an int
        (Number::Float(value), None) => integer::float_to_int(value.round_ties_even()),
        (Number::Float(value), Some(digits)) => round_float(value, digits).map(Value::Float),
    }
}

/// The number of digits, saturated to 64 bits.
fn saturated(digits: Integer) -> i64 {
    match digits {
        Integer::Small(value) => value,
        Integer::Big(value) if value.is_negative() => i64::MIN,
        Integer::Big(_) => i64::MAX,
    }
}

/// The nearest multiple of `10^-digits`, ties to even. An integer has no decimals, so `digits >= 0`
/// changes nothing.
fn round_integer(value: Integer, digits: i64, work: &WorkLimit) -> Result<Value, Raised> {
    if digits >= 0 {
        return Ok(value.to_value());
    }
    // Ten to a greater power than this is more than ten times the integer.
    let places = digits.unsigned_abs();
    if places > value.bits() / 3 + 2 {
        return Ok(Value::Int(0));
    }
    // a power and a division, each quadratic in the length
    let words = value.word_count();
    work.take(words.saturating_mul(words).saturating_mul(2))?;
    // the cast is safe: `places` is at most a third of the limit of bits, plus 2
    let unit = BigInt::from(10).pow(places as u32);
    integer::value_within_limit(integer::divide_to_nearest(&value.to_big(), &unit) * unit)
}

/// With more decimals than this, `round` returns a double unchanged.
// CPython's `NDIGITS_MAX`: `(DBL_MANT_DIG - DBL_MIN_EXP) * log10(2)`
const MAX_DIGITS: i64 = 323;
/// With fewer decimals than this, `round` returns a zero.
// CPython's `NDIGITS_MIN`: `-(DBL_MAX_EXP + 1) * log10(2)`
const MIN_DIGITS: i64 = -308;

/// Rounds `x` to the nearest number with `digits` decimals and returns the double nearest to that.
/// With negative `digits`, rounds to a multiple of `10^-digits`.
fn round_float(x: f64, digits: i64) -> Result<f64, Raised> {
    if !x.is_finite() || digits > MAX_DIGITS {
        return Ok(x);
    }
    if digits < MIN_DIGITS {
        // keeps the sign of `x`
        return Ok(0.0 * x);
    }
    let result = match usize::try_from(digits) {
        // the standard library prints the exact value, so that its decimals are rounded once
        Ok(decimals) => format!("{:.decimals$}", x.abs()).parse().unwrap_or(x),
        Err(_) => round_to_tens(x.abs(), digits.unsigned_abs() as u32),
    };
    if result.is_infinite() {
        return Err(Raised::overflow("rounded value too large to represent"));
    }
    Ok(result.copysign(x))
}

/// Rounds a double of at least 0 to a multiple of `10^places`, ties to even; infinity if that
/// exceeds the doubles.
fn round_to_tens(x: f64, places: u32) -> f64 {
    let unit = BigInt::from(10).pow(places);
    let whole = integer::truncated(x);
    // The fraction matters only at a tie, which it breaks upwards: adding 1 to the doubled value
    // does the same.
    let fraction = x.fract() != 0.0;
    let doubled = whole * 2_u32 + u32::from(fraction);
    let multiple = integer::divide_to_nearest(&doubled, &(&unit * 2_u32)) * unit;
    if multiple.is_zero() {
        0.0
    } else {
        integer::big_to_float(&multiple).unwrap_or(f64::INFINITY)
    }
}
