//! The temporary folder of a run whose warden cannot remove it: because there is none, or it was killed.
//!
//! Invariant: the folder goes after the last process that it was made for. Refuses to hold anything else up: whoever waits
//! here has left the caller's session and keeps none of its descriptors.

use crate::sys::pidfd;
use crate::sys::process::{self, Fork};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::wait::waitpid;
use nix::unistd::Pid;
use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::path::Path;

/// Has the folder removed when the calling process, whatever it becomes, has ended. To be called with one thread.
///
/// # Errors
/// Where nobody can be left to do it.
pub fn remove_after_this(folder: &Path) -> io::Result<()> {
    let own = pidfd::open(std::process::id() as i32)?;
    match process::fork()? {
        Fork::Parent(pid) => Ok(waitpid(Pid::from_raw(pid), None).map(drop)?),
        // Twice: the command gets no child that it has not made.
        Fork::Child => match process::fork() {
            Ok(Fork::Child) => {
                let _ = nix::unistd::setsid();
                let _ = nix::unistd::chdir("/");
                process::close_all_but(own.as_raw_fd());
                while poll(&mut [PollFd::new(own.as_fd(), PollFlags::POLLIN)], PollTimeout::NONE) == Err(nix::errno::Errno::EINTR) {}
                remove(folder);
                process::exit_now(0)
            }
            _ => process::exit_now(0),
        },
    }
}

/// Removes a folder that the run has no use for any more. What cannot be removed stays: nobody is there to be told.
pub fn remove(folder: &Path) {
    let _ = std::fs::remove_dir_all(folder);
}
