//! Operators on doubles, with Python's errors and signs of zero; the parts of a double, its
//! significand, exponent and neighbours, and the functions of `math` that expose them.

use num_bigint::Sign;
use num_traits::ToPrimitive;

use crate::python::value::Integer;
use crate::python::{BinaryOperator, Raised, Value};

/// `x op y`, with the bits of Python's floats; `None` for an operator that floats do not implement.
///
/// # Errors
/// `ZeroDivisionError`; for `**` also `OverflowError`, and
/// [`ErrorKind::Complex`](crate::python::ErrorKind::Complex) if the result is complex in Python.
#[inline]
pub fn binary(op: BinaryOperator, x: f64, y: f64) -> Result<Option<f64>, Raised> {
    use BinaryOperator as Op;
    match op {
        Op::Add => Ok(x + y),
        Op::Subtract => Ok(x - y),
        Op::Multiply => Ok(x * y),
        Op::Divide => divide(x, y),
        Op::FloorDivide => floor_divide(x, y),
        Op::Modulo => modulo(x, y),
        Op::Power => power(x, y),
        // the bitwise operators and `@`
        _ => return Ok(None),
    }
    .map(Some)
}

/// `x / y`.
#[inline]
pub(super) fn divide(x: f64, y: f64) -> Result<f64, Raised> {
    if y == 0.0 {
        Err(Raised::zero_division("float division by zero"))
    } else {
        Ok(x / y)
    }
}

fn floor_divide(x: f64, y: f64) -> Result<f64, Raised> {
    if y == 0.0 {
        return Err(Raised::zero_division("float floor division by zero"));
    }
    Ok(quotient_and_remainder(x, y).0)
}

fn modulo(x: f64, y: f64) -> Result<f64, Raised> {
    if y == 0.0 {
        Err(Raised::zero_division("float modulo"))
    } else {
        Ok(remainder(x, y))
    }
}

/// `divmod(x, y)`.
pub(super) fn divmod(x: f64, y: f64) -> Result<(f64, f64), Raised> {
    if y == 0.0 {
        Err(Raised::zero_division("float divmod()"))
    } else {
        Ok(quotient_and_remainder(x, y))
    }
}

/// The remainder, which has the sign of `y`, even when it is zero.
fn remainder(x: f64, y: f64) -> f64 {
    let rest = x % y;
    if rest == 0.0 {
        f64::copysign(0.0, y)
    } else if (rest < 0.0) != (y < 0.0) {
        rest + y
    } else {
        rest
    }
}

/// The quotient rounded towards minus infinity, and the remainder, which has the sign of `y`. As in
/// CPython's `float_divmod`, the quotient is computed from `x` minus its remainder, which is a
/// multiple of `y` up to one rounding.
fn quotient_and_remainder(x: f64, y: f64) -> (f64, f64) {
    let truncated_rest = x % y;
    let rest = remainder(x, y);
    let mut quotient = (x - truncated_rest) / y;
    // C's remainder has the sign of `x`; the quotient follows when it is moved to that of `y`
    if rest != truncated_rest {
        quotient -= 1.0;
    }
    // CPython gives a zero the sign of the true quotient
    if quotient == 0.0 {
        return (f64::copysign(0.0, x / y), rest);
    }
    // whole but for its rounding error, so the nearer integer is meant
    let whole = quotient.floor();
    (
        if quotient - whole > 0.5 {
            whole + 1.0
        } else {
            whole
        },
        rest,
    )
}

/// The C library's `pow`, except that `1 ** y` and `x ** 0` are 1 also for a signaling nan, as in
/// CPython.
pub(super) fn library_power(x: f64, y: f64) -> f64 {
    if x == 1.0 || y == 0.0 { 1.0 } else { x.powf(y) }
}

/// `x ** y`.
///
/// # Errors
/// `ZeroDivisionError` for zero to a negative power, `OverflowError` for a result beyond the
/// doubles, [`ErrorKind::Complex`](crate::python::ErrorKind::Complex) for a fractional power of a
/// negative number.
pub(super) fn power(x: f64, y: f64) -> Result<f64, Raised> {
    // CPython decides infinities and nans first, and they raise nothing here
    if y.is_finite() && x.is_finite() {
        if x == 0.0 && y < 0.0 {
            return Err(Raised::zero_to_negative_power());
        }
        if x < 0.0 && y != y.floor() {
            return Err(Raised::complex_power());
        }
    }
    let result = library_power(x, y);
    if result.is_infinite() && x.is_finite() && y.is_finite() {
        // CPython makes this error of C's `errno`, whose number Python shows in the text
        return Err(Raised::overflow("(34, 'Numerical result out of range')"));
    }
    Ok(result)
}

/// `frexp(x)`.
pub(super) fn frexp(x: f64) -> Value {
    let (fraction, exponent) = libm::frexp(x);
    Value::tuple(vec![fraction.into(), i64::from(exponent).into()])
}

/// `modf(x)`.
pub(super) fn modf(x: f64) -> Value {
    let (fraction, whole) = libm::modf(x);
    Value::tuple(vec![fraction.into(), whole.into()])
}

/// `ldexp(x, i)`: `x * 2^i`, rounded once.
pub(super) fn ldexp(x: &Value, exponent: &Value) -> Result<f64, Raised> {
    let x = x.math_argument()?;
    let exponent = match exponent.integer() {
        Some(Integer::Small(value)) => value,
        // CPython takes the most extreme exponent where a C `long` overflows
        Some(Integer::Big(value)) if value.sign() == Sign::Minus => i64::MIN,
        Some(Integer::Big(_)) => i64::MAX,
        None => {
            return Err(Raised::type_error(
                "Expected an int as second argument to ldexp.",
            ));
        }
    };
    // first: CPython raises no range error for these, whatever the exponent is
    if x == 0.0 || !x.is_finite() {
        return Ok(x);
    }
    // the exponents of any two doubles differ by less than this
    let result = libm::ldexp(x, exponent.clamp(-5000, 5000) as i32);
    if result.is_infinite() {
        Err(Raised::range())
    } else {
        Ok(result)
    }
}

/// `nextafter(x, y, steps=steps)`: `y`, or the double that many steps from `x` towards it.
pub(super) fn nextafter_by(x: f64, y: f64, steps: Option<&Value>) -> Result<f64, Raised> {
    const SIGN: u64 = 1 << 63;
    let steps = match steps {
        None | Some(Value::None) => return Ok(libm::nextafter(x, y)),
        Some(steps) => steps.integer_argument()?,
    };
    if steps.is_negative() {
        return Err(Raised::value("steps must be a non-negative integer"));
    }
    // more steps than there are doubles lead to `y`
    let steps = steps.to_big().to_u64().unwrap_or(u64::MAX);
    // CPython's order: without steps, and for a nan in `x`, the result is `x`, even if `y` is a nan
    if steps == 0 || x.is_nan() || x.to_bits() == y.to_bits() {
        return Ok(x);
    }
    if y.is_nan() {
        return Ok(y);
    }
    // doubles of one sign are ordered as their bits
    let (from, to) = (x.to_bits() & !SIGN, y.to_bits() & !SIGN);
    let has_same_sign = x.is_sign_negative() == y.is_sign_negative();
    let distance = if has_same_sign {
        from.abs_diff(to)
    } else {
        from + to
    };
    // at two zeros of opposite signs the distance is 0
    if distance <= steps {
        return Ok(y);
    }
    let crosses_zero = !has_same_sign && from < steps;
    Ok(if crosses_zero {
        f64::from_bits((y.to_bits() & SIGN) | (steps - from))
    } else if has_same_sign && from <= to {
        f64::from_bits(x.to_bits() + steps)
    } else {
        f64::from_bits(x.to_bits() - steps)
    })
}

/// `ulp(x)`: the distance to the next double away from zero; for the largest double, to the one
/// below it.
pub(super) fn ulp(x: f64) -> f64 {
    if x.is_nan() {
        return x;
    }
    let size = x.abs();
    if size.is_infinite() {
        return size;
    }
    // the largest double has no next one
    let next = size.next_up();
    if next.is_infinite() {
        size - size.next_down()
    } else {
        next - size
    }
}

/// `isclose(a, b, rel_tol=1e-09, abs_tol=0.0)`.
pub(super) fn isclose(
    a: &Value,
    b: &Value,
    relative: Option<&Value>,
    absolute: Option<&Value>,
) -> Result<Value, Raised> {
    let a = a.math_argument()?;
    let b = b.math_argument()?;
    let relative = relative.map_or(Ok(1e-9), Value::math_argument)?;
    let absolute = absolute.map_or(Ok(0.0), Value::math_argument)?;
    if relative < 0.0 || absolute < 0.0 {
        return Err(Raised::value("tolerances must be non-negative"));
    }
    // first: infinities are close to themselves, though their distance is nan
    if a == b {
        return Ok(Value::Bool(true));
    }
    if a.is_infinite() || b.is_infinite() {
        return Ok(Value::Bool(false));
    }
    let distance = (b - a).abs();
    let tolerances = [(relative * b).abs(), (relative * a).abs(), absolute];
    Ok(Value::Bool(
        tolerances.iter().any(|&tolerance| distance <= tolerance),
    ))
}
