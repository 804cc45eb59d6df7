//! Everything that the judge's thread owns, and what each message does to it.
//!
//! Invariant: only the connection that enlisted a run speaks for it, and an answer stays to be delivered until its warden
//! has said that it was carried out. Refuses, with one line and the end of the connection, whatever comes out of turn.

use super::judgement::{Judgement, judge};
use super::question::{Answering, Question};
use super::questions::{Key, QuestionError, Questions, Release};
use super::session::Session;
use super::{rpc, text};
use crate::clock::{self, Nanos, rfc3339};
use crate::control::{ConnectionId, Inbound, Outbox};
use hmac::{Hmac, Mac};
use sha2::Sha256;
use stayexec_policy::CommandClass;
use stayexec_protocol::{Answer, Decision, Enlist, Event, Message, Reason, Verdict};
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;
use uuid::Uuid;

struct Peer {
    outbox: Outbox,
    pid: u32,
    run: Option<Uuid>,
}

/// The judge's state.
pub struct Supervisor {
    peers: HashMap<ConnectionId, Peer>,
    sessions: HashMap<Uuid, Session>,
    pub(super) questions: Questions,
    /// Answers that a warden has not confirmed yet.
    unsettled: HashMap<(Uuid, u64), Answer>,
    /// Keyed for this process alone: equality of questions outlives no restart, their ids do.
    mac: Hmac<Sha256>,
}

impl Supervisor {
    /// An idle supervisor that makes its digests with `mac`.
    pub fn new(mac: Hmac<Sha256>) -> Self {
        Self { peers: HashMap::new(), sessions: HashMap::new(), questions: Questions::default(), unsettled: HashMap::new(), mac }
    }

    /// Takes one message in.
    pub fn take(&mut self, inbound: Inbound) {
        match inbound {
            Inbound::Opened(id, outbox, pid) => {
                self.peers.insert(id, Peer { outbox, pid, run: None });
            }
            Inbound::Closed(id) => self.closed(id),
            Inbound::Said(id, message) => {
                if let Err(line) = self.said(id, *message)
                    && let Some(peer) = self.peers.get(&id)
                {
                    peer.outbox.refuse(line);
                }
            }
        }
    }

    /// Ends what is due, and says when the next is.
    pub fn sweep(&mut self) -> Option<Duration> {
        let now = clock::now();
        for release in self.questions.expire(now) {
            self.release(release);
        }
        let next = self.questions.next_deadline()?;
        Some(Duration::from_nanos(u64::try_from(next.saturating_sub(now)).unwrap_or(0)))
    }

    /// No run and no peer needs it.
    pub fn idle(&self) -> bool {
        self.peers.is_empty()
    }

    /// How many runs there are.
    pub fn runs(&self) -> usize {
        self.sessions.len()
    }

    /// Whether a run goes on without prompts.
    pub fn gate_off(&self) -> bool {
        self.sessions.values().any(|session| session.frozen.gate_off)
    }

    /// Answers a question and sends its calls their answer.
    ///
    /// # Errors
    /// Those of [`QuestionError`].
    pub fn answer(&mut self, id: Uuid, answering: &Answering) -> Result<(), QuestionError> {
        if let Some(release) = self.questions.answer(id, answering, clock::now())? {
            self.release(release);
        }
        Ok(())
    }

    fn said(&mut self, id: ConnectionId, message: Message) -> Result<(), String> {
        let Some(peer) = self.peers.get(&id) else { return Ok(()) };
        let run = peer.run;
        match (message, run) {
            (Message::Enlist(enlist), None) => self.enlist(id, enlist),
            (Message::Request(json), None) => {
                let pid = peer.pid;
                let outbox = peer.outbox.clone();
                outbox.send(Message::Reply(rpc::serve(self, &json, pid)));
                Ok(())
            }
            (Message::Judge(event), Some(run)) => self.judge(run, event),
            (Message::Reopen(event, verdict), Some(run)) => self.reopen(run, &event, &verdict),
            (Message::Settled(call, _), Some(run)) => {
                self.unsettled.remove(&(run, call));
                Ok(())
            }
            (Message::Withdraw(call, _), Some(run)) => {
                self.unsettled.remove(&(run, call));
                self.questions.withdraw(run, call);
                Ok(())
            }
            (Message::End(_), Some(run)) => {
                self.end(run);
                Ok(())
            }
            _ => Err("this message is not awaited here".into()),
        }
    }

    fn enlist(&mut self, id: ConnectionId, enlist: Enlist) -> Result<(), String> {
        let run = Uuid::from_bytes(enlist.run);
        let Some(peer) = self.peers.get_mut(&id) else { return Ok(()) };
        if let Some(known) = self.sessions.get(&run) {
            if known.warden != peer.pid {
                return Err("this run has a warden already".into());
            }
            // The same warden on a new connection: the old one is over.
            known.outbox.close();
        }
        let session = Session::new(enlist, id, peer.outbox.clone(), peer.pid).map_err(|e| e.to_string())?;
        peer.run = Some(run);
        session.outbox.send(Message::Enlisted);
        self.sessions.insert(run, session);
        Ok(())
    }

    fn judge(&mut self, run: Uuid, event: Event) -> Result<(), String> {
        let session = self.sessions.get_mut(&run).ok_or("this run is not known")?;
        // A parser that panics on hostile text must neither allow nor take the other runs down with it.
        let judged = catch_unwind(AssertUnwindSafe(|| judge(session, &event)));
        let judgement = judged.unwrap_or_else(|_| Judgement {
            decision: Decision::Deny,
            class: CommandClass::Destructive,
            reason: Reason::Unreadable,
            note: "it cannot be judged".into(),
            repeatable: false,
        });
        let verdict = verdict(&event, judgement);
        let verdict = if verdict.decision == Decision::Hold { self.ask(run, &event, verdict) } else { verdict };
        self.tell(run, Message::Verdict(verdict));
        Ok(())
    }

    /// Opens a question for a verdict that holds, or joins the one that is open for the same start.
    fn ask(&mut self, run: Uuid, event: &Event, verdict: Verdict) -> Verdict {
        let key = self.key(event);
        if let Some(id) = self.questions.join(run, key, event.call) {
            return Verdict { question: Some(id.into_bytes()), ..verdict };
        }
        if !self.questions.has_room() {
            let note = b"too many questions are open".to_vec();
            return Verdict { decision: Decision::Deny, reason: Reason::Overflow, note, ..verdict };
        }
        let id = Uuid::now_v7();
        self.open(run, event, &verdict, id, clock::now(), key);
        Verdict { question: Some(id.into_bytes()), ..verdict }
    }

    fn open(&mut self, run: Uuid, event: &Event, verdict: &Verdict, id: Uuid, created: Nanos, key: Key) {
        let Some(session) = self.sessions.get(&run) else { return };
        let patience = i64::try_from(session.frozen.deadline.duration().as_nanos()).unwrap_or(i64::MAX);
        let deadline = created.saturating_add(patience);
        let question = Question {
            audit_id: id,
            run,
            agent: session.agent.clone(),
            command: String::from_utf8_lossy(&verdict.shown).into_owned(),
            argv: verdict.argv.iter().map(|word| text::word(word)).collect(),
            cwd: text::word(&event.cwd),
            file: text::word(&event.executable.path),
            class: class_of(verdict.class),
            reasons: vec![String::from_utf8_lossy(&verdict.note).into_owned()],
            always_rule: None,
            origin: session.frozen.origin,
            created: rfc3339(created),
            deadline: rfc3339(deadline),
            count: 1,
        };
        self.questions.open(question, key, event.call, deadline);
    }

    /// A question comes back from a warden that outlived the supervisor that asked it, or lost its connection.
    fn reopen(&mut self, run: Uuid, event: &Event, verdict: &Verdict) -> Result<(), String> {
        if !self.sessions.contains_key(&run) {
            return Err("this run is not known".into());
        }
        let id = verdict.question.map(Uuid::from_bytes).ok_or("a question comes back without its id")?;
        if let Some(answer) = self.unsettled.get(&(run, event.call)) {
            self.tell(run, Message::Answer(answer.clone()));
            return Ok(());
        }
        let key = self.key(event);
        if self.questions.get(id).is_some() {
            // Another call of the same question came back first.
            self.questions.join(run, key, event.call);
            return Ok(());
        }
        // The id holds the time at which it was asked: the deadline does not begin anew.
        let created = id.get_timestamp().map_or_else(clock::now, |time| {
            let (seconds, nanos) = time.to_unix();
            i64::try_from(seconds).unwrap_or(0).saturating_mul(1_000_000_000).saturating_add(i64::from(nanos))
        });
        self.open(run, event, verdict, id, created, key);
        Ok(())
    }

    fn release(&mut self, release: Release) {
        for call in release.calls {
            let answer = Answer {
                call,
                decision: release.decision,
                reason: release.reason,
                note: release.note.clone().into_bytes(),
                by: release.by.clone().into_bytes(),
            };
            self.unsettled.insert((release.run, call), answer.clone());
            self.tell(release.run, Message::Answer(answer));
        }
    }

    fn tell(&self, run: Uuid, message: Message) {
        if let Some(session) = self.sessions.get(&run) {
            session.outbox.send(message);
        }
    }

    fn end(&mut self, run: Uuid) {
        self.questions.withdraw_run(run);
        self.unsettled.retain(|(of, _), _| *of != run);
        self.sessions.remove(&run);
        self.peers.values_mut().filter(|peer| peer.run == Some(run)).for_each(|peer| peer.run = None);
    }

    /// A connection ended. Where it was a warden's, what it holds is there no more, or will be reopened.
    fn closed(&mut self, id: ConnectionId) {
        let Some(run) = self.peers.remove(&id).and_then(|peer| peer.run) else { return };
        if self.sessions.get(&run).is_some_and(|session| session.connection == id) {
            self.questions.withdraw_run(run);
            self.sessions.remove(&run);
        }
    }

    fn key(&self, event: &Event) -> Key {
        let mut mac = self.mac.clone();
        let mut part = |bytes: &[u8]| {
            mac.update(&(bytes.len() as u64).to_le_bytes());
            mac.update(bytes);
        };
        part(&event.executable.path);
        part(&stayexec_protocol::Wire::to_bytes(&event.executable.id));
        part(&event.cwd);
        part(&event.root);
        part(&event.script.as_ref().map_or([0; 32], |script| script.digest));
        part(&stayexec_protocol::Wire::to_bytes(&event.argv));
        part(&stayexec_protocol::Wire::to_bytes(&event.environment));
        mac.finalize().into_bytes().into()
    }
}

fn class_of(rank: u8) -> CommandClass {
    CommandClass::ALL.get(usize::from(rank)).copied().unwrap_or(CommandClass::Destructive)
}

fn verdict(event: &Event, judgement: Judgement) -> Verdict {
    Verdict {
        call: event.call,
        decision: judgement.decision,
        class: judgement.class as u8,
        reason: judgement.reason,
        shown: text::line(&event.argv).into_bytes(),
        argv: event.argv.clone(),
        note: judgement.note.into_bytes(),
        question: None,
        repeatable: judgement.repeatable,
    }
}

#[cfg(test)]
#[path = "supervisor_tests.rs"]
mod tests;
