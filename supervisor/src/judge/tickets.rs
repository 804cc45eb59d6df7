//! Answers that came after the agent had stopped waiting.
//!
//! Invariant: such an answer counts once, for the same start in the same run, of a class that the person has seen, and no
//! longer than a question would have been open. Refuses to gather: past its bound the oldest go, and are asked again.

use super::judgement::Judgement;
use super::questions::Key;
use crate::clock::{self, Nanos};
use stayexec_policy::CommandClass;
use stayexec_protocol::{Decision, Reason};
use std::collections::{HashMap, VecDeque};
use uuid::Uuid;

/// Most answers that wait for their command.
const MOST: usize = 1_000;

/// An answer without a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ticket {
    /// The question.
    pub question: Uuid,
    /// What was said.
    pub decision: Decision,
    /// The class that was shown.
    pub class: CommandClass,
    /// For the agent.
    pub note: String,
    /// When it counts no more.
    pub until: Nanos,
}

impl Ticket {
    /// What becomes of the start that it was given for.
    pub fn applied(self, judgement: Judgement, now: Nanos) -> Judgement {
        let id = self.question.simple().to_string();
        let said = if self.decision == Decision::Allow { "approved" } else { "denied" };
        let mark = if self.note.is_empty() { "" } else { ": " };
        let note = match self.decision {
            // The agent is told what a person has told it.
            Decision::Deny if !self.note.is_empty() => self.note,
            _ => format!("{said} after it was given up ({}){mark}{}", &id[id.len() - 8..], self.note),
        };
        let asked = clock::made(self.question);
        let grant = judgement.grant.filter(|_| self.decision == Decision::Allow).map(|grant| grant.answered(asked, now));
        Judgement { decision: self.decision, reason: Reason::Answer, note, repeatable: false, grant, pattern: None, ..judgement }
    }
}

/// The answers that wait.
#[derive(Debug, Default)]
pub struct Tickets {
    of: HashMap<(Uuid, Key), Ticket>,
    order: VecDeque<(Uuid, Key)>,
}

impl Tickets {
    /// Keeps an answer.
    pub fn put(&mut self, run: Uuid, key: Key, ticket: Ticket) {
        while self.order.len() >= MOST {
            self.order.pop_front().map(|oldest| self.of.remove(&oldest));
        }
        self.order.push_back((run, key));
        self.of.insert((run, key), ticket);
    }

    /// The answer for a start that is only looked at.
    pub fn peek(&self, run: Uuid, key: Key, class: CommandClass, now: Nanos) -> Option<Ticket> {
        self.of.get(&(run, key)).filter(|ticket| class <= ticket.class && now < ticket.until).cloned()
    }

    /// The answer for a start, which is used up.
    pub fn take(&mut self, run: Uuid, key: Key, class: CommandClass, now: Nanos) -> Option<Ticket> {
        let ticket = self.of.remove(&(run, key))?;
        self.order.retain(|other| *other != (run, key));
        (class <= ticket.class && now < ticket.until).then_some(ticket)
    }

    /// A run is no longer there.
    pub fn forget_run(&mut self, run: Uuid) {
        self.of.retain(|(of, _), _| *of != run);
        self.order.retain(|(of, _)| *of != run);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUN: Uuid = Uuid::from_u128(1);

    fn ticket(class: CommandClass) -> Ticket {
        Ticket { question: Uuid::from_u128(7), decision: Decision::Allow, class, note: String::new(), until: 100 }
    }

    #[test]
    fn it_counts_once_in_its_run_up_to_its_class_and_its_time() {
        let write = CommandClass::Write;
        let take = |run, key, class, now| {
            let mut tickets = Tickets::default();
            tickets.put(RUN, [1; 32], ticket(write));
            (tickets.take(run, key, class, now).is_some(), tickets.take(run, key, class, now).is_some())
        };
        assert_eq!(take(RUN, [1; 32], write, 99), (true, false));
        assert_eq!(take(RUN, [1; 32], CommandClass::Network, 99), (false, false));
        assert_eq!(take(RUN, [1; 32], write, 100), (false, false));
        assert_eq!(take(RUN, [2; 32], write, 99), (false, false));
        assert_eq!(take(Uuid::from_u128(2), [1; 32], write, 99), (false, false));
    }

    #[test]
    fn past_the_bound_the_oldest_go_and_a_run_takes_its_own_along() {
        let mut tickets = Tickets::default();
        for number in 0..=MOST {
            let mut key = [0; 32];
            key[..8].copy_from_slice(&number.to_le_bytes());
            tickets.put(RUN, key, ticket(CommandClass::Write));
        }
        assert_eq!((tickets.of.len(), tickets.order.len()), (MOST, MOST));
        assert!(tickets.take(RUN, [0; 32], CommandClass::Write, 1).is_none());
        tickets.forget_run(RUN);
        assert!(tickets.of.is_empty() && tickets.order.is_empty());
    }
}
