//! Elementary functions of doubles: bit for bit those of the C library, with the exceptions of
//! Python's `math`.
//!
//! Most call the C library, by methods of `f64`; without glibc, their last bits may differ from the
//! scheduler's. Where Rust's own implementation differs from glibc's in the last bits, the function
//! is implemented here: `cbrt` with glibc's published algorithm, and the inverse hyperbolic
//! functions with the formulas of fdlibm.

use std::f64::consts::{LN_2, PI};
use std::hint::black_box;

use crate::python::functions::special;
use crate::python::value::{Integer, Number};
use crate::python::{Function, PythonVersion, Raised, Value, conversion, float, float_parts};

/// What an infinite result for a finite argument means.
#[derive(Clone, Copy)]
enum InfiniteResult {
    /// The result is too large: `OverflowError`.
    Range,
    /// The argument is a pole: `ValueError`.
    Domain,
    /// An infinity is a correct result.
    Allowed,
}

/// Calls a function of the `math` module that takes and returns one double. The result is nan for
/// any other function.
///
/// # Errors
/// `ValueError: math domain error` where the function is not defined,
/// `OverflowError: math range error` for a result beyond the largest double.
#[inline]
pub fn real_function(function: Function, x: f64) -> Result<f64, Raised> {
    use Function as F;
    match function {
        F::Sqrt => checked(x, x.sqrt(), InfiniteResult::Domain),
        F::Exp => checked(x, x.exp(), InfiniteResult::Range),
        F::Log | F::Log2 | F::Log10 => logarithm_of_float(function, x),
        F::Fabs => Ok(x.abs()),
        // CPython multiplies by the rounded quotient, not by 180 and then divides
        F::Degrees => Ok(x * (180.0 / PI)),
        F::Radians => Ok(x * (PI / 180.0)),
        F::Ulp => Ok(float_parts::ulp(x)),
        F::Gamma => special::gamma(x),
        F::Lgamma => special::lgamma(x),
        _ => {
            let (result, infinite) = compute_unchecked(function, x);
            checked(x, result, infinite)
        }
    }
}

/// Computes the function as the C library does; also returns what an infinite result means.
fn compute_unchecked(function: Function, x: f64) -> (f64, InfiniteResult) {
    use Function as F;
    match function {
        // `Range` where CPython's `FUNC1` has `can_overflow`, `Domain` where it has not, `Allowed`
        // for its `FUNC1A`
        F::Exp2 => (x.exp2(), InfiniteResult::Range),
        F::Expm1 => (x.exp_m1(), InfiniteResult::Range),
        F::Log1p => (x.ln_1p(), InfiniteResult::Domain),
        F::Cbrt => (cbrt(x), InfiniteResult::Domain),
        F::Sin => (x.sin(), InfiniteResult::Domain),
        F::Cos => (x.cos(), InfiniteResult::Domain),
        F::Tan => (x.tan(), InfiniteResult::Domain),
        F::Asin => (x.asin(), InfiniteResult::Domain),
        F::Acos => (x.acos(), InfiniteResult::Domain),
        F::Atan => (x.atan(), InfiniteResult::Domain),
        F::Sinh => (x.sinh(), InfiniteResult::Range),
        F::Cosh => (x.cosh(), InfiniteResult::Range),
        F::Tanh => (x.tanh(), InfiniteResult::Domain),
        F::Asinh => (asinh(x), InfiniteResult::Domain),
        F::Acosh => (acosh(x), InfiniteResult::Domain),
        F::Atanh => (atanh(x), InfiniteResult::Domain),
        F::Erf => (special::erf(x), InfiniteResult::Allowed),
        F::Erfc => (special::erfc(x), InfiniteResult::Allowed),
        _ => (f64::NAN, InfiniteResult::Allowed),
    }
}

/// The result, or the error that a nan or an infinity indicates.
#[inline]
fn checked(x: f64, result: f64, infinite: InfiniteResult) -> Result<f64, Raised> {
    // as `math_1` of CPython tells errors apart, without C's `errno`
    if result.is_nan() && !x.is_nan() {
        return Err(Raised::domain());
    }
    match infinite {
        InfiniteResult::Range if result.is_infinite() && x.is_finite() => Err(Raised::range()),
        InfiniteResult::Domain if result.is_infinite() && x.is_finite() => Err(Raised::domain()),
        _ => Ok(result),
    }
}

/// Calls a function of the `math` module that takes two doubles and returns one. The result is nan
/// for any other function.
pub(super) fn binary_real_function(
    function: Function,
    x: f64,
    y: f64,
    python: PythonVersion,
) -> Result<f64, Raised> {
    match function {
        // CPython returns its own nan, whose sign depends on the version
        Function::Atan2 if x.is_nan() || y.is_nan() => Ok(python.nan()),
        Function::Atan2 => Ok(x.atan2(y)),
        Function::Copysign => Ok(x.copysign(y)),
        Function::Fmod => fmod(x, y),
        Function::Nextafter => Ok(float_parts::nextafter(x, y)),
        Function::Pow => pow(x, y, python),
        Function::Remainder => remainder(x, y),
        _ => Ok(f64::NAN),
    }
}

/// `fma(x, y, z)`: `x * y + z`, rounded once.
pub(super) fn fma(x: &Value, y: &Value, z: &Value) -> Result<f64, Raised> {
    let operands = [x.math_argument()?, y.math_argument()?, z.math_argument()?];
    let [x, y, z] = operands;
    let result = x.mul_add(y, z);
    if result.is_nan() && !operands.iter().any(|operand| operand.is_nan()) {
        return Err(Raised::value("invalid operation in fma"));
    }
    if result.is_infinite() && operands.iter().all(|operand| operand.is_finite()) {
        return Err(Raised::overflow("overflow in fma"));
    }
    Ok(result)
}

fn fmod(x: f64, y: f64) -> Result<f64, Raised> {
    if !x.is_nan() && !y.is_nan() && (x.is_infinite() || y == 0.0) {
        return Err(Raised::domain());
    }
    Ok(x % y)
}

/// IEEE 754's remainder: `x` minus the nearest multiple of `y`, ties to even.
fn remainder(x: f64, y: f64) -> Result<f64, Raised> {
    if x.is_nan() || y.is_nan() {
        return Ok(x + y);
    }
    if x.is_infinite() || y == 0.0 {
        return Err(Raised::domain());
    }
    Ok(if y.is_infinite() {
        x
    } else {
        // the result is exact, so that it has the same bits as the C library's
        libm::remainder(x, y)
    })
}

/// `math.pow`, which, unlike `**`, takes both arguments as doubles and never returns a complex
/// number.
fn pow(x: f64, y: f64, python: PythonVersion) -> Result<f64, Raised> {
    let result = float::library_power(x, y);
    if !x.is_finite() || !y.is_finite() || result.is_finite() {
        let is_pole = x == 0.0 && result.is_infinite();
        return if is_pole && !python.has_infinite_power_of_zero() {
            Err(Raised::domain())
        } else {
            Ok(result)
        };
    }
    // A pole and a root of a negative number are domain errors; any other infinite result is a
    // range error.
    Err(if x == 0.0 || result.is_nan() {
        Raised::domain()
    } else {
        Raised::range()
    })
}

/// `log`, `log2`, `log10` of a number. Unlike the other functions of this file, they take integers
/// beyond the largest double.
#[inline]
pub(super) fn logarithm(function: Function, x: &Value) -> Result<f64, Raised> {
    match x.number() {
        Some(Number::Integer(Integer::Big(value))) => {
            if value.sign() == num_bigint::Sign::Minus {
                return Err(Raised::domain());
            }
            match conversion::big_to_float(value) {
                Ok(double) => logarithm_of_float(function, double),
                Err(_) => {
                    let (mantissa, exponent) = conversion::big_fraction(value);
                    // the compiler must not compute the logarithm of 2: its last bit may differ
                    // from the C library's
                    Ok(c_logarithm(function, mantissa)
                        + c_logarithm(function, black_box(2.0)) * exponent)
                }
            }
        }
        _ => logarithm_of_float(function, x.math_argument()?),
    }
}

/// `log(x, base)`.
pub(super) fn logarithm_to_base(x: &Value, base: &Value) -> Result<f64, Raised> {
    let numerator = logarithm(Function::Log, x)?;
    float::divide(numerator, logarithm(Function::Log, base)?)
}

/// `log`, `log2`, `log10` of a double.
#[inline]
fn logarithm_of_float(function: Function, x: f64) -> Result<f64, Raised> {
    // a nan passes: its logarithm is a nan, and no error
    if x <= 0.0 {
        Err(Raised::domain())
    } else {
        Ok(c_logarithm(function, x))
    }
}

fn c_logarithm(function: Function, x: f64) -> f64 {
    match function {
        Function::Log2 => x.log2(),
        Function::Log10 => x.log10(),
        _ => x.ln(),
    }
}

/// A polynomial approximation to the cube root between 1/2 and 1, the constant term first.
#[allow(clippy::excessive_precision)]
const CBRT_POLYNOMIAL: [f64; 7] = [
    0.354895765043919860,
    1.50819193781584896,
    -2.11499494167371287,
    2.4469312256353444,
    -1.83469277483613086,
    0.784932344976639262,
    -0.145263899385486367,
];

/// The cube root of 2.
#[allow(clippy::excessive_precision)]
const CBRT_2: f64 = 1.2599210498948731648;

/// The cube root of 4.
#[allow(clippy::excessive_precision)]
const CBRT_4: f64 = 1.5874010519681994748;

/// `cbrt(x)`, as the GNU C library computes it: the polynomial, one step of Halley's method, and a
/// factor for the exponent modulo 3.
///
/// Rust's `cbrt` is correctly rounded. The C library's, and so Python's, is off by one unit in the
/// last place for about one argument in ten.
fn cbrt(x: f64) -> f64 {
    if x == 0.0 || !x.is_finite() {
        return x;
    }
    let (fraction, exponent) = float_parts::fraction_and_exponent(x);
    let estimate = CBRT_POLYNOMIAL
        .iter()
        .rev()
        .fold(0.0, |sum, term| sum * fraction + term);
    let cube = estimate * estimate * estimate;
    let factor = match exponent % 3 {
        -2 => 1.0 / CBRT_4,
        -1 => 1.0 / CBRT_2,
        1 => CBRT_2,
        2 => CBRT_4,
        _ => 1.0,
    };
    let root = estimate * (cube + 2.0 * fraction) / (2.0 * cube + fraction) * factor;
    (root * float_parts::power_of_two(exponent / 3)).copysign(x)
}

/// 2^28: for a greater `x`, x² + 1 rounds to x².
const LARGE: f64 = 268_435_456.0;

/// 2^-28: below it, `asinh` and `atanh` return their argument.
const SMALL: f64 = 1.0 / LARGE;

/// Whether `x` exceeds a power of two as fdlibm compares them, by the upper 32 bits: whether it
/// does by a millionth or more.
fn is_above(x: f64, power_of_two: f64) -> bool {
    x.to_bits() >> 32 > power_of_two.to_bits() >> 32
}

/// `asinh(x)`: `ln(x + sqrt(x² + 1))`.
fn asinh(x: f64) -> f64 {
    let a = x.abs();
    if !x.is_finite() || a < SMALL {
        return x;
    }
    let result = if is_above(a, LARGE) {
        a.ln() + LN_2
    } else if is_above(a, 2.0) {
        (2.0 * a + 1.0 / ((a * a + 1.0).sqrt() + a)).ln()
    } else {
        let square = a * a;
        (a + square / (1.0 + (1.0 + square).sqrt())).ln_1p()
    };
    result.copysign(x)
}

/// `acosh(x)`: `ln(x + sqrt(x² - 1))`; nan below 1.
fn acosh(x: f64) -> f64 {
    if x < 1.0 {
        f64::NAN
    } else if x == f64::INFINITY || x.is_nan() {
        x
    } else if x >= LARGE {
        x.ln() + LN_2
    } else if x > 2.0 {
        let square = x * x;
        (2.0 * x - 1.0 / (x + (square - 1.0).sqrt())).ln()
    } else {
        let excess = x - 1.0;
        (excess + (2.0 * excess + excess * excess).sqrt()).ln_1p()
    }
}

/// `atanh(x)`: `ln((1 + x) / (1 - x)) / 2`; infinite at 1 and -1, nan outside.
fn atanh(x: f64) -> f64 {
    let a = x.abs();
    if a > 1.0 {
        return f64::NAN;
    }
    if a < SMALL {
        return x;
    }
    let twice = a + a;
    let argument = if a < 0.5 {
        twice + twice * a / (1.0 - a)
    } else {
        twice / (1.0 - a)
    };
    (0.5 * argument.ln_1p()).copysign(x)
}
