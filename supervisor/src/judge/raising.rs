//! What raises the class of a start beyond what the classifier says: the configuration, its caller, where its operands lead.
//!
//! Invariant: nothing here lowers a class. Refuses to take a word that names no class for a harmless one.

use super::following::Followed;
use super::forbidden;
use super::session::Session;
use crate::config::RiskLevel;
use stayexec_policy::forbidden::Operand;
use stayexec_policy::{Assessment, CommandClass};
use stayexec_protocol::Event;

/// The variable in which a caller declares the class of what it starts.
const DECLARED: &[u8] = b"STAYEXEC_DECLARED_CLASS=";

fn entry(assessment: &Assessment) -> String {
    match &assessment.entry {
        Some(entry) => format!("{} ({entry})", assessment.reason),
        None => assessment.reason.clone(),
    }
}

/// The class after `[program.X] risk_level` and what the caller declares, and why it is that. Both only raise.
pub(super) fn raised(session: &Session, event: &Event, assessment: &Assessment) -> (CommandClass, String) {
    let level = programs(session, event).filter_map(|program| program.risk_level).max().map(|level| match level {
        RiskLevel::Medium => (CommandClass::Write, "the configuration gives this program a medium risk".to_owned()),
        RiskLevel::High => (CommandClass::Destructive, "the configuration gives this program a high risk".to_owned()),
    });
    let declared = event.environment.iter().filter_map(|entry| entry.strip_prefix(DECLARED)).filter(|word| !word.is_empty());
    let raising = declared.map(declared_class).chain(level).filter(|(class, _)| *class > assessment.class);
    raising.max_by_key(|(class, _)| *class).unwrap_or_else(|| (assessment.class, entry(assessment)))
}

/// `[classify] workspace_only`, where an operand in the workspace leads out of it.
pub(super) fn led_outside(session: &Session, followed: &Followed) -> Option<(CommandClass, String)> {
    let workspace = session.frozen.places.workspace.path();
    let own = |operand: &Operand| {
        let word = operand.word.as_bytes();
        followed.reading.source.iter().chain(&followed.reading.sinks).any(|path| path == word)
    };
    let written = |operand: &Operand| !operand.path.starts_with(&workspace) || own(operand);
    let word =
        session.frozen.classify.workspace_only.then(|| forbidden::outside(&followed.operands, &workspace, &followed.leads, &written))??;
    Some((CommandClass::Write, word))
}

/// What a caller declares. A word that names no class may mean the worst.
fn declared_class(word: &[u8]) -> (CommandClass, String) {
    match std::str::from_utf8(word).ok().and_then(|word| word.parse::<CommandClass>().ok()) {
        Some(class) => (class, format!("declared {class} by the caller")),
        None => {
            let shown: String = super::text::word(word).chars().take(40).collect();
            (CommandClass::Destructive, format!("the caller declares `{shown}`, which is no class, so it counts as destructive"))
        }
    }
}

pub(super) fn flagged(session: &Session, event: &Event) -> bool {
    programs(session, event).any(|program| program.require_approval_for_medium_risk)
}

/// The entries for this start: by the name of the file, of its script and of what it is called. All of them only raise.
fn programs<'a>(session: &'a Session, event: &'a Event) -> impl Iterator<Item = &'a crate::config::Program> {
    let name = |path: &'a [u8]| path.rsplit(|&byte| byte == b'/').next().unwrap_or(path);
    let names = [Some(&event.executable.path), event.script.as_ref().map(|script| &script.path), event.argv.first()];
    let interpreted = event.argv.get(1).filter(|word| word.contains(&b'/'));
    names.into_iter().chain([interpreted]).flatten().filter_map(move |path| {
        let name = std::str::from_utf8(name(path)).ok()?;
        session.frozen.programs.get(name)
    })
}
