//! Functions of doubles: bit for bit those of the C library, with the exceptions of Python's `math`.
//!
//! Most call the C library, by methods of `f64`; without glibc, their last bits may differ from the
//! scheduler's. Where Rust's own implementation differs from glibc's in the last bits, the function
//! is implemented here: `cbrt` with glibc's published algorithm, and the inverse hyperbolic
//! functions with the formulas of fdlibm.
//!
//! `gamma` and `lgamma` use CPython's algorithm: Lanczos's approximation with the coefficients that
//! Boost publishes for doubles (13 terms). `erf` and `erfc` use the C library's algorithm: the
//! rational approximations that Sun published with fdlibm.

// The coefficients are written with all published digits, which are more than an `f64` can hold.
#![allow(clippy::excessive_precision)]

use std::f64::consts::{LN_2, PI};
use std::hint::black_box;

use crate::python::value::{Integer, Number};
use crate::python::{Function, PythonVersion, Raised, Value, float, integer};

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

use InfiniteResult::{Allowed, Domain, Range};

/// Calls a function of the `math` module that takes and returns one double. The result is nan for
/// any other function.
///
/// # Errors
/// `ValueError: math domain error` where the function is not defined,
/// `OverflowError: math range error` for a result beyond the largest double.
#[inline]
pub fn real_function(function: Function, x: f64) -> Result<f64, Raised> {
    use Function as F;
    let (result, infinite) = match function {
        F::Sqrt => (x.sqrt(), Domain),
        F::Exp => (x.exp(), Range),
        F::Log | F::Log2 | F::Log10 => return logarithm_of_float(function, x),
        F::Fabs => return Ok(x.abs()),
        // CPython multiplies by the rounded quotient, not by 180 and then divides
        F::Degrees => return Ok(x * (180.0 / PI)),
        F::Radians => return Ok(x * (PI / 180.0)),
        F::Ulp => return Ok(float::ulp(x)),
        F::Gamma => return gamma(x),
        F::Lgamma => return lgamma(x),
        // `Range` where CPython's `FUNC1` has `can_overflow`, `Domain` where it has not, `Allowed`
        // for its `FUNC1A`
        F::Exp2 => (x.exp2(), Range),
        F::Expm1 => (x.exp_m1(), Range),
        F::Log1p => (x.ln_1p(), Domain),
        F::Cbrt => (cbrt(x), Domain),
        F::Sin => (x.sin(), Domain),
        F::Cos => (x.cos(), Domain),
        F::Tan => (x.tan(), Domain),
        F::Asin => (x.asin(), Domain),
        F::Acos => (x.acos(), Domain),
        F::Atan => (x.atan(), Domain),
        F::Sinh => (x.sinh(), Range),
        F::Cosh => (x.cosh(), Range),
        F::Tanh => (x.tanh(), Domain),
        F::Asinh => (asinh(x), Domain),
        F::Acosh => (acosh(x), Domain),
        F::Atanh => (atanh(x), Domain),
        F::Erf => (erf(x), Allowed),
        F::Erfc => (erfc(x), Allowed),
        _ => return Ok(f64::NAN),
    };
    // as `math_1` of CPython tells errors apart, without C's `errno`
    if result.is_nan() && !x.is_nan() {
        return Err(Raised::domain());
    }
    match infinite {
        Range if result.is_infinite() && x.is_finite() => Err(Raised::range()),
        Domain if result.is_infinite() && x.is_finite() => Err(Raised::domain()),
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
    // `%` on doubles is C's `fmod`, which is exact
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
            // as in CPython's `loghelper`: the exponent is split off only where the conversion
            // overflows
            match integer::big_to_float(value) {
                Ok(double) => logarithm_of_float(function, double),
                Err(_) => {
                    let (mantissa, exponent) = integer::big_fraction(value);
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
    // CPython divides the two floats as `/` does: a base of 1 is a ZeroDivisionError, not a domain
    // error
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
const CBRT_2: f64 = 1.2599210498948731648;

/// The cube root of 4.
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
    let (fraction, exponent) = libm::frexp(x.abs());
    let estimate = CBRT_POLYNOMIAL
        .iter()
        .rev()
        .fold(0.0, |sum, term| sum * fraction + term);
    let cube = estimate * estimate * estimate;
    // five cases, as in glibc's table `factor`: `%` has the sign of the exponent, also in C
    let factor = match exponent % 3 {
        -2 => 1.0 / CBRT_4,
        -1 => 1.0 / CBRT_2,
        1 => CBRT_2,
        2 => CBRT_4,
        _ => 1.0,
    };
    // in glibc's order, since each operation rounds
    let root = estimate * (cube + 2.0 * fraction) / (2.0 * cube + fraction) * factor;
    libm::ldexp(root, exponent / 3).copysign(x)
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
    // fdlibm's two forms: near 0 the first one adds only a small correction to `2a`
    let argument = if a < 0.5 {
        twice + twice * a / (1.0 - a)
    } else {
        twice / (1.0 - a)
    };
    (0.5 * argument.ln_1p()).copysign(x)
}

/// The free parameter `g` of Lanczos's approximation.
const G: f64 = 6.024680040776729583740234375;
const G_MINUS_HALF: f64 = G - 0.5;

/// `ln(pi)`
const LN_PI: f64 = 1.144729885849400174143427351353058711647;

/// Below this `|x|`, `gamma(x)` is `1 / x`.
const GAMMA_SMALL: f64 = 1e-20;

/// From this `|x|` on, the power is applied as two equal factors, because it could overflow
/// although the result does not.
const GAMMA_LARGE: f64 = 140.0;

/// Beyond this `|x|`, `gamma` overflows, or underflows for negative arguments.
const GAMMA_LIMIT: f64 = 200.0;

/// The numerator of Lanczos's sum, the constant term first.
const LANCZOS_NUMERATOR: [f64; 13] = [
    23531376880.410759688572007674451636754734846804940,
    42919803642.649098768957899047001988850926355848959,
    35711959237.355668049440185451547166705960488635843,
    17921034426.037209699919755754458931112671403265390,
    6039542586.3520280050642916443072979210699388420708,
    1439720407.3117216736632230727949123939715485786372,
    248874557.86205415651146038641322942321632125127801,
    31426415.585400194380614231628318205362874684987640,
    2876370.6289353724412254090516208496135991145378768,
    186056.26539522349504029498971604569928220784236328,
    8071.6720023658162106380029022722506138218516325024,
    210.82427775157934587250973392071336271166969580291,
    2.5066282746310002701649081771338373386264310793408,
];

/// The denominator of Lanczos's sum, `x (x + 1) … (x + 11)`, the constant term first.
const LANCZOS_DENOMINATOR: [f64; 13] = [
    0.0,
    39_916_800.0,
    120_543_840.0,
    150_917_976.0,
    105_258_076.0,
    45_995_730.0,
    13_339_535.0,
    2_637_558.0,
    357_423.0,
    32_670.0,
    1_925.0,
    66.0,
    1.0,
];

/// Lanczos's sum. For large arguments it uses powers of `1/x`, which do not overflow.
fn lanczos(x: f64) -> f64 {
    let [numerator, denominator] = [LANCZOS_NUMERATOR, LANCZOS_DENOMINATOR].map(|coefficients| {
        // the bound and both orders are those of CPython's `lanczos_sum`
        if x < 5.0 {
            coefficients
                .iter()
                .rev()
                .fold(0.0, |sum, term| sum * x + term)
        } else {
            coefficients.iter().fold(0.0, |sum, term| sum / x + term)
        }
    });
    numerator / denominator
}

/// `sin(pi x)`, exact at multiples of 1/2.
fn sin_pi(x: f64) -> f64 {
    let half_turns = x.abs() % 2.0;
    // from 0 to 4, since `half_turns` is below 2
    let sine = match (2.0 * half_turns).round() as i32 {
        0 => (PI * half_turns).sin(),
        1 => (PI * (half_turns - 0.5)).cos(),
        // not `-sin(pi (y - 1))`, which is -0.0 at 1 (CPython's `m_sinpi`)
        2 => (PI * (1.0 - half_turns)).sin(),
        3 => -(PI * (half_turns - 1.5)).cos(),
        _ => (PI * (half_turns - 2.0)).sin(),
    };
    1.0_f64.copysign(x) * sine
}

/// `gamma(x)`.
fn gamma(x: f64) -> Result<f64, Raised> {
    if x.is_nan() || x == f64::INFINITY {
        return Ok(x);
    }
    if x == f64::NEG_INFINITY || x == 0.0 || (x < 0.0 && x == x.floor()) {
        return Err(Raised::domain());
    }
    // CPython takes these from its table of factorials, `NGAMMA_INTEGRAL` long
    if x == x.floor() && x <= 23.0 {
        return Ok(gamma_of_integer(x as u64));
    }
    let magnitude = x.abs();
    let result = if magnitude < GAMMA_SMALL {
        1.0 / x
    } else if magnitude > GAMMA_LIMIT {
        if x < 0.0 {
            // underflows to a zero with the sign of `sin(pi x)`
            0.0 / sin_pi(x)
        } else {
            f64::INFINITY
        }
    } else {
        gamma_by_lanczos(x, magnitude)
    };
    if result.is_infinite() {
        Err(Raised::range())
    } else {
        Ok(result)
    }
}

/// `gamma(n)`, which is `(n - 1)!`, exact for `n` up to 23.
fn gamma_of_integer(n: u64) -> f64 {
    (2..n).map(|factor| factor as f64).product()
}

/// `gamma(x)` by Lanczos's approximation, with reflection for negative arguments and a correction
/// for the rounding of `|x| + g - 1/2`.
fn gamma_by_lanczos(x: f64, magnitude: f64) -> f64 {
    let base = magnitude + G_MINUS_HALF;
    // exact only if the larger of the two is subtracted first
    let rounding_error = if magnitude > G_MINUS_HALF {
        (base - magnitude) - G_MINUS_HALF
    } else {
        (base - G_MINUS_HALF) - magnitude
    };
    let correction = rounding_error * G / base;
    if x < 0.0 {
        // in the order of CPython's `m_tgamma`, since each operation rounds
        let mut result = -PI / sin_pi(magnitude) / magnitude * base.exp() / lanczos(magnitude);
        result -= correction * result;
        if magnitude < GAMMA_LARGE {
            result / base.powf(magnitude - 0.5)
        } else {
            let half_power = base.powf(magnitude / 2.0 - 0.25);
            result / half_power / half_power
        }
    } else {
        let mut result = lanczos(magnitude) / base.exp();
        result += correction * result;
        if magnitude < GAMMA_LARGE {
            result * base.powf(magnitude - 0.5)
        } else {
            let half_power = base.powf(magnitude / 2.0 - 0.25);
            result * half_power * half_power
        }
    }
}

/// `ln |gamma(x)|`.
fn lgamma(x: f64) -> Result<f64, Raised> {
    if x.is_nan() {
        return Ok(x);
    }
    if x.is_infinite() {
        return Ok(x.abs());
    }
    if x == x.floor() && x <= 2.0 {
        // exact at the two zeros, 1 and 2, where Lanczos's sum would leave a rounding error
        return if x <= 0.0 {
            Err(Raised::domain())
        } else {
            Ok(0.0)
        };
    }
    let magnitude = x.abs();
    if magnitude < GAMMA_SMALL {
        return Ok(-magnitude.ln());
    }
    let mut result = lanczos(magnitude).ln() - G;
    // in CPython's order: `magnitude + G_MINUS_HALF` may round to another double
    result += (magnitude - 0.5) * ((magnitude + G - 0.5).ln() - 1.0);
    if x < 0.0 {
        result = LN_PI - sin_pi(magnitude).abs().ln() - magnitude.ln() - result;
    }
    if result.is_infinite() {
        Err(Raised::range())
    } else {
        Ok(result)
    }
}

/// A constant near `erf(1)`; the approximation for `|x|` near 1 is added to it.
const ERF_NEAR_ONE_OFFSET: f64 = 8.45062911510467529297e-01;

/// `2 / sqrt(pi) - 1`: the slope of `erf` at 0, minus 1.
const ERF_SLOPE_MINUS_ONE: f64 = 1.28379167095512586316e-01;

/// A rational approximation: numerator and denominator, the constant terms first.
type Ratio<'a> = (&'a [f64], &'a [f64]);

/// `erf(x) / x - 1` for `|x|` below 0.84375, as a function of `x²`.
const ERF_NEAR_ZERO: Ratio = (
    &[
        1.28379167095512558561e-01,
        -3.25042107247001499370e-01,
        -2.84817495755985104766e-02,
        -5.77027029648944159157e-03,
        -2.37630166566501626084e-05,
    ],
    &[
        1.0,
        3.97917223959155352819e-01,
        6.50222499887672944485e-02,
        5.08130628187576562776e-03,
        1.32494738004321644526e-04,
        -3.96022827877536812320e-06,
    ],
);

/// `erf(|x|)` minus [`ERF_NEAR_ONE_OFFSET`] for `|x|` from 0.84375 to 1.25, as a function of
/// `|x| - 1`.
const ERF_NEAR_ONE: Ratio = (
    &[
        -2.36211856075265944077e-03,
        4.14856118683748331666e-01,
        -3.72207876035701323847e-01,
        3.18346619901161753674e-01,
        -1.10894694282396677476e-01,
        3.54783043256182359371e-02,
        -2.16637559486879084300e-03,
    ],
    &[
        1.0,
        1.06420880400844228286e-01,
        5.40397917702171048937e-01,
        7.18286544141962662868e-02,
        1.26171219808761642112e-01,
        1.36370839120290507362e-02,
        1.19844998467991074170e-02,
    ],
);

/// `ln(x * erfc(x)) + x² + 0.5625` for `x` from 1.25 to 1 / 0.35, as a function of `1 / x²`.
const ERFC_MIDDLE: Ratio = (
    &[
        -9.86494403484714822705e-03,
        -6.93858572707181764372e-01,
        -1.05586262253232909814e+01,
        -6.23753324503260060396e+01,
        -1.62396669462573470355e+02,
        -1.84605092906711035994e+02,
        -8.12874355063065934246e+01,
        -9.81432934416914548592e+00,
    ],
    &[
        1.0,
        1.96512716674392571292e+01,
        1.37657754143519042600e+02,
        4.34565877475229228821e+02,
        6.45387271733267880336e+02,
        4.29008140027567833386e+02,
        1.08635005541779435134e+02,
        6.57024977031928170135e+00,
        -6.04244152148580987438e-02,
    ],
);

/// `ln(x * erfc(x)) + x² + 0.5625` for `x` from 1 / 0.35 on, as a function of `1 / x²`.
const ERFC_FAR: Ratio = (
    &[
        -9.86494292470009928597e-03,
        -7.99283237680523006574e-01,
        -1.77579549177547519889e+01,
        -1.60636384855821916062e+02,
        -6.37566443368389627722e+02,
        -1.02509513161107724954e+03,
        -4.83519191608651397019e+02,
    ],
    &[
        1.0,
        3.03380607434824582924e+01,
        3.25792512996573918826e+02,
        1.53672958608443695994e+03,
        3.19985821950859553908e+03,
        2.55305040643316442583e+03,
        4.74528541206955367215e+02,
        -2.24409524465858183362e+01,
    ],
);

/// Where [`ERF_NEAR_ONE`] begins.
const NEAR_ONE_START: f64 = 0.84375;

/// Where [`ERFC_MIDDLE`] begins.
const MIDDLE_START: f64 = 1.25;

/// Where [`ERFC_FAR`] begins for `erf`: the upper 32 bits of the double, which is what fdlibm
/// compares. fdlibm's bound for `erf` is one higher than the upper 32 bits of 1 / 0.35.
const ERF_FAR_START_BITS: u64 = 0x4006_DB6E;
/// Where [`ERFC_FAR`] begins for `erfc`: the upper 32 bits of the double 1 / 0.35.
const ERFC_FAR_START_BITS: u64 = 0x4006_DB6D;

/// 2^-1015: below it, the linear term is scaled up, because it could become subnormal.
const ERF_TINY: f64 = f64::MIN_POSITIVE * 128.0;

/// 2^-28: below it, `erf` is linear.
const ERF_SMALL: f64 = 1.0 / 268_435_456.0;

/// From here on, `erf(x)` is 1 and `erfc(-x)` is 2.
const ERF_END: f64 = 6.0;

/// From here on, `erfc(x)` is 0.
const ERFC_END: f64 = 28.0;

/// Evaluates a polynomial in pairs of terms, the same order as glibc, so that the rounding is the
/// same.
fn polynomial(coefficients: &[f64], x: f64) -> f64 {
    let x2 = x * x;
    let x4 = x2 * x2;
    let powers = [1.0, x2, x4, x4 * x2, x4 * x4];
    let pairs = coefficients.chunks(2).zip(powers).skip(1);
    let first = coefficients
        .get(..2)
        .map_or(0.0, |pair| pair_of_terms(pair, x));
    pairs.fold(first, |sum, (pair, power)| {
        sum + power * pair_of_terms(pair, x)
    })
}

#[inline]
fn pair_of_terms(pair: &[f64], x: f64) -> f64 {
    match pair {
        [first, second] => first + x * second,
        rest => rest.iter().sum(),
    }
}

fn ratio((numerator, denominator): Ratio, x: f64) -> f64 {
    polynomial(numerator, x) / polynomial(denominator, x)
}

/// `erfc(x)` for `x >= 1.25`. The exponent `-x²` is split so that the square of the upper 32 bits
/// of `x` is exact.
fn erfc_tail(x: f64, far_start_bits: u64) -> f64 {
    let inverse = 1.0 / (x * x);
    let approximation = if x.to_bits() >> 32 < far_start_bits {
        ERFC_MIDDLE
    } else {
        ERFC_FAR
    };
    let upper = f64::from_bits(x.to_bits() & !0xffff_ffff);
    // fdlibm's polynomials approximate `ln(x erfc(x)) + x² + 0.5625`
    let leading_factor = (-upper * upper - 0.5625).exp();
    leading_factor * ((upper - x) * (upper + x) + ratio(approximation, inverse)).exp() / x
}

/// `erf(x)`.
fn erf(x: f64) -> f64 {
    let magnitude = x.abs();
    if x.is_nan() {
        return x;
    }
    let result = if magnitude < ERF_TINY {
        0.0625 * (16.0 * magnitude + 16.0 * ERF_SLOPE_MINUS_ONE * magnitude)
    } else if magnitude < ERF_SMALL {
        magnitude + ERF_SLOPE_MINUS_ONE * magnitude
    } else if magnitude < NEAR_ONE_START {
        magnitude + magnitude * ratio(ERF_NEAR_ZERO, magnitude * magnitude)
    } else if magnitude < MIDDLE_START {
        ERF_NEAR_ONE_OFFSET + ratio(ERF_NEAR_ONE, magnitude - 1.0)
    } else if magnitude < ERF_END {
        1.0 - erfc_tail(magnitude, ERF_FAR_START_BITS)
    } else {
        1.0
    };
    result.copysign(x)
}

/// The square root of pi.
const SQRT_PI: f64 = 1.772453850905516027298167483341145182798;

/// `erf(x)` and `erfc(x)` of the versions before 3.7: by a power series up to 1.5, beyond it by a
/// continued fraction.
pub(super) fn own_error_function(function: Function, x: f64) -> Result<f64, Raised> {
    let magnitude = x.abs();
    let is_complement = function == Function::Erfc;
    if x.is_nan() {
        return Ok(x);
    }
    // CPython's `ERF_SERIES_CUTOFF`
    if magnitude < 1.5 {
        let erf = erf_by_series(x);
        return Ok(if is_complement { 1.0 - erf } else { erf });
    }
    let tail = erfc_by_fraction(magnitude);
    Ok(match (is_complement, x > 0.0) {
        (true, true) => tail,
        (true, false) => 2.0 - tail,
        (false, true) => 1.0 - tail,
        (false, false) => tail - 1.0,
    })
}

fn erf_by_series(x: f64) -> f64 {
    let square = x * x;
    // CPython's `ERF_SERIES_TERMS`; the last term is added first
    let sum = (0..25).fold(0.0, |sum, term| {
        2.0 + square * sum / (25.5 - f64::from(term))
    });
    sum * x * (-square).exp() / SQRT_PI
}

fn erfc_by_fraction(x: f64) -> f64 {
    // CPython's `ERFC_CONTFRAC_CUTOFF`: the result underflows
    if x >= 30.0 {
        return 0.0;
    }
    let square = x * x;
    let (mut a, mut step) = (0.0, 0.5);
    let (mut numerator, mut numerator_before) = (1.0, 0.0);
    let (mut denominator, mut denominator_before) = (step + square, 1.0);
    // CPython's `ERFC_CONTFRAC_TERMS`
    for _ in 0..50 {
        a += step;
        step += 2.0;
        let b = step + square;
        (numerator, numerator_before) = (b * numerator - a * numerator_before, numerator);
        (denominator, denominator_before) = (b * denominator - a * denominator_before, denominator);
    }
    numerator / denominator * x * (-square).exp() / SQRT_PI
}

/// `erfc(x)`.
fn erfc(x: f64) -> f64 {
    let magnitude = x.abs();
    if x.is_nan() {
        x
    } else if magnitude < f64::EPSILON / 16.0 {
        // fdlibm's bound, 2^-56, below which the slope of `erf` no longer matters
        1.0 - x
    } else if magnitude < NEAR_ONE_START {
        let erf_minus_x = x * ratio(ERF_NEAR_ZERO, x * x);
        // fdlibm's two forms: the second loses fewer bits where the result is well below 1
        if x < 0.25 {
            1.0 - (x + erf_minus_x)
        } else {
            0.5 - (erf_minus_x + (x - 0.5))
        }
    } else if magnitude < MIDDLE_START {
        let erf_minus_offset = ratio(ERF_NEAR_ONE, magnitude - 1.0);
        if x < 0.0 {
            1.0 + (ERF_NEAR_ONE_OFFSET + erf_minus_offset)
        } else {
            (1.0 - ERF_NEAR_ONE_OFFSET) - erf_minus_offset
        }
    } else if x < -ERF_END {
        2.0
    } else if x >= ERFC_END {
        0.0
    } else if x < 0.0 {
        2.0 - erfc_tail(magnitude, ERFC_FAR_START_BITS)
    } else {
        erfc_tail(magnitude, ERFC_FAR_START_BITS)
    }
}
