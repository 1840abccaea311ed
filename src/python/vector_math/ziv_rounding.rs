//! Ziv's rounding test: when a result of higher precision determines the double that the C library
//! returns.
//!
//! What enters is a value as an unevaluated sum of two doubles, and a margin; what leaves is the
//! rounded value, and whether all values within the margin round to it. The library's result is at
//! most `0.5 + margin` units in the last place from the exact value. If the exact value is further
//! than `margin` from every midpoint between two doubles, only one double satisfies that bound: the
//! one nearest to the exact value.
//!
//! A margin, in units in the last place, is the library's error beyond 0.5 plus ours. glibc since
//! 2.28 and musl since 1.2 share one implementation and publish its error bounds. Without fused
//! multiply-add (with it they are smaller) they are: `exp` 0.511, `log` 0.520, `pow` 0.511 and 1.5
//! · 2⁻⁶⁸ · 2⁵³ for each unit of `|y · ln x|`, 0.54 at worst. glibc before 2.28 rounds these
//! functions correctly.

/// Whether the C library of this platform publishes the error bounds of its functions.
pub(super) const HAS_PUBLISHED_BOUNDS: bool = cfg!(all(
    target_os = "linux",
    target_pointer_width = "64",
    any(target_env = "gnu", target_env = "musl")
));

/// A unit in the last place of a number between 1 and 2.
pub(super) const UNIT: f64 = f64::EPSILON;
/// The margin of `exp`: 0.011 for the library; `exp_log` derives ours.
pub(super) const EXP_MARGIN: f64 = (0.011 + 0.003) * UNIT;
/// The margin of `ln`: 0.020 for the library; `exp_log` derives ours.
pub(super) const LOG_MARGIN: f64 = (0.020 + 0.002) * UNIT;
/// The margin of `pow` for each unit of `|y · ln x|`: 4.6e-5 for the library; `exp_log` derives
/// ours.
pub(super) const POW_MARGIN_SLOPE: f64 = (4.6e-5 + 3.0e-5) * UNIT;

/// A value computed without the C library, and whether the library is certain to return the same.
pub(super) struct Approximation {
    pub value: f64,
    pub certain: bool,
}

/// Rounds `high + low`. The result is certain if everything within `margin` of the sum rounds to
/// it; `margin` is for numbers between 1 and 2, and scales with the power of two.
///
/// `low` is less than 2⁻³⁰ of `high`. It may exceed half a unit in the last place: both ends of the
/// interval are rounded.
#[inline(always)]
pub(super) fn rounded(high: f64, low: f64, margin: f64) -> Approximation {
    const EXPONENT: u64 = 0x7ff << 52;
    let reach = f64::from_bits(high.to_bits() & EXPONENT) * margin;
    let below = high + (low - reach);
    let above = high + (low + reach);
    Approximation {
        value: below,
        certain: below == above,
    }
}

/// Whether a double is positive, finite and not subnormal.
#[inline(always)]
pub(super) fn is_positive_normal(x: f64) -> bool {
    (f64::MIN_POSITIVE..=f64::MAX).contains(&x)
}
