//! Loops compiled for the widest instructions that the processor turns out to have.
//!
//! What enters is a closure of plain loops; what leaves is its result. The compiler makes one copy of the closure for
//! each instruction set and vectorises it; the processor chooses at run time. Two things are asked of the closure: it,
//! and all that it calls, must be `#[inline(always)]`, or that part is compiled for the oldest processor; and its loops
//! should run over arrays of a fixed length, without a branch. So a sum of two columns is
//!
//! ```text
//! vectorised(
//!     Level::new(),
//!     #[inline(always)]
//!     || {
//!         for at in 0..BLOCK {
//!             out[at] = left[at] + right[at];
//!         }
//!     },
//! )
//! ```
//!
//! and it pays to go over some hundreds of lanes in one call.
//!
//! `mul_add` is one instruction only where [`fuses`] says so. Elsewhere it is a call, slower than what it replaces.

pub(crate) use fearless_simd::Level;
use fearless_simd::{Simd, dispatch};

/// Runs `work` as it was compiled for `level`.
#[inline(always)]
pub(crate) fn vectorised<R>(level: Level, work: impl FnOnce() -> R) -> R {
    dispatch!(level, simd => simd.vectorize(work))
}

/// Runs `work` as it was compiled for the widest instructions that this processor has.
#[inline(always)]
pub(crate) fn widest<R>(work: impl FnOnce() -> R) -> R {
    vectorised(Level::new(), work)
}

/// Whether a vector of fused multiply-adds is one instruction.
pub(crate) fn fuses(level: Level) -> bool {
    match level {
        #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
        Level::Avx2(_) | Level::Avx512(_) => true,
        #[cfg(target_arch = "aarch64")]
        Level::Neon(_) => true,
        _ => false,
    }
}
