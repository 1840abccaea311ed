//! Functions on the parts of a double and on the distance between doubles.

use crate::python::value::Integer;
use crate::python::{Raised, Value, conversion};

/// `frexp(x)`.
pub(super) fn frexp(x: f64) -> Value {
    if x == 0.0 || !x.is_finite() {
        return Value::tuple(vec![Value::Float(x), Value::Int(0)]);
    }
    let (digits, exponent) = conversion::parts(x);
    let length = 64 - i64::from(digits.leading_zeros());
    let mantissa = digits as f64 * conversion::power_of_two(-length);
    Value::tuple(vec![Value::Float(mantissa.copysign(x)), Value::Int(exponent + length)])
}

/// `modf(x)`.
pub(super) fn modf(x: f64) -> Value {
    let whole = x.trunc();
    let fraction = if x.is_infinite() { 0.0 } else { x - whole };
    Value::tuple(vec![Value::Float(fraction.copysign(x)), Value::Float(whole)])
}

/// `ldexp(x, i)`: `x * 2^i`, rounded once.
pub(super) fn ldexp(x: &Value, exponent: &Value) -> Result<f64, Raised> {
    let x = x.real()?;
    let exponent = match exponent.integer() {
        Some(Integer::Small(value)) => value,
        Some(Integer::Big(value)) if value.sign() == num_bigint::Sign::Minus => i64::MIN,
        Some(Integer::Big(_)) => i64::MAX,
        None => return Err(Raised::type_error("Expected an int as second argument to ldexp.")),
    };
    if x == 0.0 || !x.is_finite() {
        return Ok(x);
    }
    let (digits, own) = conversion::parts(x);
    // No double is further than this from any other.
    let result = conversion::nearest(digits, own + exponent.clamp(-5000, 5000));
    if result.is_infinite() { Err(Raised::range()) } else { Ok(result.copysign(x)) }
}

/// `nextafter(x, y)`.
pub(super) fn nextafter(x: f64, y: f64) -> f64 {
    if x.is_nan() || y.is_nan() {
        x + y
    } else if x == y {
        y
    } else if x < y {
        x.next_up()
    } else {
        x.next_down()
    }
}

/// `ulp(x)`: the distance to the next double away from zero; of the largest, to the one below.
pub(super) fn ulp(x: f64) -> f64 {
    let size = x.abs();
    if !size.is_finite() {
        return size;
    }
    let next = size.next_up();
    if next.is_infinite() { size - size.next_down() } else { next - size }
}

/// `isclose(a, b, rel_tol=1e-09, abs_tol=0.0)`.
pub(super) fn isclose(
    a: &Value,
    b: &Value,
    relative: Option<&Value>,
    absolute: Option<&Value>,
) -> Result<Value, Raised> {
    let (a, b) = (a.real()?, b.real()?);
    let relative = relative.map_or(Ok(1e-9), Value::real)?;
    let absolute = absolute.map_or(Ok(0.0), Value::real)?;
    if relative < 0.0 || absolute < 0.0 {
        return Err(Raised::value("tolerances must be non-negative"));
    }
    if a == b {
        return Ok(Value::Bool(true));
    }
    if a.is_infinite() || b.is_infinite() {
        return Ok(Value::Bool(false));
    }
    let apart = (b - a).abs();
    let within = |tolerance: f64| apart <= tolerance;
    Ok(Value::Bool(within((relative * b).abs()) || within((relative * a).abs()) || within(absolute)))
}
