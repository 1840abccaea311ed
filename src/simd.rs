//! SIMD dispatch: loops compiled once per instruction set, chosen when the program runs.
//!
//! What enters is a closure of plain loops; what leaves is its result. The compiler makes one copy
//! of the closure for each instruction set and vectorises it; the processor's features select the
//! copy. The closure has to meet two conditions. It, and everything it calls, must be
//! `#[inline(always)]`; any other function is compiled for the oldest supported processor. And its
//! loops should run over arrays of a fixed length, without branches:
//!
//! ```text
//! dispatch(
//!     #[inline(always)]
//!     || {
//!         for at in 0..BLOCK {
//!             out[at] = left[at] + right[at];
//!         }
//!     },
//! )
//! ```
//!
//! One call should cover several hundred elements.
//!
//! `mul_add` is one instruction only where [`has_fused_multiply_add`] returns true. Elsewhere it is
//! a library call, slower than a product and a sum.

pub(crate) use fearless_simd::Level;
use fearless_simd::{Simd, dispatch};

/// Runs the copy of `f` that was compiled for the widest instructions of this processor.
#[inline(always)]
pub(crate) fn dispatch<R>(f: impl FnOnce() -> R) -> R {
    dispatch_at(Level::new(), f)
}

/// Runs the copy of `f` that was compiled for `level`.
#[inline(always)]
pub(crate) fn dispatch_at<R>(level: Level, f: impl FnOnce() -> R) -> R {
    dispatch!(level, simd => simd.vectorize(f))
}

/// Whether `level` has a vector instruction for the fused multiply-add.
pub(crate) fn has_fused_multiply_add(level: Level) -> bool {
    match level {
        #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
        // fearless_simd selects these levels only where the processor has FMA as well
        Level::Avx2(_) | Level::Avx512(_) => true,
        #[cfg(target_arch = "aarch64")]
        Level::Neon(_) => true,
        _ => false,
    }
}
