//! A column, stretch by stretch: all lanes at once by our own computation, then the doubtful ones by the C library.
//!
//! The two loops are apart so that the first has no branch and is dispatch_at.

use crate::python::vector_math::certainty::{Lane, PUBLISHED};
use crate::simd::{Level, dispatch_at, has_fused_multiply_add};
use std::array::from_fn;

/// One function of `N` columns.
pub(super) trait Kernel<const N: usize> {
    /// The value without the library, and whether it is certain. Without a branch; `#[inline(always)]`.
    fn lane(&self, arguments: [f64; N]) -> Lane;
    /// The library's value.
    fn library(&self, arguments: [f64; N]) -> f64;
}

/// VectorMath that the compiler is shown at a time: a fixed number, and a multiple of every vector's.
const BLOCK: usize = 64;
/// VectorMath between two visits to the library: few enough to stay in the nearest cache.
const STRETCH: usize = 8 * BLOCK;

/// Fills `out` as far as all slices reach, and says how many lanes asked the library.
pub(super) fn apply<K: Kernel<N>, const N: usize>(
    level: Level,
    kernel: &K,
    inputs: [&[f64]; N],
    out: &mut [f64],
) -> usize {
    let length = inputs.iter().fold(out.len(), |length, input| length.min(input.len()));
    let (out, inputs) = (&mut out[..length], inputs.map(|input| &input[..length]));
    if !(PUBLISHED && has_fused_multiply_add(level)) {
        return from_library(kernel, inputs, out, 0..length);
    }
    let starts = (0..length).step_by(STRETCH);
    let stretches = starts.zip(out.chunks_mut(STRETCH));
    stretches.map(|(at, out)| stretch(level, kernel, inputs.map(|input| &input[at..at + out.len()]), out)).sum()
}

fn stretch<K: Kernel<N>, const N: usize>(level: Level, kernel: &K, inputs: [&[f64]; N], out: &mut [f64]) -> usize {
    let mut doubtful = [[0; BLOCK]; STRETCH / BLOCK];
    dispatch_at(
        level,
        #[inline(always)]
        || blocks(kernel, inputs, out, &mut doubtful),
    );
    let mut lanes = [0; STRETCH];
    let count = positions(&doubtful, &mut lanes);
    let length = out.len();
    // the last block is filled up with lanes that are none
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
    doubtful: &mut [[u8; BLOCK]; STRETCH / BLOCK],
) {
    let inputs = inputs.map(|input| input.as_chunks::<BLOCK>());
    let (whole, rest) = out.as_chunks_mut::<BLOCK>();
    for (at, (out, doubtful)) in whole.iter_mut().zip(doubtful.iter_mut()).enumerate() {
        block(kernel, from_fn(|n| &inputs[n].0[at]), out, doubtful);
    }
    if let Some(doubtful) = doubtful.get_mut(whole.len())
        && !rest.is_empty()
    {
        let filled: [[f64; BLOCK]; N] = from_fn(|n| from_fn(|lane| inputs[n].1.get(lane).copied().unwrap_or(1.0)));
        let mut last = [0.0; BLOCK];
        block(kernel, filled.each_ref(), &mut last, doubtful);
        rest.copy_from_slice(&last[..rest.len()]);
    }
}

#[inline(always)]
fn block<K: Kernel<N>, const N: usize>(
    kernel: &K,
    inputs: [&[f64; BLOCK]; N],
    out: &mut [f64; BLOCK],
    doubtful: &mut [u8; BLOCK],
) {
    for at in 0..BLOCK {
        let lane = kernel.lane(from_fn(|n| inputs[n][at]));
        out[at] = lane.value;
        doubtful[at] = u8::from(!lane.certain);
    }
}

/// Writes where the ones are, and says how many.
fn positions(doubtful: &[[u8; BLOCK]; STRETCH / BLOCK], lanes: &mut [u16; STRETCH]) -> usize {
    let mut count = 0;
    for (at, block) in (0u16..).step_by(BLOCK).zip(doubtful) {
        let mut mask = mask(block);
        while mask != 0 {
            lanes[count] = at + mask.trailing_zeros() as u16;
            count += 1;
            mask &= mask - 1;
        }
    }
    count
}

/// Bytes of 0 or 1 as bits: the product moves eight of them side by side into the highest byte.
fn mask(doubtful: &[u8; BLOCK]) -> u64 {
    const SIDE_BY_SIDE: u64 = 0x0102_0408_1020_4080;
    let (words, _) = doubtful.as_chunks::<8>();
    let bytes = words.iter().map(|word| u64::from_le_bytes(*word).wrapping_mul(SIDE_BY_SIDE) >> 56);
    bytes.rev().fold(0, |mask, byte| mask << 8 | byte)
}
