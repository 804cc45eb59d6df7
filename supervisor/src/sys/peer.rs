//! What the kernel can keep apart, and who is at the other end of a socket.

use super::checked;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;

/// A handle to the process that listened or connected at the other end (SO_PEERPIDFD, 6.5); `None` on an older kernel. The
/// number alone can have become another process's by the time it is looked up.
///
/// # Errors
/// ESRCH, EINVAL where that process is gone.
pub fn handle(stream: &UnixStream) -> io::Result<Option<OwnedFd>> {
    const SO_PEERPIDFD: libc::c_int = 77;
    let (mut fd, mut length): (RawFd, _) = (-1, size_of::<RawFd>() as libc::socklen_t);
    // SAFETY: the kernel writes at most `length` bytes, one descriptor.
    let got = unsafe { libc::getsockopt(stream.as_raw_fd(), libc::SOL_SOCKET, SO_PEERPIDFD, (&raw mut fd).cast(), &raw mut length) };
    match checked(got.into()) {
        Err(e) if e.raw_os_error() == Some(libc::ENOPROTOOPT) => Ok(None),
        Err(e) => Err(e),
        // SAFETY: a successful call returns a fresh descriptor that nobody else owns.
        Ok(_) => Ok(Some(unsafe { OwnedFd::from_raw_fd(fd) })),
    }
}

/// The Landlock ABI of this kernel; `None` where Landlock is missing or switched off.
pub fn landlock_abi() -> Option<i32> {
    const VERSION: libc::c_uint = 1;
    // SAFETY: with a null attribute, size 0 and the version flag the call reads and writes no memory; it returns a number.
    let abi = unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, std::ptr::null::<libc::c_void>(), 0usize, VERSION) };
    i32::try_from(abi).ok().filter(|&abi| abi > 0)
}
