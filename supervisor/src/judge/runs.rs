//! Runs: how they come, go on after a restart, and end.
//!
//! Invariant: a run that comes back finds what the store knows of it: answers that were not carried out, grants, and its agent.
//! Refuses a second warden for a run.

use super::agent::Agents;
use super::kept::Kept;
use super::remembered::{Remembered, Scope};
use super::session::Session;
use super::store::{Store, StoreError};
use super::supervisor::Supervisor;
use super::workspaces::Workspace;
use crate::config::Frozen;
use crate::control::ConnectionId;
use hmac::Hmac;
use sha2::Sha256;
use stayexec_protocol::{Enlist, Message};
use uuid::Uuid;

/// How many changed rules a start names.
const NAMED: usize = 20;

impl Supervisor {
    pub(super) fn enlist(&mut self, id: ConnectionId, enlist: Enlist) -> Result<(), String> {
        let run = Uuid::from_bytes(enlist.run);
        let Some(peer) = self.peers.get_mut(&id) else { return Ok(()) };
        if let Some(known) = self.sessions.get(&run) {
            if known.warden != peer.pid {
                return Err("this run has a warden already".into());
            }
            // The same warden on a new connection: the old one is over.
            known.outbox.close();
        }
        let frozen = Frozen::from_json(&enlist.config).map_err(|e| e.to_string())?;
        let folder = self.workspaces.folder(frozen.places.workspace.bytes());
        let workspace = self.workspaces.enter(&folder)?;
        let store = &mut workspace.store;
        let path = store.path().display().to_string();
        let named = |e: StoreError| format!("{path}: {e}");
        let (kept, lines) = if enlist.kept.is_empty() {
            let mut lines = changed(store, &self.mac).map_err(&named)?;
            lines.extend(self.notices.differ(&frozen.notify));
            (store.kept().map_err(&named)?, lines)
        } else {
            (Kept::from_json(&enlist.kept)?, Vec::new())
        };
        let mut session = Session::new(frozen, folder.clone(), self.mac.clone(), enlist, (id, peer.outbox.clone(), peer.pid))
            .map_err(|e| e.to_string())?;
        let undelivered = store.undelivered(&session.seal, run).map_err(&named)?;
        session.grants.extend(store.grants(&session.seal, run).map_err(&named)?);
        let agents = store.agent(&session.seal, run).map_err(&named)?;
        session.agents = agents.as_deref().map(Agents::restored).unwrap_or_default();
        session.kept = kept;
        let kept = session.kept.to_json()?;
        peer.run = Some(run);
        for answer in undelivered {
            self.unsettled.entry((run, answer.call)).or_insert((answer, None));
        }
        session.outbox.send(Message::Enlisted(kept, lines));
        self.sessions.insert(run, session);
        // Without its thread there is no index; the journals stay what counts.
        let _ = self.index.send((folder, run));
        Ok(())
    }

    pub(super) fn over(&mut self, run: Uuid) {
        self.questions.withdraw_run(run);
        self.tickets.forget_run(run);
        self.following.forget_run(run);
        self.unsettled.retain(|(of, _), _| *of != run);
        self.sessions.remove(&run);
        self.peers.values_mut().filter(|peer| peer.run == Some(run)).for_each(|peer| peer.run = None);
    }

    /// A connection ended. Where it was a warden's, what it holds is there no more, or will be reopened; its answers are
    /// in the store.
    pub(super) fn closed(&mut self, id: ConnectionId) {
        let Some(run) = self.peers.remove(&id).and_then(|peer| peer.run) else { return };
        if self.sessions.get(&run).is_some_and(|session| session.connection == id) {
            self.over(run);
        }
    }

    /// A run has ended in order: it will not come back.
    pub(super) fn revoke(&mut self, run: Uuid) {
        let Some(session) = self.sessions.get(&run) else { return };
        let folder = session.folder.clone();
        let of_it = |remembered: &Remembered| remembered.scope == Scope::Run(run);
        let over: Vec<Uuid> = session.kept.remembered.iter().filter(|one| of_it(one)).map(|one| one.id).collect();
        if let Some(Workspace { store }) = self.workspaces.get_mut(&folder) {
            let forgotten = over.iter().try_for_each(|id| store.remove(&self.mac, *id).map(drop));
            if let Err(e) = forgotten.and_then(|()| store.revoke(run)) {
                crate::error::say(&e.to_string());
            }
        }
        if !over.is_empty() {
            self.change_kept(&folder, |kept| kept.remembered.retain(|one| !of_it(one)));
        }
    }
}

/// What a start says of rules and approvals that came or went without a supervisor.
fn changed(store: &mut Store, key: &Hmac<Sha256>) -> Result<Vec<Vec<u8>>, StoreError> {
    let mut changed = store.changed_outside(key)?;
    if changed.is_empty() {
        return Ok(Vec::new());
    }
    let more = changed.len().saturating_sub(NAMED);
    changed.truncate(NAMED);
    if more > 0 {
        changed.push(format!("and {more} more"));
    }
    let line = format!("changed in the store since the last run here, by no answer and no `stayexec rules`: {}", changed.join(", "));
    Ok(vec![line.into_bytes()])
}
