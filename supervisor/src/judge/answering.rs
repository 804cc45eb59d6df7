//! From an answer, or a deadline, to the calls that wait for it.
//!
//! Invariant: a question ends once, in the store before its calls are told, and they are told once it is on the disk; what
//! an answer grants counts when its warden has said that it was carried out. Refuses the second answer.

use super::question::{Answering, Choice, Question};
use super::question::{Ended, QuestionError};
use super::questions::Waiting;
use super::remembered::{Remembered, Scope};
use super::rules;
use super::supervisor::Supervisor;
use super::tickets::Ticket;
use crate::clock::{self, Nanos};
use stayexec_protocol::{Answer, Decision, Message, Reason};
use uuid::Uuid;

const MINUTE: Nanos = 60 * 1_000_000_000;

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

impl Supervisor {
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
            None => return self.put_off(id, &answering.by),
            Some(true) => Decision::Allow,
            Some(false) => Decision::Deny,
        };
        let remembered = if answering.choice.remembers() { Some(self.remembered(id, answering, now)?) } else { None };
        match self.end(id, answering, remembered, (decision, Reason::Answer), now) {
            Ok(true) => Ok(question),
            outcome => Err(outcome.map_or_else(AnswerError::Store, |_| QuestionError::Answered.into())),
        }
    }

    /// Keeps a question open, and who has put it off.
    fn put_off(&mut self, id: Uuid, by: &str) -> Result<Question, AnswerError> {
        let open = self.questions.get(id).ok_or(QuestionError::Unknown)?;
        let question = Question { later: Some(by.to_owned()), ..open.question.clone() };
        let session = self.sessions.get(&question.run).ok_or(QuestionError::Unknown)?;
        let workspace = self.workspaces.get_mut(&session.folder).ok_or(QuestionError::Unknown)?;
        workspace.store.rewrite(&question).map_err(|e| AnswerError::Store(e.to_string()))?;
        self.questions.put_off(id, by);
        Ok(question)
    }

    /// What an answer has remembered, where every run of the workspace has room for it.
    fn remembered(&self, id: Uuid, answering: &Answering, now: Nanos) -> Result<Remembered, AnswerError> {
        let open = self.questions.get(id).ok_or(QuestionError::Unknown)?;
        let run = open.question.run;
        let scope = match answering.choice {
            Choice::ApproveForRun => Scope::Run(run),
            Choice::ApproveFor(minutes) => Scope::Until(now.saturating_add(MINUTE.saturating_mul(i64::from(minutes)))),
            _ => Scope::Workspace,
        };
        let pattern = open.pattern.clone().ok_or(AnswerError::Nothing)?;
        let remembered = Remembered { id: Uuid::now_v7(), pattern, scope, by: answering.by.clone(), created: now };
        let session = self.sessions.get(&run).ok_or(QuestionError::Unknown)?;
        self.has_room_for(&session.folder, |kept| kept.remembered.push(remembered.clone())).map_err(AnswerError::Store)?;
        Ok(remembered)
    }

    /// Ends a question in the store, with what its answer has remembered, then for its calls; `false` where it had ended before.
    fn end(
        &mut self,
        id: Uuid,
        answering: &Answering,
        remembered: Option<Remembered>,
        (decision, reason): (Decision, Reason),
        now: Nanos,
    ) -> Result<bool, String> {
        let Some(open) = self.questions.get(id) else { return Ok(false) };
        let ended = Ended::new(&open.question, answering, decision, reason, now);
        let session = self.sessions.get(&open.question.run).ok_or("this run is not known")?;
        let folder = session.folder.clone();
        let workspace = self.workspaces.get_mut(&folder).ok_or("the store of this run is not open")?;
        let besides = remembered.as_ref().map(|remembered| (&self.mac, remembered));
        let first = workspace.store.end(&session.seal, &ended, besides, now).map_err(|e| e.to_string())?;
        if first {
            self.release(id, answering, decision, reason);
            if let Some(remembered) = remembered {
                self.change_kept(&folder, |kept| kept.remembered.push(remembered.clone()));
            }
        }
        Ok(first)
    }

    /// Denies an open question, for want of an answer or by a rule: a denial needs no store to stand, the journal holds it.
    pub(super) fn refuse(&mut self, id: Uuid, note: String, by: String, reason: Reason) {
        let answering = Answering { choice: Choice::Deny, note, by };
        if let Err(line) = self.end(id, &answering, None, (Decision::Deny, reason), clock::now()) {
            crate::error::say(&line);
            self.release(id, &answering, Decision::Deny, reason);
        }
    }

    /// Ends an open question that a rule blocks which came after it was asked.
    pub(super) fn end_blocked(&mut self, id: Uuid) {
        let rule = || {
            let open = self.questions.get(id)?;
            let session = self.sessions.get(&open.question.run)?;
            rules::blocking(session, &open.commands)
        };
        if let Some(placed) = rule() {
            let (note, by) = (rules::said(placed), placed.place.clone());
            self.refuse(id, note, by, Reason::Rule);
        }
    }

    pub(super) fn release(&mut self, id: Uuid, answering: &Answering, decision: Decision, reason: Reason) {
        let Some(open) = self.questions.remove(id) else { return };
        let run = open.question.run;
        let Some(session) = self.sessions.get_mut(&run) else { return };
        if decision == Decision::Allow && !open.line {
            session.agents.snapshots.something_writes(clock::now());
        }
        if open.question.abandoned && reason == Reason::Answer {
            let patience = i64::try_from(session.frozen.deadline.duration().as_nanos()).unwrap_or(i64::MAX);
            let (question, class, note) = (id, open.question.class, answering.note.clone());
            let ticket = Ticket { question, decision, class, note, until: clock::now().saturating_add(patience) };
            self.tickets.put(run, open.key, ticket);
        }
        let now = clock::now();
        for Waiting { call, grant } in open.waiting {
            let grant = grant.map(|grant| grant.answered(clock::made(id), now));
            let (note, by) = (answering.note.clone().into_bytes(), answering.by.clone().into_bytes());
            let answer = Answer { call, decision, reason, note, by };
            self.unsettled.insert((run, call), (answer.clone(), grant));
            self.tell_kept(run, Message::Answer(answer));
        }
    }

    /// The warden has carried an answer out: from now on it grants what it grants.
    pub(super) fn settled(&mut self, run: Uuid, call: u64, allowed: bool) {
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

    fn ended_how(&mut self, id: Uuid) -> QuestionError {
        let found = self.workspaces.all().find_map(|workspace| workspace.store.ended(id).ok().flatten());
        found.map_or(QuestionError::Unknown, |ended| ended.error())
    }
}
