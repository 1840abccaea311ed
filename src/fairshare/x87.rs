//! A float of 64 significant bits: C's `long double` on x86-64, in which Slurm's daemons keep
//! usage.
//!
//! Two accounts tie in those daemons only if their numbers agree in all 64 bits, so `f64` is not
//! enough. Every operation rounds its exact result once, to nearest, ties to even, with the range
//! and the gradual underflow of the 80-bit format. Zeros and NaNs have no sign.
//!
//! Powers with whole exponents, by which usage decays, have twice the bits of a double.

use std::cmp::Ordering;
use std::ops::{Add, Div, Mul, Neg, Sub};

use rustc_apfloat::ieee::{Double, Quad, X87DoubleExtended};
use rustc_apfloat::{Float, FloatConvert, StatusAnd};

/// A number with 64 significant bits, exactly rounded after each operation.
///
/// ```
/// use job_sort_formula::fairshare::x87::Extended;
///
/// let third = Extended::from(1u32) / Extended::from(3u32);
/// assert_eq!(third.to_f64(), 1.0 / 3.0);
/// assert_ne!(third, Extended::from(1.0 / 3.0));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Extended(X87DoubleExtended);

impl Extended {
    /// Zero.
    pub const ZERO: Self = Self(X87DoubleExtended::ZERO);
    /// Positive infinity.
    pub const INFINITY: Self = Self(X87DoubleExtended::INFINITY);
    const NAN: Self = Self(X87DoubleExtended::NAN);

    /// One.
    pub fn one() -> Self {
        Self::from(1u64)
    }

    /// The result of an operation, without the sign of a zero or a NaN.
    fn unsigned(StatusAnd { value, .. }: StatusAnd<X87DoubleExtended>) -> Self {
        if value.is_nan() {
            Self::NAN
        } else if value.is_zero() {
            Self::ZERO
        } else {
            Self(value)
        }
    }

    /// Whether it is 0.
    pub fn is_zero(self) -> bool {
        self.0.is_zero()
    }

    /// A total order for sorting, NaN below all numbers.
    pub fn total_order(&self, other: &Self) -> Ordering {
        // `false` is less than `true`
        self.partial_cmp(other)
            .unwrap_or_else(|| (!self.0.is_nan()).cmp(&!other.0.is_nan()))
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

    /// Rounds `integer * 2^exponent` once, unless it is below the normal numbers.
    pub(super) fn scaled(integer: u128, exponent: i32) -> Self {
        let StatusAnd { value, .. } = X87DoubleExtended::from_u128(integer);
        Self(value.scalbn(exponent))
    }

    pub(super) fn power_of_two(exponent: i32) -> Self {
        Self::scaled(1, exponent)
    }

    /// Divides two integers and rounds once, so that equal fractions give equal numbers. 0 / 0 is
    /// NaN.
    pub fn quotient(numerator: u128, denominator: u128) -> Self {
        if let (Ok(numerator), Ok(denominator)) =
            (u64::try_from(numerator), u64::try_from(denominator))
        {
            return Self::from(numerator) / Self::from(denominator);
        }
        if numerator == 0 || denominator == 0 {
            return if numerator == 0 {
                Self::ZERO
            } else {
                Self::INFINITY
            };
        }
        // one bit stays free, because the remainder is doubled
        let shifts = [numerator, denominator].map(|integer| integer.leading_zeros() as i32 - 1);
        if shifts.contains(&-1) {
            // an integer of 128 significant bits, which no tree reaches, is rounded before the
            // division
            return Self::scaled(numerator, 0) / Self::scaled(denominator, 0);
        }
        // 66 bits or more, and one more that says whether something remains: enough to round to 64
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
        Self::scaled(
            quotient << 1 | u128::from(remainder != 0),
            shifts[1] - shifts[0] - 67,
        )
    }

    /// The nearest double, ties to even.
    pub fn to_f64(self) -> f64 {
        // `convert` sets the flag where bits are lost, which is expected here
        let StatusAnd { value, .. }: StatusAnd<Double> = self.0.convert(&mut false);
        f64::from_bits(value.to_bits() as u64)
    }
}

impl From<f64> for Extended {
    fn from(value: f64) -> Self {
        Self::unsigned(Double::from_bits(value.to_bits().into()).convert(&mut false))
    }
}

impl From<u32> for Extended {
    fn from(value: u32) -> Self {
        Self::from(u64::from(value))
    }
}

impl From<u64> for Extended {
    fn from(value: u64) -> Self {
        Self::scaled(value.into(), 0)
    }
}

impl Neg for Extended {
    type Output = Self;

    fn neg(self) -> Self {
        if self.0.is_zero() || self.0.is_nan() {
            self
        } else {
            Self(-self.0)
        }
    }
}

/// Each operation rounds its exact result once.
macro_rules! operation {
    ($operation:ident $function:ident $symbol:tt) => {
        impl $operation for Extended {
            type Output = Self;

            fn $function(self, other: Self) -> Self {
                Self::unsigned(self.0 $symbol other.0)
            }
        }
    };
}

operation!(Add add +);
operation!(Sub sub -);
operation!(Mul mul *);
operation!(Div div /);

// The natural logarithm to 64 bits, as C's `logl`.

/// The bits of the logarithm of 2, and of the square root of 2: a number with a larger mantissa is
/// halved, so that it is near 1.
const LN_2: u128 = 0x3ffe_b172_17f7_d1cf_79ac;
const SQRT_2: u128 = 0x3fff_b504_f333_f9de_6484;
/// The number of terms after which the sum of all further terms is below the lowest bit.
const TERMS: u32 = 14;

impl Extended {
    fn from_bits(bits: u128) -> Self {
        Self(X87DoubleExtended::from_bits(bits))
    }

    /// The natural logarithm; negative infinity for 0, NaN for a negative number.
    #[must_use]
    pub fn ln(self) -> Self {
        if self.is_zero() {
            return -Self::INFINITY;
        }
        if self.0.is_nan() || self.0.is_negative() {
            return Self::NAN;
        }
        if self.0.is_infinite() {
            Self::INFINITY
        } else {
            self.finite_ln()
        }
    }

    /// `2 artanh((m - 1) / (m + 1)) + n ln 2` for the number `m * 2^n`, with `m` near 1.
    fn finite_ln(self) -> Self {
        let mut exponent = self.0.ilogb();
        let mut near_one = Self(self.0.scalbn(-exponent));
        if near_one > Self::from_bits(SQRT_2) {
            exponent += 1;
            near_one = Self(near_one.0.scalbn(-1));
        }
        let ratio = (near_one - Self::one()) / (near_one + Self::one());
        let square = ratio * ratio;
        let mut series = Self::ZERO;
        // the smallest terms first, which keeps their rounding errors below the last bit
        for term in (1..TERMS).rev() {
            series = (series + Self::one() / Self::from(2 * term + 1)) * square;
        }
        let ln_near_one = (ratio + ratio * series) * Self::from(2u32);
        Self::from(f64::from(exponent)) * Self::from_bits(LN_2) + ln_near_one
    }
}

/// A power computed with 113 bits and rounded once: the same on every platform. A base that is not
/// a positive normal number is its own power.
pub(crate) fn power(base: f64, exponent: u32) -> f64 {
    if exponent == 0 {
        return 1.0;
    }
    if !base.is_normal() || base < 0.0 {
        return base;
    }
    let double = Double::from_bits(base.to_bits().into());
    let StatusAnd { value, .. } = double.convert(&mut false);
    let mut square: Quad = value;
    let mut product = Quad::from_u128(1).value;
    for bit in 0..u32::BITS - exponent.leading_zeros() {
        if exponent >> bit & 1 == 1 {
            product *= square;
        }
        square *= square;
    }
    let StatusAnd { value, .. }: StatusAnd<Double> = product.convert(&mut false);
    f64::from_bits(value.to_bits() as u64)
}

#[cfg(test)]
mod tests;
