//! What the kernel can keep apart.

/// The Landlock ABI of this kernel; `None` where Landlock is missing or switched off.
pub fn landlock_abi() -> Option<i32> {
    const VERSION: libc::c_uint = 1;
    // SAFETY: with a null attribute, size 0 and the version flag the call reads and writes no memory; it returns a number.
    let abi = unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, std::ptr::null::<libc::c_void>(), 0usize, VERSION) };
    i32::try_from(abi).ok().filter(|&abi| abi > 0)
}
