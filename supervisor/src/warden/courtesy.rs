//! A line to the standard error of a process that cannot write itself: it waits in its call, or its code is out of reach.
//!
//! Invariant: it is written only if the descriptor takes it at once; a reader that is slow costs the line, nothing more.

use crate::sys::{pidfd, process};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

/// Writes `line` to the standard error of process `pid`; `false` where that is out of reach. Called off the gate's thread.
pub fn write_line(pid: i32, line: &[u8]) -> bool {
    let Ok(stderr) = pidfd::open(pid).and_then(|fd| process::borrow_descriptor(fd.as_fd(), 2)) else { return false };
    if takes_at_once(&stderr) {
        // The description is the caller's: its flags must stay as they are, so a socket is asked per message.
        let sent = nix::sys::socket::send(
            stderr.as_raw_fd(),
            line,
            nix::sys::socket::MsgFlags::MSG_DONTWAIT | nix::sys::socket::MsgFlags::MSG_NOSIGNAL,
        );
        if sent == Err(nix::errno::Errno::ENOTSOCK) {
            let _ = nix::unistd::write(&stderr, line);
        }
    }
    true
}

fn takes_at_once(fd: &OwnedFd) -> bool {
    let mut fds = [PollFd::new(fd.as_fd(), PollFlags::POLLOUT)];
    poll(&mut fds, PollTimeout::ZERO).is_ok()
        && fds[0].revents().is_some_and(|r| r.contains(PollFlags::POLLOUT) && !r.contains(PollFlags::POLLERR))
}
