//! A float of 64 significant bits: C's `long double` on x86-64, in which Slurm's daemons keep usage.
//!
//! Two accounts tie in those daemons only if their numbers agree in all 64 bits, so `f64` is not enough. Every operation
//! rounds its exact result once, to nearest, ties to even, with the range and the gradual underflow of the 80-bit
//! format. Zeros and NaNs have no sign.
//!
//! To round a result, the format's significant bits are *retained* and the bits below are *discarded*. The *sticky* flag
//! tells whether a bit below the discarded ones is set.

mod power;

use std::cmp::Ordering;
use std::ops::{Add, Div, Mul, Neg, Sub};

pub(crate) use power::power;

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
    /// The exponent of the highest bit of the mantissa.
    exponent: i32,
    /// The significant bits; the highest is set in a [`Class::Finite`] number.
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
        // `false` is less than `true`
        self.partial_cmp(other).unwrap_or_else(|| (self.class != Class::Nan).cmp(&(other.class != Class::Nan)))
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

    /// Rounds `wide * 2^(exponent - 127)`.
    pub(super) fn round(negative: bool, exponent: i32, wide: u128, sticky: bool) -> Self {
        if wide == 0 {
            return Self::ZERO;
        }
        let shift = wide.leading_zeros();
        let (integer, lowest_bit) = EXTENDED.round(exponent - shift as i32, wide << shift, sticky);
        if integer == 0 {
            return Self::ZERO;
        }
        let shift = integer.leading_zeros();
        let exponent = lowest_bit + 127 - shift as i32;
        if exponent > EXTENDED.highest {
            return Self { negative, ..Self::INFINITY };
        }
        Self { class: Class::Finite, negative, exponent, mantissa: ((integer << shift) >> 64) as u64 }
    }

    /// Rounds as [`round`](Self::round) does, for a `wide` whose highest bit is set: faster unless the exponent is near
    /// the limits of the range.
    #[inline]
    fn round_normalized(negative: bool, exponent: i32, wide: u128, sticky: bool) -> Self {
        if !EXTENDED.stays_normal(exponent) {
            return Self::round(negative, exponent, wide, sticky);
        }
        let retained = (wide >> 64) as u64;
        Self::from_mantissa(negative, exponent, retained, rounds_up(wide as u64, 1 << 63, sticky, retained))
    }

    /// Makes a number of a mantissa, which is incremented if `round_up`. The exponent must
    /// [stay normal](Format::stays_normal).
    #[inline]
    fn from_mantissa(negative: bool, exponent: i32, mantissa: u64, round_up: bool) -> Self {
        let (mantissa, carried) = mantissa.overflowing_add(u64::from(round_up));
        // the increment of a mantissa of ones carries into the next power of two
        let (mantissa, exponent) = if carried { (1 << 63, exponent + 1) } else { (mantissa, exponent) };
        Self { class: Class::Finite, negative, exponent, mantissa }
    }

    pub(super) fn power_of_two(exponent: i32) -> Self {
        Self::round(false, exponent, 1 << 127, false)
    }

    /// Divides two integers and rounds once, so that equal fractions give equal numbers. 0 / 0 is NaN.
    pub fn quotient(numerator: u128, denominator: u128) -> Self {
        if let (Ok(numerator), Ok(denominator)) = (u64::try_from(numerator), u64::try_from(denominator)) {
            return Self::from(numerator) / Self::from(denominator);
        }
        if numerator == 0 || denominator == 0 {
            return if numerator == 0 { Self::ZERO } else { Self::INFINITY };
        }
        let shifts = [numerator, denominator].map(|integer| integer.leading_zeros() as i32 - 1);
        if shifts.contains(&-1) {
            // an integer of 128 significant bits, which no tree reaches, is rounded before the division
            return Self::round(false, 127, numerator, false) / Self::round(false, 127, denominator, false);
        }
        let divisor = denominator << shifts[1];
        let mut remainder = numerator << shifts[0];
        let mut quotient = 0u128;
        for _ in 0..67 {
            quotient <<= 1;
            if remainder >= divisor {
                remainder -= divisor;
                quotient |= 1;
            }
            remainder <<= 1;
        }
        Self::round(false, 127 - 66 + shifts[1] - shifts[0], quotient, remainder != 0)
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
        match (self.class, other.class) {
            (Class::Nan, _) | (_, Class::Nan) => None,
            (Class::Finite, Class::Finite) if self.negative && other.negative => Some(other.magnitude_order(*self)),
            (Class::Finite, Class::Finite) if !self.negative && !other.negative => Some(self.magnitude_order(*other)),
            _ => Some(self.rank().cmp(&other.rank())),
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
            Class::Finite if DOUBLE.stays_normal(self.exponent) => self.normal_to_f64(),
            Class::Finite => self.to_f64_near_limits(),
            Class::Infinite => f64::INFINITY,
            Class::Nan => f64::NAN,
        };
        if self.negative { -magnitude } else { magnitude }
    }

    /// The magnitude of a number whose double is normal.
    #[inline]
    fn normal_to_f64(self) -> f64 {
        const DISCARDED_BITS: u32 = 11;
        let retained = self.mantissa >> DISCARDED_BITS;
        let discarded = self.mantissa & ((1 << DISCARDED_BITS) - 1);
        let round_up = rounds_up(discarded, 1 << (DISCARDED_BITS - 1), false, retained);
        // the highest retained bit, which a double does not store, adds one to the exponent field
        let exponent_field = (self.exponent + DOUBLE.highest - 1) as u64;
        f64::from_bits((exponent_field << 52) + retained + u64::from(round_up))
    }

    /// The magnitude of a number whose double may be subnormal, 0 or infinite.
    #[cold]
    fn to_f64_near_limits(self) -> f64 {
        let (integer, lowest_bit) = DOUBLE.round(self.exponent, u128::from(self.mantissa) << 64, false);
        let integer = integer as u64;
        let shift = 64 - integer.leading_zeros() as i32 - DOUBLE.bits;
        let exponent = lowest_bit + shift.max(0) + 52;
        match integer {
            0 => 0.0,
            _ if exponent > DOUBLE.highest => f64::INFINITY,
            // the stored bits of a subnormal number are all its bits
            subnormal if shift < 0 => f64::from_bits(subnormal),
            normal => f64::from_bits((normal >> shift) - (1 << 52) + (((exponent + 1023) as u64) << 52)),
        }
    }
}

impl From<f64> for Extended {
    #[inline]
    fn from(value: f64) -> Self {
        let negative = value < 0.0;
        if value.is_normal() {
            let exponent = ((value.to_bits() >> 52) & 0x7ff) as i32 - DOUBLE.highest;
            let fraction = value.to_bits() & ((1 << 52) - 1);
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
        Self::round(negative, 127 - 1074, subnormal.into(), false)
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
    /// An integer that orders numbers of different class or sign.
    fn rank(&self) -> i32 {
        match self.class {
            Class::Zero => 0,
            Class::Finite => 1 - 2 * i32::from(self.negative),
            Class::Infinite | Class::Nan => 2 - 4 * i32::from(self.negative),
        }
    }

    /// Adds the magnitude of `smaller` to that of `self`, which has the sign of the result.
    #[inline]
    fn sum_of_magnitudes(self, smaller: Self) -> Self {
        let shift = (self.exponent - smaller.exponent) as u32;
        if shift > 64 {
            // `smaller` is less than half of the lowest bit
            return self;
        }
        if !EXTENDED.stays_normal(self.exponent + 1) {
            return self.sum_near_limits(smaller);
        }
        let aligned = (u128::from(smaller.mantissa) << 64) >> shift;
        let (sum, carried) = (u128::from(self.mantissa) << 64).overflowing_add(aligned);
        let (carry, wide) = if carried { (1, sum >> 1 | 1 << 127) } else { (0, sum) };
        Self::round_normalized(self.negative, self.exponent + carry, wide, carried && sum & 1 == 1)
    }

    #[cold]
    fn sum_near_limits(self, smaller: Self) -> Self {
        let (wide, sticky) = smaller.aligned_to(self.exponent);
        Self::round(self.negative, self.exponent + 2, (u128::from(self.mantissa) << 62) + wide, sticky)
    }

    /// Subtracts the magnitude of `smaller` from that of `self`, which has the sign of the result.
    #[inline]
    fn difference_of_magnitudes(self, smaller: Self) -> Self {
        let (wide, sticky) = smaller.aligned_to(self.exponent);
        let difference = (u128::from(self.mantissa) << 62) - wide - u128::from(sticky);
        if difference == 0 {
            return Self::ZERO;
        }
        let shift = difference.leading_zeros();
        Self::round_normalized(self.negative, self.exponent + 2 - shift as i32, difference << shift, sticky)
    }

    /// Shifts the mantissa to a higher exponent. Returns it with 62 more bits below, and the sticky flag.
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
        // the highest bit that is set in the product is bit 127 or bit 126
        let shift = product.leading_zeros();
        Self::round_normalized(negative, self.exponent + other.exponent + 1 - shift as i32, product << shift, false)
    }

    #[inline]
    fn quotient_of_magnitudes(self, other: Self, negative: bool) -> Self {
        let is_less = self.mantissa < other.mantissa;
        let exponent = self.exponent - other.exponent - i32::from(is_less);
        // shifted so that the quotient has 64 bits
        let numerator = u128::from(self.mantissa) << if is_less { 64 } else { 63 };
        let divisor = u128::from(other.mantissa);
        let quotient = (numerator / divisor) as u64;
        let remainder = (numerator % divisor) as u64;
        if !EXTENDED.stays_normal(exponent) {
            return Self::quotient_near_limits(negative, exponent, [quotient, remainder, other.mantissa]);
        }
        // rounds up if the remainder is above half the divisor; a quotient of 64-bit numbers never ties
        Self::from_mantissa(negative, exponent, quotient, remainder > other.mantissa - remainder)
    }

    /// Rounds a quotient whose exponent is near the limits of the range.
    #[cold]
    fn quotient_near_limits(negative: bool, exponent: i32, [quotient, remainder, divisor]: [u64; 3]) -> Self {
        let doubled = u128::from(remainder) << 1;
        let divisor = u128::from(divisor);
        let next_bit = doubled >= divisor;
        let remainder = if next_bit { doubled - divisor } else { doubled };
        let wide = u128::from(quotient) << 64 | u128::from(next_bit) << 63;
        Self::round(negative, exponent, wide, remainder != 0)
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
                let (larger, smaller) = if self.magnitude_order(other).is_ge() { (self, other) } else { (other, self) };
                if larger.negative == smaller.negative {
                    larger.sum_of_magnitudes(smaller)
                } else {
                    larger.difference_of_magnitudes(smaller)
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

/// The logarithm of 2.
const LN_2: Extended =
    Extended { class: Class::Finite, negative: false, exponent: -1, mantissa: 0xb172_17f7_d1cf_79ac };
/// The mantissa of the square root of 2. A number with a larger mantissa is halved, so that it is near 1.
const SQRT_2_MANTISSA: u64 = 0xb504_f333_f9de_6484;
/// The number of terms after which the sum of all further terms is below the lowest bit.
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

    /// `2 artanh((m - 1) / (m + 1)) + n ln 2` for the number `m * 2^n`, with `m` near 1.
    fn finite_ln(self) -> Self {
        let is_halved = self.mantissa > SQRT_2_MANTISSA;
        let near_one = Self { exponent: -i32::from(is_halved), ..self };
        let ratio = (near_one - Self::ONE) / (near_one + Self::ONE);
        let square = ratio * ratio;
        let series =
            (1..TERMS).rev().fold(Self::ZERO, |sum, term| (sum + Self::ONE / Self::from(2 * term + 1)) * square);
        let ln_near_one = (ratio + ratio * series) * Self::from(2u32);
        let exponent = self.exponent + i32::from(is_halved);
        Self::from(f64::from(exponent)) * LN_2 + ln_near_one
    }
}

// Rounding to a binary format.

/// A binary floating-point format: its significant bits, and the exponents of its normal numbers.
struct Format {
    bits: i32,
    lowest: i32,
    highest: i32,
}

const EXTENDED: Format = Format { bits: 64, lowest: -16382, highest: 16383 };
const DOUBLE: Format = Format { bits: 53, lowest: -1022, highest: 1023 };

impl Format {
    /// Whether a number with this exponent is normal, before it is rounded and after.
    #[inline]
    fn stays_normal(&self, exponent: i32) -> bool {
        (self.lowest..self.highest).contains(&exponent)
    }

    /// Rounds `wide * 2^(exponent - 127)`, where the highest bit of `wide` is set. Returns an integer and the exponent of
    /// its lowest bit.
    fn round(&self, exponent: i32, wide: u128, sticky: bool) -> (u128, i32) {
        let discarded_bits = 128 - self.bits + (self.lowest - exponent).max(0);
        if discarded_bits > 128 {
            return (0, 0);
        }
        let retained = wide.checked_shr(discarded_bits as u32).unwrap_or(0);
        let discarded = wide << (128 - discarded_bits);
        let half = 1u128 << 127;
        let round_up = discarded > half || (discarded == half && (sticky || retained & 1 == 1));
        (retained + u128::from(round_up), exponent - 127 + discarded_bits)
    }
}

/// Whether rounding to nearest, ties to even, increments the retained bits. `half` is half of their lowest bit, in the
/// unit of `discarded`.
#[inline]
fn rounds_up(discarded: u64, half: u64, sticky: bool, retained: u64) -> bool {
    discarded > half || (discarded == half && (sticky || retained & 1 == 1))
}

#[cfg(test)]
mod tests;
