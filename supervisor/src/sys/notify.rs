//! The seccomp listener: receive a call, ask whether it is still there, answer it (seccomp_unotify(2)).
//!
//! Invariant: an answer goes to the id that was received; a call that is gone says ENOENT, which is no failure of the
//! gate. Refuses to hold buffers of a fixed size: the kernel says how large its structures are.

use super::checked;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

/// A call that waits for an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Notification {
    /// Id of the call, unique for the listener.
    pub id: u64,
    /// Thread that made it; 0 where it cannot be seen from here.
    pub tid: i32,
    /// Syscall number.
    pub nr: i32,
    /// AUDIT_ARCH value.
    pub arch: u32,
    /// Register arguments.
    pub args: [u64; 6],
}

/// What a call is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reply {
    /// The kernel goes on with the call.
    Continue,
    /// The call returns this errno.
    Errno(i32),
}

/// Waits for a call and receives it.
///
/// # Errors
/// ENOENT where the caller ended meanwhile; EINTR.
pub fn receive(listener: BorrowedFd<'_>) -> io::Result<Notification> {
    // Room for a kernel whose structure has grown: it insists on zeroes and writes what it knows.
    #[repr(C)]
    struct Room {
        notif: libc::seccomp_notif,
        growth: [u64; 16],
    }
    // SAFETY: all fields are integers, for which zero is a value.
    let mut room: Room = unsafe { std::mem::zeroed() };
    // SAFETY: the kernel writes at most its own structure's size, for which `growth` leaves room.
    checked(unsafe { libc::ioctl(listener.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_RECV as _, &raw mut room) }.into())?;
    let n = room.notif;
    Ok(Notification { id: n.id, tid: n.pid as i32, nr: n.data.nr, arch: n.data.arch, args: n.data.args })
}

/// Whether the call is still waiting. Only what was read before a `true` belongs to the caller and not to a successor of
/// its pid.
pub fn is_waiting(listener: BorrowedFd<'_>, id: u64) -> bool {
    // SAFETY: the kernel reads one u64.
    checked(unsafe { libc::ioctl(listener.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_ID_VALID as _, &raw const id) }.into()).is_ok()
}

/// Answers the call.
///
/// # Errors
/// ENOENT where the caller ended meanwhile.
pub fn answer(listener: BorrowedFd<'_>, id: u64, reply: Reply) -> io::Result<()> {
    let (error, flags) = match reply {
        Reply::Continue => (0, libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE as u32),
        Reply::Errno(errno) => (-errno, 0),
    };
    let response = libc::seccomp_notif_resp { id, val: 0, error, flags };
    // SAFETY: the kernel reads one seccomp_notif_resp.
    checked(unsafe { libc::ioctl(listener.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_SEND as _, &raw const response) }.into()).map(drop)
}

/// Asks that the listener be woken on the caller's processor (6.6). Best effort: without it only speed is lost.
pub fn prefer_caller_cpu(listener: BorrowedFd<'_>) {
    const SYNC_WAKE_UP: libc::c_ulong = 1;
    // SAFETY: the argument is a number.
    let _ = unsafe { libc::ioctl(listener.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_SET_FLAGS as _, SYNC_WAKE_UP) };
}
