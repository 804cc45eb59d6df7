//! The system calls that no safe crate offers. The one place with `unsafe`.

use nix::sys::signal::{SigHandler, SigSet, SigmaskHow, Signal, sigprocmask};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Starts the command with every signal as a login shell has it: whoever runs the tests in the background, or under nohup,
/// has them ignored, and a child would inherit that.
pub fn with_default_signals(command: &mut Command) {
    let reset = || {
        for signal in Signal::iterator().filter(|s| !matches!(s, Signal::SIGKILL | Signal::SIGSTOP)) {
            // SAFETY: the default action runs no code of this process, so no handler's requirements arise.
            unsafe { nix::sys::signal::signal(signal, SigHandler::SigDfl) }?;
        }
        Ok(sigprocmask(SigmaskHow::SIG_SETMASK, Some(&SigSet::empty()), None)?)
    };
    // SAFETY: between fork and exec the closure makes system calls only; it neither allocates nor takes a lock.
    unsafe { command.pre_exec(reset) };
}

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
