//! The reply, and the line of a refusal.
//!
//! Invariant: a caller that is refused has been told why on standard error, by one line, before its call returns. Refuses to
//! wait for standard error.

use crate::sys::{self, Descriptor, ENOTSOCK, Errno};
use stayexec_protocol::ask::{AskError, REPLY_LINE, Reply};

/// Why there is no reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trouble {
    /// Nobody is there to ask.
    Absent(Errno),
    /// A system call of the conversation failed.
    Call(Errno),
    /// Whoever was asked went away.
    Gone,
    /// What came back is no reply.
    Garbled,
    /// The words changed while they were sent.
    Changed,
}

impl Trouble {
    /// The line for it.
    pub const fn line(self) -> &'static [u8] {
        match self {
            Self::Absent(Errno(ENOTSOCK)) => b"stayexec: denied: the address of the gate is not usable; nothing can be started from here",
            Self::Absent(_) => b"stayexec: denied: the gate cannot be reached; nothing can be started without it",
            Self::Call(_) => b"stayexec: denied: the gate stopped listening before the command was told",
            Self::Gone => b"stayexec: denied: the gate went away before it answered",
            Self::Garbled => b"stayexec: denied: the gate's answer is not understood; are library and gate of one version?",
            Self::Changed => b"stayexec: denied: the command changed while it was told",
        }
    }
}

/// Reads one reply into `to`.
pub fn read<'a>(connection: &Descriptor, to: &'a mut [u8]) -> Result<Reply<'a>, Trouble> {
    let mut filled = 0_usize;
    loop {
        let room = to.get_mut(filled..).unwrap_or_default();
        let n = sys::receive(connection, room).map_err(Trouble::Call)?;
        if n == 0 {
            return Err(Trouble::Gone);
        }
        filled = filled.saturating_add(n);
        match Reply::read(to.get(..filled).unwrap_or_default()) {
            Err(AskError::Short) => {}
            Ok(_) => break,
            Err(_) => return Err(Trouble::Garbled),
        }
    }
    Reply::read(to.get(..filled).unwrap_or_default()).map_err(|_| Trouble::Garbled)
}

/// Writes a line and its newline to standard error.
pub fn tell(line: &[u8]) {
    const MAX: usize = REPLY_LINE + 1;
    let mut whole = [0; MAX];
    let mut length = 0_usize;
    for (place, byte) in whole.iter_mut().zip(line.iter().chain(b"\n")) {
        *place = *byte;
        length = length.saturating_add(1);
    }
    sys::tell(whole.get(..length).unwrap_or_default());
}
