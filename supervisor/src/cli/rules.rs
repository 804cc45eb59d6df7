//! `rules list`, `rules add`, `rules remove`.

use super::{context, print, questions, remote, search};
use crate::config::{self, Overrides, Surroundings};
use crate::control::{self, Connection};
use crate::error::Failure;
use crate::exit_code;
use serde_json::{Value, json};
use stayexec_policy::GateDecision;
use std::path::PathBuf;

/// The supervisor, and the workspace by the name that it takes.
fn reach(workspace: Option<PathBuf>) -> Result<(Connection, config::Settings, String), Failure> {
    let around = Surroundings::current()?;
    let settings = config::load(&Overrides { workspace, ..Overrides::default() }, &around)?;
    settings.directories.make(around.uid)?;
    let name = settings.workspace.to_str().ok_or_else(|| Failure::Usage("rules need a workspace whose name is UTF-8".into()))?.to_owned();
    Ok((control::connect_or_start(&context::address(&settings.directories))?, settings, name))
}

/// Lists the rules of the configuration, and what was added and remembered.
pub fn list(json: bool, workspace: Option<PathBuf>) -> Result<u8, Failure> {
    let (mut connection, settings, name) = reach(workspace)?;
    let own = remote::call(&mut connection, "rules_list", &json!({ "workspace": name }))?;
    let configured = settings.rules.iter().map(|rule| {
        json!({
            "id": null, "kind": "configuration", "decision": rule.value.decision, "what": crate::judge::rule_line(&rule.value),
            "message": rule.value.message, "by": rule.source.to_string(),
        })
    });
    let all: Vec<Value> = configured.chain(own.as_array().cloned().unwrap_or_default()).collect();
    if json {
        print::json(&all)?;
        return Ok(exit_code::OK);
    }
    let text = |row: &Value, name: &str| crate::judge::shown(row[name].as_str().unwrap_or_default());
    let rows: Vec<[String; 5]> = all
        .iter()
        .map(|row| {
            let id = text(row, "id");
            let id = id.get(id.len().saturating_sub(8)..).unwrap_or_default().to_owned();
            // An object names what it is bound to: a run, or a time.
            let kind = match row["scope"].as_object().and_then(|scope| scope.keys().next()).map(String::as_str) {
                Some("run") => "for a run".into(),
                Some(_) => "for a time".into(),
                None => text(row, "kind"),
            };
            [id, kind, text(row, "decision"), text(row, "what"), text(row, "by")]
        })
        .collect();
    print::table(["ID", "KIND", "DECISION", "WHAT", "BY"], &rows)?;
    Ok(exit_code::OK)
}

/// Adds a rule.
pub fn add(words: &[String], decision: GateDecision, message: Option<String>, workspace: Option<PathBuf>) -> Result<u8, Failure> {
    let (mut connection, _, name) = reach(workspace)?;
    let params = json!({ "workspace": name, "match": words, "decision": decision, "message": message, "face": "cli" });
    let added = remote::call(&mut connection, "rules_add", &params)?;
    print::line(&format!("added: {}", added["id"].as_str().unwrap_or_default()))?;
    // Options behind the first word are the rule's: seen here, a misplaced one is noticed.
    let words: Vec<String> = words.iter().map(|word| stayexec_policy::display::word(word)).collect();
    print::line(&format!("{decision}: whatever begins `{}`", words.join(" ")))?;
    if decision == GateDecision::Allow
        && let Some((link, file)) = words.first().and_then(|name| linked(name))
    {
        print::line(&format!("note: {link} is a link to {file}; what is allowed goes by the loaded file, so add that name too"))?;
    }
    Ok(exit_code::OK)
}

/// A program that is a link to a file of another name, and that name.
fn linked(name: &str) -> Option<(&str, String)> {
    let found = search::first(name.as_ref(), std::env::var_os("PATH").as_deref())?;
    let file = found.canonicalize().ok()?.file_name()?.to_str()?.to_owned();
    (!name.contains('/') && file != name).then_some((name, file))
}

/// Removes a rule or a remembered approval.
pub fn remove(id: &str, workspace: Option<PathBuf>) -> Result<u8, Failure> {
    let (mut connection, _, name) = reach(workspace)?;
    let list = remote::call(&mut connection, "rules_list", &json!({ "workspace": name }))?;
    let suffix = id.trim().to_ascii_lowercase();
    let none = || Failure::Usage(format!("no rule and no remembered approval `{suffix}`; those of a file are removed there"));
    let id = if suffix.len() < 4 { None } else { questions::fitting(&list, "id", &suffix)? }.ok_or_else(none)?;
    remote::call(&mut connection, "rules_remove", &json!({ "workspace": name, "id": id }))?;
    print::line(&format!("removed: {id}"))?;
    Ok(exit_code::OK)
}
