//! Runs a kernel over columns: first all rows of a batch in vectorized loops, then the uncertain
//! rows by the C library. A row is uncertain if the error bound of its approximation leaves open
//! which double the library returns.
//!
//! The two loops are separate, so that the first has no branches.

use std::array::from_fn;

use crate::python::vector_math::ziv_rounding::{Approximation, HAS_PUBLISHED_BOUNDS};
use crate::simd::{Level, dispatch_at, has_fused_multiply_add};

/// A function of `N` columns.
pub(super) trait Kernel<const N: usize> {
    /// Computes one row without the library. Implementations have no branches and are
    /// `#[inline(always)]`.
    fn approximate(&self, arguments: [f64; N]) -> Approximation;
    /// Computes one row with the C library.
    fn call_library(&self, arguments: [f64; N]) -> f64;
}

/// The rows of a vectorized loop: a fixed number, and a multiple of every vector length.
const BLOCK: usize = 64;
/// The rows that are approximated before the library computes the uncertain ones among them: few
/// enough for the first-level cache.
const BATCH: usize = 8 * BLOCK;
/// A byte for each row of a batch: 1 if the row is uncertain, otherwise 0.
type UncertainFlags = [[u8; BLOCK]; BATCH / BLOCK];

/// Fills as many elements of `out` as the shortest of all slices has. Returns how many of them the
/// library computed.
pub(super) fn apply<K: Kernel<N>, const N: usize>(
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
