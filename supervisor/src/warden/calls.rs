//! The open calls, found by number and by where they stand.
//!
//! Invariant: each call stands in the set of its state and in no other, so no step looks through all calls to find a few:
//! thousands may be held. Refuses a change of state that goes around `set` and `replace`.

use super::call::{Call, State};
use std::collections::{BTreeSet, HashMap};

/// The calls of a run that are not over.
#[derive(Debug, Default)]
pub(super) struct Calls {
    all: HashMap<u64, Call>,
    /// In the kernel's exec, attached.
    loading: BTreeSet<u64>,
    /// Waiting for another thread of their process.
    queued: BTreeSet<u64>,
    /// With a deadline of their own.
    timed: BTreeSet<u64>,
    /// Waiting for a person.
    held: BTreeSet<u64>,
}

impl Calls {
    pub(super) fn get(&self, number: u64) -> Option<&Call> {
        self.all.get(&number)
    }

    /// The call, to be changed in anything but its state.
    pub(super) fn get_mut(&mut self, number: u64) -> Option<&mut Call> {
        self.all.get_mut(&number)
    }

    pub(super) fn state(&self, number: u64) -> Option<&State> {
        self.all.get(&number).map(|call| &call.state)
    }

    pub(super) fn contains(&self, number: u64) -> bool {
        self.all.contains_key(&number)
    }

    pub(super) fn insert(&mut self, number: u64, call: Call) {
        self.place(number, &call.state);
        self.all.insert(number, call);
    }

    pub(super) fn remove(&mut self, number: u64) -> Option<Call> {
        self.take_out(number);
        self.all.remove(&number)
    }

    /// Puts the call into another state; gives the one it was in.
    pub(super) fn replace(&mut self, number: u64, state: State) -> Option<State> {
        if !self.contains(number) {
            return None;
        }
        self.take_out(number);
        self.place(number, &state);
        self.all.get_mut(&number).map(|call| std::mem::replace(&mut call.state, state))
    }

    /// Whether a thread of this process is loading.
    pub(super) fn is_loading(&self, group: i32) -> bool {
        self.loading.iter().any(|n| self.all.get(n).is_some_and(|call| call.group == group))
    }

    /// The first call that waits for another thread of its process.
    pub(super) fn first_queued(&self, group: i32) -> Option<u64> {
        self.queued.iter().copied().find(|n| self.all.get(n).is_some_and(|call| call.group == group))
    }

    pub(super) fn timed(&self) -> impl Iterator<Item = u64> + '_ {
        self.timed.iter().copied()
    }

    pub(super) fn held(&self) -> Vec<u64> {
        self.held.iter().copied().collect()
    }

    pub(super) fn is_any_held(&self) -> bool {
        !self.held.is_empty()
    }

    /// Every call, in the order of their numbers.
    pub(super) fn numbers(&self) -> Vec<u64> {
        let mut numbers: Vec<u64> = self.all.keys().copied().collect();
        numbers.sort_unstable();
        numbers
    }

    fn place(&mut self, number: u64, state: &State) {
        let set = match state {
            State::Loading => &mut self.loading,
            State::Queued => &mut self.queued,
            State::Looking(_) | State::Refusing(_) | State::Reading { .. } | State::Ending(_) => &mut self.timed,
            State::Held(_) => &mut self.held,
            State::Judging(..) => return,
        };
        set.insert(number);
    }

    fn take_out(&mut self, number: u64) {
        let Some(call) = self.all.get(&number) else { return };
        match call.state {
            State::Loading => self.loading.remove(&number),
            State::Queued => self.queued.remove(&number),
            State::Looking(_) | State::Refusing(_) | State::Reading { .. } | State::Ending(_) => self.timed.remove(&number),
            State::Held(_) => self.held.remove(&number),
            State::Judging(..) => false,
        };
    }
}
