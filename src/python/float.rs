//! Operators on doubles, with Python's errors and signs of zero.

use crate::python::{BinaryOperator, Raised};

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
