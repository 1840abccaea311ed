//! The inverse hyperbolic functions, as the published formulas of fdlibm have them.
//!
//! Python takes them from the C library. Rust's own differ from it in the last bits, so they cannot be used here.

use std::f64::consts::LN_2;

/// Where `x` is so large that adding 1 to its square changes nothing.
const LARGE: f64 = 268_435_456.0;

/// Where `x` is so small that the result is `x`.
const SMALL: f64 = 1.0 / LARGE;

/// Whether `x` is above a power of two by a millionth or more: fdlibm compares the upper halves of the doubles.
fn is_above(x: f64, power: f64) -> bool {
    x.to_bits() >> 32 > power.to_bits() >> 32
}

/// `ln(x + sqrt(x² + 1))`.
pub(super) fn asinh(x: f64) -> f64 {
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

/// `ln(x + sqrt(x² - 1))`; `nan` below 1.
pub(super) fn acosh(x: f64) -> f64 {
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
        let above = x - 1.0;
        (above + (2.0 * above + above * above).sqrt()).ln_1p()
    }
}

/// `ln((1 + x) / (1 - x)) / 2`; infinite at 1 and -1, `nan` beyond.
pub(super) fn atanh(x: f64) -> f64 {
    let a = x.abs();
    if a > 1.0 {
        return f64::NAN;
    }
    if a < SMALL {
        return x;
    }
    let twice = a + a;
    let argument = if a < 0.5 { twice + twice * a / (1.0 - a) } else { twice / (1.0 - a) };
    (0.5 * argument.ln_1p()).copysign(x)
}
