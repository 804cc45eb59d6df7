//! `pending`, `approve`, `deny`, `later`.
//!
//! Invariant: an answer goes to the one question that was named; a suffix that fits two names none. Refuses suffixes that
//! are too short to be meant.

use super::{Listing, context, print, remote};
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
pub fn pending(arguments: &Listing) -> Result<u8, Failure> {
    let list = match connect()? {
        Some(mut connection) => remote::call(&mut connection, "approval_list_pending", &Value::Null)?,
        None => json!([]),
    };
    if arguments.json {
        print::json(&list)?;
        return Ok(exit_code::OK);
    }
    let questions: Vec<Question> = serde_json::from_value(list).map_err(|e| Failure::Rpc(e.to_string()))?;
    let rows: Vec<_> = questions.iter().map(row).collect();
    print::table(["ID", "CLASS", "DEADLINE", "AGENT", "COMMAND"], &rows)?;
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
        format!("{}{times}", question.command),
    ]
}

/// Answers a question.
pub fn decide(id: &str, decision: &str, note: &str) -> Result<u8, Failure> {
    let none = || Failure::Question(exit_code::UNKNOWN_ID, "no supervisor is running, so no question is open".into());
    let mut connection = connect()?.ok_or_else(none)?;
    let id = full_id(&mut connection, id)?;
    let row =
        remote::call(&mut connection, "approval_decide", &json!({ "audit_id": id, "decision": decision, "note": note, "face": "cli" }))?;
    let done = match decision {
        "ApproveOnce" => "approved",
        "Deny" => "denied",
        _ => "left open",
    };
    print::line(&format!("{done}: {}", row["command"].as_str().unwrap_or_default()))?;
    Ok(exit_code::OK)
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
fn full_id(connection: &mut Connection, suffix: &str) -> Result<String, Failure> {
    let suffix = suffix.trim().to_ascii_lowercase();
    if suffix.len() < SUFFIX {
        return Err(Failure::Usage(format!("an id needs at least its last {SUFFIX} characters")));
    }
    for (method, params) in [("approval_list_pending", Value::Null), ("approval_list_recent_decisions", json!({ "limit": 500 }))] {
        let list = remote::call(connection, method, &params)?;
        let ids = list.as_array().into_iter().flatten().filter_map(|row| row["audit_id"].as_str());
        let fitting: Vec<&str> = ids.filter(|id| id.ends_with(&suffix)).collect();
        match fitting[..] {
            [] => {}
            [id] => return Ok(id.to_owned()),
            _ => return Err(Failure::Usage(format!("`{suffix}` fits {} questions; give more of the id", fitting.len()))),
        }
    }
    Ok(suffix)
}
