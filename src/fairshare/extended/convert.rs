//! From and to the numbers that the language has.

use super::format::DOUBLE;
use super::{Class, Extended};

impl Extended {
    /// The nearest double, ties to even.
    pub fn to_f64(self) -> f64 {
        let size = match self.class {
            Class::Zero => 0.0,
            Class::Finite => self.finite_to_f64(),
            Class::Infinite => f64::INFINITY,
            Class::Nan => f64::NAN,
        };
        if self.negative { -size } else { size }
    }

    fn finite_to_f64(self) -> f64 {
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
    fn from(value: f64) -> Self {
        let negative = value < 0.0;
        if value == 0.0 {
            return Self::ZERO;
        }
        if value.is_nan() {
            return Self::NAN;
        }
        if value.is_infinite() {
            return Self { negative, ..Self::INFINITY };
        }
        let (field, fraction) = ((value.to_bits() >> 52) & 0x7ff, value.to_bits() & ((1 << 52) - 1));
        let whole = if field == 0 { fraction } else { fraction | 1 << 52 };
        Self::rounded(negative, field.max(1) as i32 - 1075 + 127, u128::from(whole), false)
    }
}

impl From<u32> for Extended {
    fn from(value: u32) -> Self {
        Self::rounded(false, 127, u128::from(value), false)
    }
}

impl From<u64> for Extended {
    fn from(value: u64) -> Self {
        Self::rounded(false, 127, u128::from(value), false)
    }
}
