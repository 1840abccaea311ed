//! A float of 64 significant bits: C's `long double` on x86-64, which some daemons keep usage in.
//!
//! Two accounts tie in those daemons only if their numbers agree in all 64 bits, so `f64` does not do. Every operation
//! rounds its exact result once, to nearest, ties to even, and has the range of the 80-bit format with its gradual
//! underflow. Signs of zeros and of NaNs are not kept.

mod convert;
mod format;

use std::cmp::Ordering;
use std::ops::{Add, Div, Mul, Neg, Sub};

use format::EXTENDED;

/// A number with 64 significant bits, exactly rounded after each operation.
///
/// ```
/// use job_sort_formula::fairshare::extended::Extended;
///
/// let third = Extended::from(1u32) / Extended::from(3u32);
/// assert_eq!(third.to_f64(), 1.0 / 3.0);
/// assert_ne!(third, Extended::from(1.0 / 3.0));
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Extended {
    class: Class,
    negative: bool,
    /// Of the leading bit.
    exponent: i32,
    /// Leading bit set if [`Class::Finite`].
    mantissa: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    Zero,
    Finite,
    Infinite,
    Nan,
}

impl Extended {
    /// Nothing.
    pub const ZERO: Self = Self { class: Class::Zero, negative: false, exponent: 0, mantissa: 0 };
    /// One.
    pub const ONE: Self = Self { class: Class::Finite, negative: false, exponent: 0, mantissa: 1 << 63 };
    /// More than any number.
    pub const INFINITY: Self = Self { class: Class::Infinite, ..Self::ZERO };
    const NAN: Self = Self { class: Class::Nan, ..Self::ZERO };

    /// Whether it is 0.
    pub fn is_zero(self) -> bool {
        self.class == Class::Zero
    }

    /// By size, whatever is not a number being less than all else: an order for sorting.
    pub fn total_order(&self, other: &Self) -> Ordering {
        let is_number = |it: &Self| it.class != Class::Nan;
        self.partial_cmp(other).unwrap_or_else(|| is_number(self).cmp(&is_number(other)))
    }

    /// The smaller of two, `other` if one is not a number.
    #[must_use]
    pub fn min(self, other: Self) -> Self {
        if self < other { self } else { other }
    }

    /// The larger of two, `other` if one is not a number.
    #[must_use]
    pub fn max(self, other: Self) -> Self {
        if self > other { self } else { other }
    }

    /// `wide * 2^(exponent - 127)` and whatever little `sticky` stands for.
    pub(super) fn rounded(negative: bool, exponent: i32, wide: u128, sticky: bool) -> Self {
        if wide == 0 {
            return Self::ZERO;
        }
        let shift = wide.leading_zeros();
        let (whole, last) = EXTENDED.round(exponent - shift as i32, wide << shift, sticky);
        if whole == 0 {
            return Self::ZERO;
        }
        let shift = whole.leading_zeros();
        let exponent = last + 127 - shift as i32;
        if exponent > EXTENDED.highest {
            return Self { negative, ..Self::INFINITY };
        }
        Self { class: Class::Finite, negative, exponent, mantissa: ((whole << shift) >> 64) as u64 }
    }

    pub(super) fn power_of_two(exponent: i32) -> Self {
        Self::rounded(false, exponent, 1 << 127, false)
    }

    /// The exact quotient of two whole numbers, rounded once. So equal fractions are equal, however they are written.
    /// Nothing by nothing is not a number.
    pub fn quotient(numerator: u128, denominator: u128) -> Self {
        if let (Ok(numerator), Ok(denominator)) = (u64::try_from(numerator), u64::try_from(denominator)) {
            return Self::from(numerator) / Self::from(denominator);
        }
        if numerator == 0 || denominator == 0 {
            return if numerator == 0 { Self::ZERO } else { Self::INFINITY };
        }
        let shifts = [numerator, denominator].map(|whole| whole.leading_zeros() as i32 - 1);
        let (mut rest, divisor) = (numerator << shifts[0].max(0), denominator << shifts[1].max(0));
        if shifts.contains(&-1) {
            // a leading bit too many: such a number is cut, which only sizes beyond any tree's meet
            return Self::rounded(false, 127, numerator, false) / Self::rounded(false, 127, denominator, false);
        }
        let mut quotient = 0u128;
        for _ in 0..67 {
            quotient <<= 1;
            if rest >= divisor {
                rest -= divisor;
                quotient |= 1;
            }
            rest <<= 1;
        }
        Self::rounded(false, 127 - 66 + shifts[1] - shifts[0], quotient, rest != 0)
    }

    fn sum_of_sizes(self, small: Self) -> Self {
        let (wide, sticky) = small.aligned_to(self.exponent);
        let sum = (u128::from(self.mantissa) << 62) + wide;
        Self::rounded(self.negative, self.exponent + 2, sum, sticky)
    }

    fn difference_of_sizes(self, small: Self) -> Self {
        let (wide, sticky) = small.aligned_to(self.exponent);
        let difference = (u128::from(self.mantissa) << 62) - wide - u128::from(sticky);
        Self::rounded(self.negative, self.exponent + 2, difference, sticky)
    }

    /// The mantissa under one of a higher exponent, with 62 more bits below, and whether bits fell off there.
    fn aligned_to(self, exponent: i32) -> (u128, bool) {
        let wide = u128::from(self.mantissa) << 62;
        match u32::try_from(exponent - self.exponent) {
            Ok(shift @ 0..=127) => (wide >> shift, (wide >> shift) << shift != wide),
            _ => (0, true),
        }
    }

    fn size_order(self, other: Self) -> Ordering {
        (self.exponent, self.mantissa).cmp(&(other.exponent, other.mantissa))
    }
}

impl PartialEq for Extended {
    fn eq(&self, other: &Self) -> bool {
        self.partial_cmp(other) == Some(Ordering::Equal)
    }
}

impl PartialOrd for Extended {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        let rank = |it: &Self| match it.class {
            Class::Zero => 0,
            Class::Finite => 1 - 2 * i32::from(it.negative),
            Class::Infinite | Class::Nan => 2 - 4 * i32::from(it.negative),
        };
        match (self.class, other.class) {
            (Class::Nan, _) | (_, Class::Nan) => None,
            (Class::Finite, Class::Finite) if self.negative && other.negative => Some(other.size_order(*self)),
            (Class::Finite, Class::Finite) if !self.negative && !other.negative => Some(self.size_order(*other)),
            _ => Some(rank(self).cmp(&rank(other))),
        }
    }
}

impl Neg for Extended {
    type Output = Self;

    fn neg(self) -> Self {
        Self { negative: !self.negative && self.class != Class::Zero, ..self }
    }
}

impl Add for Extended {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        match (self.class, other.class) {
            (Class::Nan, _) | (_, Class::Nan) => Self::NAN,
            (Class::Infinite, Class::Infinite) if self.negative != other.negative => Self::NAN,
            (Class::Infinite, _) | (_, Class::Zero) => self,
            (_, Class::Infinite) | (Class::Zero, _) => other,
            (Class::Finite, Class::Finite) => {
                let (large, small) = if self.size_order(other).is_ge() { (self, other) } else { (other, self) };
                if large.negative == small.negative {
                    large.sum_of_sizes(small)
                } else {
                    large.difference_of_sizes(small)
                }
            }
        }
    }
}

impl Sub for Extended {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        self + -other
    }
}

impl Mul for Extended {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        let negative = self.negative != other.negative;
        match (self.class, other.class) {
            (Class::Nan, _) | (_, Class::Nan) => Self::NAN,
            (Class::Infinite, Class::Zero) | (Class::Zero, Class::Infinite) => Self::NAN,
            (Class::Infinite, _) | (_, Class::Infinite) => Self { negative, ..Self::INFINITY },
            (Class::Zero, _) | (_, Class::Zero) => Self::ZERO,
            (Class::Finite, Class::Finite) => {
                let product = u128::from(self.mantissa) * u128::from(other.mantissa);
                Self::rounded(negative, self.exponent + other.exponent + 1, product, false)
            }
        }
    }
}

impl Div for Extended {
    type Output = Self;

    fn div(self, other: Self) -> Self {
        let negative = self.negative != other.negative;
        match (self.class, other.class) {
            (Class::Nan, _) | (_, Class::Nan) => Self::NAN,
            (Class::Infinite, Class::Infinite) | (Class::Zero, Class::Zero) => Self::NAN,
            (Class::Infinite, _) | (_, Class::Zero) => Self { negative, ..Self::INFINITY },
            (Class::Zero, _) | (_, Class::Infinite) => Self::ZERO,
            (Class::Finite, Class::Finite) => {
                let (numerator, divisor) = (u128::from(self.mantissa) << 64, u128::from(other.mantissa));
                let mut quotient = numerator / divisor;
                let mut rest = numerator - quotient * divisor;
                // two more bits, so that there are 64 and one to round by
                for _ in 0..2 {
                    rest <<= 1;
                    let bit = rest >= divisor;
                    rest -= if bit { divisor } else { 0 };
                    quotient = quotient << 1 | u128::from(bit);
                }
                let exponent = self.exponent - other.exponent + 127 - 66;
                Self::rounded(negative, exponent, quotient, rest != 0)
            }
        }
    }
}

#[cfg(test)]
mod tests;
