//! The door to the processor's widest registers.

/// Runs `work` compiled for the best instructions that this processor has, found out at run time. Its loops are
/// what the compiler makes of them: whatever they call must be inlined, and costs nothing only then.
#[inline]
pub fn vectorised<R>(work: impl FnOnce() -> R) -> R {
    pulp::Arch::new().dispatch(work)
}
