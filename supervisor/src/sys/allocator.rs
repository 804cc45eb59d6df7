//! Settings of the C library's allocator.

/// Has the allocator give back what is free, as a process that lives for days should: few arenas for many threads, and a
/// threshold that one large request does not raise for ever (mallopt(3)). Other C libraries do so by themselves.
pub fn keep_small() {
    #[cfg(target_env = "gnu")]
    {
        const ARENAS: libc::c_int = 2;
        const THRESHOLD: libc::c_int = 128 << 10;
        // SAFETY: numbers only; a setting that is refused changes nothing.
        unsafe {
            libc::mallopt(libc::M_ARENA_MAX, ARENAS);
            libc::mallopt(libc::M_MMAP_THRESHOLD, THRESHOLD);
            libc::mallopt(libc::M_TRIM_THRESHOLD, THRESHOLD);
        }
    }
}
