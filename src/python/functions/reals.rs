//! Functions from doubles to a double: the C library's, with `math`'s errors.

use crate::python::functions::{doubles, error_function, gamma, hyperbolic, logarithms, root};
use crate::python::{Function, Raised, float};

/// What to make of an infinite result of a finite argument.
#[derive(Clone, Copy)]
enum Infinite {
    /// The result is too large.
    Range,
    /// The argument is a pole.
    Domain,
    /// It is right.
    Allowed,
}

/// A function of the `math` module from one double to one; `nan` of any other function.
///
/// # Errors
/// `ValueError: math domain error`, `OverflowError: math range error`.
#[inline]
pub fn real(function: Function, x: f64) -> Result<f64, Raised> {
    use Function as F;
    match function {
        F::Sqrt => checked(x, x.sqrt(), Infinite::Domain),
        F::Exp => checked(x, x.exp(), Infinite::Range),
        F::Log | F::Log2 | F::Log10 => logarithms::of_float(function, x),
        F::Fabs => Ok(x.abs()),
        F::Degrees => Ok(x * (180.0 / std::f64::consts::PI)),
        F::Radians => Ok(x * (std::f64::consts::PI / 180.0)),
        F::Ulp => Ok(doubles::ulp(x)),
        F::Gamma => gamma::gamma(x),
        F::Lgamma => gamma::lgamma(x),
        _ => {
            let (result, infinite) = library(function, x);
            checked(x, result, infinite)
        }
    }
}

fn library(function: Function, x: f64) -> (f64, Infinite) {
    use Function as F;
    match function {
        F::Exp2 => (x.exp2(), Infinite::Range),
        F::Expm1 => (x.exp_m1(), Infinite::Range),
        F::Log1p => (x.ln_1p(), Infinite::Domain),
        F::Cbrt => (root::cbrt(x), Infinite::Domain),
        F::Sin => (x.sin(), Infinite::Domain),
        F::Cos => (x.cos(), Infinite::Domain),
        F::Tan => (x.tan(), Infinite::Domain),
        F::Asin => (x.asin(), Infinite::Domain),
        F::Acos => (x.acos(), Infinite::Domain),
        F::Atan => (x.atan(), Infinite::Domain),
        F::Sinh => (x.sinh(), Infinite::Range),
        F::Cosh => (x.cosh(), Infinite::Range),
        F::Tanh => (x.tanh(), Infinite::Domain),
        F::Asinh => (hyperbolic::asinh(x), Infinite::Domain),
        F::Acosh => (hyperbolic::acosh(x), Infinite::Domain),
        F::Atanh => (hyperbolic::atanh(x), Infinite::Domain),
        F::Erf => (error_function::erf(x), Infinite::Allowed),
        F::Erfc => (error_function::erfc(x), Infinite::Allowed),
        _ => (f64::NAN, Infinite::Allowed),
    }
}

/// The result, unless it tells of an argument outside the domain or of a result beyond the doubles.
#[inline]
fn checked(x: f64, result: f64, infinite: Infinite) -> Result<f64, Raised> {
    if result.is_nan() && !x.is_nan() {
        return Err(Raised::domain());
    }
    match infinite {
        Infinite::Range if result.is_infinite() && x.is_finite() => Err(Raised::range()),
        Infinite::Domain if result.is_infinite() && x.is_finite() => Err(Raised::domain()),
        _ => Ok(result),
    }
}

/// A function of the `math` module from two doubles to one.
pub(super) fn real_of_two(function: Function, x: f64, y: f64) -> Result<f64, Raised> {
    match function {
        Function::Atan2 => Ok(x.atan2(y)),
        Function::Copysign => Ok(x.copysign(y)),
        Function::Fmod => fmod(x, y),
        Function::Nextafter => Ok(doubles::nextafter(x, y)),
        Function::Pow => pow(x, y),
        Function::Remainder => remainder(x, y),
        _ => Ok(f64::NAN),
    }
}

fn fmod(x: f64, y: f64) -> Result<f64, Raised> {
    if !x.is_nan() && !y.is_nan() && (x.is_infinite() || y == 0.0) {
        return Err(Raised::domain());
    }
    Ok(x % y)
}

/// IEEE 754's remainder: what is left of `x` by the nearest multiple of `y`, the even one of two.
fn remainder(x: f64, y: f64) -> Result<f64, Raised> {
    if x.is_nan() || y.is_nan() {
        return Ok(x + y);
    }
    if x.is_infinite() || y == 0.0 {
        return Err(Raised::domain());
    }
    Ok(if y.is_infinite() { x } else { libm::remainder(x, y) })
}

/// `math.pow`, which knows neither integers nor complex numbers.
fn pow(x: f64, y: f64) -> Result<f64, Raised> {
    let result = float::raised(x, y);
    if !x.is_finite() || !y.is_finite() || result.is_finite() {
        return Ok(result);
    }
    // A pole, a root of a negative number, or a result that is too large.
    Err(if x == 0.0 || result.is_nan() { Raised::domain() } else { Raised::range() })
}
