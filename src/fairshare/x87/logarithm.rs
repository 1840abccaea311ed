//! The natural logarithm to 64 bits, as C's `logl` has it.

use crate::fairshare::x87::{Class, Extended};

/// The logarithm of 2, and the square root of 2 up to which a mantissa counts as one above 1.
const LN_2: Extended =
    Extended { class: Class::Finite, negative: false, exponent: -1, mantissa: 0xb172_17f7_d1cf_79ac };
const SQRT_2: u64 = 0xb504_f333_f9de_6484;
/// So many terms of the series leave less than the last bit.
const TERMS: u32 = 14;

impl Extended {
    /// The natural logarithm of a number above 0; not a number for any other, but for infinity, whose is infinite.
    #[must_use]
    pub fn ln(self) -> Self {
        match self.class {
            Class::Finite if !self.negative => self.finite_ln(),
            Class::Zero => -Self::INFINITY,
            Class::Infinite if !self.negative => Self::INFINITY,
            _ => Self::NAN,
        }
    }

    /// `2 artanh((m - 1) / (m + 1))` of a mantissa near 1, and the exponent's part.
    fn finite_ln(self) -> Self {
        let is_above = self.mantissa > SQRT_2;
        let near_one = Self { exponent: -i32::from(is_above), ..self };
        let ratio = (near_one - Self::ONE) / (near_one + Self::ONE);
        let square = ratio * ratio;
        let series =
            (1..TERMS).rev().fold(Self::ZERO, |sum, term| (sum + Self::ONE / Self::from(2 * term + 1)) * square);
        let of_mantissa = (ratio + ratio * series) * Self::from(2u32);
        let exponent = self.exponent + i32::from(is_above);
        let of_exponent = Self::from(f64::from(exponent)) * LN_2;
        of_exponent + of_mantissa
    }
}
