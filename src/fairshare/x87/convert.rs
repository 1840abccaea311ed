//! From and to the numbers that the language has.

use crate::fairshare::x87::format::{DOUBLE, rounds_up};
use crate::fairshare::x87::{Class, Extended};

impl Extended {
    /// The nearest double, ties to even.
    #[inline]
    pub fn to_f64(self) -> f64 {
        let size = match self.class {
            Class::Zero => 0.0,
            Class::Finite if DOUBLE.is_inside(self.exponent) => self.inner_to_f64(),
            Class::Finite => self.finite_to_f64(),
            Class::Infinite => f64::INFINITY,
            Class::Nan => f64::NAN,
        };
        if self.negative { -size } else { size }
    }

    /// Of a number that is not near the ends of the doubles' range.
    #[inline]
    fn inner_to_f64(self) -> f64 {
        const DROPPED: u32 = 11;
        let (kept, rest) = (self.mantissa >> DROPPED, self.mantissa & ((1 << DROPPED) - 1));
        let up = rounds_up(rest, 1 << (DROPPED - 1), false, kept);
        // the leading bit counts as one in the exponent's field, and so does what a mantissa of ones steps up to
        let field = (self.exponent + DOUBLE.highest - 1) as u64;
        f64::from_bits((field << 52) + kept + u64::from(up))
    }

    #[cold]
    pub(super) fn finite_to_f64(self) -> f64 {
        let (whole, last) = DOUBLE.round(self.exponent, u128::from(self.mantissa) << 64, false);
        let shift = 64 - (whole as u64).leading_zeros() as i32 - DOUBLE.bits;
        match (whole as u64, last + shift.max(0)) {
            (0, _) => 0.0,
            (_, last) if last + 52 > DOUBLE.highest => f64::INFINITY,
            // below the leading bit of a normal number the bits are the number
            (subnormal, _) if shift < 0 => f64::from_bits(subnormal),
            (whole, last) => f64::from_bits((whole >> shift) - (1 << 52) + (((last + 52 + 1023) as u64) << 52)),
        }
    }
}

impl From<f64> for Extended {
    #[inline]
    fn from(value: f64) -> Self {
        let negative = value < 0.0;
        if value.is_normal() {
            let (field, fraction) = ((value.to_bits() >> 52) & 0x7ff, value.to_bits() & ((1 << 52) - 1));
            let exponent = field as i32 - DOUBLE.highest;
            return Self { class: Class::Finite, negative, exponent, mantissa: (fraction | 1 << 52) << 11 };
        }
        if value == 0.0 {
            return Self::ZERO;
        }
        if value.is_nan() {
            return Self::NAN;
        }
        if value.is_infinite() {
            return Self { negative, ..Self::INFINITY };
        }
        let subnormal = value.to_bits() & ((1 << 52) - 1);
        Self::rounded(negative, 127 - 1074, subnormal.into(), false)
    }
}

impl From<u32> for Extended {
    #[inline]
    fn from(value: u32) -> Self {
        Self::from(u64::from(value))
    }
}

impl From<u64> for Extended {
    #[inline]
    fn from(value: u64) -> Self {
        if value == 0 {
            return Self::ZERO;
        }
        let shift = value.leading_zeros();
        Self { class: Class::Finite, negative: false, exponent: 63 - shift as i32, mantissa: value << shift }
    }
}
