//! `pow` by way of the logarithm: both arguments a column, or either one number.
//!
//! What is constant over the column is computed once, in the kernel. The calls to the library hide their constants
//! from the compiler, which would else put `exp2` for a base of 2 and products for small exponents: other bits.

use crate::python::vector_math::certainty::{EXPONENTIAL, Lane, POWER_SLOPE, is_positive_normal};
use crate::python::vector_math::exponential::exponential;
use crate::python::vector_math::logarithm::fine;
use crate::python::vector_math::stretch::Kernel;
use std::hint::black_box;

/// `e^(exponent · (high + low))`.
#[inline(always)]
fn power((high, low): (f64, f64), exponent: f64) -> Lane {
    let z = exponent * high;
    let z_rest = exponent.mul_add(low, exponent.mul_add(high, -z));
    exponential(z, z_rest, z.abs().mul_add(POWER_SLOPE, EXPONENTIAL))
}

/// The library's `pow` of two numbers.
pub(super) fn library_power(base: f64, exponent: f64) -> f64 {
    black_box(base).powf(black_box(exponent))
}

/// A column to the power of a column.
pub(super) struct Power;

impl Kernel<2> for Power {
    #[inline(always)]
    fn lane(&self, [base, exponent]: [f64; 2]) -> Lane {
        let lane = power(fine(base), exponent);
        Lane { value: lane.value, certain: lane.certain & is_positive_normal(base) }
    }

    fn library(&self, [base, exponent]: [f64; 2]) -> f64 {
        library_power(base, exponent)
    }
}

/// One number to the power of a column.
pub(super) struct PowerOfBase {
    base: f64,
    logarithm: (f64, f64),
}

impl PowerOfBase {
    pub(super) fn new(base: f64) -> Self {
        // a logarithm that is not a number leaves no lane certain
        let logarithm = if is_positive_normal(base) { fine(base) } else { (f64::NAN, f64::NAN) };
        Self { base, logarithm }
    }
}

impl Kernel<1> for PowerOfBase {
    #[inline(always)]
    fn lane(&self, [exponent]: [f64; 1]) -> Lane {
        power(self.logarithm, exponent)
    }

    fn library(&self, [exponent]: [f64; 1]) -> f64 {
        library_power(self.base, exponent)
    }
}

/// A column to the power of one number.
pub(super) struct ToPower {
    exponent: f64,
}

impl ToPower {
    pub(super) fn new(exponent: f64) -> Self {
        Self { exponent }
    }
}

impl Kernel<1> for ToPower {
    #[inline(always)]
    fn lane(&self, [base]: [f64; 1]) -> Lane {
        Power.lane([base, self.exponent])
    }

    fn library(&self, [base]: [f64; 1]) -> f64 {
        library_power(base, self.exponent)
    }
}
