//! Memory that will be needed soon.

/// How many bytes a processor fetches at once, or a multiple of what it does.
pub(crate) const LINE: usize = 64;

/// Asks the processor for the cache line in which this item begins, without waiting for it. Where that cannot be
/// asked, nothing happens.
#[inline(always)]
pub(crate) fn ahead<T>(item: &T) {
    #[cfg(target_arch = "x86_64")]
    x86::fetch(std::ptr::from_ref(item).cast());
    #[cfg(not(target_arch = "x86_64"))]
    let _ = item;
}

/// Asks for some of the lines of these items, from that line on; says how many there were.
#[inline]
pub(crate) fn lines_ahead<T>(items: &[T], line: usize, most: usize) -> usize {
    let step = const { LINE / if size_of::<T>() == 0 { LINE } else { size_of::<T>() } };
    for asked in 0..most {
        let Some(item) = items.get((line + asked) * step) else { return asked };
        ahead(item);
    }
    most
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};

    use fearless_simd::Level;

    /// Every processor of 64 bits has the instruction.
    #[inline(always)]
    pub(super) fn fetch(place: *const i8) {
        if let Some(sse2) = Level::baseline().as_sse2() {
            prefetch(sse2, place);
        }
    }

    fearless_simd::kernel!(
        #[inline]
        fn prefetch(sse2: Sse2, place: *const i8) {
            _mm_prefetch::<_MM_HINT_T0>(place);
        }
    );
}
