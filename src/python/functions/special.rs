//! The special functions of `math`: `gamma`, `lgamma`, `erf`, `erfc`, with Python's bits.
//!
//! `gamma` and `lgamma` are CPython's own: Lanczos's approximation with the coefficients that Boost publishes for doubles
//! (13 terms). `erf` and `erfc` are the C library's: the rational approximations that Sun published with fdlibm.
// The coefficients have their published digits, more than a double keeps.
#![allow(clippy::excessive_precision)]

use std::f64::consts::PI;

use crate::python::Raised;

/// The free parameter `g` of Lanczos's approximation.
const G: f64 = 6.024680040776729583740234375;
const G_MINUS_HALF: f64 = G - 0.5;

/// `ln(pi)`
const LN_PI: f64 = 1.144729885849400174143427351353058711647;

/// Below this, `gamma(x)` is `1 / x`.
const GAMMA_SMALL: f64 = 1e-20;

/// From this on, the power is computed in two factors, because it would overflow before the result does.
const GAMMA_LARGE: f64 = 140.0;

/// Beyond this, `gamma` overflows, or underflows for negative arguments.
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
    let (numerator, denominator) = if x < 5.0 {
        let horner = |terms: &[f64; 13]| terms.iter().rev().fold(0.0, |sum, term| sum * x + term);
        (horner(&LANCZOS_NUMERATOR), horner(&LANCZOS_DENOMINATOR))
    } else {
        let horner = |terms: &[f64; 13]| terms.iter().fold(0.0, |sum, term| sum / x + term);
        (horner(&LANCZOS_NUMERATOR), horner(&LANCZOS_DENOMINATOR))
    };
    numerator / denominator
}

/// `sin(pi x)`, exact at multiples of 1/2.
fn sin_pi(x: f64) -> f64 {
    let turn = x.abs() % 2.0;
    let sine = match (2.0 * turn).round() as i32 {
        0 => (PI * turn).sin(),
        1 => (PI * (turn - 0.5)).cos(),
        2 => (PI * (1.0 - turn)).sin(),
        3 => -(PI * (turn - 1.5)).cos(),
        _ => (PI * (turn - 2.0)).sin(),
    };
    1.0_f64.copysign(x) * sine
}

/// `gamma(x)`.
pub(super) fn gamma(x: f64) -> Result<f64, Raised> {
    if x.is_nan() || x == f64::INFINITY {
        return Ok(x);
    }
    if x == f64::NEG_INFINITY || x == 0.0 || (x < 0.0 && x == x.floor()) {
        return Err(Raised::domain());
    }
    if x == x.floor() && x <= 23.0 {
        return Ok(factorial_below(x as u64));
    }
    let size = x.abs();
    let result = if size < GAMMA_SMALL {
        1.0 / x
    } else if size > GAMMA_LIMIT {
        if x < 0.0 { 0.0 / sin_pi(x) } else { f64::INFINITY }
    } else {
        gamma_by_lanczos(x, size)
    };
    if result.is_infinite() { Err(Raised::range()) } else { Ok(result) }
}

/// `(n - 1)!`, exact for `n` up to 23.
fn factorial_below(n: u64) -> f64 {
    (2..n).map(|factor| factor as f64).product()
}

/// `gamma(x)` by Lanczos's approximation, with reflection for negative arguments and a correction for the rounding of
/// `x + g - 1/2`.
fn gamma_by_lanczos(x: f64, size: f64) -> f64 {
    let base = size + G_MINUS_HALF;
    let lost = if size > G_MINUS_HALF { (base - size) - G_MINUS_HALF } else { (base - G_MINUS_HALF) - size };
    let correction = lost * G / base;
    let half_power = || base.powf(size / 2.0 - 0.25);
    if x < 0.0 {
        let mut result = -PI / sin_pi(size) / size * base.exp() / lanczos(size);
        result -= correction * result;
        if size < GAMMA_LARGE { result / base.powf(size - 0.5) } else { result / half_power() / half_power() }
    } else {
        let mut result = lanczos(size) / base.exp();
        result += correction * result;
        if size < GAMMA_LARGE { result * base.powf(size - 0.5) } else { result * half_power() * half_power() }
    }
}

/// `ln |gamma(x)|`.
pub(super) fn lgamma(x: f64) -> Result<f64, Raised> {
    if !x.is_finite() {
        return Ok(x.abs());
    }
    if x == x.floor() && x <= 2.0 {
        return if x <= 0.0 { Err(Raised::domain()) } else { Ok(0.0) };
    }
    let size = x.abs();
    if size < GAMMA_SMALL {
        return Ok(-size.ln());
    }
    let mut result = lanczos(size).ln() - G;
    result += (size - 0.5) * ((size + G - 0.5).ln() - 1.0);
    if x < 0.0 {
        result = LN_PI - sin_pi(size).abs().ln() - size.ln() - result;
    }
    if result.is_infinite() { Err(Raised::range()) } else { Ok(result) }
}

/// `erf(1)`, to which the approximation about 1 is added.
const ERF_ONE: f64 = 8.45062911510467529297e-01;

/// `2 / sqrt(pi) - 1`: the slope at 0, minus 1.
const SLOPE_MINUS_ONE: f64 = 1.28379167095512586316e-01;

/// A rational approximation: numerator and denominator, the constant terms first.
type Ratio<'a> = (&'a [f64], &'a [f64]);

/// For `|x|` below 0.84375, in `x²`.
const NEAR_ZERO: Ratio = (
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

/// For `|x|` from 0.84375 to 1.25, in `|x| - 1`.
const NEAR_ONE: Ratio = (
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

/// For `|x|` from 1.25 to 1 / 0.35, in `1 / x²`.
const MIDDLE: Ratio = (
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

/// For `|x|` from 1 / 0.35 on, in `1 / x²`.
const FAR: Ratio = (
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

/// Where [`NEAR_ONE`] begins.
const NEAR_ONE_FROM: f64 = 0.84375;

/// Where [`MIDDLE`] begins.
const MIDDLE_FROM: f64 = 1.25;

/// Where [`FAR`] begins for `erf`: the upper half of the double 1 / 0.35, as fdlibm compares it. It differs by one for
/// `erfc`.
const ERF_FAR_FROM: u64 = 0x4006_DB6E;
const ERFC_FAR_FROM: u64 = 0x4006_DB6D;

/// 2^-1015: below it, the linear term is scaled up, because it would be subnormal.
const ERF_TINY: f64 = f64::MIN_POSITIVE * 128.0;

/// 2^-28: below it, `erf` is linear.
const ERF_SMALL: f64 = 1.0 / 268_435_456.0;

/// From here on, `erf(x)` is 1 and `erfc(-x)` is 2.
const ERF_END: f64 = 6.0;

/// From here on, `erfc(x)` is 0.
const ERFC_END: f64 = 28.0;

/// The polynomial, summed in pairs of terms, which is the order in which glibc rounds.
fn polynomial(terms: &[f64], x: f64) -> f64 {
    let second = x * x;
    let fourth = second * second;
    let powers = [1.0, second, fourth, fourth * second, fourth * fourth];
    let pair = |pair: &[f64]| match pair {
        [first, second] => first + x * second,
        rest => rest.iter().sum(),
    };
    let pairs = terms.chunks(2).zip(powers).skip(1);
    pairs.fold(terms.get(..2).map_or(0.0, pair), |sum, (terms, power)| sum + power * pair(terms))
}

fn ratio((numerator, denominator): Ratio, x: f64) -> f64 {
    polynomial(numerator, x) / polynomial(denominator, x)
}

/// `1 - erf(x)` for `x >= 1.25`. The exponent `-x²` is split so that the square of the upper half of `x` is exact.
fn tail(x: f64, far_from: u64) -> f64 {
    let inverse = 1.0 / (x * x);
    let approximation = if x.to_bits() >> 32 < far_from { MIDDLE } else { FAR };
    let upper = f64::from_bits(x.to_bits() & !0xffff_ffff);
    let main = (-upper * upper - 0.5625).exp();
    main * ((upper - x) * (upper + x) + ratio(approximation, inverse)).exp() / x
}

/// `erf(x)`.
pub(super) fn erf(x: f64) -> f64 {
    let size = x.abs();
    if x.is_nan() {
        return x;
    }
    let result = if size < ERF_TINY {
        0.0625 * (16.0 * size + 16.0 * SLOPE_MINUS_ONE * size)
    } else if size < ERF_SMALL {
        size + SLOPE_MINUS_ONE * size
    } else if size < NEAR_ONE_FROM {
        size + size * ratio(NEAR_ZERO, size * size)
    } else if size < MIDDLE_FROM {
        ERF_ONE + ratio(NEAR_ONE, size - 1.0)
    } else if size < ERF_END {
        1.0 - tail(size, ERF_FAR_FROM)
    } else {
        1.0
    };
    result.copysign(x)
}

/// `erfc(x)`.
pub(super) fn erfc(x: f64) -> f64 {
    let size = x.abs();
    if x.is_nan() {
        x
    } else if size < f64::EPSILON / 16.0 {
        1.0 - x
    } else if size < NEAR_ONE_FROM {
        let excess = x * ratio(NEAR_ZERO, x * x);
        if x < 0.25 { 1.0 - (x + excess) } else { 0.5 - (excess + (x - 0.5)) }
    } else if size < MIDDLE_FROM {
        let from_one = ratio(NEAR_ONE, size - 1.0);
        if x < 0.0 { 1.0 + (ERF_ONE + from_one) } else { (1.0 - ERF_ONE) - from_one }
    } else if x < -ERF_END {
        2.0
    } else if x >= ERFC_END {
        0.0
    } else if x < 0.0 {
        2.0 - tail(size, ERFC_FAR_FROM)
    } else {
        tail(size, ERFC_FAR_FROM)
    }
}
