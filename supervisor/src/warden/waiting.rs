//! The line that says, on an agent's own streams, that a question has been open for a while.
//!
//! Invariant: a question is told of once, when its patience is over, and only while it is open. The line is a courtesy: where
//! it cannot be written, the question is open all the same.

use super::call::State;
use super::courtesy;
use super::gate::{Errand, Gate};
use stayexec_protocol::Verdict;
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// How long a question may be open before the agent's streams say so.
const PATIENCE: Duration = Duration::from_secs(2);

/// Held calls that were not told of yet, in the order in which they were held.
#[derive(Debug, Default)]
pub(super) struct Waiting(VecDeque<(Instant, u64)>);

impl Waiting {
    /// A call is held from now on.
    pub(super) fn expect(&mut self, number: u64, now: Instant) {
        self.0.push_back((now + PATIENCE, number));
    }

    /// When the next is to be told of.
    pub(super) fn next(&self) -> Option<Instant> {
        self.0.front().map(|(until, _)| *until)
    }

    /// One whose patience is over.
    fn due(&mut self, now: Instant) -> Option<u64> {
        self.0.pop_front_if(|(until, _)| *until <= now).map(|(_, number)| number)
    }
}

impl Gate {
    /// Tells of the questions that have been open for a while.
    pub(super) fn tell_of_waiting(&mut self, now: Instant) {
        while let Some(number) = self.waiting.due(now) {
            let Some(call) = self.calls.get(number) else { continue };
            let State::Held(held) = &call.state else { continue };
            let (pid, line) = (call.group, line(&held.verdict));
            let _ = self.errands.send(move || {
                courtesy::write_line(pid, line.as_bytes());
                Errand::Told
            });
        }
    }
}

/// `stayexec: waiting for an answer (stayexec approve 1a2b3c4d): rm -rf build`, and what that means for an agent that does
/// not wait so long.
fn line(verdict: &Verdict) -> String {
    let id = verdict.question.map(|id| uuid::Uuid::from_bytes(id).simple().to_string()).unwrap_or_default();
    let short = &id[id.len().saturating_sub(8)..];
    let again = if verdict.keeps { "; whoever gives up waiting can run the same command again once it is approved" } else { "" };
    format!("stayexec: waiting for an answer (stayexec approve {short}): {}{again}\n", super::escaped(&verdict.shown))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_due_once_in_its_order() {
        let (mut waiting, begun) = (Waiting::default(), Instant::now());
        let second = Duration::from_secs(1);
        waiting.expect(7, begun);
        waiting.expect(8, begun + second);
        assert_eq!(waiting.next(), Some(begun + PATIENCE));
        assert_eq!(waiting.due(begun + second), None);
        assert_eq!((waiting.due(begun + PATIENCE), waiting.due(begun + PATIENCE)), (Some(7), None));
        assert_eq!(waiting.due(begun + PATIENCE + second), Some(8));
        assert_eq!(waiting.next(), None);
    }
}
