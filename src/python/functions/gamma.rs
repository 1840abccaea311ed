//! The gamma function and its logarithm by Lanczos's approximation, with the coefficients that Boost publishes
//! for doubles (13 terms), rounded in the order that gives Python's bits.
// The coefficients stand as they are published, with more digits than a double keeps.
#![allow(clippy::excessive_precision)]

use std::f64::consts::PI;

use crate::python::Raised;

/// Lanczos's free parameter `g`; and `g - 1/2`.
const G: f64 = 6.024680040776729583740234375;
const G_LESS_HALF: f64 = G - 0.5;

/// `ln(pi)`
const LN_PI: f64 = 1.144729885849400174143427351353058711647;

/// Below this, the function is the reciprocal of its argument.
const SMALL: f64 = 1e-20;

/// From this on, a power has to be taken in two halves, or it leaves the doubles too early.
const LARGE: f64 = 140.0;

/// Beyond this, the function has left the doubles.
const BEYOND: f64 = 200.0;

/// The numerator, the constant term first.
const NUMERATOR: [f64; 13] = [
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

/// The denominator `x (x + 1) … (x + 11)`, the constant term first.
const DENOMINATOR: [f64; 13] = [
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

/// Lanczos's sum; of large arguments in powers of `1/x`, which neither overflow.
fn lanczos(x: f64) -> f64 {
    let (numerator, denominator) = if x < 5.0 {
        let horner = |terms: &[f64; 13]| terms.iter().rev().fold(0.0, |sum, term| sum * x + term);
        (horner(&NUMERATOR), horner(&DENOMINATOR))
    } else {
        let horner = |terms: &[f64; 13]| terms.iter().fold(0.0, |sum, term| sum / x + term);
        (horner(&NUMERATOR), horner(&DENOMINATOR))
    };
    numerator / denominator
}

/// `sin(pi x)`, exact at the integers and halves.
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
    let result = if size < SMALL {
        1.0 / x
    } else if size > BEYOND {
        if x < 0.0 { 0.0 / sin_pi(x) } else { f64::INFINITY }
    } else {
        approximate(x, size)
    };
    if result.is_infinite() { Err(Raised::range()) } else { Ok(result) }
}

/// `(n - 1)!`, exact for `n` to 23.
fn factorial_below(n: u64) -> f64 {
    (2..n).map(|factor| factor as f64).product()
}

/// Lanczos's formula, by reflection for negative arguments, corrected for the rounding of `x + g - 1/2`.
fn approximate(x: f64, size: f64) -> f64 {
    let base = size + G_LESS_HALF;
    let lost = if size > G_LESS_HALF { (base - size) - G_LESS_HALF } else { (base - G_LESS_HALF) - size };
    let correction = lost * G / base;
    let half_power = || base.powf(size / 2.0 - 0.25);
    if x < 0.0 {
        let mut result = -PI / sin_pi(size) / size * base.exp() / lanczos(size);
        result -= correction * result;
        if size < LARGE { result / base.powf(size - 0.5) } else { result / half_power() / half_power() }
    } else {
        let mut result = lanczos(size) / base.exp();
        result += correction * result;
        if size < LARGE { result * base.powf(size - 0.5) } else { result * half_power() * half_power() }
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
    if size < SMALL {
        return Ok(-size.ln());
    }
    let mut result = lanczos(size).ln() - G;
    result += (size - 0.5) * ((size + G - 0.5).ln() - 1.0);
    if x < 0.0 {
        result = LN_PI - sin_pi(size).abs().ln() - size.ln() - result;
    }
    if result.is_infinite() { Err(Raised::range()) } else { Ok(result) }
}
