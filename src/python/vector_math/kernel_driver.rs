//! Runs a kernel over columns: first all lanes of a batch in vectorized loops, then the uncertain ones by the C library.
//!
//! The two loops are separate, so that the first has no branches.

use std::array::from_fn;

use crate::python::vector_math::ziv_rounding::{HAS_PUBLISHED_BOUNDS, Lane};
use crate::simd::{Level, dispatch_at, has_fused_multiply_add};

/// A function of `N` columns.
pub(super) trait Kernel<const N: usize> {
    /// Computes one lane without the library. Implementations have no branches and are `#[inline(always)]`.
    fn lane(&self, arguments: [f64; N]) -> Lane;
    /// Computes one lane with the C library.
    fn library(&self, arguments: [f64; N]) -> f64;
}

/// The length of the vectorized loops: fixed, and a multiple of every vector length.
const BLOCK: usize = 64;
/// The lanes computed before the library is called for uncertain ones: few enough for the first-level cache.
const BATCH: usize = 8 * BLOCK;

/// Fills `out` up to the length of the shortest slice. Returns how many lanes the library computed.
pub(super) fn apply<K: Kernel<N>, const N: usize>(
    level: Level,
    kernel: &K,
    inputs: [&[f64]; N],
    out: &mut [f64],
) -> usize {
    let length = inputs.iter().fold(out.len(), |length, input| length.min(input.len()));
    let (out, inputs) = (&mut out[..length], inputs.map(|input| &input[..length]));
    if !(HAS_PUBLISHED_BOUNDS && has_fused_multiply_add(level)) {
        return from_library(kernel, inputs, out, 0..length);
    }
    let batches = (0..length).step_by(BATCH).zip(out.chunks_mut(BATCH));
    batches.map(|(at, out)| batch(level, kernel, inputs.map(|input| &input[at..at + out.len()]), out)).sum()
}

fn batch<K: Kernel<N>, const N: usize>(level: Level, kernel: &K, inputs: [&[f64]; N], out: &mut [f64]) -> usize {
    let mut uncertain = [[0; BLOCK]; BATCH / BLOCK];
    dispatch_at(
        level,
        #[inline(always)]
        || blocks(kernel, inputs, out, &mut uncertain),
    );
    let mut lanes = [0; BATCH];
    let count = positions(&uncertain, &mut lanes);
    let length = out.len();
    // The last block is padded; its padding may be marked too.
    from_library(
        kernel,
        inputs,
        out,
        lanes[..count].iter().map(|&lane| usize::from(lane)).filter(|&lane| lane < length),
    )
}

fn from_library<K: Kernel<N>, const N: usize>(
    kernel: &K,
    inputs: [&[f64]; N],
    out: &mut [f64],
    lanes: impl Iterator<Item = usize>,
) -> usize {
    lanes.map(|lane| out[lane] = kernel.library(inputs.map(|input| input[lane]))).count()
}

#[inline(always)]
fn blocks<K: Kernel<N>, const N: usize>(
    kernel: &K,
    inputs: [&[f64]; N],
    out: &mut [f64],
    uncertain: &mut [[u8; BLOCK]; BATCH / BLOCK],
) {
    let inputs = inputs.map(|input| input.as_chunks::<BLOCK>());
    let (whole, rest) = out.as_chunks_mut::<BLOCK>();
    for (at, (out, uncertain)) in whole.iter_mut().zip(uncertain.iter_mut()).enumerate() {
        block(kernel, from_fn(|n| &inputs[n].0[at]), out, uncertain);
    }
    if let Some(uncertain) = uncertain.get_mut(whole.len())
        && !rest.is_empty()
    {
        let filled: [[f64; BLOCK]; N] = from_fn(|n| from_fn(|lane| inputs[n].1.get(lane).copied().unwrap_or(1.0)));
        let mut last = [0.0; BLOCK];
        block(kernel, filled.each_ref(), &mut last, uncertain);
        rest.copy_from_slice(&last[..rest.len()]);
    }
}

#[inline(always)]
fn block<K: Kernel<N>, const N: usize>(
    kernel: &K,
    inputs: [&[f64; BLOCK]; N],
    out: &mut [f64; BLOCK],
    uncertain: &mut [u8; BLOCK],
) {
    for at in 0..BLOCK {
        let lane = kernel.lane(from_fn(|n| inputs[n][at]));
        out[at] = lane.value;
        uncertain[at] = u8::from(!lane.certain);
    }
}

/// Writes the positions of the ones to `lanes`, and returns how many there are.
fn positions(uncertain: &[[u8; BLOCK]; BATCH / BLOCK], lanes: &mut [u16; BATCH]) -> usize {
    let mut count = 0;
    for (at, block) in (0u16..).step_by(BLOCK).zip(uncertain) {
        let mut mask = mask(block);
        while mask != 0 {
            lanes[count] = at + mask.trailing_zeros() as u16;
            count += 1;
            mask &= mask - 1;
        }
    }
    count
}

/// Packs bytes of 0 or 1 into bits: the product gathers eight of them in the highest byte.
fn mask(uncertain: &[u8; BLOCK]) -> u64 {
    const GATHER: u64 = 0x0102_0408_1020_4080;
    let (words, _) = uncertain.as_chunks::<8>();
    let bytes = words.iter().map(|word| u64::from_le_bytes(*word).wrapping_mul(GATHER) >> 56);
    bytes.rev().fold(0, |mask, byte| mask << 8 | byte)
}
