//! Large tables in large pages of memory: a search looks up random addresses, and the processor
//! knows those of few pages at once.

/// A table of `count` entries. Only Linux is asked for large pages, and may decline.
pub(crate) fn table<T>(count: usize, entry: impl FnMut() -> T) -> Box<[T]> {
    let mut table = Vec::with_capacity(count);
    #[cfg(all(target_os = "linux", not(miri)))]
    prefer_large(table.spare_capacity_mut());
    table.resize_with(count, entry);
    table.into()
}

/// Asks for large pages, which helps before the memory is first written to.
#[cfg(all(target_os = "linux", not(miri)))]
fn prefer_large<T>(memory: &mut [T]) {
    use rustix::mm::{Advice, madvise};
    const PAGE: usize = 2 << 20;
    let range = memory.as_mut_ptr_range();
    let start = range.start.addr().next_multiple_of(PAGE);
    let length = range.end.addr().saturating_sub(start) / PAGE * PAGE;
    if length == 0 {
        return;
    }
    #[allow(unsafe_code, reason = "there is no safe word for it; the benchmark shows what it buys")]
    // SAFETY: the range lies within the slice, and the advice changes no content.
    let _ = unsafe { madvise(range.start.with_addr(start).cast(), length, Advice::LinuxHugepage) };
}
