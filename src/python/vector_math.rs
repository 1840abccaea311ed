//! Powers, exponentials and logarithms of whole columns, with the bits of the C library.
//!
//! Slices of doubles enter. For every row, the double leaves that [`f64::powf`], [`f64::exp`] or
//! [`f64::ln`] gets from the platform's C library. Nothing raises here: a domain error gives the
//! library's nan and an overflow its infinity, which the caller turns into Python's exceptions.
//!
//! The library is called for few rows. Each row is first computed with some twelve bits more than a
//! double holds (`Kernel`). If that value is further from the midpoint between two doubles than
//! the library's published error bound, the library must round as we do (`rounded`). The library
//! itself computes the other rows, about one in thirty, and all rows with special values: zeros
//! (but see `product`), subnormals, infinities, nans, negative bases, overflow (`apply`). So
//! only the library's error bound is assumed, not its algorithm: glibc, with or without fused
//! multiply-add, and musl are alike. Where no bound is published, or the processor has no fused
//! multiply-add, the library computes all rows.
//!
//! `log2` and `log10` are not here: the library's bounds for them, 0.55 and above 1 unit in the
//! last place, leave too few rows certain.
//!
//! ```
//! use job_sort_formula::python::vector_math::VectorMath;
//!
//! let hours = [0.5, 12.0, 300.0];
//! let mut weights = [0.0; 3];
//! VectorMath::new().pow_scalar_base(2.0, &hours, &mut weights);
//! assert_eq!(weights, hours.map(|hours| 2f64.powf(hours)));
//! ```

#[cfg(test)]
mod tests;

use std::array::from_fn;
use std::f64::consts::LOG2_E;
use std::hint::black_box;

use crate::simd::{Level, dispatch_at, has_fused_multiply_add};

/// The functions, with the instructions of this processor.
///
/// Each fills `out` up to the length of the shortest slice and leaves the rest unchanged. None
/// allocates.
#[derive(Debug, Clone, Copy)]
pub struct VectorMath {
    level: Level,
}

impl VectorMath {
    /// Selects the widest instructions of this processor. The first call detects them; later calls
    /// reuse the result.
    pub fn new() -> Self {
        Self {
            level: Level::new(),
        }
    }

    /// `base[i].powf(exponent[i])`.
    pub fn pow(self, base: &[f64], exponent: &[f64], out: &mut [f64]) {
        apply(self.level, &Power, [base, exponent], out);
    }

    /// `base.powf(exponent[i])`.
    pub fn pow_scalar_base(self, base: f64, exponent: &[f64], out: &mut [f64]) {
        apply(self.level, &PowerOfBase::new(base), [exponent], out);
    }

    /// `base[i].powf(exponent)`. The exponents 2 and 3 need no logarithm and are the fastest.
    pub fn pow_scalar_exponent(self, base: &[f64], exponent: f64, out: &mut [f64]) {
        match exponent {
            2.0 => apply(self.level, &Square, [base], out),
            3.0 => apply(self.level, &Cube, [base], out),
            _ => apply(self.level, &ToPower { exponent }, [base], out),
        };
    }

    /// `x[i].exp()`.
    pub fn exp(self, x: &[f64], out: &mut [f64]) {
        apply(self.level, &Exp, [x], out);
    }

    /// `x[i].ln()`.
    pub fn ln(self, x: &[f64], out: &mut [f64]) {
        apply(self.level, &Ln, [x], out);
    }
}

impl Default for VectorMath {
    fn default() -> Self {
        Self::new()
    }
}

/// A function of `N` columns. What is constant in a column is computed once, when the kernel is
/// made.
trait Kernel<const N: usize> {
    /// Computes one row without the library. Implementations have no branches and are
    /// `#[inline(always)]`.
    fn approximate(&self, arguments: [f64; N]) -> Approximation;
    /// Computes one row with the C library.
    fn call_library(&self, arguments: [f64; N]) -> f64;
}

/// The rows of a vectorized loop: a fixed number, and a multiple of every vector length.
// also 64 because `packed` makes a bit of a `u64` of each row
const BLOCK: usize = 64;
/// The rows that are approximated before the library computes the uncertain ones among them: few
/// enough for the first-level cache.
const BATCH: usize = 8 * BLOCK;
/// A byte for each row of a batch: 1 if the row is uncertain, otherwise 0.
type UncertainFlags = [[u8; BLOCK]; BATCH / BLOCK];

/// Fills as many elements of `out` as the shortest of all slices has. Returns how many of them the
/// library computed.
///
/// First all rows of a batch run in vectorized loops, without branches, then the uncertain rows by
/// the C library: those for which the error bound of the approximation leaves open which double the
/// library returns.
fn apply<K: Kernel<N>, const N: usize>(
    level: Level,
    kernel: &K,
    inputs: [&[f64]; N],
    out: &mut [f64],
) -> usize {
    let length = inputs
        .iter()
        .fold(out.len(), |length, input| length.min(input.len()));
    let out = &mut out[..length];
    // one length for all, so that all have the same number of blocks
    let inputs = inputs.map(|input| &input[..length]);
    if !(HAS_PUBLISHED_BOUNDS && has_fused_multiply_add(level)) {
        return compute_with_library(kernel, inputs, out, 0..length);
    }
    let batches = (0..length).step_by(BATCH).zip(out.chunks_mut(BATCH));
    batches
        .map(|(start, out)| {
            compute_batch(
                level,
                kernel,
                inputs.map(|input| &input[start..][..out.len()]),
                out,
            )
        })
        .sum()
}

/// Computes at most [`BATCH`] rows. Returns how many of them the library computed.
fn compute_batch<K: Kernel<N>, const N: usize>(
    level: Level,
    kernel: &K,
    inputs: [&[f64]; N],
    out: &mut [f64],
) -> usize {
    // 0 also for the blocks behind a short batch, which are not computed
    let mut uncertain_flags = [[0; BLOCK]; BATCH / BLOCK];
    dispatch_at(
        level,
        #[inline(always)]
        || approximate_blocks(kernel, inputs, out, &mut uncertain_flags),
    );
    let mut uncertain_rows = [0; BATCH];
    let count = collect_rows(&uncertain_flags, &mut uncertain_rows);
    let length = out.len();
    // The last block is padded; its padding may be uncertain too.
    let rows = uncertain_rows[..count]
        .iter()
        .map(|&row| usize::from(row))
        .filter(|&row| row < length);
    compute_with_library(kernel, inputs, out, rows)
}

/// Computes the given rows with the library. Returns how many there are.
fn compute_with_library<K: Kernel<N>, const N: usize>(
    kernel: &K,
    inputs: [&[f64]; N],
    out: &mut [f64],
    rows: impl Iterator<Item = usize>,
) -> usize {
    rows.map(|row| out[row] = kernel.call_library(inputs.map(|input| input[row])))
        .count()
}

#[inline(always)]
fn approximate_blocks<K: Kernel<N>, const N: usize>(
    kernel: &K,
    inputs: [&[f64]; N],
    out: &mut [f64],
    uncertain_flags: &mut UncertainFlags,
) {
    let inputs = inputs.map(|input| input.as_chunks::<BLOCK>());
    let (whole, rest) = out.as_chunks_mut::<BLOCK>();
    for (block, (out, flags)) in whole.iter_mut().zip(uncertain_flags.iter_mut()).enumerate() {
        approximate_block(kernel, from_fn(|n| &inputs[n].0[block]), out, flags);
    }
    if let Some(flags) = uncertain_flags.get_mut(whole.len())
        && !rest.is_empty()
    {
        let padded: [[f64; BLOCK]; N] =
            // any number would do, since the results of the padding are dropped
            from_fn(|n| from_fn(|row| inputs[n].1.get(row).copied().unwrap_or(1.0)));
        let mut last = [0.0; BLOCK];
        approximate_block(kernel, padded.each_ref(), &mut last, flags);
        rest.copy_from_slice(&last[..rest.len()]);
    }
}

#[inline(always)]
fn approximate_block<K: Kernel<N>, const N: usize>(
    kernel: &K,
    inputs: [&[f64; BLOCK]; N],
    out: &mut [f64; BLOCK],
    uncertain_flags: &mut [u8; BLOCK],
) {
    for row in 0..BLOCK {
        let approximation = kernel.approximate(from_fn(|n| inputs[n][row]));
        out[row] = approximation.value;
        uncertain_flags[row] = u8::from(!approximation.certain);
    }
}

/// Writes the positions of the nonzero bytes of `uncertain_flags` to `rows`, in ascending order.
/// Returns how many there are.
fn collect_rows(uncertain_flags: &UncertainFlags, rows: &mut [u16; BATCH]) -> usize {
    let mut count = 0;
    for (block_start, flags) in (0u16..).step_by(BLOCK).zip(uncertain_flags) {
        let mut mask = packed(flags);
        while mask != 0 {
            // it fits: a batch has 512 rows
            rows[count] = block_start + mask.trailing_zeros() as u16;
            count += 1;
            mask &= mask - 1;
        }
    }
    count
}

/// Packs bytes of 0 or 1 into bits: the product gathers eight of them in the highest byte.
fn packed(flags: &[u8; BLOCK]) -> u64 {
    const GATHER: u64 = 0x0102_0408_1020_4080;
    let (words, _) = flags.as_chunks::<8>();
    let bytes = words
        .iter()
        .map(|word| u64::from_le_bytes(*word).wrapping_mul(GATHER) >> 56);
    bytes.rev().fold(0, |mask, byte| mask << 8 | byte)
}

/// Whether the C library of this platform publishes the error bounds of its functions.
const HAS_PUBLISHED_BOUNDS: bool = cfg!(all(
    target_os = "linux",
    target_pointer_width = "64",
    any(target_env = "gnu", target_env = "musl")
));

// A margin, in units in the last place, is the library's error beyond 0.5 plus ours. glibc since
// 2.28 and musl since 1.2 share one implementation and publish its error bounds. Without fused
// multiply-add (with it they are smaller) they are: `exp` 0.511, `log` 0.520, `pow` 0.511 and 1.5
// · 2⁻⁶⁸ · 2⁵³ for each unit of `|y · ln x|`, 0.54 at worst. glibc before 2.28 rounds these
// functions correctly.

/// A unit in the last place of a number between 1 and 2.
const UNIT: f64 = f64::EPSILON;
/// The margin of `exp`: 0.011 for the library; [`exp`] derives ours.
const EXP_MARGIN: f64 = (0.011 + 0.003) * UNIT;
/// The margin of `ln`: 0.020 for the library; [`log`] derives ours.
const LOG_MARGIN: f64 = (0.020 + 0.002) * UNIT;
/// The margin of `pow` for each unit of `|y · ln x|`: 4.6e-5 for the library; [`log`] derives
/// ours.
const POW_MARGIN_SLOPE: f64 = (4.6e-5 + 3.0e-5) * UNIT;

/// A value computed without the C library, and whether the library is certain to return the same.
struct Approximation {
    value: f64,
    certain: bool,
}

/// Ziv's rounding test: rounds `high + low`. The result is certain if everything within `margin` of
/// the sum rounds to it; `margin` is for numbers between 1 and 2, and scales with the power of two.
///
/// The library's result is at most `0.5 + margin` units in the last place from the exact value. If
/// the exact value is further than `margin` from every midpoint between two doubles, only one
/// double satisfies that bound: the one nearest to the exact value.
///
/// `low` is less than 2⁻³⁰ of `high`. It may exceed half a unit in the last place: both ends of the
/// interval are rounded.
#[inline(always)]
fn rounded(high: f64, low: f64, margin: f64) -> Approximation {
    const EXPONENT: u64 = 0x7ff << 52;
    let reach = f64::from_bits(high.to_bits() & EXPONENT) * margin;
    // added to `low` first: beside `high`, `reach` would be rounded away
    let below = high + (low - reach);
    let above = high + (low + reach);
    Approximation {
        value: below,
        certain: below == above,
    }
}

/// Whether a double is positive, finite and not subnormal.
#[inline(always)]
fn is_positive_normal(x: f64) -> bool {
    (f64::MIN_POSITIVE..=f64::MAX).contains(&x)
}

/// ln 2 as a sum of two doubles. The first has 42 bits, so its product with an exponent is exact.
const LN_2_HIGH: f64 = 0.693_147_180_559_890_3;
const LN_2_LOW: f64 = 5.497_923_018_708_371e-14;
const SIXTH: f64 = 1.0 / 6.0;
const SIXTH_REST: f64 = 9.251_858_538_542_97e-18;
/// The polynomial `q` of `exp`.
const EXP_Q: [f64; 9] = [
    0.041666666666666685,
    0.008333333333327154,
    0.0013888888888871354,
    0.00019841269875433542,
    2.4801587354226286e-05,
    2.755725291328383e-06,
    2.755724685289332e-07,
    2.5106490321637863e-08,
    2.0923443508163094e-09,
];

/// The largest magnitude of the argument for which the result is neither infinite nor subnormal.
const MAX_EXP_ARGUMENT: f64 = 708.0;

/// Adding this to a small number rounds it to an integer, held in the lowest bits of the sum.
// 1.5 and not 1: the sum with a negative number, too, stays above 2^52, where doubles are integers
const ROUND_TO_INT: f64 = 1.5 * (1u64 << 52) as f64;

/// `e^(high + low)`, where `low` is less than 2⁻⁵² of `high`. `margin` is that of [`rounded`].
///
/// The exponential is computed as another sum of two doubles, times 2ᵏ. `z = k ln 2 + t` with
/// `|t| <= ln 2 / 2`, and `eᵗ = 1 + t (1 + t (1/2 + t (1/6 + t q(t))))`. `q`, of degree 8, is
/// nearly the best approximation of its degree: the error is 2⁻⁶²·³ of `eᵗ`, or 0.0016 units in the
/// last place. Only `q` is computed in plain doubles; its rounding error is at most
/// `t⁴/24 · 2⁻⁵³`, less than 0.001 units. The other four steps keep their rounding errors.
#[inline(always)]
fn exp(high: f64, low: f64, margin: f64) -> Approximation {
    let shifted = high.mul_add(LOG2_E, ROUND_TO_INT);
    // the same constant subtracted leaves the rounded integer
    let k = shifted - ROUND_TO_INT;
    let t = k.mul_add(-LN_2_HIGH, high);
    let t_rest = k.mul_add(-LN_2_LOW, low);
    let (fraction, rest) = reduced(t, t_rest);
    let approximation = rounded(fraction, rest, margin);
    // the lowest bits of `shifted` are k, which is added to the exponent
    let scaled = f64::from_bits(
        approximation
            .value
            .to_bits()
            .wrapping_add(shifted.to_bits() << 52),
    );
    Approximation {
        value: scaled,
        certain: approximation.certain & (high.abs() <= MAX_EXP_ARGUMENT),
    }
}

/// `e^(t + t_rest)` for `|t| <= ln 2 / 2` and `|t_rest| < 2⁻³³`.
///
/// Each step is `sum = c + t * x`; its rounding error is `(c - sum) + t * x`, itself rounded once.
#[inline(always)]
fn reduced(t: f64, t_rest: f64) -> (f64, f64) {
    let q = estrin_9(t, EXP_Q);
    let third = t.mul_add(q, SIXTH);
    let third_rest = t.mul_add(q, SIXTH - third) + SIXTH_REST;
    let second = t.mul_add(third, 0.5);
    let second_rest = t.mul_add(third_rest, t.mul_add(third, 0.5 - second));
    let first = t.mul_add(second, 1.0);
    let first_rest = t.mul_add(second_rest, t.mul_add(second, 1.0 - first));
    let sum = t.mul_add(first, 1.0);
    let rest = t.mul_add(first_rest, t_rest.mul_add(sum, t.mul_add(first, 1.0 - sum)));
    (sum, rest)
}

/// `exp`.
struct Exp;

impl Kernel<1> for Exp {
    #[inline(always)]
    fn approximate(&self, [x]: [f64; 1]) -> Approximation {
        exp(x, 0.0, EXP_MARGIN)
    }

    fn call_library(&self, [x]: [f64; 1]) -> f64 {
        x.exp()
    }
}

const ROOT_HALF_BITS: u64 = 0x3fe6_a09e_667f_3bcd;
const ONE_BITS: u64 = 0x3ff0_0000_0000_0000;
const FRACTION_BITS: u64 = (1 << 52) - 1;
/// The bits of 2⁵²: an integer in its lowest bits is added to its value.
const INTEGER_BITS: u64 = 0x4330_0000_0000_0000;

const THIRD: f64 = 1.0 / 3.0;
const THIRD_REST: f64 = 1.850_371_707_708_594e-17;
const FIFTH: f64 = 0.2;
const FIFTH_REST: f64 = -1.110_223_024_625_156_6e-17;

/// The polynomial `q` of `ln` for the coarse precision: 2⁻⁶⁵·⁵ of the logarithm.
const COARSE_LOG_Q: [f64; 6] = [
    0.142857142855201,
    0.11111111185028656,
    0.09090898137526025,
    0.07693126483558832,
    0.06633859623216438,
    0.0655085447637555,
];
/// The polynomial `q` of `ln` for the fine precision: 2⁻⁷³ of the logarithm.
const FINE_LOG_Q: [f64; 8] = [
    0.1428571428571426,
    0.11111111111126568,
    0.09090909087202342,
    0.07692308168730123,
    0.06666630404496054,
    0.05884038455394031,
    0.05216262215538836,
    0.05473835744340582,
];

/// `ln x` with a relative error of 2⁻⁶⁸·⁸; the second part is less than half a unit in the last
/// place of the first.
#[inline(always)]
fn fine_log(x: f64) -> (f64, f64) {
    let (high, low) = log::<true>(x);
    let sum = high + low;
    // exact, since `low` is at most 2⁻³³ of `high`
    (sum, low - (sum - high))
}

/// `ln x` of a positive normal double; the second part is at most 2⁻³³ of the first.
///
/// `x = 2ᵏ m` with `m` between √½ and √2, `s = (m - 1) / (m + 1)`, `w = s² < 0.0295`, and
/// `ln m = 2 s (1 + w (1/3 + w (1/5 + w q(w))))`. There are two precisions. The coarse one, for
/// `ln` itself, has a relative error of 2⁻⁶³ (0.001 units in the last place). The fine one is for
/// powers, where the exponent multiplies the error: 2⁻⁶⁸·⁸ (2e-5 units for each unit of
/// `|y · ln x|`).
#[inline(always)]
// a constant parameter, so that neither precision has a branch
fn log<const FINE: bool>(x: f64) -> (f64, f64) {
    let (k, m) = split(x);
    let (s, s_rest) = quotient(m);
    let (u, u_rest) = series::<FINE>(s, s_rest);
    let s = s + s;
    let s_rest = s_rest + s_rest;
    let v = s * u;
    let v_rest = s.mul_add(u, -v) + s_rest.mul_add(u, s_rest);
    // `k ln 2` is zero or more than twice `s`, and `s` is more than `v`, so the rounding error of
    // each sum is exact.
    let k_ln_2 = k * LN_2_HIGH;
    let first = k_ln_2 + s;
    let first_rest = s - (first - k_ln_2);
    let sum = first + v;
    let sum_rest = v - (sum - first);
    let rest = k.mul_add(LN_2_LOW, (first_rest + sum_rest) + v_rest);
    (sum, s.mul_add(u_rest, rest))
}

/// `k` and `m` where `x = 2ᵏ m` and `m` is between √½ and √2.
#[inline(always)]
fn split(x: f64) -> (f64, f64) {
    // so moved, the exponent changes at √½ instead of 1
    let bits = x.to_bits().wrapping_add(ONE_BITS - ROOT_HALF_BITS);
    let m = f64::from_bits((bits & FRACTION_BITS) + ROOT_HALF_BITS);
    (exponent(bits), m)
}

/// The exponent of a double that is not negative, from its bits.
#[inline(always)]
fn exponent(bits: u64) -> f64 {
    f64::from_bits((bits >> 52) | INTEGER_BITS) - ((1u64 << 52) + 1023) as f64
}

/// `(m - 1) / (m + 1)`. The difference is exact; the sum may be rounded.
#[inline(always)]
fn quotient(m: f64) -> (f64, f64) {
    let difference = m - 1.0;
    let sum = m + 1.0;
    let sum_rest = m - (sum - 1.0);
    let inverse = 1.0 / sum;
    // a product, since the remainder needs the inverse too; it has the error of `s`
    let s = difference * inverse;
    let remainder = (-s).mul_add(sum_rest, (-s).mul_add(sum, difference));
    (s, remainder * inverse)
}

/// `w (1/3 + w (1/5 + w q(w)))` for `w = (s + s_rest)²`.
#[inline(always)]
fn series<const FINE: bool>(s: f64, s_rest: f64) -> (f64, f64) {
    let w = s * s;
    let w_rest = (s + s).mul_add(s_rest, s.mul_add(s, -w));
    let q = if FINE {
        estrin_8(w, FINE_LOG_Q)
    } else {
        estrin_6(w, COARSE_LOG_Q)
    };
    let b = w.mul_add(q, FIFTH);
    let a = w.mul_add(b, THIRD);
    let a_rest = w.mul_add(b, THIRD - a);
    let a_rest = if FINE {
        let b_rest = w.mul_add(q, FIFTH - b) + FIFTH_REST;
        a_rest + w.mul_add(b_rest, w_rest.mul_add(b, THIRD_REST))
    } else {
        a_rest + THIRD_REST
    };
    let u = w * a;
    let u_rest = w.mul_add(a_rest, w_rest.mul_add(a, w.mul_add(a, -u)));
    (u, u_rest)
}

/// `ln`.
struct Ln;

impl Kernel<1> for Ln {
    #[inline(always)]
    fn approximate(&self, [x]: [f64; 1]) -> Approximation {
        let (high, low) = log::<false>(x);
        let approximation = rounded(high, low, LOG_MARGIN);
        Approximation {
            value: approximation.value,
            certain: approximation.certain & is_positive_normal(x),
        }
    }

    fn call_library(&self, [x]: [f64; 1]) -> f64 {
        x.ln()
    }
}

// Polynomials by Estrin's scheme: the chain of dependent steps is half as long as in Horner's.

/// `c[0] + c[1] x + … + c[3] x³`.
#[inline(always)]
fn estrin_4(x: f64, square: f64, c: [f64; 4]) -> f64 {
    square.mul_add(x.mul_add(c[3], c[2]), x.mul_add(c[1], c[0]))
}

/// `c[0] + c[1] x + … + c[5] x⁵`.
#[inline(always)]
fn estrin_6(x: f64, [c0, c1, c2, c3, c4, c5]: [f64; 6]) -> f64 {
    let square = x * x;
    (square * square).mul_add(x.mul_add(c5, c4), estrin_4(x, square, [c0, c1, c2, c3]))
}

/// `c[0] + c[1] x + … + c[7] x⁷`.
#[inline(always)]
fn estrin_8(x: f64, [c0, c1, c2, c3, c4, c5, c6, c7]: [f64; 8]) -> f64 {
    let square = x * x;
    (square * square).mul_add(
        estrin_4(x, square, [c4, c5, c6, c7]),
        estrin_4(x, square, [c0, c1, c2, c3]),
    )
}

/// `c[0] + c[1] x + … + c[8] x⁸`.
#[inline(always)]
fn estrin_9(x: f64, [c0, c1, c2, c3, c4, c5, c6, c7, c8]: [f64; 9]) -> f64 {
    let square = x * x;
    let fourth = square * square;
    let upper = fourth.mul_add(c8, estrin_4(x, square, [c4, c5, c6, c7]));
    fourth.mul_add(upper, estrin_4(x, square, [c0, c1, c2, c3]))
}

/// `e^(exponent · (high + low))`.
#[inline(always)]
fn exp_of_product((high, low): (f64, f64), exponent: f64) -> Approximation {
    let z = exponent * high;
    let z_rest = exponent.mul_add(low, exponent.mul_add(high, -z));
    exp(z, z_rest, z.abs().mul_add(POW_MARGIN_SLOPE, EXP_MARGIN))
}

/// The C library's `pow`. Its arguments are hidden from the compiler, which otherwise replaces a
/// call with a constant by `exp2` for a base of 2 and by products for small exponents: other bits.
fn library_power(base: f64, exponent: f64) -> f64 {
    black_box(base).powf(black_box(exponent))
}

/// A column to the power of a column.
struct Power;

impl Kernel<2> for Power {
    #[inline(always)]
    fn approximate(&self, [base, exponent]: [f64; 2]) -> Approximation {
        let approximation = exp_of_product(fine_log(base), exponent);
        Approximation {
            value: approximation.value,
            // `&&` would be a branch, which keeps the loop from being vectorized
            certain: approximation.certain & is_positive_normal(base),
        }
    }

    fn call_library(&self, [base, exponent]: [f64; 2]) -> f64 {
        library_power(base, exponent)
    }
}

/// One number to the power of a column.
struct PowerOfBase {
    base: f64,
    logarithm: (f64, f64),
}

impl PowerOfBase {
    fn new(base: f64) -> Self {
        // With a nan for the logarithm, no row is certain.
        let logarithm = if is_positive_normal(base) {
            fine_log(base)
        } else {
            (f64::NAN, f64::NAN)
        };
        Self { base, logarithm }
    }
}

impl Kernel<1> for PowerOfBase {
    #[inline(always)]
    fn approximate(&self, [exponent]: [f64; 1]) -> Approximation {
        exp_of_product(self.logarithm, exponent)
    }

    fn call_library(&self, [exponent]: [f64; 1]) -> f64 {
        library_power(self.base, exponent)
    }
}

/// A column to the power of one number.
struct ToPower {
    exponent: f64,
}

impl Kernel<1> for ToPower {
    #[inline(always)]
    fn approximate(&self, [base]: [f64; 1]) -> Approximation {
        Power.approximate([base, self.exponent])
    }

    fn call_library(&self, [base]: [f64; 1]) -> f64 {
        library_power(base, self.exponent)
    }
}

/// The library's error beyond 0.5 units in the last place for a result near 1: 0.011.
const MARGIN_NEAR_ONE: f64 = 0.0115 * UNIT;
/// What each power of two between 1 and the result adds to it: ln 2 times 4.6e-5.
const MARGIN_PER_DOUBLING: f64 = 3.2e-5 * UNIT;

/// Between 2⁻⁹⁰⁰ and 2⁹⁰⁰ a result is finite and its second part is not subnormal.
const MAX_DOUBLINGS: f64 = 900.0;

/// A product `high + low`, to about 100 bits, rounded. The result is certain if `pow` must return
/// it; the margin is the library's error alone: the function is `pow`, not a multiplication, and
/// near a midpoint the two may differ. Zeros are common bases, and certain: their power is the
/// product.
#[inline(always)]
fn product(base: f64, high: f64, low: f64) -> Approximation {
    // without the sign, since a cube may be negative; the library's error grows with the exponent on
    // either side of 1
    let doublings = exponent(high.abs().to_bits()).abs();
    let approximation = rounded(
        high,
        low,
        doublings.mul_add(MARGIN_PER_DOUBLING, MARGIN_NEAR_ONE),
    );
    let is_certain = approximation.certain & (doublings <= MAX_DOUBLINGS);
    let value = if base == 0.0 {
        high
    } else {
        approximation.value
    };
    Approximation {
        value,
        certain: is_certain | (base == 0.0),
    }
}

/// `x²` exactly.
#[inline(always)]
fn square(x: f64) -> (f64, f64) {
    let high = x * x;
    (high, x.mul_add(x, -high))
}

/// To the power of 2.
struct Square;

impl Kernel<1> for Square {
    #[inline(always)]
    fn approximate(&self, [x]: [f64; 1]) -> Approximation {
        let (high, low) = square(x);
        product(x, high, low)
    }

    fn call_library(&self, [x]: [f64; 1]) -> f64 {
        library_power(x, 2.0)
    }
}

/// To the power of 3.
struct Cube;

impl Kernel<1> for Cube {
    #[inline(always)]
    fn approximate(&self, [x]: [f64; 1]) -> Approximation {
        let (square, square_rest) = square(x);
        let high = square * x;
        product(x, high, square_rest.mul_add(x, square.mul_add(x, -high)))
    }

    fn call_library(&self, [x]: [f64; 1]) -> f64 {
        library_power(x, 3.0)
    }
}
