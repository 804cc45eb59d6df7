//! A person ends a run.
//!
//! Everything that came from the launched program is told to end, and what has not ended a little later is ended.
//! Invariant: a signal goes to a process that was below the run's reaper after its handle was taken, so never to another
//! one of the same pid. Refuses to wait for good will.

use super::call::State;
use super::capture;
use super::gate::Gate;
use crate::sys::pidfd;
use stayexec_protocol::{Decision, Verdict, Withdrawal};
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
        let pids = self.procfs.pids().unwrap_or_default().into_iter();
        let in_tree = |pid: i32| {
            let chain = capture::ancestry(&self.procfs, pid, self.reaper);
            pid != self.reaper && chain.last().is_some_and(|last| last.pid as i32 == self.reaper)
        };
        pids.filter(|pid| pidfd::open(*pid).is_ok_and(|handle| in_tree(*pid) && pidfd::kill(handle.as_fd(), signal).is_ok())).count()
    }
}
