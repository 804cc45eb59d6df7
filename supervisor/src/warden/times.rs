//! When the gate wakes by itself, and what it does then.
//!
//! Invariant: each bound of a call is kept where nothing else wakes the gate. Refuses to let a call wait past its bound.

use super::call::State;
use super::gate::Gate;
use super::shim::Alone;
use crate::sys::process;
use std::time::{Duration, Instant};

/// How often held images are looked at for signals.
const SWEEP: Duration = Duration::from_millis(900);

impl Gate {
    pub(super) fn deadline(&self) -> Option<Instant> {
        let of = |number| match self.calls.state(number)? {
            State::Looking(until) | State::Refusing(until) | State::Reading { until, .. } => Some(*until),
            State::Ending(ending) => Some(ending.deadline()),
            _ => None,
        };
        let sweep = self.calls.is_any_held().then_some(self.next_sweep);
        let greeting = self.alone.as_ref().and_then(Alone::greeting);
        self.calls.timed().filter_map(of).chain(sweep).chain(greeting).chain(self.stopping).chain(self.waiting.next()).min()
    }

    pub(super) fn tick(&mut self, now: Instant) {
        self.press(now);
        for number in self.calls.timed().collect::<Vec<_>>() {
            match self.calls.get_mut(number).map(|call| &mut call.state) {
                Some(State::Looking(until) | State::Refusing(until) | State::Reading { until, .. }) if *until <= now => {
                    self.too_late(number)
                }
                Some(State::Ending(ending)) => ending.tick(now),
                _ => {}
            }
        }
        self.tell_of_waiting(now);
        if now >= self.next_sweep {
            self.next_sweep = now + SWEEP;
            self.sweep();
        }
    }

    /// A library that the loader has skipped in silence must not look like a gate.
    pub(super) fn expect_greeting(&mut self, now: Instant) {
        if self.alone.as_ref().and_then(Alone::greeting).is_some_and(|until| until <= now) {
            let _ = process::kill(self.agent, libc::SIGKILL);
        }
    }
}
