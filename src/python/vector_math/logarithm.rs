//! The natural logarithm: what enters is a positive normal double, what leaves is its logarithm as a sum of two.
//!
//! `x = 2ᵏ m` with `m` between √½ and √2, `s = (m - 1) / (m + 1)`, `w = s² < 0.0295`, and
//! `ln m = 2 s (1 + w (1/3 + w (1/5 + w q(w))))`. Two precisions are offered. The coarse one, for `ln` itself, is good to
//! 2⁻⁶³ of the result (0.001 units in the last place). The fine one is for powers, where the exponent multiplies the
//! error: it is good to 2⁻⁶⁸·⁸ of the result (2e-5 units for each unit of `|y · ln x|`).

use crate::python::vector_math::certainty;
use crate::python::vector_math::certainty::{Lane, is_positive_normal, rounded};
use crate::python::vector_math::exponential::{LN_2_HIGH, LN_2_LOW};
use crate::python::vector_math::polynomial::{eight, six};
use crate::python::vector_math::stretch::Kernel;

const ROOT_HALF_BITS: u64 = 0x3fe6_a09e_667f_3bcd;
const ONE_BITS: u64 = 0x3ff0_0000_0000_0000;
const FRACTION_BITS: u64 = (1 << 52) - 1;
/// The bits of 2⁵², whose lowest bits hold an integer as it is.
const INTEGER_BITS: u64 = 0x4330_0000_0000_0000;

const THIRD: f64 = 1.0 / 3.0;
const THIRD_REST: f64 = 1.850_371_707_708_594e-17;
const FIFTH: f64 = 0.2;
const FIFTH_REST: f64 = -1.110_223_024_625_156_6e-17;

/// `q` to 2⁻⁶⁵·⁵ of the logarithm.
const COARSE_Q: [f64; 6] = [
    0.142857142855201,
    0.11111111185028656,
    0.09090898137526025,
    0.07693126483558832,
    0.06633859623216438,
    0.0655085447637555,
];
/// `q` to 2⁻⁷³ of the logarithm.
const FINE_Q: [f64; 8] = [
    0.1428571428571426,
    0.11111111111126568,
    0.09090909087202342,
    0.07692308168730123,
    0.06666630404496054,
    0.05884038455394031,
    0.05216262215538836,
    0.05473835744340582,
];

/// `ln x` to 2⁻⁶⁸·⁸ of itself; the second part is less than half a unit in the last place of the first.
#[inline(always)]
pub(super) fn fine(x: f64) -> (f64, f64) {
    let (high, low) = logarithm::<true>(x);
    let sum = high + low;
    (sum, low - (sum - high))
}

/// `ln x`; the second part may reach 2⁻³³ of the first.
#[inline(always)]
fn logarithm<const FINE: bool>(x: f64) -> (f64, f64) {
    let (k, m) = split(x);
    let (s, s_rest) = quotient(m);
    let (u, u_rest) = series::<FINE>(s, s_rest);
    let (s, s_rest) = (s + s, s_rest + s_rest);
    let v = s * u;
    let v_rest = s.mul_add(u, -v) + s_rest.mul_add(u, s_rest);
    // k ln 2 is nothing or more than twice `s`, and `s` more than `v`: what each sum rounds off is exact
    let whole = k * LN_2_HIGH;
    let first = whole + s;
    let first_rest = s - (first - whole);
    let sum = first + v;
    let sum_rest = v - (sum - first);
    let rest = k.mul_add(LN_2_LOW, (first_rest + sum_rest) + v_rest);
    (sum, s.mul_add(u_rest, rest))
}

/// `k` and `m` where `x = 2ᵏ m` and `m` is between √½ and √2.
#[inline(always)]
fn split(x: f64) -> (f64, f64) {
    let bits = x.to_bits().wrapping_add(ONE_BITS - ROOT_HALF_BITS);
    let k = f64::from_bits((bits >> 52) | INTEGER_BITS) - ((1u64 << 52) + 1023) as f64;
    let m = f64::from_bits((bits & FRACTION_BITS) + ROOT_HALF_BITS);
    (k, m)
}

/// `(m - 1) / (m + 1)`. The sum may round, the difference does not.
#[inline(always)]
fn quotient(m: f64) -> (f64, f64) {
    let below = m - 1.0;
    let above = m + 1.0;
    let above_rest = m - (above - 1.0);
    let inverse = 1.0 / above;
    let s = below * inverse;
    let remainder = (-s).mul_add(above_rest, (-s).mul_add(above, below));
    (s, remainder * inverse)
}

/// `w (1/3 + w (1/5 + w q(w)))` for `w = (s + s_rest)²`.
#[inline(always)]
fn series<const FINE: bool>(s: f64, s_rest: f64) -> (f64, f64) {
    let w = s * s;
    let w_rest = (s + s).mul_add(s_rest, s.mul_add(s, -w));
    let q = if FINE { eight(w, FINE_Q) } else { six(w, COARSE_Q) };
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
    fn lane(&self, [x]: [f64; 1]) -> Lane {
        let (high, low) = logarithm::<false>(x);
        let lane = rounded(high, low, certainty::LOGARITHM);
        Lane { value: lane.value, certain: lane.certain & is_positive_normal(x) }
    }

    fn library(&self, [x]: [f64; 1]) -> f64 {
        x.ln()
    }
}
