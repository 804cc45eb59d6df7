//! The system calls that no safe crate offers. The one place with `unsafe`.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// A descriptor of the process, which no other process can come to be named by.
pub fn pidfd(pid: u32) -> io::Result<OwnedFd> {
    // SAFETY: pidfd_open takes two integers and touches no memory.
    let fd = unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) };
    let fd = i32::try_from(fd).map_err(io::Error::other)?;
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the call has just returned this descriptor, so nothing else owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Sends `signal` to the process behind `pidfd`.
pub fn send(pidfd: &OwnedFd, signal: i32) -> io::Result<()> {
    // SAFETY: the descriptor is open for the whole call; a null siginfo is allowed and asks for the default one.
    let sent = unsafe { libc::syscall(libc::SYS_pidfd_send_signal, pidfd.as_raw_fd(), signal, std::ptr::null::<libc::siginfo_t>(), 0) };
    if sent < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
