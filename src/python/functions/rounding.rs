//! `round`, `floor`, `ceil`, `trunc`.

use num_bigint::BigInt;
use num_integer::Integer as _;
use num_traits::{One, Signed, Zero};

use crate::python::limits::Fuel;
use crate::python::value::{Integer, Number};
use crate::python::{Raised, Value, conversion, integer};

/// More decimals than this no double has; fewer digits before the point than this none keeps.
const MOST_DIGITS: i64 = 323;
const LEAST_DIGITS: i64 = -308;

/// `floor(x)` and `ceil(x)`.
pub(super) fn to_integer(x: &Value, round: fn(f64) -> f64) -> Result<Value, Raised> {
    match x.integer() {
        Some(value) => Ok(value.to_value()),
        None => conversion::float_to_int(round(x.real()?)),
    }
}

/// `trunc(x)`.
pub(super) fn trunc(x: &Value) -> Result<Value, Raised> {
    match x.number() {
        Some(Number::Integer(value)) => Ok(value.to_value()),
        Some(Number::Float(value)) => conversion::float_to_int(value.trunc()),
        None => Err(undefined(x, "__trunc__")),
    }
}

fn undefined(x: &Value, method: &str) -> Raised {
    Raised::type_error(format!("type {} doesn't define {method} method", x.type_name()))
}

/// `round(number, ndigits=None)`.
pub(super) fn round(x: &Value, digits: Option<&Value>, fuel: &Fuel) -> Result<Value, Raised> {
    let number = x.number().ok_or_else(|| undefined(x, "__round__"))?;
    let digits = match digits {
        None | Some(Value::None) => None,
        Some(value) => Some(clip(value.index()?)),
    };
    match (number, digits) {
        (Number::Integer(value), None) => Ok(value.to_value()),
        (Number::Integer(value), Some(digits)) => round_integer(value, digits, fuel),
        (Number::Float(value), None) => conversion::float_to_int(value.round_ties_even()),
        (Number::Float(value), Some(digits)) => round_float(value, digits).map(Value::Float),
    }
}

/// The number of digits in 64 bits; what is beyond them is beyond every number too.
fn clip(digits: Integer) -> i64 {
    match digits {
        Integer::Small(value) => value,
        Integer::Big(value) => {
            if value.is_negative() {
                i64::MIN
            } else {
                i64::MAX
            }
        }
    }
}

/// The nearest multiple of `10^-digits`, the even one of two.
fn round_integer(value: Integer, digits: i64, fuel: &Fuel) -> Result<Value, Raised> {
    if digits >= 0 {
        return Ok(value.to_value());
    }
    // A power of ten with more digits than this exceeds the integer tenfold.
    let places = digits.unsigned_abs();
    if places > value.bits() / 3 + 2 {
        return Ok(Value::Int(0));
    }
    let words = value.words();
    fuel.consume(words.saturating_mul(words).saturating_mul(2))?;
    let unit = BigInt::from(10).pow(places as u32);
    integer::within(nearest_multiple(&value.to_big(), &unit) * unit)
}

/// How often the unit goes into the value, rounded half to even.
fn nearest_multiple(value: &BigInt, unit: &BigInt) -> BigInt {
    let (quotient, remainder) = value.div_mod_floor(unit);
    let up = match (remainder * 2_u32).cmp(unit) {
        std::cmp::Ordering::Less => false,
        std::cmp::Ordering::Equal => quotient.is_odd(),
        std::cmp::Ordering::Greater => true,
    };
    if up { quotient + BigInt::one() } else { quotient }
}

/// The double nearest to the decimal that is nearest to `x`.
fn round_float(x: f64, digits: i64) -> Result<f64, Raised> {
    if !x.is_finite() || digits > MOST_DIGITS {
        return Ok(x);
    }
    if digits < LEAST_DIGITS {
        return Ok(0.0 * x);
    }
    let result = match usize::try_from(digits) {
        Ok(decimals) => format!("{:.decimals$}", x.abs()).parse().unwrap_or(x),
        Err(_) => round_to_tens(x.abs(), digits.unsigned_abs() as u32),
    };
    if result.is_infinite() {
        return Err(Raised::overflow("rounded value too large to represent"));
    }
    Ok(result.copysign(x))
}

/// A positive double to the nearest multiple of `10^places`; infinity where it leaves the doubles.
fn round_to_tens(x: f64, places: u32) -> f64 {
    let unit = BigInt::from(10).pow(places);
    let whole = conversion::truncated(x);
    // A fraction only matters at a tie, which it breaks upwards; doubled, it is odd and no tie.
    let fraction = x.fract() != 0.0;
    let doubled = whole * 2_u32 + u32::from(fraction);
    let multiple = nearest_multiple(&doubled, &(&unit * 2_u32)) * unit;
    if multiple.is_zero() { 0.0 } else { conversion::big_to_float(&multiple).unwrap_or(f64::INFINITY) }
}
