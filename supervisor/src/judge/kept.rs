//! What counts in a run besides its configuration: rules that a person added, approvals that are remembered, inner runs.
//!
//! A run begins with those of the store and keeps to them: its warden holds them, and brings them to each supervisor.
//! Invariant: what is changed through a supervisor counts at once in every run of the workspace; what anybody else writes
//! into the store counts from the next start on, and is named there. Refuses more than a message holds.

use super::remembered::Remembered;
use super::session::Session;
use super::supervisor::Supervisor;
use super::within::Floors;
use crate::config::PlacedRule;
use serde::{Deserialize, Serialize};
use stayexec_protocol::{FRAME_LIMIT, Message};
use std::path::Path;
use uuid::Uuid;

/// Most bytes of them, as they travel.
const LIMIT: usize = FRAME_LIMIT / 2;

/// A rule that a person added.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnRule {
    /// Its id.
    pub id: Uuid,
    /// The rule.
    pub placed: PlacedRule,
}

impl OwnRule {
    /// How a person knows it.
    pub fn name(&self) -> String {
        format!("rule {} `{}`", self.placed.rule.decision, super::rules::line(&self.placed.rule))
    }
}

/// What counts in a run besides its configuration.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kept {
    /// Rules that a person added.
    pub rules: Vec<OwnRule>,
    /// Remembered approvals.
    pub remembered: Vec<Remembered>,
    /// What runs inside it bind their processes to.
    #[serde(default)]
    pub floors: Floors,
}

impl Kept {
    /// As it travels.
    ///
    /// # Errors
    /// One line, where there is too much of it.
    pub fn to_json(&self) -> Result<Vec<u8>, String> {
        let json = serde_json::to_vec(self).map_err(|e| e.to_string())?;
        if json.len() > LIMIT {
            return Err("there are too many rules and remembered approvals; `stayexec rules remove` takes some away".into());
        }
        Ok(json)
    }

    /// As a warden brings it.
    ///
    /// # Errors
    /// One line.
    pub fn from_json(json: &[u8]) -> Result<Self, String> {
        serde_json::from_slice(json).map_err(|e| format!("the warden brings rules that cannot be understood: {e}"))
    }
}

impl Session {
    /// Hands the warden what counts from now on.
    pub(super) fn bring_kept(&self) {
        match self.kept.to_json() {
            Ok(json) => self.outbox.send(Message::Kept(json)),
            // What was added was looked at before, and what is taken away leaves room.
            Err(line) => crate::error::say(&line),
        }
    }
}

impl Supervisor {
    /// Whether every run of a workspace can take this change.
    ///
    /// # Errors
    /// One line.
    pub(super) fn has_room_for(&self, folder: &Path, change: impl Fn(&mut Kept)) -> Result<(), String> {
        self.sessions.values().filter(|session| session.folder == folder).try_for_each(|session| {
            let mut kept = session.kept.clone();
            change(&mut kept);
            kept.to_json().map(drop)
        })
    }

    /// Changes what counts in every run of a workspace: its wardens repeat nothing that was judged before, and questions that
    /// a rule now blocks end.
    pub(super) fn change_kept(&mut self, folder: &Path, change: impl Fn(&mut Kept)) {
        let mut news = Vec::new();
        for session in self.sessions.values_mut().filter(|session| session.folder == folder) {
            change(&mut session.kept);
            match session.kept.to_json() {
                Ok(json) => news.push((session.run, json)),
                // It was looked at before: what is taken away leaves room.
                Err(line) => crate::error::say(&line),
            }
        }
        // Once it is on the disk, and before it is confirmed.
        news.into_iter().for_each(|(run, json)| self.tell_kept(run, Message::Kept(json)));
        self.questions.ids().into_iter().for_each(|id| self.end_blocked(id));
    }
}
