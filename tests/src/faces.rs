//! What the command-line faces print as JSON.

use crate::Outcome;
use anyhow::{Context, Result, ensure};
use serde_json::Value;

fn rows(outcome: &Outcome) -> Result<Vec<Value>> {
    ensure!(outcome.code() == 0, "{}", outcome.told());
    let value: Value = serde_json::from_slice(&outcome.stdout).with_context(|| outcome.told())?;
    value.as_array().cloned().with_context(|| outcome.told())
}

fn text(row: &Value, name: &str) -> String {
    row.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn texts(row: &Value, name: &str) -> Vec<String> {
    let words = row.get(name).and_then(Value::as_array).cloned().unwrap_or_default();
    words.iter().filter_map(|w| w.as_str().map(str::to_owned)).collect()
}

/// An open question: an element of `pending --json`.
#[derive(Debug, Clone)]
pub struct Question {
    /// Its id.
    pub audit_id: String,
    /// The command line as shown.
    pub command: String,
    /// Its class, in lower case.
    pub class: String,
    /// The arguments.
    pub argv: Vec<String>,
    /// The whole object.
    pub row: Value,
}

impl Question {
    pub(crate) fn all(outcome: &Outcome) -> Result<Vec<Self>> {
        let one = |row: Value| Self {
            audit_id: text(&row, "audit_id"),
            command: text(&row, "command"),
            class: text(&row, "class"),
            argv: texts(&row, "argv"),
            row,
        };
        Ok(rows(outcome)?.into_iter().map(one).collect())
    }
}

/// A judged program start, from the lines of `history --json`: its `judged` record, with what an `answered` or `withdrawn`
/// record of the same call says of its end.
#[derive(Debug, Clone)]
pub struct Entry {
    /// The command line as shown.
    pub command: String,
    /// The arguments.
    pub argv: Vec<String>,
    /// Its class, in lower case.
    pub class: String,
    /// What became of it.
    pub decision: String,
    /// The step that decided.
    pub reason: String,
    /// The whole `judged` record.
    pub row: Value,
}

impl Entry {
    pub(crate) fn all(outcome: &Outcome) -> Result<Vec<Self>> {
        ensure!(outcome.code() == 0, "{}", outcome.told());
        let mut all: Vec<Self> = Vec::new();
        for line in outcome.out().lines() {
            let row: Value = serde_json::from_str(line).with_context(|| line.to_owned())?;
            let same = |e: &&mut Self| e.row["run"] == row["run"] && e.row["call"] == row["call"];
            match row["record"].as_str() {
                Some("judged") => all.push(Self {
                    command: text(&row, "command"),
                    argv: texts(&row, "argv"),
                    class: text(&row, "class"),
                    decision: text(&row, "decision"),
                    reason: text(&row, "reason"),
                    row,
                }),
                Some("answered") => {
                    let entry = all.iter_mut().find(same).with_context(|| format!("{line}: nothing was asked"))?;
                    entry.decision = text(&row, "decision");
                    entry.reason = text(&row, "reason");
                }
                Some("withdrawn") => {
                    let entry = all.iter_mut().find(same).with_context(|| format!("{line}: nothing was asked"))?;
                    entry.decision = "withdrawn".into();
                    entry.reason = text(&row, "reason");
                }
                _ => {}
            }
        }
        Ok(all)
    }
}
