//! The open questions.
//!
//! Invariant: a question is open, or ended once and for ever: the first answer counts, and a deadline that has passed is
//! an answer. Identical questions are one, and its answer releases those that wait for it then. Refuses more open
//! questions than its limit: such a call is denied, not forgotten.

use super::grants::Grant;
use super::question::Question;
use super::remembered::Pattern;
use crate::clock::Nanos;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use uuid::Uuid;

/// Most open questions.
pub const OPEN_LIMIT: usize = 10_000;

/// What makes two questions the same: digest of raw argv, cwd, file and environment.
pub type Key = [u8; 32];

/// A call that waits for an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiting {
    /// Its number.
    pub call: u64,
    /// What an approval covers besides.
    pub grant: Option<Grant>,
}

/// An open question.
#[derive(Debug)]
pub struct Open {
    /// The question.
    pub question: Question,
    /// The calls that wait.
    pub waiting: Vec<Waiting>,
    /// What AlwaysApprove would remember.
    pub pattern: Option<Pattern>,
    /// The commands by which rules know it.
    pub commands: Vec<Vec<String>>,
    /// What makes it this question.
    pub key: Key,
    /// When it expires.
    pub deadline: Nanos,
    /// It stays answerable where its agent gives up waiting.
    pub keeps: bool,
    /// It is about a line that the agent has a shell run for itself.
    pub line: bool,
}

/// All open questions of a supervisor.
#[derive(Debug, Default)]
pub struct Questions {
    open: BTreeMap<Uuid, Open>,
    same: HashMap<(Uuid, Key), Uuid>,
    of_call: HashMap<(Uuid, u64), Uuid>,
    deadlines: BTreeSet<(Nanos, Uuid)>,
    revision: u64,
}

impl Questions {
    /// The open question that is the same as this one.
    pub fn same(&self, run: Uuid, key: Key) -> Option<&Open> {
        self.open.get(self.same.get(&(run, key))?)
    }

    /// Takes one more call into an open question.
    pub fn join(&mut self, id: Uuid, waiting: Waiting) {
        let Some(open) = self.open.get_mut(&id) else { return };
        self.of_call.insert((open.question.run, waiting.call), id);
        if open.waiting.iter().all(|other| other.call != waiting.call) {
            self.revision += 1;
            open.waiting.push(waiting);
            open.question.count = open.waiting.len();
            open.question.abandoned = false;
        }
    }

    /// Whether one more question can be opened.
    pub fn has_room(&self) -> bool {
        self.open.len() < OPEN_LIMIT
    }

    /// Opens a question.
    pub fn open(&mut self, open: Open) {
        let (id, run) = (open.question.audit_id, open.question.run);
        self.revision += 1;
        self.same.insert((run, open.key), id);
        self.deadlines.insert((open.deadline, id));
        self.of_call.extend(open.waiting.iter().map(|waiting| ((run, waiting.call), id)));
        self.open.insert(id, open);
    }

    /// The open question of this id.
    pub fn get(&self, id: Uuid) -> Option<&Open> {
        self.open.get(&id)
    }

    /// A person has put it off: it stays open.
    pub fn put_off(&mut self, id: Uuid, by: &str) {
        if let Some(open) = self.open.get_mut(&id) {
            self.revision += 1;
            open.question.later = Some(by.to_owned());
        }
    }

    /// Takes a question out: it is over.
    pub fn remove(&mut self, id: Uuid) -> Option<Open> {
        let open = self.open.remove(&id)?;
        self.revision += 1;
        let run = open.question.run;
        self.same.remove(&(run, open.key));
        self.deadlines.remove(&(open.deadline, id));
        for waiting in &open.waiting {
            self.of_call.remove(&(run, waiting.call));
        }
        Some(open)
    }

    /// Their ids.
    pub fn ids(&self) -> Vec<Uuid> {
        self.open.keys().copied().collect()
    }

    /// The questions whose deadline has passed.
    pub fn overdue(&self, now: Nanos) -> Vec<Uuid> {
        self.deadlines.iter().take_while(|(deadline, _)| *deadline <= now).map(|(_, id)| *id).collect()
    }

    /// A call is no longer there: its question loses it, and goes with the last one; or stays to be answered where that
    /// `died` and its agent may run the same again.
    pub fn withdraw(&mut self, run: Uuid, call: u64, died: bool) {
        let Some(id) = self.of_call.remove(&(run, call)) else { return };
        let Some(open) = self.open.get_mut(&id) else { return };
        open.waiting.retain(|other| other.call != call);
        self.revision += 1;
        open.question.count = open.waiting.len();
        if open.waiting.is_empty() {
            open.question.abandoned = died && open.keeps;
            if !open.question.abandoned {
                self.remove(id);
            }
        }
    }

    /// A run is no longer there.
    pub fn withdraw_run(&mut self, run: Uuid) {
        let gone: Vec<Uuid> = self.open.iter().filter(|(_, open)| open.question.run == run).map(|(id, _)| *id).collect();
        gone.into_iter().for_each(|id| drop(self.remove(id)));
    }

    /// The questions that a call waits for, oldest first.
    pub fn pending(&self) -> impl Iterator<Item = &Question> {
        self.all().filter(|question| !question.abandoned)
    }

    /// Those, and the ones whose agents have given up waiting.
    pub fn all(&self) -> impl Iterator<Item = &Question> {
        self.open.values().map(|open| &open.question)
    }

    /// How many a call waits for.
    pub fn count(&self) -> usize {
        self.pending().count()
    }

    /// Grows with each change.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// When the next question expires.
    pub fn next_deadline(&self) -> Option<Nanos> {
        self.deadlines.first().map(|(deadline, _)| *deadline)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUN: Uuid = Uuid::from_u128(1);

    fn open(id: u128, key: u8, call: u64, deadline: Nanos) -> Open {
        let question = Question {
            audit_id: Uuid::from_u128(id),
            run: RUN,
            agent: "bash".into(),
            command: "rm x".into(),
            argv: vec![],
            ancestry: vec![],
            cwd: "/".into(),
            file: "/bin/rm".into(),
            class: stayexec_policy::CommandClass::Write,
            reasons: vec![],
            always_rule: None,
            origin: crate::config::Origin::Interactive,
            created: String::new(),
            deadline: String::new(),
            count: 1,
            abandoned: false,
            later: None,
        };
        let waiting = vec![Waiting { call, grant: None }];
        Open { question, waiting, pattern: None, commands: vec![], key: [key; 32], deadline, keeps: false, line: false }
    }

    #[test]
    fn identical_questions_are_one() {
        let mut questions = Questions::default();
        questions.open(open(9, 1, 5, 100));
        let same = questions.same(RUN, [1; 32]).map(|open| open.question.audit_id);
        assert_eq!(same, Some(Uuid::from_u128(9)));
        for _ in 0..2 {
            questions.join(Uuid::from_u128(9), Waiting { call: 6, grant: None });
        }
        assert_eq!(questions.pending().map(|q| q.count).collect::<Vec<_>>(), [2]);
        let calls = questions.remove(Uuid::from_u128(9)).map(|open| open.waiting.iter().map(|w| w.call).collect::<Vec<_>>());
        assert_eq!(calls, Some(vec![5, 6]));
        assert!(questions.same(RUN, [1; 32]).is_none(), "a later one is asked anew");
    }

    #[test]
    fn deadlines_come_in_their_order() {
        let mut questions = Questions::default();
        questions.open(open(9, 1, 5, 100));
        questions.open(open(10, 2, 6, 50));
        assert_eq!(questions.next_deadline(), Some(50));
        assert_eq!(questions.overdue(50), [Uuid::from_u128(10)]);
    }

    #[test]
    fn a_withdrawn_call_takes_its_question_with_it() {
        let mut questions = Questions::default();
        questions.open(open(9, 1, 5, 100));
        questions.join(Uuid::from_u128(9), Waiting { call: 6, grant: None });
        questions.withdraw(RUN, 5, true);
        assert_eq!(questions.pending().count(), 1);
        questions.withdraw(RUN, 6, true);
        assert_eq!(questions.pending().count(), 0);
        questions.open(open(10, 1, 7, 100));
        questions.withdraw_run(RUN);
        assert!(questions.open.is_empty() && questions.same.is_empty() && questions.of_call.is_empty());
        assert!(questions.deadlines.is_empty());
    }

    #[test]
    fn what_an_agent_gave_up_stays_to_be_answered_until_its_deadline() {
        let mut questions = Questions::default();
        questions.open(Open { keeps: true, ..open(9, 1, 5, 100) });
        questions.withdraw(RUN, 5, true);
        assert_eq!((questions.count(), questions.all().filter(|q| q.abandoned).count()), (0, 1));
        assert_eq!(questions.overdue(100), [Uuid::from_u128(9)]);
        questions.join(Uuid::from_u128(9), Waiting { call: 6, grant: None });
        assert_eq!(questions.pending().map(|q| (q.count, q.abandoned)).collect::<Vec<_>>(), [(1, false)]);
        questions.withdraw(RUN, 6, false);
        assert_eq!(questions.all().count(), 0, "the run, or the gate, has ended it");
    }
}
