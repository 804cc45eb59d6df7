//! Looking after held calls: the signals that reach them, and their end.
//!
//! Invariant: a signal ends or stops a held image as it would have ended or stopped the program. Refuses to act on what
//! the image ignores or blocks (`nohup`).

use super::call::{State, Subject};
use super::ending::Ending;
use super::gate::Gate;
use crate::sys::procfs::Procfs;
use crate::sys::ptrace::{self, Change};
use stayexec_protocol::Withdrawal;

impl Gate {
    /// The process of a held call has ended.
    pub(super) fn held_ended(&mut self, number: u64) {
        let Some(State::Held(held)) = self.calls.state(number) else { return };
        if let Subject::Image(image) = &held.subject {
            // Its parent waits until the tracer has reaped it.
            let _ = ptrace::wait(image.event.process.pid as i32);
        }
        self.withdraw(number, Withdrawal::Died);
        self.calls.remove(number);
    }

    /// Looks at every held call.
    pub(super) fn sweep(&mut self) {
        for number in self.calls.held() {
            let Some(call) = self.calls.get_mut(number) else { continue };
            let State::Held(held) = &mut call.state else { continue };
            match &held.subject {
                Subject::Call(_) => {
                    let (id, asks) = (call.notification.id, call.asker.is_some());
                    if !asks && !self.is_waiting(id) {
                        self.held_ended(number);
                    }
                }
                Subject::Image(image) => {
                    let pid = image.event.process.pid as i32;
                    if held.rest.is_at_rest() && is_signalled(&self.procfs, pid) {
                        if let Ok(rest) = held.rest.deliver(pid) {
                            held.rest = rest;
                        }
                        self.start_moving(number);
                    }
                }
            }
        }
    }

    /// Whether a held image is still between two stops.
    pub(super) fn held_moved(&mut self, number: u64) -> bool {
        let Some(State::Held(held)) = self.calls.get_mut(number).map(|c| &mut c.state) else { return false };
        let ignored = held.ignored();
        let Subject::Image(image) = &mut held.subject else { return false };
        let pid = image.event.process.pid as i32;
        loop {
            match ptrace::wait(pid) {
                Change::None => break,
                Change::Ended(_) | Change::Gone => {
                    self.withdraw(number, Withdrawal::Died);
                    self.calls.remove(number);
                    return false;
                }
                change => match held.rest.after(change, pid, &mut image.registers, ignored) {
                    Ok(rest) => held.rest = rest,
                    Err(_) => {
                        let ending = Ending::kill(pid, image.registers);
                        self.withdraw(number, Withdrawal::Changed);
                        self.set(number, State::Ending(Box::new(ending)));
                        return true;
                    }
                },
            }
        }
        if held.rest.is_at_rest()
            && let Some(answer) = held.answer.take()
        {
            self.carry_out(number, answer);
            return matches!(self.calls.state(number), Some(State::Ending(_)));
        }
        // One that is stopped as a job stays among the moving: SIGCONT is a change.
        !held.rest.is_at_rest()
    }
}

/// Whether a signal waits for a held image that will end or stop it.
pub(super) fn is_signalled(procfs: &Procfs, pid: i32) -> bool {
    let Ok(pending) = ptrace::pending_signals(pid) else { return false };
    if pending.is_empty() {
        return false;
    }
    let Ok(process) = procfs.process(pid) else { return false };
    let mask = |label| process.status_field(label).ok().and_then(|hex| u64::from_str_radix(&hex, 16).ok());
    let (Some(ignored), Some(blocked)) = (mask("SigIgn"), mask("SigBlk")) else { return false };
    pending.into_iter().any(|signal| has_effect(signal) && (ignored | blocked) >> (signal - 1) & 1 == 0)
}

/// Whether the default action of a signal ends or stops a process (signal(7)). A fresh image has no other action.
fn has_effect(signal: i32) -> bool {
    (1..=64).contains(&signal) && ![libc::SIGCHLD, libc::SIGCONT, libc::SIGURG, libc::SIGWINCH].contains(&signal)
}
