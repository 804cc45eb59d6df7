//! Looking after held images: the signals that reach them, and their end.
//!
//! Invariant: a signal ends or stops a held image as it would have ended or stopped the program, and runs none of its
//! instructions. Refuses to act on what the image ignores or blocks (`nohup`).

use super::ending::Ending;
use super::gate::{Gate, State, Subject};
use crate::sys::{notify, ptrace};
use stayexec_protocol::Withdrawal;
use std::os::fd::AsFd;

impl Gate {
    /// The process of a held call has ended.
    pub(super) fn held_ended(&mut self, number: u64) {
        let Some(State::Held { subject, .. }) = self.calls.get(&number).map(|c| &c.state) else { return };
        if let Subject::Image(image) = subject {
            // Its parent waits until the tracer has reaped it.
            let _ = ptrace::wait(image.event.process.pid as i32);
        }
        self.withdraw(number, Withdrawal::Died);
        self.calls.remove(&number);
    }

    /// Looks at every held call.
    pub(super) fn sweep(&mut self) {
        let held: Vec<u64> = self.calls.iter().filter(|(_, c)| matches!(c.state, State::Held { .. })).map(|(&n, _)| n).collect();
        for number in held {
            let Some(call) = self.calls.get(&number) else { continue };
            let State::Held { subject, .. } = &call.state else { continue };
            match subject {
                Subject::Text(_) => {
                    if !notify::is_waiting(self.listener.as_fd(), call.notification.id) {
                        self.held_ended(number);
                    }
                }
                Subject::Image(image) => {
                    let (pid, registers) = (image.event.process.pid as i32, image.registers);
                    if self.is_dying(pid) {
                        self.withdraw(number, Withdrawal::Died);
                        self.set(number, State::Ending(Ending::kill(pid, registers)));
                        self.start_moving(number);
                    }
                }
            }
        }
    }

    /// Whether a signal waits for a held image that will end it.
    fn is_dying(&self, pid: i32) -> bool {
        let Ok(pending) = ptrace::pending_signals(pid) else { return false };
        if pending.is_empty() {
            return false;
        }
        let Ok(process) = self.procfs.process(pid) else { return false };
        let mask = |label| process.status_field(label).ok().and_then(|hex| u64::from_str_radix(&hex, 16).ok());
        let (Some(ignored), Some(blocked)) = (mask("SigIgn"), mask("SigBlk")) else { return false };
        pending.into_iter().any(|signal| ends_process(signal) && (ignored | blocked) >> (signal - 1) & 1 == 0)
    }
}

/// Whether the default action of a signal ends a process (signal(7)).
fn ends_process(signal: i32) -> bool {
    const OTHERS: [i32; 8] =
        [libc::SIGCHLD, libc::SIGCONT, libc::SIGURG, libc::SIGWINCH, libc::SIGSTOP, libc::SIGTSTP, libc::SIGTTIN, libc::SIGTTOU];
    (1..=64).contains(&signal) && !OTHERS.contains(&signal)
}
