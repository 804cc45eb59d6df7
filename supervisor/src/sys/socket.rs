//! Unix sockets (unix(7)): passing a descriptor (SCM_RIGHTS), and listening at a path without ever waiting.

use std::io::{self, IoSlice, IoSliceMut};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::Path;

use nix::sys::socket::sockopt::PeerCredentials;
use nix::sys::socket::{
    AddressFamily, Backlog, ControlMessage, ControlMessageOwned, MsgFlags, SockFlag, SockType, UnixAddr, accept4, bind, getsockopt, listen,
    recvmsg, sendmsg, socket,
};

/// Listens at `path`, to which everybody may connect who gets there: the folder decides who does.
///
/// # Errors
/// Those of socket(2), bind(2), chmod(2) and listen(2).
pub fn listen_at(path: &Path, backlog: i32) -> io::Result<OwnedFd> {
    let listener = socket(AddressFamily::Unix, SockType::Stream, SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK, None)?;
    bind(listener.as_raw_fd(), &UnixAddr::new(path)?)?;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o666))?;
    listen(&listener, Backlog::new(backlog)?)?;
    Ok(listener)
}

/// Takes a connection that waits, and says which process made it; 0 where it cannot be seen from here.
///
/// # Errors
/// EAGAIN where none waits; the others of accept4(2).
pub fn accept(listener: &OwnedFd) -> io::Result<(UnixStream, i32)> {
    let stream = UnixStream::from(accept4(listener, SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK)?);
    let peer = getsockopt(&stream, PeerCredentials)?;
    Ok((stream, peer.pid()))
}

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
