//! The open questions, and those that were answered lately.
//!
//! Invariant: a question is open, or ended once and for ever: the first answer counts, and a deadline that has passed is
//! an answer. Identical questions are one, and its answer releases those that wait for it then. Refuses more open
//! questions than its limit: such a call is denied, not forgotten.

use super::question::{Answering, Choice, Question};
use crate::clock::{Nanos, rfc3339};
use serde::Serialize;
use stayexec_protocol::{Decision, Reason};
use std::collections::{BTreeMap, HashMap};
use uuid::Uuid;

/// Most open questions.
pub const OPEN_LIMIT: usize = 10_000;
/// How many ended questions are remembered.
const ENDED_LIMIT: usize = 10_000;

/// Why a question cannot be answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum QuestionError {
    /// No question has this id, or its program ended by itself.
    #[error("no open question has this id; `stayexec pending` lists them")]
    Unknown,
    /// Somebody was faster.
    #[error("this question was answered already; `stayexec history` says how")]
    Answered,
    /// The deadline passed.
    #[error("this question expired and its command was denied; run the command again to be asked again")]
    Expired,
}

/// What makes two questions the same: digest of raw argv, cwd, file and environment.
pub type Key = [u8; 32];

/// A question that was ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Ended {
    /// The question.
    #[serde(flatten)]
    pub question: Question,
    /// What was said.
    pub decision: &'static str,
    /// What became of the calls.
    pub outcome: &'static str,
    /// Answer or expired.
    pub reason: &'static str,
    /// For the agent.
    pub note: String,
    /// Who said it, through which face.
    pub decided_by: String,
    /// When, RFC 3339.
    pub decided: String,
}

/// Calls that are to be let go, one way or the other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Release {
    /// The run.
    pub run: Uuid,
    /// The question.
    pub id: Uuid,
    /// The calls.
    pub calls: Vec<u64>,
    /// Allow or deny.
    pub decision: Decision,
    /// Answer or expired.
    pub reason: Reason,
    /// For the agent.
    pub note: String,
    /// Who said it.
    pub by: String,
}

#[derive(Debug)]
struct Open {
    question: Question,
    key: Key,
    calls: Vec<u64>,
    deadline: Nanos,
}

/// All questions of a supervisor.
#[derive(Debug, Default)]
pub struct Questions {
    open: BTreeMap<Uuid, Open>,
    same: HashMap<(Uuid, Key), Uuid>,
    of_call: HashMap<(Uuid, u64), Uuid>,
    ended: BTreeMap<Uuid, Ended>,
    /// Ids of the ended ones in the order in which they ended.
    order: std::collections::VecDeque<Uuid>,
}

impl Questions {
    /// The open question that is the same as this one, and takes the call into it.
    pub fn join(&mut self, run: Uuid, key: Key, call: u64) -> Option<Uuid> {
        let id = *self.same.get(&(run, key))?;
        let open = self.open.get_mut(&id)?;
        if !open.calls.contains(&call) {
            open.calls.push(call);
            open.question.count = open.calls.len();
        }
        self.of_call.insert((run, call), id);
        Some(id)
    }

    /// Whether one more question can be opened.
    pub fn has_room(&self) -> bool {
        self.open.len() < OPEN_LIMIT
    }

    /// Opens a question.
    pub fn open(&mut self, question: Question, key: Key, call: u64, deadline: Nanos) {
        let (id, run) = (question.audit_id, question.run);
        self.same.insert((run, key), id);
        self.of_call.insert((run, call), id);
        self.open.insert(id, Open { question, key, calls: vec![call], deadline });
    }

    /// Answers a question. [`Choice::AskLater`] leaves it open and releases nothing.
    ///
    /// # Errors
    /// The three of [`QuestionError`].
    pub fn answer(&mut self, id: Uuid, answering: &Answering, now: Nanos) -> Result<Option<Release>, QuestionError> {
        let Some(open) = self.open.get(&id) else { return Err(self.ended_how(id)) };
        if open.deadline <= now {
            return Err(QuestionError::Expired);
        }
        let decision = match answering.choice {
            Choice::AskLater => return Ok(None),
            Choice::ApproveOnce => Decision::Allow,
            Choice::Deny => Decision::Deny,
        };
        Ok(self.end(id, decision, Reason::Answer, answering, now))
    }

    /// Ends every question whose deadline has passed.
    pub fn expire(&mut self, now: Nanos) -> Vec<Release> {
        let over: Vec<Uuid> = self.open.iter().filter(|(_, open)| open.deadline <= now).map(|(id, _)| *id).collect();
        let nobody = Answering { choice: Choice::Deny, note: "nobody answered before the deadline".into(), by: "deadline".into() };
        over.into_iter().filter_map(|id| self.end(id, Decision::Deny, Reason::Expired, &nobody, now)).collect()
    }

    /// A call is no longer there: its question loses it, and goes with the last one.
    pub fn withdraw(&mut self, run: Uuid, call: u64) {
        let Some(id) = self.of_call.remove(&(run, call)) else { return };
        let Some(open) = self.open.get_mut(&id) else { return };
        open.calls.retain(|other| *other != call);
        open.question.count = open.calls.len();
        if open.calls.is_empty() {
            self.remove(id);
        }
    }

    /// A run is no longer there.
    pub fn withdraw_run(&mut self, run: Uuid) {
        let gone: Vec<Uuid> = self.open.iter().filter(|(_, open)| open.question.run == run).map(|(id, _)| *id).collect();
        gone.into_iter().for_each(|id| {
            self.remove(id);
        });
        self.of_call.retain(|(of, _), _| *of != run);
    }

    /// The open questions, oldest first.
    pub fn pending(&self) -> impl Iterator<Item = &Question> {
        self.open.values().map(|open| &open.question)
    }

    /// The open question of this id.
    pub fn get(&self, id: Uuid) -> Option<&Question> {
        self.open.get(&id).map(|open| &open.question)
    }

    /// The ended questions, latest first.
    pub fn recent(&self) -> impl Iterator<Item = &Ended> {
        self.order.iter().rev().filter_map(|id| self.ended.get(id))
    }

    /// When the next question expires.
    pub fn next_deadline(&self) -> Option<Nanos> {
        self.open.values().map(|open| open.deadline).min()
    }

    fn ended_how(&self, id: Uuid) -> QuestionError {
        match self.ended.get(&id) {
            None => QuestionError::Unknown,
            Some(ended) if ended.reason == Reason::Expired.as_str() => QuestionError::Expired,
            Some(_) => QuestionError::Answered,
        }
    }

    fn remove(&mut self, id: Uuid) -> Option<Open> {
        let open = self.open.remove(&id)?;
        self.same.remove(&(open.question.run, open.key));
        open.calls.iter().for_each(|call| {
            self.of_call.remove(&(open.question.run, *call));
        });
        Some(open)
    }

    fn end(&mut self, id: Uuid, decision: Decision, reason: Reason, answering: &Answering, now: Nanos) -> Option<Release> {
        let open = self.remove(id)?;
        let release = Release {
            run: open.question.run,
            id,
            calls: open.calls,
            decision,
            reason,
            note: answering.note.clone(),
            by: answering.by.clone(),
        };
        self.ended.insert(
            id,
            Ended {
                question: open.question,
                decision: answering.choice.as_str(),
                outcome: decision.as_str(),
                reason: reason.as_str(),
                note: answering.note.clone(),
                decided_by: answering.by.clone(),
                decided: rfc3339(now),
            },
        );
        self.order.push_back(id);
        if self.order.len() > ENDED_LIMIT
            && let Some(oldest) = self.order.pop_front()
        {
            self.ended.remove(&oldest);
        }
        Some(release)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(id: u128) -> Question {
        Question {
            audit_id: Uuid::from_u128(id),
            run: Uuid::from_u128(1),
            agent: "bash".into(),
            command: "rm x".into(),
            argv: vec![],
            cwd: "/".into(),
            file: "/bin/rm".into(),
            class: stayexec_policy::CommandClass::Write,
            reasons: vec![],
            always_rule: None,
            origin: crate::config::Origin::Interactive,
            created: String::new(),
            deadline: String::new(),
            count: 1,
        }
    }

    fn say(choice: Choice) -> Answering {
        Answering { choice, note: "n".into(), by: "me".into() }
    }

    const RUN: Uuid = Uuid::from_u128(1);

    #[test]
    fn identical_questions_are_one_and_one_answer_releases_both() {
        let mut questions = Questions::default();
        assert_eq!(questions.join(RUN, [1; 32], 5), None);
        questions.open(question(9), [1; 32], 5, 100);
        assert_eq!(questions.join(RUN, [1; 32], 6), Some(Uuid::from_u128(9)));
        assert_eq!(questions.pending().map(|q| q.count).collect::<Vec<_>>(), [2]);
        assert_eq!(questions.answer(Uuid::from_u128(9), &say(Choice::AskLater), 1), Ok(None));
        let release = questions.answer(Uuid::from_u128(9), &say(Choice::ApproveOnce), 1);
        assert!(matches!(release, Ok(Some(Release { decision: Decision::Allow, calls, .. })) if calls == [5, 6]));
        assert_eq!(questions.join(RUN, [1; 32], 7), None, "a later one is asked anew");
    }

    #[test]
    fn three_errors() {
        let mut questions = Questions::default();
        questions.open(question(9), [1; 32], 5, 100);
        questions.open(question(10), [2; 32], 6, 50);
        let (answered, expired, unknown) = (Uuid::from_u128(9), Uuid::from_u128(10), Uuid::from_u128(11));
        assert!(questions.answer(answered, &say(Choice::Deny), 1).is_ok());
        assert_eq!(questions.answer(answered, &say(Choice::ApproveOnce), 2), Err(QuestionError::Answered));
        assert_eq!(questions.answer(expired, &say(Choice::ApproveOnce), 50), Err(QuestionError::Expired), "not swept yet");
        assert_eq!(questions.next_deadline(), Some(50));
        let released = questions.expire(50);
        assert!(matches!(&released[..], [Release { decision: Decision::Deny, reason: Reason::Expired, .. }]));
        assert_eq!(questions.answer(expired, &say(Choice::ApproveOnce), 51), Err(QuestionError::Expired));
        assert_eq!(questions.answer(unknown, &say(Choice::Deny), 51), Err(QuestionError::Unknown));
        assert_eq!(questions.recent().map(|e| e.reason).collect::<Vec<_>>(), ["expired", "answer"]);
    }

    #[test]
    fn a_withdrawn_call_takes_its_question_with_it() {
        let mut questions = Questions::default();
        questions.open(question(9), [1; 32], 5, 100);
        assert!(questions.join(RUN, [1; 32], 6).is_some());
        questions.withdraw(RUN, 5);
        assert_eq!(questions.pending().count(), 1);
        questions.withdraw(RUN, 6);
        assert_eq!(questions.pending().count(), 0);
        questions.open(question(10), [1; 32], 7, 100);
        questions.withdraw_run(RUN);
        assert_eq!(questions.answer(Uuid::from_u128(10), &say(Choice::Deny), 1), Err(QuestionError::Unknown));
        assert!(questions.same.is_empty() && questions.of_call.is_empty());
    }
}
