//! Everything that the judge's thread owns, and what each message does to it.
//!
//! Invariant: only the connection that enlisted a run speaks for it; a question is in the store before anyone is asked,
//! its answer before anyone is told; and an answer stays to be delivered until its warden has said that it was carried
//! out. Refuses, with one line and the end of the connection, whatever comes out of turn.

use super::grants::Grant;
use super::index::Watched;
use super::judgement::{Judgement, covering, judge};
use super::question::{Answering, Choice, Question};
use super::questions::{Ended, Key, Open, QuestionError, Questions, Waiting};
use super::remembered::{Pattern, Remembered, Scope};
use super::session::Session;
use super::workspaces::Workspaces;
use super::{rpc, text};
use crate::clock::{self, Nanos, rfc3339};
use crate::config::Frozen;
use crate::control::{ConnectionId, Inbound, Outbox};
use crossbeam_channel::Sender;
use hmac::{Hmac, Mac};
use sha2::Sha256;
use stayexec_policy::{CommandClass, redact};
use stayexec_protocol::{Answer, Decision, Enlist, Event, Message, Reason, Verdict, Wire};
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::time::Duration;
use uuid::Uuid;

const MINUTE: Nanos = 60 * 1_000_000_000;

struct Peer {
    outbox: Outbox,
    run: Option<Uuid>,
    pid: u32,
}

/// Why an answer was not taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AnswerError {
    /// One of the three.
    #[error(transparent)]
    Question(#[from] QuestionError),
    /// There is nothing about this command that could be remembered.
    #[error("nothing about this command can be remembered; approve it once")]
    Nothing,
    /// The store.
    #[error("{0}; the question stays open")]
    Store(String),
}

/// The judge's state.
pub struct Supervisor {
    peers: HashMap<ConnectionId, Peer>,
    pub(super) sessions: HashMap<Uuid, Session>,
    pub(super) questions: Questions,
    pub(super) workspaces: Workspaces,
    /// Answers that a warden has not confirmed yet, and what they grant then.
    unsettled: HashMap<(Uuid, u64), (Answer, Option<Grant>)>,
    /// Keyed, for digests of what is not to be stored.
    mac: Hmac<Sha256>,
    index: Sender<Watched>,
}

impl Supervisor {
    /// An idle supervisor that makes its digests with `mac` and keeps its stores below `state_dir`.
    pub fn new(mac: Hmac<Sha256>, state_dir: PathBuf, index: Sender<Watched>) -> Self {
        Self {
            peers: HashMap::new(),
            sessions: HashMap::new(),
            questions: Questions::default(),
            workspaces: Workspaces::new(state_dir),
            unsettled: HashMap::new(),
            mac,
            index,
        }
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
        let nobody = Answering { choice: Choice::Deny, note: "nobody answered before the deadline".into(), by: "deadline".into() };
        for id in self.questions.overdue(now) {
            // A denial needs no store to stand: the journal holds it.
            if let Err(line) = self.end(id, &nobody, Decision::Deny, Reason::Expired, now) {
                crate::error::say(&line);
                self.release(id, &nobody, Decision::Deny, Reason::Expired);
            }
        }
        let next = self.questions.next_deadline()?;
        Some(Duration::from_nanos(u64::try_from(next.saturating_sub(now)).unwrap_or(0)))
    }

    /// No run and no peer needs it.
    pub fn idle(&self) -> bool {
        self.peers.is_empty()
    }

    /// Answers a question and sends its calls their answer. The question, as it was.
    ///
    /// # Errors
    /// Those of [`AnswerError`].
    pub fn answer(&mut self, id: Uuid, answering: &Answering) -> Result<Question, AnswerError> {
        let now = clock::now();
        let Some(open) = self.questions.get(id) else { return Err(self.ended_how(id).into()) };
        if open.deadline <= now {
            return Err(QuestionError::Expired.into());
        }
        let question = open.question.clone();
        let decision = match answering.choice.allows() {
            None => return Ok(question),
            Some(true) => Decision::Allow,
            Some(false) => Decision::Deny,
        };
        let remembered = if answering.choice.remembers() { Some(self.remember(id, answering, now)?) } else { None };
        match self.end(id, answering, decision, Reason::Answer, now) {
            Ok(true) => Ok(question),
            outcome => {
                if let Some(unsaid) = remembered {
                    self.forget(question.run, unsaid);
                }
                Err(outcome.map_or_else(AnswerError::Store, |_| QuestionError::Answered.into()))
            }
        }
    }

    /// Tells every warden of a workspace that what it was told before may not hold any more.
    pub fn rules_changed(&self, folder: &std::path::Path) {
        self.sessions.values().filter(|session| session.folder == folder).for_each(|session| session.outbox.send(Message::Forget));
    }

    fn said(&mut self, id: ConnectionId, message: Message) -> Result<(), String> {
        let Some(peer) = self.peers.get(&id) else { return Ok(()) };
        match (message, peer.run) {
            (Message::Enlist(enlist), None) => self.enlist(id, enlist),
            (Message::Request(json), None) => {
                let outbox = peer.outbox.clone();
                outbox.send(Message::Reply(rpc::serve(self, &json)));
                Ok(())
            }
            (Message::Judge(event), Some(run)) => self.judge(run, &event),
            (Message::Reopen(event, verdict), Some(run)) => self.reopen(run, &event, &verdict),
            (Message::Settled(call, allowed), Some(run)) => {
                self.settled(run, call, allowed);
                Ok(())
            }
            (Message::Withdraw(call, _), Some(run)) => {
                self.questions.withdraw(run, call);
                self.settled(run, call, false);
                Ok(())
            }
            (Message::End(_), Some(run)) => {
                self.over(run);
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
        let frozen = Frozen::from_json(&enlist.config).map_err(|e| e.to_string())?;
        let folder = self.workspaces.folder(frozen.places.workspace.bytes());
        let workspace = self.workspaces.enter(&folder)?;
        let undelivered = workspace.store.undelivered(run).map_err(|e| e.to_string())?;
        let grants = workspace.store.grants(run).map_err(|e| e.to_string())?;
        let mut session = Session::new(frozen, folder.clone(), self.mac.clone(), enlist, (id, peer.outbox.clone(), peer.pid))
            .map_err(|e| e.to_string())?;
        session.grants.extend(grants);
        peer.run = Some(run);
        for answer in undelivered {
            self.unsettled.entry((run, answer.call)).or_insert((answer, None));
        }
        session.outbox.send(Message::Enlisted);
        self.sessions.insert(run, session);
        // Without its thread there is no index; the journals stay what counts.
        let _ = self.index.send((folder, run));
        Ok(())
    }

    fn judge(&mut self, run: Uuid, event: &Event) -> Result<(), String> {
        let Self { sessions, workspaces, .. } = self;
        let session = sessions.get_mut(&run).ok_or("this run is not known")?;
        let workspace = workspaces.get(&session.folder).ok_or("the store of this run is not open")?;
        // A parser that panics on hostile text must neither allow nor take the other runs down with it.
        let judged = catch_unwind(AssertUnwindSafe(|| judge(session, workspace, event, clock::now())));
        let judgement = judged.unwrap_or_else(|_| Judgement {
            decision: Decision::Deny,
            class: CommandClass::Destructive,
            reason: Reason::Unreadable,
            note: "it cannot be judged".into(),
            repeatable: false,
            grant: None,
            pattern: None,
        });
        let verdict = if judgement.decision == Decision::Hold { self.ask(run, event, judgement) } else { verdict(event, &judgement) };
        self.tell(run, Message::Verdict(verdict));
        Ok(())
    }

    /// Opens a question for a judgement that holds, or joins the one that is open for the same start.
    fn ask(&mut self, run: Uuid, event: &Event, judgement: Judgement) -> Verdict {
        let verdict = verdict(event, &judgement);
        let refused = |reason, note: String| Verdict { decision: Decision::Deny, reason, note: note.into_bytes(), ..verdict.clone() };
        let key = self.key(event);
        let waiting = Waiting { call: event.call, grant: judgement.grant };
        let known = self.questions.same(run, key).map(|open| (open.question.clone(), open.deadline));
        if known.is_none() && !self.questions.has_room() {
            return refused(Reason::Overflow, "too many questions are open".into());
        }
        let fresh = known.is_none();
        let (question, deadline) =
            known.unwrap_or_else(|| self.question(run, event, &verdict, Uuid::now_v7(), clock::now(), judgement.pattern.as_ref()));
        if let Err(line) = self.keep(&question, &waiting, deadline) {
            return refused(Reason::Unrecorded, line);
        }
        let id = question.audit_id;
        if fresh {
            self.questions.open(Open { question, waiting: vec![waiting], pattern: judgement.pattern, key, deadline });
        } else {
            self.questions.join(id, waiting);
        }
        Verdict { question: Some(id.into_bytes()), ..verdict }
    }

    fn question(
        &self,
        run: Uuid,
        event: &Event,
        verdict: &Verdict,
        id: Uuid,
        created: Nanos,
        pattern: Option<&Pattern>,
    ) -> (Question, Nanos) {
        let session = self.sessions.get(&run);
        let patience = session.map_or(Duration::ZERO, |session| session.frozen.deadline.duration());
        let deadline = created.saturating_add(i64::try_from(patience.as_nanos()).unwrap_or(i64::MAX));
        let question = Question {
            audit_id: id,
            run,
            agent: session.map(|session| session.agent.clone()).unwrap_or_default(),
            command: String::from_utf8_lossy(&verdict.shown).into_owned(),
            argv: verdict.argv.iter().map(|word| text::word(word)).collect(),
            cwd: text::word(&event.cwd),
            file: text::word(&event.executable.path),
            class: class_of(verdict.class),
            reasons: vec![text::word(&verdict.note)],
            always_rule: pattern.map(Pattern::shown),
            origin: session.map_or(crate::config::Origin::Interactive, |session| session.frozen.origin),
            created: rfc3339(created),
            deadline: rfc3339(deadline),
            count: 1,
        };
        (question, deadline)
    }

    fn keep(&mut self, question: &Question, waiting: &Waiting, deadline: Nanos) -> Result<(), String> {
        let folder = self.sessions.get(&question.run).map(|session| session.folder.clone()).ok_or("this run is not known")?;
        let workspace = self.workspaces.get_mut(&folder).ok_or("the store of this run is not open")?;
        workspace.store.ask(question, waiting.call, waiting.grant.as_ref(), deadline).map_err(|e| e.to_string())
    }

    /// A question comes back from a warden that outlived the supervisor that asked it, or lost its connection.
    fn reopen(&mut self, run: Uuid, event: &Event, verdict: &Verdict) -> Result<(), String> {
        let session = self.sessions.get(&run).ok_or("this run is not known")?;
        let workspace = self.workspaces.get(&session.folder).ok_or("the store of this run is not open")?;
        let id = verdict.question.map(Uuid::from_bytes).ok_or("a question comes back without its id")?;
        if let Some((answer, _)) = self.unsettled.get(&(run, event.call)) {
            self.tell(run, Message::Answer(answer.clone()));
            return Ok(());
        }
        let kept = workspace.store.deadline(id).map_err(|e| e.to_string())?;
        // Grant and pattern are made again from the event; the verdict stays as it was given.
        let (grant, pattern) = catch_unwind(AssertUnwindSafe(|| covering(session, event))).unwrap_or_default();
        let waiting = Waiting { call: event.call, grant };
        if self.questions.get(id).is_some() {
            // Another call of the same question came back first.
            self.questions.join(id, waiting);
            return Ok(());
        }
        let (question, deadline) = self.question(run, event, verdict, id, created(id), pattern.as_ref());
        let deadline = kept.unwrap_or(deadline);
        let question = Question { deadline: rfc3339(deadline), ..question };
        self.keep(&question, &waiting, deadline)?;
        let key = self.key(event);
        self.questions.open(Open { question, waiting: vec![waiting], pattern, key, deadline });
        Ok(())
    }

    /// Remembers what the question's pattern says, and gives the id under which it did.
    fn remember(&mut self, id: Uuid, answering: &Answering, now: Nanos) -> Result<Uuid, AnswerError> {
        let open = self.questions.get(id).ok_or(QuestionError::Unknown)?;
        let run = open.question.run;
        let scope = match answering.choice {
            Choice::ApproveForRun => Scope::Run(run),
            Choice::ApproveFor(minutes) => Scope::Until(now.saturating_add(MINUTE.saturating_mul(i64::from(minutes)))),
            _ => Scope::Workspace,
        };
        let pattern = open.pattern.clone().ok_or(AnswerError::Nothing)?;
        let remembered = Remembered { id: Uuid::now_v7(), pattern, scope, by: answering.by.clone(), created: now };
        let folder = self.sessions.get(&run).map(|session| session.folder.clone()).ok_or(QuestionError::Unknown)?;
        let workspace = self.workspaces.get_mut(&folder).ok_or(QuestionError::Unknown)?;
        workspace.store.remember(&remembered).map_err(|e| AnswerError::Store(e.to_string()))?;
        let id = remembered.id;
        workspace.remembered.push(remembered);
        Ok(id)
    }

    fn forget(&mut self, run: Uuid, id: Uuid) {
        let Some(folder) = self.sessions.get(&run).map(|session| session.folder.clone()) else { return };
        let Some(workspace) = self.workspaces.get_mut(&folder) else { return };
        workspace.remembered.retain(|remembered| remembered.id != id);
        if let Err(e) = workspace.store.forget(id) {
            crate::error::say(&e.to_string());
        }
    }

    /// Ends a question in the store, then for its calls; `false` where it had ended before.
    fn end(&mut self, id: Uuid, answering: &Answering, decision: Decision, reason: Reason, now: Nanos) -> Result<bool, String> {
        let Some(open) = self.questions.get(id) else { return Ok(false) };
        let ended = Ended::new(&open.question, answering, decision, reason, now);
        let folder = self.sessions.get(&open.question.run).map(|session| session.folder.clone()).ok_or("this run is not known")?;
        let workspace = self.workspaces.get_mut(&folder).ok_or("the store of this run is not open")?;
        let first = workspace.store.end(&ended, now).map_err(|e| e.to_string())?;
        if first {
            self.release(id, answering, decision, reason);
        }
        Ok(first)
    }

    fn release(&mut self, id: Uuid, answering: &Answering, decision: Decision, reason: Reason) {
        let Some(open) = self.questions.remove(id) else { return };
        let run = open.question.run;
        for Waiting { call, grant } in open.waiting {
            let (note, by) = (answering.note.clone().into_bytes(), answering.by.clone().into_bytes());
            let answer = Answer { call, decision, reason, note, by };
            self.unsettled.insert((run, call), (answer.clone(), grant));
            self.tell(run, Message::Answer(answer));
        }
    }

    /// The warden has carried an answer out: from now on it grants what it grants.
    fn settled(&mut self, run: Uuid, call: u64, allowed: bool) {
        let Some((answer, grant)) = self.unsettled.remove(&(run, call)) else { return };
        let Some(session) = self.sessions.get_mut(&run) else { return };
        let allowed = allowed && answer.decision == Decision::Allow;
        if allowed {
            session.grants.extend(grant);
        }
        if let Some(workspace) = self.workspaces.get_mut(&session.folder)
            && let Err(e) = workspace.store.settle(run, call, allowed)
        {
            crate::error::say(&e.to_string());
        }
    }

    fn tell(&self, run: Uuid, message: Message) {
        if let Some(session) = self.sessions.get(&run) {
            session.outbox.send(message);
        }
    }

    fn ended_how(&mut self, id: Uuid) -> QuestionError {
        let found = self.workspaces.all().find_map(|workspace| workspace.store.ended(id).ok().flatten());
        found.map_or(QuestionError::Unknown, |ended| ended.error())
    }

    fn over(&mut self, run: Uuid) {
        self.questions.withdraw_run(run);
        self.unsettled.retain(|(of, _), _| *of != run);
        self.sessions.remove(&run);
        self.peers.values_mut().filter(|peer| peer.run == Some(run)).for_each(|peer| peer.run = None);
    }

    /// A connection ended. Where it was a warden's, what it holds is there no more, or will be reopened; its answers are
    /// in the store.
    fn closed(&mut self, id: ConnectionId) {
        let Some(run) = self.peers.remove(&id).and_then(|peer| peer.run) else { return };
        if self.sessions.get(&run).is_some_and(|session| session.connection == id) {
            self.over(run);
        }
    }

    fn key(&self, event: &Event) -> Key {
        let mut mac = self.mac.clone();
        let mut part = |bytes: &[u8]| {
            mac.update(&(bytes.len() as u64).to_le_bytes());
            mac.update(bytes);
        };
        part(&event.executable.path);
        part(&event.executable.id.to_bytes());
        part(&event.cwd);
        part(&event.root);
        part(&event.script.as_ref().map_or([0; 32], |script| script.digest));
        part(&event.argv.to_bytes());
        part(&event.environment.to_bytes());
        mac.finalize().into_bytes().into()
    }
}

/// When a question was asked: its id says it, so its deadline does not begin anew.
fn created(id: Uuid) -> Nanos {
    id.get_timestamp().map_or_else(clock::now, |time| {
        let (seconds, nanos) = time.to_unix();
        i64::try_from(seconds).unwrap_or(0).saturating_mul(1_000_000_000).saturating_add(i64::from(nanos))
    })
}

fn class_of(rank: u8) -> CommandClass {
    CommandClass::ALL.get(usize::from(rank)).copied().unwrap_or(CommandClass::Destructive)
}

fn verdict(event: &Event, judgement: &Judgement) -> Verdict {
    let argv = redact::argv(&event.argv);
    Verdict {
        call: event.call,
        decision: judgement.decision,
        class: judgement.class as u8,
        reason: judgement.reason,
        shown: text::line(&argv).into_bytes(),
        argv,
        note: redact::text(&judgement.note).into_bytes(),
        question: None,
        repeatable: judgement.repeatable,
    }
}

#[cfg(test)]
#[path = "supervisor_tests.rs"]
mod tests;
