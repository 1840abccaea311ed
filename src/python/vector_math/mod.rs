//! Powers, exponentials and logarithms of whole columns, with the bits that the C library gives one number at a time.
//!
//! What enters are slices of doubles; what leaves is, in every lane, the double that [`f64::powf`], [`f64::exp`],
//! [`f64::exp2`] or [`f64::ln`] gets from the platform's C library. Nothing is raised here: a domain error is the
//! library's NaN, an overflow its infinity, and what Python makes of them is the caller's matter.
//!
//! The bits are the library's, yet few lanes ask it. A lane is computed with some twelve bits more than a double holds
//! (`exponential`, `logarithm`, `power`, `small_powers`). Where that value is further from the middle between two
//! doubles than the library's published error, the library cannot but round as we do (`certainty`). The other lanes,
//! one in thirty or so, and every special one (zeros, subnormals, infinities, NaN, negative bases, overflow) are given
//! to the library itself (`stretch`). So only its error bound is assumed, not its algorithm: glibc with or without
//! fused multiply-add and musl are alike. Where no bound is published, or the processor has no fused multiply-add, all
//! lanes ask the library.
//!
//! `log2` and `log10` have no place here: the library's bounds for them (0.55 and above 1 unit in the last place) leave
//! too few lanes certain to be worth the way.
//!
//! ```
//! use job_sort_formula::python::vector_math::VectorMath;
//!
//! let hours = [0.5, 12.0, 300.0];
//! let mut weights = [0.0; 3];
//! VectorMath::new().pow_scalar_base(2.0, &hours, &mut weights);
//! assert_eq!(weights, hours.map(|hours| 2f64.powf(hours)));
//! ```

mod certainty;
mod exponential;
mod logarithm;
mod polynomial;
mod power;
mod small_powers;
mod stretch;
#[cfg(test)]
mod tests;

use crate::python::vector_math::exponential::{Exp, Exp2};
use crate::python::vector_math::logarithm::Ln;
use crate::python::vector_math::power::{Power, PowerOfBase, ToPower};
use crate::python::vector_math::small_powers::{Cube, Fourth, Reciprocal, Root, Square};
use crate::python::vector_math::stretch::apply;
use crate::simd::Level;

/// The functions, on the instructions that this processor has.
///
/// All of them write as many lanes as the shortest slice has and leave the rest of `out` alone. None allocates.
#[derive(Debug, Clone, Copy)]
pub struct VectorMath {
    level: Level,
}

impl VectorMath {
    /// Selects the widest instructions of this processor. The first call detects them; later calls reuse the result.
    pub fn new() -> Self {
        Self { level: Level::new() }
    }

    /// `base[i].powf(exponent[i])`.
    pub fn pow(self, base: &[f64], exponent: &[f64], out: &mut [f64]) {
        apply(self.level, &Power, [base, exponent], out);
    }

    /// `base.powf(exponent[i])`.
    pub fn pow_scalar_base(self, base: f64, exponent: &[f64], out: &mut [f64]) {
        apply(self.level, &PowerOfBase::new(base), [exponent], out);
    }

    /// `base[i].powf(exponent)`. The exponents 2, 3, 4, 0.5 and -1 need no logarithm and are quickest.
    pub fn pow_scalar_exponent(self, base: &[f64], exponent: f64, out: &mut [f64]) {
        match exponent {
            2.0 => apply(self.level, &Square, [base], out),
            3.0 => apply(self.level, &Cube, [base], out),
            4.0 => apply(self.level, &Fourth, [base], out),
            0.5 => apply(self.level, &Root, [base], out),
            -1.0 => apply(self.level, &Reciprocal, [base], out),
            _ => apply(self.level, &ToPower::new(exponent), [base], out),
        };
    }

    /// `x[i].exp()`.
    pub fn exp(self, x: &[f64], out: &mut [f64]) {
        apply(self.level, &Exp, [x], out);
    }

    /// `x[i].exp2()`.
    pub fn exp2(self, x: &[f64], out: &mut [f64]) {
        apply(self.level, &Exp2, [x], out);
    }

    /// `x[i].ln()`.
    pub fn ln(self, x: &[f64], out: &mut [f64]) {
        apply(self.level, &Ln, [x], out);
    }
}

impl Default for VectorMath {
    fn default() -> Self {
        Self::new()
    }
}
