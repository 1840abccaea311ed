//! A float of 64 significant bits: C's `long double` on x86-64, in which Slurm's daemons keep usage.
//!
//! Two accounts tie in those daemons only if their numbers agree in all 64 bits, so `f64` is not enough. Every operation
//! rounds its exact result once, to nearest, ties to even, with the range and the gradual underflow of the 80-bit
//! format. Signs of zeros and of NaNs are not kept.

use std::cmp::Ordering;
use std::ops::{Add, Div, Mul, Neg, Sub};

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
    /// The exponent of the leading bit.
    exponent: i32,
    /// The leading bit is set for [`Class::Finite`].
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
    /// Zero.
    pub const ZERO: Self = Self { class: Class::Zero, negative: false, exponent: 0, mantissa: 0 };
    /// One.
    pub const ONE: Self = Self { class: Class::Finite, negative: false, exponent: 0, mantissa: 1 << 63 };
    /// Positive infinity.
    pub const INFINITY: Self = Self { class: Class::Infinite, ..Self::ZERO };
    const NAN: Self = Self { class: Class::Nan, ..Self::ZERO };

    /// Whether it is 0.
    pub fn is_zero(self) -> bool {
        self.class == Class::Zero
    }

    /// A total order for sorting, NaN below all numbers.
    pub fn total_order(&self, other: &Self) -> Ordering {
        let is_number = |it: &Self| it.class != Class::Nan;
        self.partial_cmp(other).unwrap_or_else(|| is_number(self).cmp(&is_number(other)))
    }

    /// The smaller of two, `other` if one is NaN.
    #[must_use]
    pub fn min(self, other: Self) -> Self {
        if self < other { self } else { other }
    }

    /// The larger of two, `other` if one is NaN.
    #[must_use]
    pub fn max(self, other: Self) -> Self {
        if self > other { self } else { other }
    }

    /// `wide * 2^(exponent - 127)`, rounded; `sticky` if there are nonzero bits below `wide`.
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

    /// [`rounded`](Self::rounded) of a number whose leading bit is set: faster where the exponent is not near the ends
    /// of the range, the usual case.
    #[inline]
    fn normalized(negative: bool, exponent: i32, wide: u128, sticky: bool) -> Self {
        if !EXTENDED.is_inside(exponent) {
            return Self::rounded(negative, exponent, wide, sticky);
        }
        let (kept, rest) = ((wide >> 64) as u64, wide as u64);
        Self::incremented(negative, exponent, kept, rounds_up(rest, 1 << 63, sticky, kept))
    }

    /// The number of this mantissa, or the next one above; its exponent is inside the range.
    #[inline]
    fn incremented(negative: bool, exponent: i32, mantissa: u64, up: bool) -> Self {
        let (mantissa, carried) = mantissa.overflowing_add(u64::from(up));
        // the increment carried out of a mantissa of ones
        let (mantissa, exponent) = if carried { (1 << 63, exponent + 1) } else { (mantissa, exponent) };
        Self { class: Class::Finite, negative, exponent, mantissa }
    }

    pub(super) fn power_of_two(exponent: i32) -> Self {
        Self::rounded(false, exponent, 1 << 127, false)
    }

    /// The exact quotient of two integers, rounded once, so that equal fractions give equal numbers. 0 by 0 is NaN.
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
            // 128 significant bits: such a number is rounded first, which no tree reaches
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
    fn magnitude_order(self, other: Self) -> Ordering {
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
            (Class::Finite, Class::Finite) if self.negative && other.negative => Some(other.magnitude_order(*self)),
            (Class::Finite, Class::Finite) if !self.negative && !other.negative => Some(self.magnitude_order(*other)),
            _ => Some(rank(self).cmp(&rank(other))),
        }
    }
}

// Conversion.

impl Extended {
    /// The nearest double, ties to even.
    #[inline]
    pub fn to_f64(self) -> f64 {
        let magnitude = match self.class {
            Class::Zero => 0.0,
            Class::Finite if DOUBLE.is_inside(self.exponent) => self.inner_to_f64(),
            Class::Finite => self.finite_to_f64(),
            Class::Infinite => f64::INFINITY,
            Class::Nan => f64::NAN,
        };
        if self.negative { -magnitude } else { magnitude }
    }

    /// For a number that is not near the ends of the range of doubles.
    #[inline]
    fn inner_to_f64(self) -> f64 {
        const DROPPED: u32 = 11;
        let (kept, rest) = (self.mantissa >> DROPPED, self.mantissa & ((1 << DROPPED) - 1));
        let up = rounds_up(rest, 1 << (DROPPED - 1), false, kept);
        // the leading bit, or the carry of a mantissa of ones, adds one to the exponent field
        let field = (self.exponent + DOUBLE.highest - 1) as u64;
        f64::from_bits((field << 52) + kept + u64::from(up))
    }

    #[cold]
    fn finite_to_f64(self) -> f64 {
        let (whole, last) = DOUBLE.round(self.exponent, u128::from(self.mantissa) << 64, false);
        let shift = 64 - (whole as u64).leading_zeros() as i32 - DOUBLE.bits;
        match (whole as u64, last + shift.max(0)) {
            (0, _) => 0.0,
            (_, last) if last + 52 > DOUBLE.highest => f64::INFINITY,
            // a subnormal number has no implicit leading bit
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

// The four operations, each rounded once.

impl Extended {
    #[inline]
    fn sum_of_magnitudes(self, small: Self) -> Self {
        let shift = (self.exponent - small.exponent) as u32;
        if shift > 64 {
            // `small` is less than half of the last bit
            return self;
        }
        if !EXTENDED.is_inside(self.exponent + 1) {
            return self.long_sum(small);
        }
        let aligned = (u128::from(small.mantissa) << 64) >> shift;
        let (sum, carried) = (u128::from(self.mantissa) << 64).overflowing_add(aligned);
        let (exponent, wide) = if carried { (1, sum >> 1 | 1 << 127) } else { (0, sum) };
        Self::normalized(self.negative, self.exponent + exponent, wide, carried && sum & 1 == 1)
    }

    #[cold]
    fn long_sum(self, small: Self) -> Self {
        let (wide, sticky) = small.aligned_to(self.exponent);
        Self::rounded(self.negative, self.exponent + 2, (u128::from(self.mantissa) << 62) + wide, sticky)
    }

    #[inline]
    fn difference_of_magnitudes(self, small: Self) -> Self {
        let (wide, sticky) = small.aligned_to(self.exponent);
        let difference = (u128::from(self.mantissa) << 62) - wide - u128::from(sticky);
        if difference == 0 {
            return Self::ZERO;
        }
        let shift = difference.leading_zeros();
        Self::normalized(self.negative, self.exponent + 2 - shift as i32, difference << shift, sticky)
    }

    /// The mantissa aligned to a higher exponent, with 62 more bits below, and whether bits were lost.
    #[inline]
    fn aligned_to(self, exponent: i32) -> (u128, bool) {
        let wide = u128::from(self.mantissa) << 62;
        match u32::try_from(exponent - self.exponent) {
            Ok(shift @ 0..=127) => (wide >> shift, (wide >> shift) << shift != wide),
            _ => (0, true),
        }
    }

    #[inline]
    fn product_of_magnitudes(self, other: Self, negative: bool) -> Self {
        let product = u128::from(self.mantissa) * u128::from(other.mantissa);
        // the product's leading bit is the highest or the next
        let shift = product.leading_zeros();
        Self::normalized(negative, self.exponent + other.exponent + 1 - shift as i32, product << shift, false)
    }

    #[inline]
    fn quotient_of_magnitudes(self, other: Self, negative: bool) -> Self {
        let is_less = self.mantissa < other.mantissa;
        let exponent = self.exponent - other.exponent - i32::from(is_less);
        // shifted so that the quotient has 64 bits
        let numerator = u128::from(self.mantissa) << if is_less { 64 } else { 63 };
        let divisor = u128::from(other.mantissa);
        let quotient = (numerator / divisor) as u64;
        let rest = (numerator % divisor) as u64;
        if !EXTENDED.is_inside(exponent) {
            return Self::long_quotient(negative, exponent, [quotient, rest, other.mantissa]);
        }
        // rounds up if the remainder is above half the divisor; a quotient of 64-bit numbers never ties
        Self::incremented(negative, exponent, quotient, rest > other.mantissa - rest)
    }

    /// A quotient near the ends of the range: its integer bits, the remainder, and the divisor.
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
                let (large, small) = if self.magnitude_order(other).is_ge() { (self, other) } else { (other, self) };
                if large.negative == small.negative {
                    large.sum_of_magnitudes(small)
                } else {
                    large.difference_of_magnitudes(small)
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
            (Class::Finite, Class::Finite) => self.product_of_magnitudes(other, negative),
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
            (Class::Finite, Class::Finite) => self.quotient_of_magnitudes(other, negative),
            (Class::Nan, _) | (_, Class::Nan) => Self::NAN,
            (Class::Infinite, Class::Infinite) | (Class::Zero, Class::Zero) => Self::NAN,
            (Class::Infinite, _) | (_, Class::Zero) => Self { negative, ..Self::INFINITY },
            (Class::Zero, _) | (_, Class::Infinite) => Self::ZERO,
        }
    }
}

// The natural logarithm to 64 bits, as C's `logl`.

/// The logarithm of 2, and the mantissa of the square root of 2: a larger mantissa is halved to be near 1.
const LN_2: Extended =
    Extended { class: Class::Finite, negative: false, exponent: -1, mantissa: 0xb172_17f7_d1cf_79ac };
const SQRT_2: u64 = 0xb504_f333_f9de_6484;
/// The number of terms after which the rest of the series is below the last bit.
const TERMS: u32 = 14;

impl Extended {
    /// The natural logarithm; negative infinity for 0, NaN for a negative number.
    #[must_use]
    pub fn ln(self) -> Self {
        match self.class {
            Class::Finite if !self.negative => self.finite_ln(),
            Class::Zero => -Self::INFINITY,
            Class::Infinite if !self.negative => Self::INFINITY,
            _ => Self::NAN,
        }
    }

    /// `2 artanh((m - 1) / (m + 1))` for a mantissa `m` near 1, plus the exponent times the logarithm of 2.
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

// Rounding, once, for any binary format.

/// The significant bits of a format and its range of exponents.
struct Format {
    bits: i32,
    lowest: i32,
    highest: i32,
}

const EXTENDED: Format = Format { bits: 64, lowest: -16382, highest: 16383 };
const DOUBLE: Format = Format { bits: 53, lowest: -1022, highest: 1023 };

impl Format {
    /// Whether a number with this exponent is normal, also if rounding up carries.
    #[inline]
    fn is_inside(&self, exponent: i32) -> bool {
        (self.lowest..self.highest).contains(&exponent)
    }

    /// Rounds `wide * 2^(exponent - 127)`, whose leading bit is set, with nonzero bits below if `sticky`: an integer and
    /// the exponent of its last bit.
    fn round(&self, exponent: i32, wide: u128, sticky: bool) -> (u128, i32) {
        let dropped = 128 - self.bits + (self.lowest - exponent).max(0);
        if dropped > 128 {
            return (0, 0);
        }
        let kept = wide.checked_shr(dropped as u32).unwrap_or(0);
        let rest = wide << (128 - dropped);
        let half = 1u128 << 127;
        let up = rest > half || (rest == half && (sticky || kept & 1 == 1));
        (kept + u128::from(up), exponent - 127 + dropped)
    }
}

/// Whether rounding to nearest, ties to even, increments the kept bits. `half` is half of the last kept bit, `sticky` is
/// set if there are nonzero bits below `rest`.
#[inline]
fn rounds_up(rest: u64, half: u64, sticky: bool, kept: u64) -> bool {
    rest > half || (rest == half && (sticky || kept & 1 == 1))
}

#[cfg(test)]
mod tests;
