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
        Op::MatrixMultiply
        | Op::BitAnd
        | Op::BitOr
        | Op::BitXor
        | Op::ShiftLeft
        | Op::ShiftRight => return Ok(None),
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
    if truncated_rest != 0.0 && (truncated_rest < 0.0) != (y < 0.0) {
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

/// The exponent of the smallest positive double, `2^-1074`.
pub(super) const MIN_EXPONENT: i64 = -1074;

/// `2^exponent`; zero below the smallest double, infinity beyond the largest.
pub(super) fn power_of_two(exponent: i64) -> f64 {
    match exponent {
        ..MIN_EXPONENT => 0.0,
        // subnormal: the bits count multiples of the least double
        MIN_EXPONENT..-1022 => f64::from_bits(1 << (exponent - MIN_EXPONENT)),
        -1022..1024 => f64::from_bits(((exponent + 1023) as u64) << 52),
        1024.. => f64::INFINITY,
    }
}

/// The double nearest to `significand * 2^exponent`, subnormals included; infinity when that is too
/// large.
///
/// Where `significand` has at least 56 bits, its lowest bit may be a sticky bit: the `or` of all
/// bits that were cut off.
pub(super) fn compose(significand: u64, exponent: i64) -> f64 {
    let length = 64 - i64::from(significand.leading_zeros());
    // fewer than 53 bits below the normal numbers
    let precision = length
        .saturating_add(exponent)
        .saturating_sub(MIN_EXPONENT)
        .min(53);
    // with a precision of 0, the number may still round up to the least double
    if significand == 0 || precision < 0 {
        return 0.0;
    }
    let cut = (length - precision).max(0);
    // a shift by 64 or more would overflow
    let kept = if cut >= 64 { 0 } else { significand >> cut };
    let rest = if cut >= 64 {
        significand
    } else {
        significand & ((1 << cut) - 1)
    };
    // nothing was cut, so nothing rounds up
    let half = if cut == 0 { u64::MAX } else { 1 << (cut - 1) };
    let up = rest > half || (rest == half && kept & 1 == 1);
    // exact after a carry, too: 2^53 is a power of two
    (kept + u64::from(up)) as f64 * power_of_two(exponent.saturating_add(cut))
}

/// The magnitude of a finite double as `significand * 2^exponent`.
pub(super) fn decompose(value: f64) -> (u64, i64) {
    let bits = value.to_bits();
    let fraction = bits & ((1 << 52) - 1);
    match (bits >> 52) & 0x7ff {
        0 => (fraction, MIN_EXPONENT),
        // 1075 is the bias, 1023, and the 52 bits after the point
        biased => (fraction | (1 << 52), biased as i64 - 1075),
    }
}

/// The magnitude of a finite double other than zero as `(m, e)`, where it is `m * 2^e` and
/// `0.5 <= m < 1`.
pub(super) fn fraction_and_exponent(value: f64) -> (f64, i64) {
    let (significand, exponent) = decompose(value);
    let length = 64 - i64::from(significand.leading_zeros());
    (
        // exact: the significand has at most 53 bits, and the power only changes the exponent
        significand as f64 * power_of_two(-length),
        exponent + length,
    )
}

/// `frexp(x)`.
pub(super) fn frexp(x: f64) -> Value {
    if x == 0.0 || !x.is_finite() {
        return Value::tuple(vec![Value::Float(x), Value::Int(0)]);
    }
    let (fraction, exponent) = fraction_and_exponent(x);
    Value::tuple(vec![
        Value::Float(fraction.copysign(x)),
        Value::Int(exponent),
    ])
}

/// `modf(x)`.
pub(super) fn modf(x: f64) -> Value {
    let whole = x.trunc();
    // inf - inf would be nan; C's `modf` gives 0
    let fraction = if x.is_infinite() { 0.0 } else { x - whole };
    Value::tuple(vec![
        // the sign of `x` also for a zero: `modf(-2.0)` is `(-0.0, -2.0)`
        Value::Float(fraction.copysign(x)),
        Value::Float(whole),
    ])
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
    let (significand, own) = decompose(x);
    // The exponents of any two doubles differ by less than this.
    let result = compose(significand, own + exponent.clamp(-5000, 5000));
    if result.is_infinite() {
        Err(Raised::range())
    } else {
        Ok(result.copysign(x))
    }
}

/// `nextafter(x, y, steps=steps)`: `y`, or the double that many steps from `x` towards it.
pub(super) fn nextafter_by(x: f64, y: f64, steps: Option<&Value>) -> Result<f64, Raised> {
    const SIGN: u64 = 1 << 63;
    let steps = match steps {
        None | Some(Value::None) => return Ok(nextafter(x, y)),
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

/// `nextafter(x, y)`.
pub(super) fn nextafter(x: f64, y: f64) -> f64 {
    if x.is_nan() || y.is_nan() {
        // glibc's `nextafter` returns the sum for a nan too, which makes a signaling nan quiet
        x + y
    // C's `nextafter` returns `y`, whose zero may have the other sign
    } else if x == y {
        y
    } else if x < y {
        x.next_up()
    } else {
        x.next_down()
    }
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
