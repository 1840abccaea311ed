//! When the C library cannot but round as we do.
//!
//! What enters is a value as an unevaluated sum of two doubles and a distance; what leaves is the rounded value, and
//! whether all values within that distance round to it. If the library's result is never further than
//! `0.5 + distance` units in the last place from the truth, and the truth lies further than `distance` from every
//! middle between two doubles, then only one double is in the library's reach: the one nearest to the truth.
//!
//! The distances, in units in the last place, are the library's error beyond 0.5 and ours. glibc since 2.28 and musl
//! since 1.2 share one code and publish, without fused multiply-add (with it they are smaller): `exp` and `exp2` 0.511,
//! `log` 0.520, `pow` 0.511 and 1.5 · 2⁻⁶⁸ · 2⁵³ for each unit of `|y · ln x|`, 0.54 at worst. glibc before 2.28 rounded
//! these correctly.

/// Whether the platform's C library is one of those whose error is published.
pub(super) const PUBLISHED: bool =
    cfg!(all(target_os = "linux", target_pointer_width = "64", any(target_env = "gnu", target_env = "musl")));

/// A unit in the last place of a number between 1 and 2, in which the distances are counted.
pub(super) const UNIT: f64 = f64::EPSILON;
/// `exp` and `exp2`: 0.011 is the library's; `exponential` says what is ours.
pub(super) const EXPONENTIAL: f64 = (0.011 + 0.003) * UNIT;
/// `ln`: 0.020 is the library's; `logarithm` says what is ours.
pub(super) const LOGARITHM: f64 = (0.020 + 0.002) * UNIT;
/// `pow`, for each unit of `|y · ln x|`: 4.6e-5 is the library's; `logarithm` says what is ours.
pub(super) const POWER_SLOPE: f64 = (4.6e-5 + 3.0e-5) * UNIT;

/// One lane's value, and whether the C library is sure to give the same.
pub(super) struct Lane {
    pub value: f64,
    pub certain: bool,
}

/// `high + low` rounded; certain if everything within `distance` rounds alike, a distance that is meant for a number
/// between 1 and 2 and grows with its power of two.
///
/// `low` is less than 2⁻³⁰ of `high`. It may reach beyond half a unit: both ends of the interval are rounded.
#[inline(always)]
pub(super) fn rounded(high: f64, low: f64, distance: f64) -> Lane {
    const EXPONENT: u64 = 0x7ff << 52;
    let reach = f64::from_bits(high.to_bits() & EXPONENT) * distance;
    let below = high + (low - reach);
    let above = high + (low + reach);
    Lane { value: below, certain: below == above }
}

/// Whether a double is positive, finite and not subnormal.
#[inline(always)]
pub(super) fn is_positive_normal(x: f64) -> bool {
    (f64::MIN_POSITIVE..=f64::MAX).contains(&x)
}
