//! JSON-RPC methods about questions.
//!
//! Invariant: an answer says who gave it, through which face. Refuses an answer that it does not know, and a note that is
//! too long to be one.

use super::question::QuestionError;
use super::question::{Answering, Choice, Question};
use super::rpc::{RpcError, Text, by, parameters, text};
use super::store::{Sought, StoreError};
use super::supervisor::Supervisor;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Number, Value, json};
use stayexec_policy::CommandClass;
use uuid::Uuid;

/// Longest time for which an approval is remembered: a day.
const MINUTES: u64 = 24 * 60;
/// Longest note, in bytes.
const NOTE: usize = 4_096;

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Pending {
    session: Option<String>,
    /// Those that agents have given up, instead.
    abandoned: bool,
}

/// The open questions, of all runs or of one.
pub fn list_pending(supervisor: &mut Supervisor, params: Value) -> Result<Text, RpcError> {
    let Pending { session, abandoned } = parameters(params)?;
    let of = |run: Uuid| session.as_ref().is_none_or(|wanted| run.to_string() == *wanted);
    let pending: Vec<_> = supervisor.questions.all().filter(|question| question.abandoned == abandoned && of(question.run)).collect();
    text(&pending)
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Find {
    suffix: String,
}

/// The ids that end so, at most two: of open questions, or else of ended ones.
pub fn find(supervisor: &mut Supervisor, params: Value) -> Result<Text, RpcError> {
    let Find { suffix } = parameters(params)?;
    let open = supervisor.questions.all().map(|question| question.audit_id.to_string());
    let mut found: Vec<String> = open.filter(|id| id.ends_with(&suffix)).take(2).collect();
    if found.is_empty() {
        for workspace in supervisor.workspaces.all() {
            found.extend(workspace.store.ended_so(&suffix).map_err(|e| RpcError::new(-32_603, e.to_string()))?);
        }
        found.truncate(2);
    }
    text(&found)
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Decide {
    audit_id: Option<String>,
    request_id: Option<String>,
    decision: String,
    note: String,
    face: Option<String>,
    #[serde(deserialize_with = "whole")]
    minutes: Option<u64>,
}

#[derive(Serialize)]
struct Answered {
    #[serde(flatten)]
    question: Question,
    decision: &'static str,
    decided_by: String,
}

/// Answers a question.
pub fn decide(supervisor: &mut Supervisor, params: Value) -> Result<Text, RpcError> {
    let Decide { audit_id, request_id, decision, note, face, minutes } = parameters(params)?;
    let id = match (audit_id, request_id) {
        (Some(id), None) | (None, Some(id)) => id,
        _ => return Err(RpcError::parameters("give the question's id as audit_id, or as request_id")),
    };
    let choice = choice(decision.trim(), minutes)?;
    if note.len() > NOTE {
        return Err(RpcError::parameters(format!("a note has at most {NOTE} bytes")));
    }
    let id = Uuid::parse_str(id.trim()).map_err(|_| RpcError::from(QuestionError::Unknown))?;
    let by = by(face.as_deref());
    let answering = Answering { choice, note: super::text::word(note.as_bytes()), by: by.clone() };
    let question = supervisor.answer(id, &answering)?;
    text(&Answered { question, decision: choice.as_str(), decided_by: by })
}

/// A whole number, also one that is written with a fraction of zero: JSON has one kind of number.
fn whole<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u64>, D::Error> {
    let Some(number) = Option::<Number>::deserialize(from)? else { return Ok(None) };
    let fraction = || number.as_f64().filter(|number| number.fract() == 0.0 && *number >= 0.0);
    // A number beyond all numbers is a large one.
    let found = number.as_u64().or_else(|| fraction().map(|number| number as u64));
    found.map(Some).ok_or_else(|| D::Error::custom(format!("`{number}` is no whole number")))
}

/// The answers, in the two spellings that clients use.
fn choice(word: &str, minutes: Option<u64>) -> Result<Choice, RpcError> {
    match (word, minutes) {
        ("ApproveOnce" | "approve_once", None) => Ok(Choice::ApproveOnce),
        ("AlwaysApprove" | "always_approve", None) => Ok(Choice::AlwaysApprove),
        ("ApproveForRun" | "approve_for_run", None) => Ok(Choice::ApproveForRun),
        ("ApproveFor" | "approve_for", Some(minutes @ 1..=MINUTES)) => Ok(Choice::ApproveFor(minutes as u32)),
        ("ApproveFor" | "approve_for", _) => Err(RpcError::parameters(format!("ApproveFor needs minutes, 1 to {MINUTES}"))),
        ("Deny" | "deny", None) => Ok(Choice::Deny),
        ("AskLater" | "ask_later", None) => Ok(Choice::AskLater),
        (_, Some(_)) => Err(RpcError::parameters("minutes go with ApproveFor alone")),
        _ => Err(RpcError::parameters("decision has to be ApproveOnce, AlwaysApprove, ApproveForRun, ApproveFor, Deny or AskLater")),
    }
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Recent {
    #[serde(deserialize_with = "whole")]
    limit: Option<u64>,
    /// A part of the command.
    search: Option<String>,
    class: Option<CommandClass>,
    /// The id of an ended question: only those that ended before it.
    before: Option<String>,
}

/// The questions that ended last, latest first; those that fit, of a few thousand, where something is sought.
pub fn list_recent_decisions(supervisor: &mut Supervisor, params: Value) -> Result<Text, RpcError> {
    let Recent { limit, search, class, before } = parameters(params)?;
    let limit = usize::try_from(limit.unwrap_or(50).clamp(1, 500)).unwrap_or(500);
    let failed = |e: StoreError| RpcError::new(-32_603, e.to_string());
    let mut behind = None;
    if let Some(id) = before {
        let id = Uuid::parse_str(id.trim()).map_err(|_| RpcError::from(QuestionError::Unknown))?;
        for workspace in supervisor.workspaces.all() {
            behind = behind.or(workspace.store.place(id).map_err(failed)?);
        }
        if behind.is_none() {
            return Err(QuestionError::Unknown.into());
        }
    }
    let sought = Sought { search, class, behind };
    let mut recent = Vec::new();
    for workspace in supervisor.workspaces.all() {
        recent.extend(workspace.store.recent(limit, &sought).map_err(failed)?);
    }
    recent.sort_by(|(one, _), (other, _)| other.cmp(one));
    recent.truncate(limit);
    text(&recent.into_iter().map(|(_, ended)| ended).collect::<Vec<_>>())
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Nothing {}

/// Whether there is anything to ask about.
pub fn get_gate_state(supervisor: &mut Supervisor, params: Value) -> Result<Text, RpcError> {
    let Nothing {} = parameters(params)?;
    text(&json!({
        "installed": true,
        "disabledByEnv": supervisor.sessions.values().any(|session| session.frozen.gate_off),
        "overrideIgnored": false,
        "host": "cli",
        "runs": supervisor.sessions.len(),
        "pending": supervisor.questions.count(),
    }))
}
