//! The messages between a warden or a client and the supervisor.
//!
//! Invariant: a frame is a little-endian u32 length, then a kind byte and the body. Refuses frames over the limit before
//! reading them.

use crate::wire::{wire_struct, wire_words};
use crate::{Answer, Event, FRAME_LIMIT, Reader, Verdict, Wire, WireError};
use alloc::vec::Vec;

wire_struct! {
    /// A warden tells of its run. Sent again, unchanged, to each restarted supervisor.
    pub struct Enlist {
        /// Id of the run (UUIDv7).
        pub run: [u8; 16],
        /// The frozen configuration, as JSON.
        pub config: Vec<u8>,
        /// Pid of the warden.
        pub warden: u32,
        /// Start of the run, nanoseconds since the epoch.
        pub started: i64,
        /// The launched command.
        pub argv: Vec<Vec<u8>>,
        /// Working directory at launch.
        pub cwd: Vec<u8>,
        /// Environment at launch, the baseline.
        pub environment: Vec<Vec<u8>>,
        /// Under which each supervisor seals what it stores of the run. Nobody else is told, and no file holds it.
        pub secret: [u8; 32],
        /// The rules and remembered approvals that count in the run; nothing where the run begins.
        pub kept: Vec<u8>,
    }
}

wire_words! {
    /// Why a held call is no longer there to be answered.
    pub enum Withdrawal {
        /// The image was killed or is ending by a signal.
        Died = 0 "died",
        /// The run ended.
        RunEnded = 1 "run-ended",
        /// What was judged changed.
        Changed = 2 "changed",
    }
}

/// A message, in either direction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Message {
    /// First word of whoever connects: its protocol number and its program version.
    Hello(u16, Vec<u8>),
    /// First word of the supervisor: the same of its own.
    Welcome(u16, Vec<u8>),
    /// The supervisor refuses the connection or the request, with one line for a person.
    Refused(Vec<u8>),
    /// A run begins, or goes on after a restart of the supervisor.
    Enlist(Enlist),
    /// The run is known. The rules and remembered approvals that count in it, and what a person has to be told at its
    /// beginning, a line each.
    Enlisted(Vec<u8>, Vec<Vec<u8>>),
    /// Judge this.
    Judge(Event),
    /// Hold this question again under the id that it had: call and verdict as given before.
    Reopen(Event, Verdict),
    /// Before the verdict: look at this operand of the call, as its process would find it, and ask again with it as the
    /// script. At most once a call.
    Look(u64, Vec<u8>),
    /// Judged.
    Verdict(Verdict),
    /// A question ended.
    Answer(Answer),
    /// The warden has carried the answer out: the call, and whether it was allowed.
    Settled(u64, bool),
    /// A held call ended by itself.
    Withdraw(u64, Withdrawal),
    /// End this run.
    Stop,
    /// The run ended with this wait status.
    End(i32),
    /// A request of a face: JSON-RPC.
    Request(Vec<u8>),
    /// The reply to it: JSON-RPC.
    Reply(Vec<u8>),
    /// Repeat none of the judgements given so far.
    Forget,
    /// The rules and remembered approvals that count in the run from now on; judgements given so far as with `Forget`.
    Kept(Vec<u8>),
}

impl Message {
    fn kind(&self) -> u8 {
        match self {
            Self::Hello(..) => 0,
            Self::Welcome(..) => 1,
            Self::Refused(_) => 2,
            Self::Enlist(_) => 3,
            Self::Enlisted(..) => 4,
            Self::Judge(_) => 5,
            Self::Reopen(..) => 6,
            Self::Verdict(_) => 7,
            Self::Answer(_) => 8,
            Self::Settled(..) => 9,
            Self::Withdraw(..) => 10,
            Self::Stop => 11,
            Self::End(_) => 12,
            Self::Request(_) => 13,
            Self::Reply(_) => 14,
            Self::Look(..) => 15,
            Self::Forget => 16,
            Self::Kept(_) => 17,
        }
    }

    /// The message as a frame.
    ///
    /// # Errors
    /// [`WireError::TooLong`] where the frame would exceed [`FRAME_LIMIT`].
    pub fn to_frame(&self) -> Result<Vec<u8>, WireError> {
        let mut frame = Vec::from([0; 4]);
        frame.push(self.kind());
        match self {
            Self::Hello(version, program) | Self::Welcome(version, program) => {
                version.put(&mut frame);
                program.put(&mut frame);
            }
            Self::Refused(text) | Self::Request(text) | Self::Reply(text) | Self::Kept(text) => text.put(&mut frame),
            Self::Enlist(enlist) => enlist.put(&mut frame),
            Self::Enlisted(kept, lines) => {
                kept.put(&mut frame);
                lines.put(&mut frame);
            }
            Self::Judge(event) => event.put(&mut frame),
            Self::Reopen(event, verdict) => {
                event.put(&mut frame);
                verdict.put(&mut frame);
            }
            Self::Verdict(verdict) => verdict.put(&mut frame),
            Self::Answer(answer) => answer.put(&mut frame),
            Self::Look(call, path) => {
                call.put(&mut frame);
                path.put(&mut frame);
            }
            Self::Settled(call, allowed) => {
                call.put(&mut frame);
                allowed.put(&mut frame);
            }
            Self::Withdraw(call, why) => {
                call.put(&mut frame);
                why.put(&mut frame);
            }
            Self::End(status) => status.put(&mut frame),
            Self::Stop | Self::Forget => {}
        }
        let length = frame.len() - 4;
        if length > FRAME_LIMIT {
            return Err(WireError::TooLong);
        }
        let length = u32::try_from(length).map_err(|_| WireError::TooLong)?;
        frame.splice(..4, length.to_le_bytes());
        Ok(frame)
    }

    /// Takes the first whole frame off `buffer`; `None` while it is not all there.
    ///
    /// # Errors
    /// Any [`WireError`]; the connection cannot be used after one.
    pub fn take_frame(buffer: &mut Vec<u8>) -> Result<Option<Self>, WireError> {
        let Some(head) = buffer.first_chunk::<4>() else { return Ok(None) };
        let length = u32::from_le_bytes(*head) as usize;
        if length > FRAME_LIMIT {
            return Err(WireError::TooLong);
        }
        let Some(body) = buffer.get(4..4 + length) else { return Ok(None) };
        let message = Self::from_body(body)?;
        buffer.drain(..4 + length);
        Ok(Some(message))
    }

    /// The message in a frame's body, without the length.
    ///
    /// # Errors
    /// Any [`WireError`].
    pub fn from_body(body: &[u8]) -> Result<Self, WireError> {
        let mut from = Reader::new(body);
        let from_ref = &mut from;
        let message = match u8::get(from_ref)? {
            0 => Self::Hello(u16::get(from_ref)?, Vec::get(from_ref)?),
            1 => Self::Welcome(u16::get(from_ref)?, Vec::get(from_ref)?),
            2 => Self::Refused(Vec::get(from_ref)?),
            3 => Self::Enlist(Enlist::get(from_ref)?),
            4 => Self::Enlisted(Vec::get(from_ref)?, Vec::get(from_ref)?),
            5 => Self::Judge(Event::get(from_ref)?),
            6 => Self::Reopen(Event::get(from_ref)?, Verdict::get(from_ref)?),
            7 => Self::Verdict(Verdict::get(from_ref)?),
            8 => Self::Answer(Answer::get(from_ref)?),
            9 => Self::Settled(u64::get(from_ref)?, bool::get(from_ref)?),
            10 => Self::Withdraw(u64::get(from_ref)?, Withdrawal::get(from_ref)?),
            11 => Self::Stop,
            12 => Self::End(i32::get(from_ref)?),
            13 => Self::Request(Vec::get(from_ref)?),
            14 => Self::Reply(Vec::get(from_ref)?),
            15 => Self::Look(u64::get(from_ref)?, Vec::get(from_ref)?),
            16 => Self::Forget,
            17 => Self::Kept(Vec::get(from_ref)?),
            kind => return Err(WireError::Variant(kind)),
        };
        from.end()?;
        Ok(message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    #[test]
    fn frames_come_back_one_by_one() {
        let sent = [Message::Hello(1, b"0.1.0".to_vec()), Message::Stop, Message::Settled(9, true), Message::Request(vec![b'x'; 70_000])];
        let mut buffer: Vec<u8> = sent.iter().flat_map(|m| m.to_frame().unwrap_or_default()).collect();
        let mut got = vec![];
        while let Ok(Some(message)) = Message::take_frame(&mut buffer) {
            got.push(message);
        }
        assert_eq!(got, sent);
        assert!(buffer.is_empty());
    }

    #[test]
    fn an_overlong_frame_is_refused_by_its_header() {
        let mut buffer = (u32::MAX).to_le_bytes().to_vec();
        assert_eq!(Message::take_frame(&mut buffer), Err(WireError::TooLong));
    }

    #[test]
    fn an_unknown_kind_is_refused() {
        assert_eq!(Message::from_body(&[200]), Err(WireError::Variant(200)));
    }
}
