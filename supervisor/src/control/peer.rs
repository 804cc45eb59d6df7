//! Who is at the other end of the control socket.
//!
//! Invariant: a peer counts as the person's own only if its user is ours and nothing puts it inside a gated tree. A
//! process in a tree carries at least one seccomp filter more than whoever started the tree. Refuses what it cannot
//! tell: an unreadable status, a pid that is not visible here.

use super::ControlError;
use crate::sys::peer::landlock_abi;
use nix::sys::socket::{getsockopt, sockopt::PeerCredentials};
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
        Self { filters: seccomp_filters("self"), scoped: landlock_abi().is_some_and(|abi| abi >= SCOPING_ABI) }
    }

    /// Checks whoever connected to us. With Landlock scoping the kernel has kept every tree out already.
    ///
    /// # Errors
    /// [`ControlError::Refused`], for a person to read.
    pub fn check_client(&self, stream: &UnixStream) -> Result<u32, ControlError> {
        let pid = same_user(stream, "this supervisor belongs to another user")?;
        if !self.scoped && !self.outside(pid) {
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
        if !self.outside(pid) {
            let line =
                format!("the supervisor's socket is held by process {pid}, which is confined itself and is not trusted; end it first");
            return Err(ControlError::Refused(line));
        }
        Ok(pid)
    }

    fn outside(&self, pid: u32) -> bool {
        pid != 0 && matches!((seccomp_filters(&pid.to_string()), self.filters), (Some(theirs), Some(ours)) if theirs <= ours)
    }
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
fn seccomp_filters(pid: &str) -> Option<u32> {
    let status = std::fs::read(format!("/proc/{pid}/status")).ok()?;
    filters_in(&status)
}

fn filters_in(status: &[u8]) -> Option<u32> {
    let line = status.split(|&byte| byte == b'\n').find_map(|line| line.strip_prefix(b"Seccomp_filters:"))?;
    std::str::from_utf8(line).ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_count_is_read_from_its_own_line_alone() {
        assert_eq!(filters_in(b"Name:\tSeccomp_filters:9\nSeccomp:\t2\nSeccomp_filters:\t3\nx: 1\n"), Some(3));
        assert_eq!(filters_in(b"Name:\tx\nSeccomp:\t2\n"), None);
        assert_eq!(filters_in(b"Seccomp_filters:\t-1\n"), None);
    }

    #[test]
    fn more_filters_than_ours_or_an_unknown_number_is_inside() {
        let own = std::process::id();
        let baseline = Baseline { filters: seccomp_filters("self"), scoped: false };
        assert!(baseline.outside(own));
        assert!(!baseline.outside(0));
        assert!(!Baseline { filters: None, ..baseline }.outside(own));
        assert!(!baseline.outside(u32::MAX));
    }
}
