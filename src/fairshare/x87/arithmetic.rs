//! The four operations, each rounded once.

use std::ops::{Add, Div, Mul, Neg, Sub};

use crate::fairshare::x87::format::EXTENDED;
use crate::fairshare::x87::{Class, Extended};

impl Extended {
    #[inline]
    fn sum_of_sizes(self, small: Self) -> Self {
        let shift = (self.exponent - small.exponent) as u32;
        if shift > 64 {
            // less than half of the last bit
            return self;
        }
        if !EXTENDED.is_inside(self.exponent + 1) {
            return self.long_sum(small);
        }
        let aligned = (u128::from(small.mantissa) << 64) >> shift;
        let (sum, carried) = (u128::from(self.mantissa) << 64).overflowing_add(aligned);
        let (exponent, wide) = if carried { (1, sum >> 1 | 1 << 127) } else { (0, sum) };
        Self::of_leading(self.negative, self.exponent + exponent, wide, carried && sum & 1 == 1)
    }

    #[cold]
    fn long_sum(self, small: Self) -> Self {
        let (wide, sticky) = small.aligned_to(self.exponent);
        Self::rounded(self.negative, self.exponent + 2, (u128::from(self.mantissa) << 62) + wide, sticky)
    }

    #[inline]
    fn difference_of_sizes(self, small: Self) -> Self {
        let (wide, sticky) = small.aligned_to(self.exponent);
        let difference = (u128::from(self.mantissa) << 62) - wide - u128::from(sticky);
        if difference == 0 {
            return Self::ZERO;
        }
        let shift = difference.leading_zeros();
        Self::of_leading(self.negative, self.exponent + 2 - shift as i32, difference << shift, sticky)
    }

    /// The mantissa under one of a higher exponent, with 62 more bits below, and whether bits fell off there.
    #[inline]
    fn aligned_to(self, exponent: i32) -> (u128, bool) {
        let wide = u128::from(self.mantissa) << 62;
        match u32::try_from(exponent - self.exponent) {
            Ok(shift @ 0..=127) => (wide >> shift, (wide >> shift) << shift != wide),
            _ => (0, true),
        }
    }

    #[inline]
    fn product_of_sizes(self, other: Self, negative: bool) -> Self {
        let product = u128::from(self.mantissa) * u128::from(other.mantissa);
        // two leading bits make one in the highest place or in the next
        let shift = product.leading_zeros();
        Self::of_leading(negative, self.exponent + other.exponent + 1 - shift as i32, product << shift, false)
    }

    #[inline]
    fn quotient_of_sizes(self, other: Self, negative: bool) -> Self {
        let is_less = self.mantissa < other.mantissa;
        let exponent = self.exponent - other.exponent - i32::from(is_less);
        // so shifted, the quotient has 64 bits
        let numerator = u128::from(self.mantissa) << if is_less { 64 } else { 63 };
        let divisor = u128::from(other.mantissa);
        let quotient = (numerator / divisor) as u64;
        let rest = (numerator % divisor) as u64;
        if !EXTENDED.is_inside(exponent) {
            return Self::long_quotient(negative, exponent, [quotient, rest, other.mantissa]);
        }
        // half the divisor is left if as much again makes it whole; a quotient of numbers with 64 bits never ties
        Self::stepped(negative, exponent, quotient, rest > other.mantissa - rest)
    }

    /// A quotient near the ends of the range: whole bits, what is left of the numerator, and the divisor.
    #[cold]
    fn long_quotient(negative: bool, exponent: i32, [whole, rest, divisor]: [u64; 3]) -> Self {
        let rest = u128::from(rest) << 1;
        let bit = rest >= u128::from(divisor);
        let left = rest - if bit { u128::from(divisor) } else { 0 };
        let wide = u128::from(whole) << 64 | u128::from(bit) << 63;
        Self::rounded(negative, exponent, wide, left != 0)
    }
}

impl Neg for Extended {
    type Output = Self;

    #[inline]
    fn neg(self) -> Self {
        Self { negative: !self.negative && self.class != Class::Zero, ..self }
    }
}

impl Add for Extended {
    type Output = Self;

    #[inline]
    fn add(self, other: Self) -> Self {
        match (self.class, other.class) {
            (Class::Finite, Class::Finite) => {
                let (large, small) = if self.size_order(other).is_ge() { (self, other) } else { (other, self) };
                if large.negative == small.negative {
                    large.sum_of_sizes(small)
                } else {
                    large.difference_of_sizes(small)
                }
            }
            (Class::Nan, _) | (_, Class::Nan) => Self::NAN,
            (Class::Infinite, Class::Infinite) if self.negative != other.negative => Self::NAN,
            (Class::Infinite, _) | (_, Class::Zero) => self,
            (_, Class::Infinite) | (Class::Zero, _) => other,
        }
    }
}

impl Sub for Extended {
    type Output = Self;

    #[inline]
    fn sub(self, other: Self) -> Self {
        self + -other
    }
}

impl Mul for Extended {
    type Output = Self;

    #[inline]
    fn mul(self, other: Self) -> Self {
        let negative = self.negative != other.negative;
        match (self.class, other.class) {
            (Class::Finite, Class::Finite) => self.product_of_sizes(other, negative),
            (Class::Nan, _) | (_, Class::Nan) => Self::NAN,
            (Class::Infinite, Class::Zero) | (Class::Zero, Class::Infinite) => Self::NAN,
            (Class::Infinite, _) | (_, Class::Infinite) => Self { negative, ..Self::INFINITY },
            (Class::Zero, _) | (_, Class::Zero) => Self::ZERO,
        }
    }
}

impl Div for Extended {
    type Output = Self;

    #[inline]
    fn div(self, other: Self) -> Self {
        let negative = self.negative != other.negative;
        match (self.class, other.class) {
            (Class::Finite, Class::Finite) => self.quotient_of_sizes(other, negative),
            (Class::Nan, _) | (_, Class::Nan) => Self::NAN,
            (Class::Infinite, Class::Infinite) | (Class::Zero, Class::Zero) => Self::NAN,
            (Class::Infinite, _) | (_, Class::Zero) => Self { negative, ..Self::INFINITY },
            (Class::Zero, _) | (_, Class::Infinite) => Self::ZERO,
        }
    }
}
