//! A float of 64 significant bits: C's `long double` on x86-64, which some daemons keep usage in.
//!
//! Two accounts tie in those daemons only if their numbers agree in all 64 bits, so `f64` does not do. Every operation
//! rounds its exact result once, to nearest, ties to even, and has the range of the 80-bit format with its gradual
//! underflow. Signs of zeros and of NaNs are not kept.

mod arithmetic;
mod convert;
mod format;
mod logarithm;

use std::cmp::Ordering;

use crate::fairshare::x87::format::{EXTENDED, rounds_up};

/// A number with 64 significant bits, exactly rounded after each operation.
///
/// ```
/// use job_sort_formula::fairshare::x87::Extended;
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

    /// [`rounded`](Self::rounded) of a number whose leading bit is set: shorter where the exponent is not near the
    /// ends of the range, as hardly any is.
    #[inline]
    fn of_leading(negative: bool, exponent: i32, wide: u128, sticky: bool) -> Self {
        if !EXTENDED.is_inside(exponent) {
            return Self::rounded(negative, exponent, wide, sticky);
        }
        let (kept, rest) = ((wide >> 64) as u64, wide as u64);
        Self::stepped(negative, exponent, kept, rounds_up(rest, 1 << 63, sticky, kept))
    }

    /// The number of this mantissa, or the next one above; its exponent is inside the range.
    #[inline]
    fn stepped(negative: bool, exponent: i32, mantissa: u64, up: bool) -> Self {
        let (mantissa, carried) = mantissa.overflowing_add(u64::from(up));
        // nothing is left of a mantissa of ones that was stepped up
        let (mantissa, exponent) = if carried { (1 << 63, exponent + 1) } else { (mantissa, exponent) };
        Self { class: Class::Finite, negative, exponent, mantissa }
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

    #[inline]
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

#[cfg(test)]
mod tests;
