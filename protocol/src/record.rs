//! What the journal keeps.
//!
//! Invariant: a record says what was judged, how, and why, with secrets already redacted. Refuses environments and script
//! texts: they are kept as digests.

use crate::wire::wire_struct;
use crate::{Asked, Decision, FileId, Mode, Process, Reader, Reason, Stage, Wire, WireError};
use alloc::vec::Vec;

wire_struct! {
    /// A run began.
    pub struct Started {
        /// Nanoseconds since the epoch.
        pub time: i64,
        /// Id of the run (UUIDv7).
        pub run: [u8; 16],
        /// The launched command, redacted.
        pub argv: Vec<Vec<u8>>,
        /// Working directory at launch.
        pub cwd: Vec<u8>,
        /// Workspace of the run.
        pub workspace: Vec<u8>,
        /// Tier, as a word.
        pub tier: Vec<u8>,
        /// Origin, as a word.
        pub origin: Vec<u8>,
        /// How its records can be relied on.
        pub mode: Mode,
        /// User that started it.
        pub uid: u32,
        /// Program version of the warden.
        pub version: Vec<u8>,
    }
}

wire_struct! {
    /// A call was judged: written before the call proceeds.
    pub struct Judged {
        /// Nanoseconds since the epoch.
        pub time: i64,
        /// Number of the call in its run.
        pub call: u64,
        /// Where the call stood.
        pub stage: Stage,
        /// How far the record can be relied on.
        pub mode: Mode,
        /// The process of the image.
        pub process: Process,
        /// Its parent, where it was known.
        pub parent: u32,
        /// Effective user id.
        pub euid: u32,
        /// Path of the loaded file.
        pub path: Vec<u8>,
        /// Its identity.
        pub id: FileId,
        /// The command line as it may be shown.
        pub shown: Vec<u8>,
        /// The argument vector, redacted.
        pub argv: Vec<Vec<u8>>,
        /// Working directory.
        pub cwd: Vec<u8>,
        /// Root directory.
        pub root: Vec<u8>,
        /// Path and SHA-256 of the script; empty and zero without one.
        pub script: Vec<u8>,
        /// SHA-256 of the script.
        pub script_digest: [u8; 32],
        /// Keyed digest of argument vector and environment.
        pub digest: [u8; 32],
        /// Rank of the class.
        pub class: u8,
        /// What becomes of it.
        pub decision: Decision,
        /// The step that decided.
        pub reason: Reason,
        /// For people. May be empty.
        pub note: Vec<u8>,
        /// Id of the question, where the call is held.
        pub question: Option<[u8; 16]>,
        /// Whether the warden repeated a judgement that it was given before.
        pub repeated: bool,
        /// The call as the shim told it, redacted.
        pub asked: Option<Asked>,
    }
}

wire_struct! {
    /// A question was answered: written before the answer is carried out.
    pub struct Answered {
        /// Nanoseconds since the epoch.
        pub time: i64,
        /// The held call.
        pub call: u64,
        /// Id of the question.
        pub question: [u8; 16],
        /// Allow or deny.
        pub decision: Decision,
        /// Answered, expired, changed.
        pub reason: Reason,
        /// The person's note.
        pub note: Vec<u8>,
        /// Who, and through which face.
        pub by: Vec<u8>,
    }
}

wire_struct! {
    /// A held call ended by itself.
    pub struct Withdrawn {
        /// Nanoseconds since the epoch.
        pub time: i64,
        /// The held call.
        pub call: u64,
        /// Id of the question.
        pub question: [u8; 16],
        /// Why, as a word.
        pub cause: Vec<u8>,
    }
}

wire_struct! {
    /// A run ended.
    pub struct Ended {
        /// Nanoseconds since the epoch.
        pub time: i64,
        /// Wait status of the launched process.
        pub status: i32,
    }
}

/// One record of a journal.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(clippy::large_enum_variant, reason = "nearly all are judged calls")]
pub enum Record {
    /// First record of every journal.
    Started(Started),
    /// A call was judged.
    Judged(Judged),
    /// A question was answered.
    Answered(Answered),
    /// A held call ended by itself.
    Withdrawn(Withdrawn),
    /// Last record of a run that ended in order.
    Ended(Ended),
}

impl Wire for Record {
    fn put(&self, out: &mut Vec<u8>) {
        match self {
            Self::Started(r) => {
                out.push(0);
                r.put(out);
            }
            Self::Judged(r) => {
                out.push(1);
                r.put(out);
            }
            Self::Answered(r) => {
                out.push(2);
                r.put(out);
            }
            Self::Withdrawn(r) => {
                out.push(3);
                r.put(out);
            }
            Self::Ended(r) => {
                out.push(4);
                r.put(out);
            }
        }
    }

    fn get(from: &mut Reader<'_>) -> Result<Self, WireError> {
        Ok(match u8::get(from)? {
            0 => Self::Started(Started::get(from)?),
            1 => Self::Judged(Judged::get(from)?),
            2 => Self::Answered(Answered::get(from)?),
            3 => Self::Withdrawn(Withdrawn::get(from)?),
            4 => Self::Ended(Ended::get(from)?),
            kind => return Err(WireError::Variant(kind)),
        })
    }
}
