//! The exponential: what enters is a sum of two doubles, what leaves is its exponential as another, times 2ᵏ.
//!
//! `z = k ln 2 + t` with `|t| <= ln 2 / 2`, and `eᵗ = 1 + t (1 + t (1/2 + t (1/6 + t q(t))))`. `q`, of degree 8, is
//! near the best for its degree: 2⁻⁶²·³ of `eᵗ`, or 0.0016 units in the last place. Only `q` is computed in plain
//! doubles; its rounding comes to `t⁴/24 · 2⁻⁵³`, less than 0.001 units. The other four steps keep what each rounds off.

use crate::python::vector_math::certainty;
use crate::python::vector_math::certainty::{Lane, rounded};
use crate::python::vector_math::polynomial::nine;
use crate::python::vector_math::stretch::Kernel;
use std::f64::consts::{LN_2, LOG2_E};

/// ln 2 in two parts, the first of 42 bits: its product with an exponent is exact.
pub(super) const LN_2_HIGH: f64 = 0.693_147_180_559_890_3;
pub(super) const LN_2_LOW: f64 = 5.497_923_018_708_371e-14;
/// What `LN_2` leaves of ln 2.
const LN_2_REST: f64 = 2.319_046_813_846_299_6e-17;

const SIXTH: f64 = 1.0 / 6.0;
const SIXTH_REST: f64 = 9.251_858_538_542_97e-18;
const Q: [f64; 9] = [
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

/// Beyond it the result may be infinite, subnormal or not a number; with it 2ᵏ times the fraction is none of these.
const LARGEST: f64 = 708.0;

/// Added to a small number, it leaves that number rounded to an integer in the lowest bits.
const ROUNDER: f64 = 1.5 * (1u64 << 52) as f64;

/// `e^(high + low)`, where `low` is less than 2⁻⁵² of `high`; certain by the `distance` of [`rounded`].
#[inline(always)]
pub(super) fn exponential(high: f64, low: f64, distance: f64) -> Lane {
    let shifted = high.mul_add(LOG2_E, ROUNDER);
    let k = shifted - ROUNDER;
    let t = k.mul_add(-LN_2_HIGH, high);
    let t_rest = k.mul_add(-LN_2_LOW, low);
    let (fraction, rest) = reduced(t, t_rest);
    let lane = rounded(fraction, rest, distance);
    let scaled = f64::from_bits(lane.value.to_bits().wrapping_add(shifted.to_bits() << 52));
    Lane { value: scaled, certain: lane.certain & (high.abs() <= LARGEST) }
}

/// `e^(t + t_rest)` for `|t| <= ln 2 / 2` and `|t_rest| < 2⁻³³`.
///
/// Each step is `sum = c + t * x`, and what the rounding of `sum` took is `(c - sum) + t * x`, itself rounded once.
#[inline(always)]
fn reduced(t: f64, t_rest: f64) -> (f64, f64) {
    let q = nine(t, Q);
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
    fn lane(&self, [x]: [f64; 1]) -> Lane {
        exponential(x, 0.0, certainty::EXPONENTIAL)
    }

    fn library(&self, [x]: [f64; 1]) -> f64 {
        x.exp()
    }
}

/// `exp2`.
pub(super) struct Exp2;

impl Kernel<1> for Exp2 {
    #[inline(always)]
    fn lane(&self, [x]: [f64; 1]) -> Lane {
        let high = x * LN_2;
        let low = x.mul_add(LN_2_REST, x.mul_add(LN_2, -high));
        exponential(high, low, certainty::EXPONENTIAL)
    }

    fn library(&self, [x]: [f64; 1]) -> f64 {
        x.exp2()
    }
}
