//! Handles to processes and threads that a reused pid cannot take over (pidfd_open(2)).

use super::checked;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

/// Opens a handle to the thread group `pid`. It becomes readable when the group has ended.
///
/// # Errors
/// ESRCH where there is none.
pub fn open(pid: i32) -> io::Result<OwnedFd> {
    // SAFETY: both arguments are numbers.
    let fd = checked(unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) })?;
    // SAFETY: a successful call returns a fresh descriptor that nobody else owns.
    Ok(unsafe { OwnedFd::from_raw_fd(fd as RawFd) })
}

/// Sends `signal` to the process behind the handle.
///
/// # Errors
/// ESRCH where it has ended; EPERM.
pub fn kill(pidfd: BorrowedFd<'_>, signal: i32) -> io::Result<()> {
    let none = std::ptr::null::<libc::siginfo_t>();
    // SAFETY: a null siginfo asks for the kernel's default one.
    checked(unsafe { libc::syscall(libc::SYS_pidfd_send_signal, pidfd.as_raw_fd(), signal, none, 0) }).map(drop)
}

/// Who a thread is, all read at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Identity {
    /// Thread group.
    pub tgid: i32,
    /// Parent.
    pub parent: i32,
}

/// Opens a handle to the thread `tid` (PIDFD_THREAD, 6.9).
///
/// # Errors
/// ESRCH where there is none; EINVAL on an older kernel.
pub fn open_thread(tid: i32) -> io::Result<OwnedFd> {
    // SAFETY: both arguments are numbers.
    let fd = checked(unsafe { libc::syscall(libc::SYS_pidfd_open, tid, libc::O_EXCL) })?;
    // SAFETY: a successful call returns a fresh descriptor that nobody else owns.
    Ok(unsafe { OwnedFd::from_raw_fd(fd as RawFd) })
}

/// Asks a thread's handle who it is (PIDFD_GET_INFO, 6.13).
///
/// # Errors
/// ESRCH where it has ended; EINVAL or ENOTTY on an older kernel.
pub fn identity(pidfd: BorrowedFd<'_>) -> io::Result<Identity> {
    /// struct pidfd_info, first version (linux/pidfd.h).
    #[repr(C)]
    #[derive(Default)]
    struct Info {
        mask: u64,
        cgroup: u64,
        pid: u32,
        tgid: u32,
        ppid: u32,
        ids: [u32; 8],
        exit_code: i32,
    }
    const GET_INFO: u64 = 0xC000_FF0B | (size_of::<Info>() as u64) << 16;
    /// PIDFD_INFO_PID | PIDFD_INFO_CREDS.
    const WANTED: u64 = 3;
    let mut info = Info { mask: WANTED, ..Info::default() };
    // SAFETY: the request's number carries the size of the structure that the kernel fills.
    checked(unsafe { libc::ioctl(pidfd.as_raw_fd(), GET_INFO as _, &raw mut info) }.into())?;
    Ok(Identity { tgid: info.tgid as i32, parent: info.ppid as i32 })
}
