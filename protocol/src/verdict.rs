//! What the supervisor says of an event.
//!
//! Invariant: a verdict always names its reason. Refuses a default: there is no `Decision` for "nothing was decided".

use crate::Asked;
use crate::wire::{wire_struct, wire_words};
use alloc::vec::Vec;

wire_words! {
    /// What becomes of a call.
    pub enum Decision {
        /// It runs.
        Allow = 0 "allow",
        /// It is refused.
        Deny = 1 "deny",
        /// It waits for a person.
        Hold = 2 "hold",
    }
}

wire_words! {
    /// The step that decided.
    pub enum Reason {
        /// The person named this program on the command line.
        Launch = 0 "launch",
        /// Credential stores, the judge's own files, configured paths and commands.
        Forbidden = 1 "forbidden",
        /// The cell of tier and class.
        Matrix = 2 "matrix",
        /// A configured rule.
        Rule = 3 "rule",
        /// A remembered approval.
        Remembered = 4 "remembered",
        /// An approval that covers this process.
        Grant = 5 "grant",
        /// A person answered.
        Answer = 6 "answer",
        /// Nobody answered before the deadline.
        Expired = 7 "expired",
        /// The run has nobody to ask.
        Unattended = 8 "unattended",
        /// A background run approves what is not flagged.
        Background = 9 "background",
        /// The person switched prompts off.
        GateOff = 10 "gate-off",
        /// The run only observes.
        Observed = 11 "observed",
        /// The warden could not read what it has to judge.
        Unreadable = 12 "unreadable",
        /// What was judged changed before it was released.
        Changed = 13 "changed",
        /// A tracer in the tree, or missing privilege, keeps the warden from the image.
        Untraceable = 14 "untraceable",
        /// The record could not be written.
        Unrecorded = 15 "unrecorded",
        /// The image, its run or its caller ended first.
        Withdrawn = 16 "withdrawn",
        /// An agent's own helper, known from its profile.
        Own = 17 "own",
        /// The supervisor cannot take more open questions.
        Overflow = 18 "overflow",
    }
}

wire_words! {
    /// How far a record can be relied on.
    pub enum Mode {
        /// Judged after loading.
        Verify = 0 "verify",
        /// Judged on the arguments read before; a race can change them.
        Seccomp = 1 "seccomp",
        /// Asked for by the shim alone.
        Preload = 2 "preload",
    }
}

wire_struct! {
    /// The supervisor's word on one call.
    pub struct Verdict {
        /// The call that was judged.
        pub call: u64,
        /// What becomes of it.
        pub decision: Decision,
        /// Rank of the class, 0 (Read) to 4 (Destructive).
        pub class: u8,
        /// The step that decided.
        pub reason: Reason,
        /// The command line as it may be shown and stored: one line, escaped, secrets redacted.
        pub shown: Vec<u8>,
        /// The argument vector with secrets redacted.
        pub argv: Vec<Vec<u8>>,
        /// For people: the deciding entry, or the note of a denial. May be empty.
        pub note: Vec<u8>,
        /// Id of the question, where the call is held.
        pub question: Option<[u8; 16]>,
        /// Whether the warden may give the same answer to the same start by itself.
        pub repeatable: bool,
        /// The call as the shim told it, made fit to be stored and shown.
        pub asked: Option<Asked>,
        /// Whether the image is the agent's own: what it starts says so in [`Event::agent`](crate::Event::agent).
        pub agent: bool,
        /// Whether an answer that comes after the image has ended counts for the same start when it comes again.
        pub keeps: bool,
        /// Whether the program has itself ignore SIGHUP as the first thing it does (nohup(1)): so does its held image.
        pub ignores_hangup: bool,
    }
}

wire_struct! {
    /// The end of a question.
    pub struct Answer {
        /// The held call.
        pub call: u64,
        /// [`Decision::Allow`] or [`Decision::Deny`].
        pub decision: Decision,
        /// Answered, expired, withdrawn.
        pub reason: Reason,
        /// The person's note for the agent. May be empty.
        pub note: Vec<u8>,
        /// Who answered, and through which face.
        pub by: Vec<u8>,
    }
}
