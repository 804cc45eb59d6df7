//! JSON-RPC methods about runs, rules and remembered approvals.
//!
//! Invariant: a change is in the store before it is effective, and effective before it is confirmed: wardens forget what
//! they were told before. Refuses a rule that could never match.

use super::kept::{Kept, OwnRule};
use super::remembered::{Remembered, Scope};
use super::rpc::{RpcError, Text, by, parameters, text};
use super::rules;
use super::supervisor::Supervisor;
use crate::clock::{self, rfc3339};
use crate::config::{PlacedRule, Rule};
use serde::Deserialize;
use serde_json::{Value, json};
use stayexec_policy::rule::Token;
use stayexec_policy::{GateDecision, SecurityPolicy};
use stayexec_protocol::Message;
use std::path::PathBuf;
use uuid::Uuid;

fn store(error: impl std::fmt::Display) -> RpcError {
    RpcError::new(-32_008, error.to_string())
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Nothing {}

/// The runs that go on.
pub fn list_runs(supervisor: &mut Supervisor, params: Value) -> Result<Text, RpcError> {
    let Nothing {} = parameters(params)?;
    let runs = supervisor.sessions.values().map(|session| {
        json!({
            "run": session.run, "agent": session.agent, "warden": session.warden, "tier": session.frozen.tier,
            "origin": session.frozen.origin, "workspace": super::text::word(session.frozen.places.workspace.bytes()),
        })
    });
    text(&runs.collect::<Vec<_>>())
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Stop {
    run: Uuid,
}

/// Ends a run.
pub fn stop_run(supervisor: &mut Supervisor, params: Value) -> Result<Text, RpcError> {
    let Stop { run } = parameters(params)?;
    let session = supervisor.sessions.get(&run).ok_or_else(|| RpcError::parameters("no run of this id goes on"))?;
    session.outbox.send(Message::Stop);
    text(&json!({ "run": run }))
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Of {
    workspace: String,
}

fn folder(supervisor: &mut Supervisor, workspace: &str) -> Result<PathBuf, RpcError> {
    if !workspace.starts_with('/') {
        return Err(RpcError::parameters("workspace has to be an absolute path"));
    }
    let folder = supervisor.workspaces.folder(workspace.as_bytes());
    supervisor.workspaces.enter(&folder).map_err(store)?;
    Ok(folder)
}

/// What was added or remembered in a workspace.
pub fn list(supervisor: &mut Supervisor, params: Value) -> Result<Text, RpcError> {
    let Of { workspace } = parameters(params)?;
    let folder = folder(supervisor, &workspace)?;
    let Some(entered) = supervisor.workspaces.get(&folder) else { return Err(store("the store is not open")) };
    let Kept { rules, remembered, .. } = entered.store.kept().map_err(store)?;
    let unlisted = entered.store.unlisted(&supervisor.mac).map_err(store)?;
    let outside = |id: Uuid| unlisted.contains(&id.to_string());
    let rules = rules.iter().map(|own| {
        let Rule { decision, message, .. } = &own.placed.rule;
        json!({
            "id": own.id, "kind": "rule", "decision": decision, "what": rules::line(&own.placed.rule), "message": message,
            "by": own.placed.place, "outside": outside(own.id),
        })
    });
    let now = clock::now();
    let counts = |one: &&Remembered| match one.scope {
        Scope::Workspace => true,
        Scope::Run(run) => supervisor.sessions.contains_key(&run),
        Scope::Until(end) => now < end,
    };
    let remembered = remembered.iter().filter(counts).map(|one| {
        json!({
            "id": one.id, "kind": "remembered", "decision": "allow", "what": one.pattern.shown(), "scope": one.scope,
            "by": one.by, "created": rfc3339(one.created), "outside": outside(one.id),
        })
    });
    text(&rules.chain(remembered).collect::<Vec<_>>())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Add {
    workspace: String,
    r#match: Vec<Token>,
    decision: GateDecision,
    #[serde(default)]
    message: Option<String>,
    #[serde(default)]
    face: Option<String>,
}

/// Adds a rule.
pub fn add(supervisor: &mut Supervisor, params: Value) -> Result<Text, RpcError> {
    let Add { workspace, r#match, decision, message, face } =
        serde_json::from_value(params).map_err(|e| RpcError::parameters(e.to_string()))?;
    let folder = folder(supervisor, &workspace)?;
    let message = message.map(|message| super::text::word(message.as_bytes()));
    let rule = Rule { pattern: r#match, decision, message, examples: vec![], counter_examples: vec![] };
    rule.validate(&SecurityPolicy::default()).map_err(|e| RpcError::parameters(e.to_string()))?;
    let own = OwnRule { id: Uuid::now_v7(), placed: PlacedRule { rule, place: by(face.as_deref()) } };
    let add = |kept: &mut Kept| kept.rules.push(own.clone());
    supervisor.has_room_for(&folder, add).map_err(RpcError::parameters)?;
    let Some(entered) = supervisor.workspaces.get_mut(&folder) else { return Err(store("the store is not open")) };
    entered.store.add_rule(&supervisor.mac, &own).map_err(store)?;
    supervisor.change_kept(&folder, add);
    text(&own)
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Remove {
    workspace: String,
    id: Uuid,
}

/// Removes a rule or a remembered approval.
pub fn remove(supervisor: &mut Supervisor, params: Value) -> Result<Text, RpcError> {
    let Remove { workspace, id } = parameters(params)?;
    let folder = folder(supervisor, &workspace)?;
    let Some(entered) = supervisor.workspaces.get_mut(&folder) else { return Err(store("the store is not open")) };
    if !entered.store.remove(&supervisor.mac, id).map_err(store)? {
        return Err(RpcError::parameters("no rule and no remembered approval has this id"));
    }
    supervisor.change_kept(&folder, |kept| {
        kept.rules.retain(|own| own.id != id);
        kept.remembered.retain(|remembered| remembered.id != id);
    });
    text(&json!({ "id": id }))
}
