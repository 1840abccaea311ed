//! `pow` of columns: by exponential and logarithm in general, without them for the exponents 2 and
//! 3.
//!
//! Constants of a column are computed once, when the kernel is made. Calls to the library hide
//! constants from the compiler, which otherwise replaces them with `exp2` for a base of 2 and with
//! products for small exponents: other bits.
//!
//! The special exponents use a product to about 100 bits. Their margin is the library's error
//! alone: the function is `pow`, not a multiplication, and near a midpoint the two may differ.

use std::hint::black_box;

use crate::python::vector_math::exp_log::{exp, fine_log};
use crate::python::vector_math::kernel_driver::Kernel;
use crate::python::vector_math::ziv_rounding::{
    Approximation, EXP_MARGIN, POW_MARGIN_SLOPE, UNIT, is_positive_normal, rounded,
};

/// `e^(exponent · (high + low))`.
#[inline(always)]
fn exp_of_product((high, low): (f64, f64), exponent: f64) -> Approximation {
    let z = exponent * high;
    let z_rest = exponent.mul_add(low, exponent.mul_add(high, -z));
    exp(z, z_rest, z.abs().mul_add(POW_MARGIN_SLOPE, EXP_MARGIN))
}

/// The C library's `pow`.
fn library_power(base: f64, exponent: f64) -> f64 {
    black_box(base).powf(black_box(exponent))
}

/// A column to the power of a column.
pub(super) struct Power;

impl Kernel<2> for Power {
    #[inline(always)]
    fn approximate(&self, [base, exponent]: [f64; 2]) -> Approximation {
        let approximation = exp_of_product(fine_log(base), exponent);
        Approximation {
            value: approximation.value,
            // `&&` would be a branch, which keeps the loop from being vectorized
            certain: approximation.certain & is_positive_normal(base),
        }
    }

    fn call_library(&self, [base, exponent]: [f64; 2]) -> f64 {
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
        // With a nan for the logarithm, no row is certain.
        let logarithm = if is_positive_normal(base) {
            fine_log(base)
        } else {
            (f64::NAN, f64::NAN)
        };
        Self { base, logarithm }
    }
}

impl Kernel<1> for PowerOfBase {
    #[inline(always)]
    fn approximate(&self, [exponent]: [f64; 1]) -> Approximation {
        exp_of_product(self.logarithm, exponent)
    }

    fn call_library(&self, [exponent]: [f64; 1]) -> f64 {
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
    fn approximate(&self, [base]: [f64; 1]) -> Approximation {
        Power.approximate([base, self.exponent])
    }

    fn call_library(&self, [base]: [f64; 1]) -> f64 {
        library_power(base, self.exponent)
    }
}

/// The library's error beyond 0.5 units in the last place for a result near 1: 0.011.
const MARGIN_NEAR_ONE: f64 = 0.0115 * UNIT;
/// What each power of two between 1 and the result adds to it: ln 2 times 4.6e-5.
const MARGIN_PER_DOUBLING: f64 = 3.2e-5 * UNIT;

/// Between 2⁻⁹⁰⁰ and 2⁹⁰⁰ a result is finite and its second part is not subnormal.
const MAX_DOUBLINGS: f64 = 900.0;

/// A product `high + low`, rounded. The result is certain if `pow` must return it. Zeros are common
/// bases, and certain: their power is the product.
#[inline(always)]
fn product(base: f64, high: f64, low: f64) -> Approximation {
    const EXPONENT: u64 = 0x7ff;
    const INTEGER_BITS: u64 = 0x4330_0000_0000_0000;
    // without the sign, since a cube may be negative
    let exponent = f64::from_bits((high.to_bits() >> 52) & EXPONENT | INTEGER_BITS)
        - ((1u64 << 52) + 1023) as f64;
    // the library's error grows with the exponent on either side of 1
    let doublings = exponent.abs();
    let approximation = rounded(
        high,
        low,
        doublings.mul_add(MARGIN_PER_DOUBLING, MARGIN_NEAR_ONE),
    );
    let is_certain = approximation.certain & (doublings <= MAX_DOUBLINGS);
    let value = if base == 0.0 {
        high
    } else {
        approximation.value
    };
    Approximation {
        value,
        certain: is_certain | (base == 0.0),
    }
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
    fn approximate(&self, [x]: [f64; 1]) -> Approximation {
        let (high, low) = square(x);
        product(x, high, low)
    }

    fn call_library(&self, [x]: [f64; 1]) -> f64 {
        library_power(x, 2.0)
    }
}

/// To the power of 3.
pub(super) struct Cube;

impl Kernel<1> for Cube {
    #[inline(always)]
    fn approximate(&self, [x]: [f64; 1]) -> Approximation {
        let (square, square_rest) = square(x);
        let high = square * x;
        product(x, high, square_rest.mul_add(x, square.mul_add(x, -high)))
    }

    fn call_library(&self, [x]: [f64; 1]) -> f64 {
        library_power(x, 3.0)
    }
}
