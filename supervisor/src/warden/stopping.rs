//! A person ends a run.
//!
//! Everything that came from the launched program is told to end, and what has not ended a little later is ended.
//! Invariant: a signal goes to a process that was below the run's reaper after its handle was taken, so never to another
//! one of the same pid. Refuses to wait for good will.

use super::call::State;
use super::gate::Gate;
use crate::sys::pidfd;
use stayexec_protocol::{Decision, Verdict, Withdrawal};
use std::collections::{HashMap, HashSet};
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

/// Time between the word and the end.
const GRACE: Duration = Duration::from_secs(2);
/// Pause between two looks for what was forked meanwhile.
const AGAIN: Duration = Duration::from_millis(50);
/// Looks after the agent's end.
const LOOKS: u32 = 40;

impl Gate {
    /// What is held is denied, and everything told to end.
    pub(super) fn stop(&mut self) {
        for number in self.calls.held() {
            let Some(State::Held(held)) = self.calls.state(number) else { continue };
            let note = b"the run was stopped".to_vec();
            let verdict = Verdict { decision: Decision::Deny, note, ..held.verdict.clone() };
            self.withdraw(number, Withdrawal::RunEnded);
            self.deny(number, &verdict);
        }
        self.signal_tree(libc::SIGTERM);
        self.stopping.get_or_insert(Instant::now() + GRACE);
    }

    /// Ends what was told to end and has not.
    pub(super) fn press(&mut self, now: Instant) {
        if self.stopping.is_some_and(|until| until <= now) {
            self.signal_tree(libc::SIGKILL);
            self.stopping = Some(now + AGAIN);
        }
    }

    /// The agent of a run that was stopped has ended: the rest is ended with it.
    pub(super) fn clear(&self) {
        let never = crossbeam_channel::never::<()>();
        for _ in 0..LOOKS {
            if self.signal_tree(libc::SIGKILL) == 0 {
                return;
            }
            let _ = never.recv_timeout(AGAIN);
        }
    }

    /// Signals every process below the reaper, and says how many there were.
    fn signal_tree(&self, signal: i32) -> usize {
        let stat = |pid: i32| self.procfs.process(pid).and_then(|process| process.stat()).ok();
        let pids = self.procfs.pids().unwrap_or_default();
        let above: HashMap<i32, (i32, u64)> = pids.iter().filter_map(|pid| stat(*pid).map(|s| (*pid, (s.parent, s.start)))).collect();
        let in_tree = tree(&above, self.reaper);
        // Nobody leaves the tree: who had this start time when it was looked at is in it still.
        let same = |pid: i32, start: u64| stat(pid).is_some_and(|now| now.start == start);
        let signalled = |pid: &&i32| {
            let start = above.get(pid).map_or(0, |(_, start)| *start);
            pidfd::open(**pid).is_ok_and(|handle| same(**pid, start) && pidfd::kill(handle.as_fd(), signal).is_ok())
        };
        in_tree.iter().filter(signalled).count()
    }
}

/// The processes below `root`, from everybody's parent.
fn tree(above: &HashMap<i32, (i32, u64)>, root: i32) -> HashSet<i32> {
    let mut below: HashMap<i32, Vec<i32>> = HashMap::new();
    for (pid, (parent, _)) in above {
        below.entry(*parent).or_default().push(*pid);
    }
    let (mut found, mut next) = (HashSet::new(), vec![root]);
    while let Some(parent) = next.pop() {
        next.extend(below.get(&parent).into_iter().flatten().copied().filter(|pid| found.insert(*pid)));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_is_what_hangs_below_its_root_however_deep() {
        let mut above: HashMap<i32, (i32, u64)> = (2..5_000).map(|pid| (pid, (pid - 1, 7))).collect();
        above.insert(6_000, (1, 7));
        let found = tree(&above, 10);
        assert_eq!(found.len(), 5_000 - 11);
        assert!(!found.contains(&10) && !found.contains(&6_000) && found.contains(&4_999));
        assert!(tree(&HashMap::from([(1, (1, 0))]), 1).len() <= 1, "a circle ends");
    }
}
