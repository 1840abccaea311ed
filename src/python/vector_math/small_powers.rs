//! The powers that need no logarithm: products, the root and the reciprocal, each to some 100 bits.
//!
//! The error is the library's alone: `pow` is meant, not a multiplication, and near a middle the two may differ.

use crate::python::vector_math::certainty::{Lane, UNIT, rounded};
use crate::python::vector_math::power::library_power;
use crate::python::vector_math::stretch::Kernel;

/// The library's error beyond 0.5 units in the last place at a result near 1, and for each power of two from there:
/// 0.011, and ln 2 times 4.6e-5.
const NEAR_ONE: f64 = 0.0115 * UNIT;
const EACH_DOUBLING: f64 = 3.2e-5 * UNIT;

/// Between 2⁻⁹⁰⁰ and 2⁹⁰⁰ the second part of a result is no subnormal, and the result is finite.
const FURTHEST: f64 = 900.0;
/// The same of a root, which is squared to see what it lacks.
const FURTHEST_ROOT: f64 = FURTHEST / 2.0;

/// `high + low` rounded, certain if `pow` must give it and it is within 2 to the power of `furthest` from 1.
#[inline(always)]
fn result(high: f64, low: f64, furthest: f64) -> Lane {
    const EXPONENT: u64 = 0x7ff;
    const INTEGER_BITS: u64 = 0x4330_0000_0000_0000;
    let exponent = f64::from_bits((high.to_bits() >> 52) & EXPONENT | INTEGER_BITS) - ((1u64 << 52) + 1023) as f64;
    let doublings = exponent.abs();
    let lane = rounded(high, low, doublings.mul_add(EACH_DOUBLING, NEAR_ONE));
    Lane { value: lane.value, certain: lane.certain & (doublings <= furthest) }
}

/// As [`result`], where zeros are common and their power is the product.
#[inline(always)]
fn product(base: f64, high: f64, low: f64) -> Lane {
    let lane = result(high, low, FURTHEST);
    let value = if base == 0.0 { high } else { lane.value };
    Lane { value, certain: lane.certain | (base == 0.0) }
}

/// `x²` exactly.
#[inline(always)]
fn square(x: f64) -> (f64, f64) {
    let high = x * x;
    (high, x.mul_add(x, -high))
}

/// To the power of 2.
pub(super) struct Square;

impl Kernel<1> for Square {
    #[inline(always)]
    fn lane(&self, [x]: [f64; 1]) -> Lane {
        let (high, low) = square(x);
        product(x, high, low)
    }

    fn library(&self, [x]: [f64; 1]) -> f64 {
        library_power(x, 2.0)
    }
}

/// To the power of 3.
pub(super) struct Cube;

impl Kernel<1> for Cube {
    #[inline(always)]
    fn lane(&self, [x]: [f64; 1]) -> Lane {
        let (square, square_rest) = square(x);
        let high = square * x;
        product(x, high, square_rest.mul_add(x, square.mul_add(x, -high)))
    }

    fn library(&self, [x]: [f64; 1]) -> f64 {
        library_power(x, 3.0)
    }
}

/// To the power of 4.
pub(super) struct Fourth;

impl Kernel<1> for Fourth {
    #[inline(always)]
    fn lane(&self, [x]: [f64; 1]) -> Lane {
        let (once, once_rest) = square(x);
        let (high, low) = square(once);
        product(x, high, (once + once).mul_add(once_rest, low))
    }

    fn library(&self, [x]: [f64; 1]) -> f64 {
        library_power(x, 4.0)
    }
}

/// To the power of 0.5. Zeros are the library's: the root of -0 is not its power.
pub(super) struct Root;

impl Kernel<1> for Root {
    #[inline(always)]
    fn lane(&self, [x]: [f64; 1]) -> Lane {
        let root = x.sqrt();
        let remainder = (-root).mul_add(root, x);
        result(root, remainder / (root + root), FURTHEST_ROOT)
    }

    fn library(&self, [x]: [f64; 1]) -> f64 {
        library_power(x, 0.5)
    }
}

/// To the power of -1.
pub(super) struct Reciprocal;

impl Kernel<1> for Reciprocal {
    #[inline(always)]
    fn lane(&self, [x]: [f64; 1]) -> Lane {
        let inverse = 1.0 / x;
        let remainder = (-inverse).mul_add(x, 1.0);
        result(inverse, remainder * inverse, FURTHEST)
    }

    fn library(&self, [x]: [f64; 1]) -> f64 {
        library_power(x, -1.0)
    }
}
