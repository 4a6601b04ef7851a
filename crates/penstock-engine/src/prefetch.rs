//! Hints to the processor. They change only how long a run takes.

/// Starts to load the first cache line of `value` and does not wait for the line. Does nothing on
/// processors other than x86-64.
#[inline]
#[allow(unsafe_code)]
pub fn prefetch<T>(value: &T) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: every x86-64 has this instruction. It has no visible effect and never faults.
    unsafe {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(core::ptr::from_ref(value).cast());
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = value;
}

/// Starts to load the first cache line of `value` for writing and does not wait for the line: other cores
/// give their copies up. Does nothing on processors other than x86-64, and on those without the
/// instruction.
#[inline]
#[allow(unsafe_code)]
pub fn prefetch_for_write<T>(value: &mut T) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: the instruction has no visible effect and never faults; a 64-bit processor that does not know
    // it does nothing. The compiler's intrinsic would become a prefetch for reading, because the oldest
    // x86-64 lacks the instruction.
    unsafe {
        let place = core::ptr::from_mut(value);
        core::arch::asm!("prefetchw [{}]", in(reg) place, options(nostack, preserves_flags));
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = value;
}
