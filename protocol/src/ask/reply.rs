//! The answer to an ask.
//!
//! Invariant: a reply fits [`REPLY_MAX`] bytes, so that a shim can read it onto its stack. Refuses to be anything but "go
//! on" or "refused": what is not exactly a [`Reply::GoOn`] lets nothing run.

use super::KIND_REPLY;
use super::read::{AskError, array};

/// Longest line of a refusal, in bytes.
pub const REPLY_LINE: usize = 1024;

/// Longest frame of a reply.
pub const REPLY_MAX: usize = 6 + REPLY_LINE;

/// The answer to an ask that waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reply<'a> {
    /// The call proceeds.
    GoOn,
    /// The call fails. The line goes to the caller's standard error: without a newline, made fit for a terminal by the sender.
    Refused(&'a [u8]),
}

impl<'a> Reply<'a> {
    /// The frame's first six bytes; the line, cut to [`REPLY_LINE`], follows.
    #[must_use]
    pub fn parts(&self) -> ([u8; 6], &'a [u8]) {
        let (word, line) = match *self {
            Self::GoOn => (0, &[][..]),
            Self::Refused(line) => (1, line.get(..REPLY_LINE).unwrap_or(line)),
        };
        let [l0, l1] = (line.len() as u16 + 2).to_le_bytes();
        ([l0, l1, 0, 0, KIND_REPLY, word], line)
    }

    /// The whole frame.
    #[cfg(feature = "alloc")]
    #[must_use]
    pub fn to_frame(&self) -> alloc::vec::Vec<u8> {
        let (head, line) = self.parts();
        [&head[..], line].concat()
    }

    /// Reads a whole frame. [`AskError::Short`] where more bytes have to be read first.
    ///
    /// # Errors
    /// Whatever is not exactly one reply.
    pub fn read(frame: &'a [u8]) -> Result<Self, AskError> {
        let mut rest = frame;
        let length = u32::from_le_bytes(array(&mut rest)?);
        let length = usize::try_from(length).ok().filter(|n| *n <= REPLY_MAX - 4).ok_or(AskError::TooLong)?;
        if rest.len() < length {
            return Err(AskError::Short);
        }
        if rest.len() > length {
            return Err(AskError::Trailing);
        }
        match array(&mut rest)? {
            [KIND_REPLY, 0] if rest.is_empty() => Ok(Self::GoOn),
            [KIND_REPLY, 0] => Err(AskError::Trailing),
            [KIND_REPLY, 1] => Ok(Self::Refused(rest)),
            _ => Err(AskError::Unknown),
        }
    }
}
