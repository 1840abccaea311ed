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

use num_bigint::BigUint;
use num_integer::Integer;
use num_traits::ToPrimitive;
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
    fn scaled(integer: u128, exponent: i32) -> Self {
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
            // both are exact in 64 bits, so the quotient is rounded once
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
        // 66 bits or more, of which the lowest says whether something remains: enough to round to 64
        let lacking = 66 + numerator.leading_zeros() as i32 - denominator.leading_zeros() as i32;
        let shift = lacking.max(0);
        let shifted = BigUint::from(numerator) << shift;
        let (quotient, remainder) = shifted.div_rem(&BigUint::from(denominator));
        let is_inexact = remainder != BigUint::ZERO;
        // it fits: 67 bits, or fewer than the numerator has
        let quotient = quotient.to_u128().unwrap_or(u128::MAX);
        Self::scaled(quotient | u128::from(is_inexact), -shift)
    }

    /// The nearest double, ties to even.
    pub fn to_f64(self) -> f64 {
        // `convert` sets the flag where bits are lost, which is expected here
        let StatusAnd { value, .. }: StatusAnd<Double> = self.0.convert(&mut false);
        // a double has 64 of the 128 bits that apfloat returns
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
            // now between the roots of 1/2 and 2, where the series converges within `TERMS`
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
        // an exponent is exact as a double, too
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
        // after the last bit it may overflow, and is not used
        square *= square;
    }
    let StatusAnd { value, .. }: StatusAnd<Double> = product.convert(&mut false);
    f64::from_bits(value.to_bits() as u64)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use rustc_apfloat::Category;

    use super::*;

    fn integer(value: u64) -> Extended {
        Extended::from(value)
    }

    /// The mantissa and the exponent of its highest bit, as in `x87.txt`.
    fn to_hex(number: Extended) -> String {
        let bits = number.0.to_bits();
        let sign = if number.0.is_negative() { "-" } else { "" };
        match number.0.category() {
            Category::Zero => "0".into(),
            Category::Normal => {
                // a subnormal number is written as if its highest bit were set
                let mantissa = bits as u64;
                format!(
                    "{sign}{:016x}:{}",
                    mantissa << mantissa.leading_zeros(),
                    number.0.ilogb()
                )
            }
            Category::Infinity => format!("{sign}inf"),
            Category::NaN => "nan".into(),
        }
    }

    fn double(bits: &str) -> f64 {
        f64::from_bits(u64::from_str_radix(bits, 16).expect("hexadecimal"))
    }

    /// 150 rows of `a b c`, then `x*y`, `x/y`, `x+y`, `x-y*z` for `x = a/3`, `y = b/7`, `z = c+1` as an
    /// x86 computes them in `long double`, the last one and `x*2^-1060` as doubles, and the sign of
    /// `y - x`.
    #[test]
    fn every_operation_gives_the_bits_of_the_x87() {
        for row in include_str!("x87/x87.txt").lines() {
            let fields: Vec<&str> = row.split(' ').collect();
            let [a, b, c] = [0, 1, 2].map(|i| double(fields[i]));
            let x = Extended::from(a) / integer(3);
            let y = Extended::from(b) / integer(7);
            let z = Extended::from(c + 1.0);
            assert_eq!(to_hex(x * y), fields[3], "{row}");
            assert_eq!(
                to_hex(if b == 0.0 { Extended::ZERO } else { x / y }),
                fields[4],
                "{row}"
            );
            assert_eq!(to_hex(x + y), fields[5], "{row}");
            let difference = x - y * z;
            assert_eq!(to_hex(difference), fields[6], "{row}");
            assert_eq!(difference.to_f64() + 0.0, double(fields[7]) + 0.0, "{row}");
            let small = x * Extended::from(f64::from_bits(1)) * Extended::from(2f64.powi(14));
            assert_eq!(small.to_f64() + 0.0, double(fields[8]) + 0.0, "{row}");
            assert_eq!(
                y.partial_cmp(&x).map(|order| order as i32),
                fields[9].parse().ok(),
                "{row}"
            );
        }
    }

    #[test]
    fn every_double_round_trips() {
        let some = [
            0.0,
            1.0,
            -1.5,
            f64::MAX,
            f64::MIN_POSITIVE,
            5e-324,
            2.5e-320,
            f64::INFINITY,
            f64::NEG_INFINITY,
            0.1,
        ];
        for value in some {
            assert_eq!(Extended::from(value).to_f64(), value);
        }
        assert!(Extended::from(f64::NAN).to_f64().is_nan());
        assert_eq!(
            (Extended::from(f64::MAX) + Extended::from(f64::MAX)).to_f64(),
            f64::INFINITY
        );
    }

    #[test]
    fn the_ends_of_the_range() {
        let big = (0..6).fold(integer(2), |power, _| power * power) * integer(1 << 63);
        let mut huge = big;
        while huge < Extended::INFINITY {
            huge = huge * huge;
        }
        assert_eq!(to_hex(huge), "inf");
        let mut small = Extended::one() / integer(3);
        let mut steps = 0;
        while !small.is_zero() {
            small = small / integer(2);
            steps += 1;
        }
        // 1/3 is halved down to the least subnormal number and once more, to 0
        assert_eq!(steps, 16445);
        assert_eq!(to_hex(Extended::ZERO / Extended::ZERO), "nan");
        assert_eq!(to_hex(-integer(1) / Extended::ZERO), "-inf");
        assert_eq!(to_hex(Extended::INFINITY - Extended::INFINITY), "nan");
        assert!(
            -integer(2) < -integer(1)
                && -integer(1) < Extended::ZERO
                && Extended::ZERO < integer(1)
        );
        assert_eq!(
            Extended::NAN.total_order(&-Extended::INFINITY),
            Ordering::Less
        );
        assert_eq!(Extended::NAN.total_order(&Extended::NAN), Ordering::Equal);
    }

    #[test]
    fn equal_fractions_are_equal() {
        assert_eq!(
            Extended::quotient(1, 3),
            Extended::quotient(1 << 100, 3 << 100)
        );
        assert_eq!(Extended::quotient(7, 49), Extended::one() / integer(7));
        assert_eq!(
            to_hex(Extended::quotient(u128::MAX, u128::MAX)),
            to_hex(Extended::one())
        );
        assert_eq!(Extended::quotient(u128::MAX, 1).to_f64(), 2f64.powi(128));
        assert_eq!(to_hex(Extended::quotient(0, 5)), "0");
        assert_eq!(to_hex(Extended::quotient(5, 0)), "inf");
        for (n, d) in [
            (1u64, 7u64),
            (10, 3),
            (u64::MAX, 12345),
            (3, u64::MAX),
            (1 << 63, 1),
            (999_999, 1_000_000),
        ] {
            assert_eq!(
                Extended::quotient(n.into(), d.into()),
                integer(n) / integer(d),
                "{n}/{d}"
            );
        }
    }

    /// `logl` of an x86, to the last bit; this implementation may differ in the lowest two bits.
    #[test]
    fn logarithms_are_those_of_the_x87() {
        for (number, logarithm) in LOGARITHMS {
            let exact = Extended::from(logarithm[0]) + Extended::from(logarithm[1]);
            let error = ((Extended::from(number).ln() - exact) / exact)
                .to_f64()
                .abs();
            assert!(error <= 4.0 * 2f64.powi(-64), "{number:?}: {error:e}");
        }
        assert!(Extended::one().ln().is_zero());
        assert_eq!(to_hex(Extended::ZERO.ln()), "-inf");
        assert_eq!(to_hex(Extended::INFINITY.ln()), "inf");
        assert_eq!(to_hex((-Extended::one()).ln()), "nan");
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(20_000) })]

        #[test]
        fn conversion_from_a_double_is_exact(value in any::<f64>()) {
            let converted = Extended::from(value);
            prop_assert!(converted.to_f64() == value || value.is_nan());
        }
    }

    /// Numbers and their logarithms in two doubles that add up to them.
    #[expect(
        clippy::excessive_precision,
        clippy::approx_constant,
        reason = "all digits, as C prints them"
    )]
    const LOGARITHMS: [(f64, [f64; 2]); 15] = [
        (2.0, [0.69314718055994529, 2.3201926491189795e-17]),
        (0.5, [-0.69314718055994529, -2.3201926491189795e-17]),
        (1.25, [0.22314355131420976, -9.0937457217221684e-18]),
        (
            0.99999999999999989,
            [-1.1102230246251565e-16, -6.1629758220391547e-33],
        ),
        (1.0000000000000002, [2.2204460492503128e-16, 0.0]),
        (
            1.4142135623730951,
            [0.3465735902799727, 2.4448758989548125e-17],
        ),
        (
            0.70710678118654757,
            [-0.34657359027997259, 1.2468324983583301e-18],
        ),
        (
            3.7000000000000001e-300,
            [-689.46719507856358, 5.0792703376600912e-14],
        ),
        (
            1.7976931348623157e+308,
            [709.78271289338397, 2.3647750424515834e-14],
        ),
        (
            4.9406564584124654e-324,
            [-744.44007192138122, -4.4242387531312488e-14],
        ),
        (10.0, [2.3025850929940459, -2.1705727493159799e-16]),
        (
            0.10000000000000001,
            [-2.3025850929940455, -1.715207836872068e-16],
        ),
        (1.5, [0.40546510810816438, -2.8731357570865868e-18]),
        (1.125, [0.11778303565638346, -1.1926223897340549e-18]),
        (123456789.0, [18.631401766168018, -2.0816681711721685e-16]),
    ];

    #[test]
    fn powers_are_right_to_the_last_bit() {
        for (base, exponent) in [(0.5, 10), (0.75, 3), (3.0, 20), (1.5, 7)] {
            assert_eq!(power(base, exponent), f64::powi(base, exponent as i32));
        }
        assert_eq!(power(0.0, 3), 0.0);
        assert_eq!(power(0.5, u32::MAX), 0.0);
        assert_eq!(power(10.0, u32::MAX), f64::INFINITY);
    }
}
