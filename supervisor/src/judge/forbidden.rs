//! What is refused whatever anybody says, looked up for an event or a command.
//!
//! What counts as an operand, and what is forbidden, is the policy's. Invariant: an operand is compared as it is written
//! and in every place that it may lead to. Refuses to let through what nobody can say that about.

use super::following::Followed;
use super::leads::{self, Leads, View};
use super::session::Session;
use crate::config::Frozen;
use stayexec_policy::SecurityPolicy;
use stayexec_policy::display;
use stayexec_policy::forbidden::{Forbidden, Forbidding, Operand, Operands};
use std::path::{Path, PathBuf};

/// Why a start is refused before anything else is looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Barred {
    /// It is forbidden.
    Forbidden(String),
    /// Nobody can say whether it is.
    Unreadable(String),
}

/// Why a start is barred, or else whether it would open anything at all.
pub fn check(session: &Session, followed: &Followed) -> Result<bool, Barred> {
    let home = session.frozen.places.home.path();
    match (found(&followed.operands, &session.forbidding, &home, &followed.leads), &followed.leads) {
        (Some(found), _) => Err(Barred::Forbidden(said(&found))),
        (None, Err(why)) => Err(Barred::Unreadable(why.clone())),
        (None, Ok(_)) => Ok(!followed.operands.opened.is_empty()),
    }
}

/// Why a command that is only asked about is forbidden.
pub fn check_text(frozen: &Frozen, policy: &SecurityPolicy, text: &str) -> Option<String> {
    let operands = operands(frozen, policy, text);
    let paths: Vec<PathBuf> = operands.opened.iter().map(|operand| operand.path.clone()).collect();
    let leads = leads::in_time(&View::own(), &paths);
    match (found(&operands, &forbidding(frozen), &frozen.places.home.path(), &leads), leads) {
        (Some(found), _) => Some(said(&found)),
        (None, Err(why)) => Some(why),
        (None, Ok(_)) => None,
    }
}

/// The first that is forbidden, as it is written or where it leads.
fn found(operands: &Operands, forbidding: &Forbidding, home: &Path, leads: &Leads) -> Option<Forbidden> {
    let leads = leads.as_ref().ok();
    let most = leads.into_iter().flat_map(|leads| leads.values()).map(Vec::len).max().unwrap_or(0).max(1);
    (0..most).find_map(|at| operands.forbidden(forbidding, home, &|path| leads?.get(path)?.get(at).cloned()))
}

/// Which operand lies or leads outside the workspace, but for those that are skipped.
pub fn outside(operands: &Operands, workspace: &Path, leads: &Leads, skip: &dyn Fn(&Operand) -> bool) -> Option<String> {
    let leads = leads.as_ref().ok();
    let most = leads.into_iter().flat_map(|leads| leads.values()).map(Vec::len).max().unwrap_or(0).max(1);
    let found = (0..most).find_map(|at| operands.outside(workspace, &|path| leads?.get(path)?.get(at).cloned(), skip))?;
    Some(display::text(&format!("reads {} outside the workspace", display::word(&found.word)), false))
}

/// `[classify] workspace_only`, for a command that is only asked about.
pub fn outside_text(frozen: &Frozen, policy: &SecurityPolicy, text: &str) -> Option<String> {
    let operands = operands(frozen, policy, text);
    let paths: Vec<PathBuf> = operands.opened.iter().map(|operand| operand.path.clone()).collect();
    outside(&operands, &frozen.places.workspace.path(), &leads::in_time(&View::own(), &paths), &|_| false)
}

/// What a command that is only asked about would open and start.
pub fn operands(frozen: &Frozen, policy: &SecurityPolicy, text: &str) -> Operands {
    Operands::of_command(policy, text, &frozen.places.workspace.path(), &frozen.places.home.path())
}

/// What the configuration forbids.
pub fn forbidding(frozen: &Frozen) -> Forbidding {
    let text = |path: &crate::config::PathText| path.path().to_string_lossy().into_owned();
    Forbidding {
        own: frozen.places.own.iter().map(crate::config::PathText::path).collect(),
        paths: frozen.forbidden_paths.iter().map(text).collect(),
        commands: frozen.forbidden_commands.clone(),
    }
}

fn said(found: &Forbidden) -> String {
    display::text(&format!("forbidden: {}", found.what), false)
}
