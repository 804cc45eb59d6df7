//! What is refused whatever anybody says, looked up for an event or a command.
//!
//! What counts as an operand, and what is forbidden, is the policy's; here symbolic links are followed. Invariant: an
//! operand is compared as it is written and as it leads. Refuses to open anything: links are read, files are not.

use super::check::Input;
use super::facts;
use super::session::Session;
use crate::config::Frozen;
use stayexec_policy::SecurityPolicy;
use stayexec_policy::display;
use stayexec_policy::forbidden::{Forbidden, Forbidding, Operands};
use stayexec_protocol::Event;
use std::path::{Path, PathBuf};

/// Why an event is forbidden, or else whether it would open anything at all.
pub fn check(session: &Session, event: &Event) -> Result<bool, String> {
    let operands = facts::operands(session, event);
    let home = session.frozen.places.home.path();
    match operands.forbidden(&session.forbidding, &home, &followed) {
        Some(found) => Err(said(&found)),
        None => Ok(!operands.opened.is_empty()),
    }
}

/// Why a command that is only asked about is forbidden.
pub fn check_input(frozen: &Frozen, policy: &SecurityPolicy, input: &Input) -> Option<String> {
    let (cwd, home) = (frozen.places.workspace.path(), frozen.places.home.path());
    let text = match input {
        Input::Text(text) => text.clone(),
        Input::Words(words) => words.iter().map(|word| display::word(word)).collect::<Vec<_>>().join(" "),
    };
    let operands = Operands::of_command(policy, &text, &cwd, &home);
    operands.forbidden(&forbidding(frozen), &home, &followed).as_ref().map(said)
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

/// Where a path leads; of one that is not there, where its folder leads.
fn followed(path: &Path) -> Option<PathBuf> {
    if let Ok(found) = path.canonicalize() {
        return Some(found);
    }
    Some(path.parent()?.canonicalize().ok()?.join(path.file_name()?))
}
