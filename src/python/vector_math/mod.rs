//! Powers, exponentials and logarithms of whole columns, with the bits of the C library.
//!
//! Slices of doubles enter. For every row, the double leaves that [`f64::powf`], [`f64::exp`] or
//! [`f64::ln`] gets from the platform's C library. Nothing raises here: a domain error gives the
//! library's nan and an overflow its infinity, which the caller turns into Python's exceptions.
//!
//! The library is called for few rows. Each row is first computed with some twelve bits more than a
//! double holds (`exp_log`, `power`). If that value is further from the midpoint between two
//! doubles than the library's published error bound, the library must round as we do
//! (`ziv_rounding`). The library itself computes the other rows, about one in thirty, and all rows
//! with special values: zeros (but see `power`), subnormals, infinities, nans, negative bases,
//! overflow (`kernel_driver`). So only the library's error bound is assumed, not its algorithm:
//! glibc, with or without fused multiply-add, and musl are alike. Where no bound is published, or
//! the processor has no fused multiply-add, the library computes all rows.
//!
//! `log2` and `log10` are not here: the library's bounds for them, 0.55 and above 1 unit in the
//! last place, leave too few rows certain.
//!
//! ```
//! use job_sort_formula::python::vector_math::VectorMath;
//!
//! let hours = [0.5, 12.0, 300.0];
//! let mut weights = [0.0; 3];
//! VectorMath::new().pow_scalar_base(2.0, &hours, &mut weights);
//! assert_eq!(weights, hours.map(|hours| 2f64.powf(hours)));
//! ```

mod exp_log;
mod kernel_driver;
mod power;
#[cfg(test)]
mod tests;
mod ziv_rounding;

use crate::python::vector_math::exp_log::{Exp, Ln};
use crate::python::vector_math::kernel_driver::apply;
use crate::python::vector_math::power::{Cube, Power, PowerOfBase, Square, ToPower};
use crate::simd::Level;

/// The functions, with the instructions of this processor.
///
/// Each fills `out` up to the length of the shortest slice and leaves the rest unchanged. None
/// allocates.
#[derive(Debug, Clone, Copy)]
pub struct VectorMath {
    level: Level,
}

impl VectorMath {
    /// Selects the widest instructions of this processor. The first call detects them; later calls
    /// reuse the result.
    pub fn new() -> Self {
        Self {
            level: Level::new(),
        }
    }

    /// `base[i].powf(exponent[i])`.
    pub fn pow(self, base: &[f64], exponent: &[f64], out: &mut [f64]) {
        apply(self.level, &Power, [base, exponent], out);
    }

    /// `base.powf(exponent[i])`.
    pub fn pow_scalar_base(self, base: f64, exponent: &[f64], out: &mut [f64]) {
        apply(self.level, &PowerOfBase::new(base), [exponent], out);
    }

    /// `base[i].powf(exponent)`. The exponents 2 and 3 need no logarithm and are the fastest.
    pub fn pow_scalar_exponent(self, base: &[f64], exponent: f64, out: &mut [f64]) {
        match exponent {
            2.0 => apply(self.level, &Square, [base], out),
            3.0 => apply(self.level, &Cube, [base], out),
            _ => apply(self.level, &ToPower::new(exponent), [base], out),
        };
    }

    /// `x[i].exp()`.
    pub fn exp(self, x: &[f64], out: &mut [f64]) {
        apply(self.level, &Exp, [x], out);
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
