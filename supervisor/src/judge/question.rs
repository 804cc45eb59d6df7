//! A question to a person, what can be said to it, and how it ends.

use crate::clock::{Nanos, rfc3339};
use serde::{Deserialize, Serialize};
use stayexec_protocol::{Decision, Reason};
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
    /// The processes that it came through, the agent first.
    #[serde(default)]
    pub ancestry: Vec<String>,
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
    /// Its agent has given up waiting; the answer counts when it runs the same command again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub abandoned: bool,
    /// Who put it off, through which face.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub later: Option<String>,
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

/// A question that was ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ended {
    /// The question.
    #[serde(flatten)]
    pub question: Question,
    /// What was said.
    pub decision: String,
    /// What became of the calls.
    pub outcome: String,
    /// Answer or expired.
    pub reason: String,
    /// For the agent.
    pub note: String,
    /// Who said it, through which face.
    pub decided_by: String,
    /// When, RFC 3339.
    pub decided: String,
}

impl Ended {
    /// How a question ends by this answer.
    pub fn new(question: &Question, answering: &Answering, decision: Decision, reason: Reason, now: Nanos) -> Self {
        Self {
            question: question.clone(),
            decision: answering.choice.as_str().to_owned(),
            outcome: decision.as_str().to_owned(),
            reason: reason.as_str().to_owned(),
            note: answering.note.clone(),
            decided_by: answering.by.clone(),
            decided: rfc3339(now),
        }
    }

    /// The error for whoever answers it again.
    pub fn error(&self) -> QuestionError {
        if self.reason == Reason::Expired.as_str() { QuestionError::Expired } else { QuestionError::Answered }
    }
}

/// Why a question cannot be answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum QuestionError {
    /// No question has this id, or its program ended by itself.
    #[error("no open question has this id; `stayexec pending` lists them")]
    Unknown,
    /// Somebody was faster.
    #[error("this question was answered already; `stayexec history` says how")]
    Answered,
    /// The deadline passed.
    #[error("this question expired and its command was denied; run the command again to be asked again")]
    Expired,
}
