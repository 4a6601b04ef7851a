//! A hint to the processor, which changes nothing but the time that a run takes.

/// Brings the first cache line of `value` nearer and does not wait for it. Does nothing on processors
/// other than x86-64.
#[inline]
#[allow(unsafe_code)]
pub fn prefetch<T>(value: &T) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: the instruction belongs to every x86-64, reads nothing that is seen, and never faults.
    unsafe {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(core::ptr::from_ref(value).cast());
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = value;
}
