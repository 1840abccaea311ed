//! `exp` and `ln` in double-double arithmetic: results are unevaluated sums of two doubles.
//!
//! **exp.** What enters is a sum of two doubles; what leaves is its exponential as another, times
//! 2ᵏ. `z = k ln 2 + t` with `|t| <= ln 2 / 2`, and `eᵗ = 1 + t (1 + t (1/2 + t (1/6 + t q(t))))`.
//! `q`, of degree 8, is nearly the best approximation of its degree: the error is 2⁻⁶²·³ of `eᵗ`,
//! or 0.0016 units in the last place. Only `q` is computed in plain doubles; its rounding error is
//! at most `t⁴/24 · 2⁻⁵³`, less than 0.001 units. The other four steps keep their rounding errors.
//!
//! **ln.** What enters is a positive normal double. `x = 2ᵏ m` with `m` between √½ and √2,
//! `s = (m - 1) / (m + 1)`, `w = s² < 0.0295`, and `ln m = 2 s (1 + w (1/3 + w (1/5 + w q(w))))`.
//! There are two precisions. The coarse one, for `ln` itself, has a relative error of 2⁻⁶³ (0.001
//! units in the last place). The fine one is for powers, where the exponent multiplies the error:
//! 2⁻⁶⁸·⁸ (2e-5 units for each unit of `|y · ln x|`).

use std::f64::consts::LOG2_E;

use crate::python::vector_math::kernel_driver::Kernel;
use crate::python::vector_math::ziv_rounding::{
    Approximation, EXP_MARGIN, LOG_MARGIN, is_positive_normal, rounded,
};

/// ln 2 as a sum of two doubles. The first has 42 bits, so its product with an exponent is exact.
const LN_2_HIGH: f64 = 0.693_147_180_559_890_3;
const LN_2_LOW: f64 = 5.497_923_018_708_371e-14;
const SIXTH: f64 = 1.0 / 6.0;
const SIXTH_REST: f64 = 9.251_858_538_542_97e-18;
/// The polynomial `q` of `exp`.
const EXP_Q: [f64; 9] = [
    0.041666666666666685,
    0.008333333333327154,
    0.0013888888888871354,
    0.00019841269875433542,
    2.4801587354226286e-05,
    2.755725291328383e-06,
    2.755724685289332e-07,
    2.5106490321637863e-08,
    2.0923443508163094e-09,
];

/// The largest magnitude of the argument for which the result is neither infinite nor subnormal.
const MAX_EXP_ARGUMENT: f64 = 708.0;

/// Adding this to a small number rounds it to an integer, held in the lowest bits of the sum.
const ROUND_TO_INT: f64 = 1.5 * (1u64 << 52) as f64;

/// `e^(high + low)`, where `low` is less than 2⁻⁵² of `high`. `margin` is that of [`rounded`].
#[inline(always)]
pub(super) fn exp(high: f64, low: f64, margin: f64) -> Approximation {
    let shifted = high.mul_add(LOG2_E, ROUND_TO_INT);
    // the same constant subtracted leaves the rounded integer
    let k = shifted - ROUND_TO_INT;
    let t = k.mul_add(-LN_2_HIGH, high);
    let t_rest = k.mul_add(-LN_2_LOW, low);
    let (fraction, rest) = reduced(t, t_rest);
    let approximation = rounded(fraction, rest, margin);
    // the lowest bits of `shifted` are k, which is added to the exponent
    let scaled = f64::from_bits(
        approximation
            .value
            .to_bits()
            .wrapping_add(shifted.to_bits() << 52),
    );
    Approximation {
        value: scaled,
        certain: approximation.certain & (high.abs() <= MAX_EXP_ARGUMENT),
    }
}

/// `e^(t + t_rest)` for `|t| <= ln 2 / 2` and `|t_rest| < 2⁻³³`.
///
/// Each step is `sum = c + t * x`; its rounding error is `(c - sum) + t * x`, itself rounded once.
#[inline(always)]
fn reduced(t: f64, t_rest: f64) -> (f64, f64) {
    let q = estrin_9(t, EXP_Q);
    let third = t.mul_add(q, SIXTH);
    let third_rest = t.mul_add(q, SIXTH - third) + SIXTH_REST;
    let second = t.mul_add(third, 0.5);
    let second_rest = t.mul_add(third_rest, t.mul_add(third, 0.5 - second));
    let first = t.mul_add(second, 1.0);
    let first_rest = t.mul_add(second_rest, t.mul_add(second, 1.0 - first));
    let sum = t.mul_add(first, 1.0);
    let rest = t.mul_add(first_rest, t_rest.mul_add(sum, t.mul_add(first, 1.0 - sum)));
    (sum, rest)
}

/// `exp`.
pub(super) struct Exp;

impl Kernel<1> for Exp {
    #[inline(always)]
    fn approximate(&self, [x]: [f64; 1]) -> Approximation {
        exp(x, 0.0, EXP_MARGIN)
    }

    fn call_library(&self, [x]: [f64; 1]) -> f64 {
        x.exp()
    }
}

const ROOT_HALF_BITS: u64 = 0x3fe6_a09e_667f_3bcd;
const ONE_BITS: u64 = 0x3ff0_0000_0000_0000;
const FRACTION_BITS: u64 = (1 << 52) - 1;
/// The bits of 2⁵²: an integer in its lowest bits is added to its value.
const INTEGER_BITS: u64 = 0x4330_0000_0000_0000;

const THIRD: f64 = 1.0 / 3.0;
const THIRD_REST: f64 = 1.850_371_707_708_594e-17;
const FIFTH: f64 = 0.2;
const FIFTH_REST: f64 = -1.110_223_024_625_156_6e-17;

/// The polynomial `q` of `ln` for the coarse precision: 2⁻⁶⁵·⁵ of the logarithm.
const COARSE_LOG_Q: [f64; 6] = [
    0.142857142855201,
    0.11111111185028656,
    0.09090898137526025,
    0.07693126483558832,
    0.06633859623216438,
    0.0655085447637555,
];
/// The polynomial `q` of `ln` for the fine precision: 2⁻⁷³ of the logarithm.
const FINE_LOG_Q: [f64; 8] = [
    0.1428571428571426,
    0.11111111111126568,
    0.09090909087202342,
    0.07692308168730123,
    0.06666630404496054,
    0.05884038455394031,
    0.05216262215538836,
    0.05473835744340582,
];

/// `ln x` with a relative error of 2⁻⁶⁸·⁸; the second part is less than half a unit in the last
/// place of the first.
#[inline(always)]
pub(super) fn fine_log(x: f64) -> (f64, f64) {
    let (high, low) = log::<true>(x);
    let sum = high + low;
    (sum, low - (sum - high))
}

/// `ln x`; the second part is at most 2⁻³³ of the first.
#[inline(always)]
// a constant parameter, so that neither precision has a branch
fn log<const FINE: bool>(x: f64) -> (f64, f64) {
    let (k, m) = split(x);
    let (s, s_rest) = quotient(m);
    let (u, u_rest) = series::<FINE>(s, s_rest);
    let s = s + s;
    let s_rest = s_rest + s_rest;
    let v = s * u;
    let v_rest = s.mul_add(u, -v) + s_rest.mul_add(u, s_rest);
    // `k ln 2` is zero or more than twice `s`, and `s` is more than `v`, so the rounding error of
    // each sum is exact.
    let k_ln_2 = k * LN_2_HIGH;
    let first = k_ln_2 + s;
    let first_rest = s - (first - k_ln_2);
    let sum = first + v;
    let sum_rest = v - (sum - first);
    let rest = k.mul_add(LN_2_LOW, (first_rest + sum_rest) + v_rest);
    (sum, s.mul_add(u_rest, rest))
}

/// `k` and `m` where `x = 2ᵏ m` and `m` is between √½ and √2.
#[inline(always)]
fn split(x: f64) -> (f64, f64) {
    // so moved, the exponent changes at √½ instead of 1
    let bits = x.to_bits().wrapping_add(ONE_BITS - ROOT_HALF_BITS);
    let k = f64::from_bits((bits >> 52) | INTEGER_BITS) - ((1u64 << 52) + 1023) as f64;
    let m = f64::from_bits((bits & FRACTION_BITS) + ROOT_HALF_BITS);
    (k, m)
}

/// `(m - 1) / (m + 1)`. The difference is exact; the sum may be rounded.
#[inline(always)]
fn quotient(m: f64) -> (f64, f64) {
    let difference = m - 1.0;
    let sum = m + 1.0;
    let sum_rest = m - (sum - 1.0);
    let inverse = 1.0 / sum;
    let s = difference * inverse;
    let remainder = (-s).mul_add(sum_rest, (-s).mul_add(sum, difference));
    (s, remainder * inverse)
}

/// `w (1/3 + w (1/5 + w q(w)))` for `w = (s + s_rest)²`.
#[inline(always)]
fn series<const FINE: bool>(s: f64, s_rest: f64) -> (f64, f64) {
    let w = s * s;
    let w_rest = (s + s).mul_add(s_rest, s.mul_add(s, -w));
    let q = if FINE {
        estrin_8(w, FINE_LOG_Q)
    } else {
        estrin_6(w, COARSE_LOG_Q)
    };
    let b = w.mul_add(q, FIFTH);
    let a = w.mul_add(b, THIRD);
    let a_rest = w.mul_add(b, THIRD - a);
    let a_rest = if FINE {
        let b_rest = w.mul_add(q, FIFTH - b) + FIFTH_REST;
        a_rest + w.mul_add(b_rest, w_rest.mul_add(b, THIRD_REST))
    } else {
        a_rest + THIRD_REST
    };
    let u = w * a;
    let u_rest = w.mul_add(a_rest, w_rest.mul_add(a, w.mul_add(a, -u)));
    (u, u_rest)
}

/// `ln`.
pub(super) struct Ln;

impl Kernel<1> for Ln {
    #[inline(always)]
    fn approximate(&self, [x]: [f64; 1]) -> Approximation {
        let (high, low) = log::<false>(x);
        let approximation = rounded(high, low, LOG_MARGIN);
        Approximation {
            value: approximation.value,
            certain: approximation.certain & is_positive_normal(x),
        }
    }

    fn call_library(&self, [x]: [f64; 1]) -> f64 {
        x.ln()
    }
}

// Polynomials by Estrin's scheme: the chain of dependent steps is half as long as in Horner's.

/// `c[0] + c[1] x + … + c[3] x³`.
#[inline(always)]
fn estrin_4(x: f64, square: f64, c: [f64; 4]) -> f64 {
    square.mul_add(x.mul_add(c[3], c[2]), x.mul_add(c[1], c[0]))
}

/// `c[0] + c[1] x + … + c[5] x⁵`.
#[inline(always)]
fn estrin_6(x: f64, [c0, c1, c2, c3, c4, c5]: [f64; 6]) -> f64 {
    let square = x * x;
    (square * square).mul_add(x.mul_add(c5, c4), estrin_4(x, square, [c0, c1, c2, c3]))
}

/// `c[0] + c[1] x + … + c[7] x⁷`.
#[inline(always)]
fn estrin_8(x: f64, [c0, c1, c2, c3, c4, c5, c6, c7]: [f64; 8]) -> f64 {
    let square = x * x;
    (square * square).mul_add(
        estrin_4(x, square, [c4, c5, c6, c7]),
        estrin_4(x, square, [c0, c1, c2, c3]),
    )
}

/// `c[0] + c[1] x + … + c[8] x⁸`.
#[inline(always)]
fn estrin_9(x: f64, [c0, c1, c2, c3, c4, c5, c6, c7, c8]: [f64; 9]) -> f64 {
    let square = x * x;
    let fourth = square * square;
    let upper = fourth.mul_add(c8, estrin_4(x, square, [c4, c5, c6, c7]));
    fourth.mul_add(upper, estrin_4(x, square, [c0, c1, c2, c3]))
}
