//! The kernel's interfaces: the only rooms with `unsafe`.
//!
//! Invariant: each function is one system call, or one small sequence with one meaning, and gives `io::Result`. Refuses to
//! decide anything: what an errno means for a call is the warden's business.

pub mod allocator;
pub mod arch;
pub mod filter;
pub mod memory;
pub mod notify;
pub mod own_memory;
pub mod path;
pub mod peer;
pub mod pidfd;
pub mod process;
pub mod procfs;
pub mod ptrace;
pub mod random;
pub mod socket;

use std::io;

/// The result of a raw call that says -1 and errno.
pub(crate) fn checked(result: libc::c_long) -> io::Result<libc::c_long> {
    if result == -1 { Err(io::Error::last_os_error()) } else { Ok(result) }
}
