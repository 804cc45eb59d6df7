//! Passing a descriptor over a Unix socket (SCM_RIGHTS, unix(7)).

use std::io::{self, IoSlice, IoSliceMut};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::net::UnixStream;

use nix::sys::socket::{ControlMessage, ControlMessageOwned, MsgFlags, recvmsg, sendmsg};

/// Sends `bytes` with the descriptor `fd`.
///
/// # Errors
/// Those of sendmsg(2).
pub fn send_descriptor(socket: &UnixStream, bytes: &[u8], fd: &OwnedFd) -> io::Result<()> {
    let fds = [fd.as_raw_fd()];
    let control = [ControlMessage::ScmRights(&fds)];
    sendmsg::<()>(socket.as_raw_fd(), &[IoSlice::new(bytes)], &control, MsgFlags::MSG_NOSIGNAL, None)?;
    Ok(())
}

/// Receives up to `into.len()` bytes, and the descriptor that came with them.
///
/// # Errors
/// Those of recvmsg(2).
pub fn receive_descriptor(socket: &UnixStream, into: &mut [u8]) -> io::Result<(usize, Option<OwnedFd>)> {
    let mut space = nix::cmsg_space!([std::os::fd::RawFd; 1]);
    let mut parts = [IoSliceMut::new(into)];
    let message = recvmsg::<()>(socket.as_raw_fd(), &mut parts, Some(&mut space), MsgFlags::MSG_CMSG_CLOEXEC)?;
    let mut received = None;
    for control in message.cmsgs()? {
        if let ControlMessageOwned::ScmRights(fds) = control {
            for fd in fds {
                // SAFETY: the kernel has just made this descriptor for us; nobody else owns it.
                received = Some(unsafe { OwnedFd::from_raw_fd(fd) });
            }
        }
    }
    Ok((message.bytes, received))
}
