//! A question to a person, and what can be said to it.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// A question, by the names that it has everywhere.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Question {
    /// Its id (UUIDv7).
    pub audit_id: Uuid,
    /// The run.
    pub run: Uuid,
    /// The launched program.
    pub agent: String,
    /// The command line as shown.
    pub command: String,
    /// The argument vector, redacted.
    pub argv: Vec<String>,
    /// Working directory.
    pub cwd: String,
    /// The loaded file.
    pub file: String,
    /// The class.
    pub class: stayexec_policy::CommandClass,
    /// Why it is asked.
    pub reasons: Vec<String>,
    /// What AlwaysApprove would remember; absent where it can remember nothing.
    pub always_rule: Option<String>,
    /// Origin of the run.
    pub origin: crate::config::Origin,
    /// When it was asked, RFC 3339.
    pub created: String,
    /// When it is denied for want of an answer, RFC 3339.
    pub deadline: String,
    /// How many calls wait for the one answer.
    pub count: usize,
}

/// What a person can say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// Let the calls that wait run.
    ApproveOnce,
    /// The same, and remember it in this workspace.
    AlwaysApprove,
    /// The same, and remember it in this run.
    ApproveForRun,
    /// The same, and remember it for so many minutes.
    ApproveFor(u32),
    /// Refuse them.
    Deny,
    /// The card goes, the question stays.
    AskLater,
}

impl Choice {
    /// The word on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ApproveOnce => "ApproveOnce",
            Self::AlwaysApprove => "AlwaysApprove",
            Self::ApproveForRun => "ApproveForRun",
            Self::ApproveFor(_) => "ApproveFor",
            Self::Deny => "Deny",
            Self::AskLater => "AskLater",
        }
    }

    /// Whether it lets the calls run; `None` where it decides nothing.
    pub const fn allows(self) -> Option<bool> {
        match self {
            Self::ApproveOnce | Self::AlwaysApprove | Self::ApproveForRun | Self::ApproveFor(_) => Some(true),
            Self::Deny => Some(false),
            Self::AskLater => None,
        }
    }

    /// Whether something is remembered besides.
    pub const fn remembers(self) -> bool {
        matches!(self, Self::AlwaysApprove | Self::ApproveForRun | Self::ApproveFor(_))
    }
}

/// An answer as a face brings it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answering {
    /// What was said.
    pub choice: Choice,
    /// For the agent.
    pub note: String,
    /// Who said it, through which face.
    pub by: String,
}
