//! Everything that the judge's thread owns, and what each message does to it.
//!
//! Invariant: only the connection that enlisted a run speaks for it; a question is in the store before anyone is asked,
//! its answer before anyone is told; and an answer stays to be delivered until its warden has said that it was carried
//! out. Refuses, with one line and the end of the connection, whatever comes out of turn.

use super::following::Following;
use super::grants::Grant;
use super::index::Watched;
use super::notify::Notices;
use super::question::Question;
use super::questions::Questions;
use super::rpc;
use super::session::Session;
use super::tickets::Tickets;
use super::workspaces::Workspaces;
use crate::clock;
use crate::control::{ConnectionId, Inbound, Outbox};
use crate::http::{Ask, Call, Door, News, Reply};
use crossbeam_channel::Sender;
use hmac::Hmac;
use sha2::Sha256;
use stayexec_protocol::{Answer, Message, Reason, Withdrawal};
use std::collections::HashMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use tokio::sync::oneshot;
use uuid::Uuid;

pub(super) struct Peer {
    pub(super) outbox: Outbox,
    pub(super) run: Option<Uuid>,
    pub(super) pid: u32,
}

/// A reply that waits for the disk.
#[allow(clippy::large_enum_variant, reason = "nearly all are of peers")]
enum Held {
    Peer(Outbox, Message),
    Ask(oneshot::Sender<Reply>, Reply),
    Notice(Sender<String>, String),
}

impl Held {
    fn say(self) {
        match self {
            Self::Peer(outbox, message) => outbox.send(message),
            // Whoever asked may have left.
            Self::Ask(to, reply) => drop(to.send(reply)),
            Self::Notice(to, notice) => {
                if to.try_send(notice).is_err() {
                    crate::error::say("too many notices wait; one is left out");
                }
            }
        }
    }
}

/// The judge's state.
pub struct Supervisor {
    pub(super) peers: HashMap<ConnectionId, Peer>,
    pub(super) sessions: HashMap<Uuid, Session>,
    pub(super) questions: Questions,
    /// Answers whose agents had given up waiting.
    pub(super) tickets: Tickets,
    pub(super) workspaces: Workspaces,
    /// Answers that a warden has not confirmed yet, and what they grant then.
    pub(super) unsettled: HashMap<(Uuid, u64), (Answer, Option<Grant>)>,
    /// Starts whose operands are being followed.
    pub(super) following: Following,
    /// Keyed, for digests of what is not to be stored.
    pub(super) mac: Hmac<Sha256>,
    pub(super) index: Sender<Watched>,
    /// What may be said only once the stores are on the disk.
    held_back: Vec<Held>,
    /// HTTP, where this supervisor can serve it.
    pub(super) door: Option<Door>,
    /// `[notify] command`.
    pub(super) notices: Notices,
    /// Another build is to serve.
    leaving: bool,
}

impl Supervisor {
    /// An idle supervisor that makes its digests with `mac` and keeps its stores below `state_dir`.
    pub fn new(mac: Hmac<Sha256>, state_dir: PathBuf, index: Sender<Watched>) -> Self {
        Self {
            peers: HashMap::new(),
            sessions: HashMap::new(),
            questions: Questions::default(),
            tickets: Tickets::default(),
            workspaces: Workspaces::new(state_dir),
            unsettled: HashMap::new(),
            following: Following::default(),
            mac,
            index,
            held_back: Vec::new(),
            door: None,
            notices: Notices::default(),
            leaving: false,
        }
    }

    /// Takes one message in. What it has to be on the disk for is said at the next [`flush`](Self::flush).
    pub fn take(&mut self, inbound: Inbound) {
        match inbound {
            Inbound::Opened(id, outbox, pid) => {
                self.peers.insert(id, Peer { outbox, pid, run: None });
            }
            Inbound::Closed(id) => self.closed(id),
            Inbound::Foreign(answer) => {
                self.leaving |= self.sessions.is_empty();
                // A connection that is gone needs no word.
                let _ = answer.send(self.leaving);
            }
            Inbound::Said(id, message) => {
                if let Err(line) = self.said(id, *message)
                    && let Some(peer) = self.peers.get(&id)
                {
                    peer.outbox.refuse(line);
                }
            }
        }
    }

    /// Waits for the disk, once for all that was written, and then says what depends on it.
    ///
    /// # Errors
    /// One line, and nothing was said: this judge cannot go on, and the next begins with what is on the disk.
    pub fn flush(&mut self) -> Result<(), String> {
        if self.held_back.is_empty() {
            return Ok(());
        }
        self.workspaces.sync()?;
        self.held_back.drain(..).for_each(Held::say);
        Ok(())
    }

    /// Ends what is due, and says when the next is.
    pub fn sweep(&mut self) -> Option<Duration> {
        let now = clock::now();
        for id in self.questions.overdue(now) {
            self.refuse(id, "nobody answered before the deadline".into(), "deadline".into(), Reason::Expired);
        }
        let instant = Instant::now();
        for (run, followed) in self.following.late(instant) {
            self.judge_followed(run, followed);
        }
        let deadline = self.questions.next_deadline();
        let deadline = deadline.map(|next| Duration::from_nanos(u64::try_from(next.saturating_sub(now)).unwrap_or(0)));
        let patience = self.following.next().map(|until| until.saturating_duration_since(instant));
        deadline.into_iter().chain(patience).min()
    }

    /// Another build asked for its place, and no run needs this one.
    pub fn leaves(&self) -> bool {
        self.leaving
    }

    /// No run, no peer and no open page needs it.
    pub fn idle(&self) -> bool {
        self.peers.is_empty() && !self.door.as_ref().is_some_and(Door::watched)
    }

    /// Takes a question of the HTTP face in; its reply waits for the disk as any other.
    pub fn asked(&mut self, ask: Ask) {
        let reply = match ask.call {
            Call::Method(method, params) => rpc::call(self, &method, params, Some(ask.face)),
            Call::Raw(request) => Ok(String::from_utf8_lossy(&rpc::serve(self, &request, Some(ask.face))).into_owned()),
        };
        self.held_back.push(Held::Ask(ask.reply, reply));
    }

    /// Tells open pages of what has changed.
    pub fn announce(&self) {
        if let Some(door) = &self.door {
            door.announce(News { revision: self.questions.revision(), pending: self.questions.count() });
        }
    }

    fn said(&mut self, id: ConnectionId, message: Message) -> Result<(), String> {
        let Some(peer) = self.peers.get(&id) else { return Ok(()) };
        match (message, peer.run) {
            (Message::Enlist(enlist), None) => self.enlist(id, enlist),
            (Message::Request(json), None) => {
                let outbox = peer.outbox.clone();
                let reply = rpc::serve(self, &json, None);
                self.held_back.push(Held::Peer(outbox, Message::Reply(reply)));
                Ok(())
            }
            (Message::Judge(event), Some(run)) => self.judge(run, event),
            (Message::Reopen(event, verdict), Some(run)) => self.reopen(run, &event, &verdict),
            (Message::Settled(call, allowed), Some(run)) => {
                self.settled(run, call, allowed);
                Ok(())
            }
            (Message::Withdraw(call, why), Some(run)) => {
                self.following.forget((run, call));
                self.questions.withdraw(run, call, why == Withdrawal::Died);
                self.settled(run, call, false);
                Ok(())
            }
            (Message::End(_), Some(run)) => {
                self.revoke(run);
                self.over(run);
                Ok(())
            }
            _ => Err("this message is not awaited here".into()),
        }
    }

    /// Has a question told to the person's own program, once it is on the disk.
    pub(super) fn notify(&mut self, question: &Question) {
        if let Some(session) = self.sessions.get(&question.run)
            && let Some(notices) = self.notices.of(&session.frozen.notify)
            && let Ok(notice) = serde_json::to_string(question)
        {
            self.held_back.push(Held::Notice(notices.clone(), notice));
        }
    }

    /// Says it now.
    pub(super) fn tell(&self, run: Uuid, message: Message) {
        if let Some(session) = self.sessions.get(&run) {
            session.outbox.send(message);
        }
    }

    /// Says it once everything that was written is on the disk.
    pub(super) fn tell_kept(&mut self, run: Uuid, message: Message) {
        if let Some(session) = self.sessions.get(&run) {
            self.held_back.push(Held::Peer(session.outbox.clone(), message));
        }
    }
}

#[cfg(test)]
#[path = "supervisor_tests/mod.rs"]
mod tests;
