//! Who is at the other end of the control socket.
//!
//! Invariant: a peer counts as the person's own only if its user is ours and nothing puts it inside a gated tree. A
//! process in a tree carries at least one seccomp filter more than whoever started the tree. The status that is believed
//! is that of the very process at the other end, in a procfs that nobody in a tree can mount over: a listener can outlive
//! the process that made it, and its pid be another's by then. Refuses what it cannot tell: an unreadable status, a pid
//! that is not visible here, a peer that has ended.

use super::ControlError;
use crate::sys::peer::{handle, landlock_abi};
use crate::sys::procfs::Procfs;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::{getsockopt, sockopt::PeerCredentials};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;

/// First Landlock ABI that scopes abstract sockets (Linux 6.12).
const SCOPING_ABI: i32 = 6;

/// What this process was before it confined itself, for comparison with peers.
#[derive(Debug, Clone, Copy)]
pub struct Baseline {
    filters: Option<u32>,
    scoped: bool,
}

impl Baseline {
    /// Of this process, now. To be taken before any filter of its own is installed.
    pub fn take() -> Self {
        Self { filters: seccomp_filters(std::process::id()), scoped: landlock_abi().is_some_and(|abi| abi >= SCOPING_ABI) }
    }

    /// Checks whoever connected to us. With Landlock scoping the kernel has kept every tree out already.
    ///
    /// # Errors
    /// [`ControlError::Refused`], for a person to read.
    pub fn check_client(&self, stream: &UnixStream) -> Result<u32, ControlError> {
        let pid = same_user(stream, "this supervisor belongs to another user")?;
        if !self.scoped && !self.is_outside(stream, pid) {
            return Err(refused("a process inside a gated tree cannot reach the supervisor"));
        }
        Ok(pid)
    }

    /// Checks whoever answered at the supervisor's name: a process in a tree can bind a free name, and must not judge.
    ///
    /// # Errors
    /// [`ControlError::Refused`], for a person to read.
    pub fn check_server(&self, stream: &UnixStream) -> Result<u32, ControlError> {
        let pid = same_user(stream, "the supervisor's socket is held by another user; set XDG_RUNTIME_DIR to a folder of your own")?;
        if !self.is_outside(stream, pid) {
            let line =
                format!("the supervisor's socket is held by process {pid}, which is confined itself and is not trusted; end it first");
            return Err(ControlError::Refused(line));
        }
        Ok(pid)
    }

    fn is_outside(&self, stream: &UnixStream, pid: u32) -> bool {
        let Ok(handle) = handle(stream) else { return false };
        // What was read of a process that still is, was read of this one.
        self.is_no_deeper(pid) && handle.is_none_or(|process| still_is(&process))
    }

    fn is_no_deeper(&self, pid: u32) -> bool {
        pid != 0 && matches!((seccomp_filters(pid), self.filters), (Some(theirs), Some(ours)) if theirs <= ours)
    }
}

/// Whether the process behind a handle has not ended: the handle of one that has can be read.
fn still_is(process: &OwnedFd) -> bool {
    matches!(poll(&mut [PollFd::new(process.as_fd(), PollFlags::POLLIN)], PollTimeout::ZERO), Ok(0))
}

fn refused(line: &str) -> ControlError {
    ControlError::Refused(line.to_owned())
}

fn same_user(stream: &UnixStream, otherwise: &str) -> Result<u32, ControlError> {
    let peer = getsockopt(stream, PeerCredentials)
        .map_err(|errno| ControlError::Step { step: "learn who is at the control socket", cause: errno.into() })?;
    if peer.uid() != nix::unistd::geteuid().as_raw() {
        return Err(refused(otherwise));
    }
    Ok(u32::try_from(peer.pid()).unwrap_or(0))
}

/// How many seccomp filters a process carries; `None` where it cannot be told.
fn seccomp_filters(pid: u32) -> Option<u32> {
    let process = Procfs::open().ok()?.process(i32::try_from(pid).ok()?).ok()?;
    process.status_field("Seccomp_filters").ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_filters_than_ours_or_an_unknown_number_is_inside() {
        let own = std::process::id();
        let baseline = Baseline { filters: seccomp_filters(own), scoped: false };
        assert!(baseline.is_no_deeper(own));
        assert!(!baseline.is_no_deeper(0));
        assert!(!Baseline { filters: None, ..baseline }.is_no_deeper(own));
        assert!(!baseline.is_no_deeper(u32::MAX));
    }

    #[test]
    fn a_peer_that_has_ended_is_nobody() -> std::io::Result<()> {
        let baseline = Baseline { filters: Some(u32::MAX), scoped: false };
        let (near, _far) = UnixStream::pair()?;
        assert!(baseline.is_outside(&near, std::process::id()));
        let mut child = std::process::Command::new("true").spawn()?;
        let process = crate::sys::pidfd::open(child.id() as i32)?;
        child.wait()?;
        assert!(!still_is(&process));
        Ok(())
    }
}
