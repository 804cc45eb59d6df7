//! Calls that were refused just now.
//!
//! A shell that is refused a file goes on along PATH, and may come to the same file by another name (`/bin` is `/usr/bin`).
//! Invariant: the same process that comes with the same words to the same file within a moment has been answered already.
//! Refuses to remember for longer: what is tried anew is asked anew.

use stayexec_protocol::{Event, Reason};
use std::time::{Duration, Instant};

/// How long a refusal holds for other names of its file.
const MOMENT: Duration = Duration::from_secs(2);

/// What is compared of a call.
#[derive(Debug, PartialEq, Eq)]
struct Attempt {
    /// Pid and start of the process.
    process: (u32, u64),
    /// Device and inode of the file that the caller named.
    file: (u64, u64),
    /// The words, without the name of a script.
    words: Vec<Vec<u8>>,
}

impl Attempt {
    fn of(event: &Event) -> Self {
        let id = event.script.as_ref().filter(|script| !script.operand).map_or(&event.executable.id, |script| &script.id);
        let name = event.script.as_ref().map(|script| &script.path);
        let words = event.argv.iter().filter(|word| Some(*word) != name).cloned().collect();
        Self { process: (event.process.pid, event.process.start), file: (id.dev, id.ino), words }
    }
}

/// The refusals of the last moment.
#[derive(Debug, Default)]
pub(super) struct Refusals(Vec<(Instant, Attempt, Reason)>);

impl Refusals {
    /// Notes that a call was refused.
    pub(super) fn note(&mut self, event: &Event, reason: Reason, now: Instant) {
        self.0.retain(|(at, ..)| now.duration_since(*at) < MOMENT);
        self.0.push((now, Attempt::of(event), reason));
    }

    /// Why this very call was refused just now, if it was.
    pub(super) fn why(&self, event: &Event, now: Instant) -> Option<Reason> {
        if self.0.is_empty() {
            return None;
        }
        let attempt = Attempt::of(event);
        let same = self.0.iter().find(|(at, other, _)| now.duration_since(*at) < MOMENT && *other == attempt);
        same.map(|(.., reason)| *reason)
    }
}
