//! `pending`, `approve`, `deny`, `later`.
//!
//! Invariant: an answer goes to the one question that was named; a suffix that fits two names none. Refuses suffixes that
//! are too short to be meant.

use super::arguments::Pending;
use super::{context, print, remote};
use crate::control::{self, Connection, ControlError};
use crate::error::Failure;
use crate::exit_code;
use crate::judge::Question;
use serde_json::{Value, json};

/// Shortest suffix of an id.
const SUFFIX: usize = 4;
/// How much of an id a table shows.
const SHOWN: usize = 8;

/// Lists the open questions.
pub fn pending(arguments: &Pending) -> Result<u8, Failure> {
    let mut connection = connect()?;
    let mut listed = |abandoned: bool| match &mut connection {
        Some(connection) => remote::call(connection, "approval_list_pending", &json!({ "abandoned": abandoned })),
        None => Ok(json!([])),
    };
    let list = listed(arguments.abandoned)?;
    if arguments.json {
        print::json(&list)?;
        return Ok(exit_code::OK);
    }
    let questions: Vec<Question> = serde_json::from_value(list).map_err(|e| Failure::Rpc(e.to_string()))?;
    let rows: Vec<_> = questions.iter().map(row).collect();
    print::table(["ID", "CLASS", "DEADLINE", "AGENT", "COMMAND"], &rows)?;
    if !arguments.abandoned {
        let more = listed(true)?.as_array().map_or(0, Vec::len);
        if more > 0 {
            print::line(&format!("{more} more can be answered though the agent has stopped waiting: stayexec pending --abandoned"))?;
        }
    }
    Ok(exit_code::OK)
}

fn row(question: &Question) -> [String; 5] {
    let id = question.audit_id.to_string();
    let times = if question.count > 1 { format!(" (×{})", question.count) } else { String::new() };
    [
        id[id.len() - SHOWN..].to_owned(),
        question.class.to_string(),
        question.deadline.clone(),
        question.agent.clone(),
        format!("{}{times}{}", question.command, if question.later.is_some() { " (put off)" } else { "" }),
    ]
}

/// What is said to a question.
#[derive(Debug, Clone, Copy)]
pub enum Decision {
    /// By its name.
    Named(&'static str),
    /// Approve, and remember it for so many minutes.
    For(u64),
}

/// Answers a question.
pub fn decide(id: &str, decision: Decision, note: &str) -> Result<u8, Failure> {
    let none = || Failure::Question(exit_code::UNKNOWN_ID, "no supervisor is running, so no question is open".into());
    let mut connection = connect_or_start()?.ok_or_else(none)?;
    let id = full_id(&mut connection, id)?;
    let mut params = json!({ "audit_id": id, "note": note, "face": "cli" });
    let done = match decision {
        Decision::Named(name) => {
            params["decision"] = json!(name);
            match name {
                "Deny" => "denied",
                "AskLater" => "put off",
                _ => "approved",
            }
        }
        Decision::For(minutes) => {
            params["decision"] = json!("ApproveFor");
            params["minutes"] = json!(minutes);
            "approved"
        }
    };
    let row = remote::call(&mut connection, "approval_decide", &params)?;
    print::line(&format!("{done}: {}", row["command"].as_str().unwrap_or_default()))?;
    if matches!(row["decision"].as_str(), Some("AlwaysApprove" | "ApproveForRun" | "ApproveFor")) {
        print::line(&format!("remembered: {}", row["always_rule"].as_str().unwrap_or_default()))?;
    }
    Ok(exit_code::OK)
}

/// Ends a run.
pub fn stop(run: &str) -> Result<u8, Failure> {
    let none = || Failure::Usage("no supervisor is running, so no run goes on".into());
    let mut connection = connect()?.ok_or_else(none)?;
    let runs = remote::call(&mut connection, "run_list", &Value::Null)?;
    let suffix = suffix(run)?;
    let Some(id) = fitting(&runs, "run", &suffix)? else { return Err(Failure::Usage(format!("no run `{suffix}` goes on"))) };
    remote::call(&mut connection, "run_stop", &json!({ "run": id }))?;
    print::line(&format!("stopped: {id}"))?;
    Ok(exit_code::OK)
}

/// The supervisor, started where none is but has been: what ended is in its stores.
fn connect_or_start() -> Result<Option<Connection>, Failure> {
    let (around, directories) = context::here()?;
    if !directories.state.is_dir() {
        return Ok(None);
    }
    directories.make(around.uid)?;
    Ok(Some(control::connect_or_start(&context::address(&directories))?))
}

fn connect() -> Result<Option<Connection>, Failure> {
    let (_, directories) = context::here()?;
    match control::connect(&context::address(&directories)) {
        Ok(connection) => Ok(Some(connection)),
        Err(ControlError::Absent) => Ok(None),
        Err(e) => Err(e.into()),
    }
}

/// The whole id for its last characters: of an open question, or of one that has ended, which the supervisor then names.
fn full_id(connection: &mut Connection, text: &str) -> Result<String, Failure> {
    let suffix = suffix(text)?;
    let found = remote::call(connection, "approval_find", &json!({ "suffix": suffix }))?;
    match found.as_array().map(Vec::as_slice) {
        Some([id]) => Ok(id.as_str().unwrap_or_default().to_owned()),
        Some([_, ..]) => Err(several(&suffix)),
        _ => Ok(suffix),
    }
}

fn several(suffix: &str) -> Failure {
    Failure::Usage(format!("`{suffix}` fits several of them; give more of the id"))
}

fn suffix(text: &str) -> Result<String, Failure> {
    let suffix = text.trim().to_ascii_lowercase();
    if suffix.len() < SUFFIX {
        return Err(Failure::Usage(format!("an id needs at least its last {SUFFIX} characters")));
    }
    Ok(suffix)
}

/// The one id in a list that ends so.
pub(super) fn fitting(list: &Value, name: &str, suffix: &str) -> Result<Option<String>, Failure> {
    let ids = list.as_array().into_iter().flatten().filter_map(|row| row[name].as_str());
    let fitting: Vec<&str> = ids.filter(|id| id.ends_with(suffix)).collect();
    match fitting[..] {
        [] => Ok(None),
        [id] => Ok(Some(id.to_owned())),
        _ => Err(several(suffix)),
    }
}
