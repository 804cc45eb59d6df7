//! A held image between the signals that reach it.
//!
//! A signal that ends or stops the program is delivered to the held image: it is brought from its exec stop to where the
//! kernel delivers signals, and stopped again behind the delivery. Invariant: none of the image's instructions runs: it is
//! resumed towards user mode only while a signal waits to be delivered first, and with an interrupt pending otherwise.
//! Anything unforeseen is an error, and the image is killed.

use super::call::Subject;
use super::snapshot::Snapshot;
use crate::sys::arch::Registers;
use crate::sys::ptrace::{self, Change};
use stayexec_protocol::{Answer, Verdict};
use std::io;
use std::os::fd::OwnedFd;

/// A call that a person was asked about.
#[derive(Debug)]
pub(super) struct Held {
    pub(super) subject: Subject,
    /// What an image is compared with before it runs; a text has none.
    pub(super) snapshot: Option<Snapshot>,
    pub(super) verdict: Verdict,
    pub(super) rest: Rest,
    /// An answer that came while the image was not at rest.
    pub(super) answer: Option<Answer>,
    /// Handle of the process, in the poller as long as it is open.
    pub(super) _ended: Option<OwnedFd>,
}

/// Where a held image stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rest {
    /// In its exec stop.
    Loaded,
    /// Behind it, stopped by our own interrupt.
    Trapped,
    /// On its way out of execve.
    Leaving,
    /// On its way to the delivery of a signal.
    Delivering,
    /// A signal was delivered, and an interrupt is pending.
    Delivered,
    /// Stopped as a job; SIGCONT is noticed.
    Stopped,
    /// Stopped as a job, and interrupted so that an answer can be carried out.
    Recalled,
}

impl Held {
    /// The signal that its program ignores as soon as it runs.
    pub(super) fn ignored(&self) -> Option<i32> {
        self.verdict.ignores_hangup.then_some(libc::SIGHUP)
    }
}

impl Rest {
    /// Whether the image can be released or ended from here.
    pub(super) fn is_at_rest(self) -> bool {
        matches!(self, Self::Loaded | Self::Trapped)
    }

    /// Whether the image has left execve, so that its registers are those that it will start with.
    pub(super) fn has_left(self) -> bool {
        !matches!(self, Self::Loaded | Self::Leaving)
    }

    /// Sends an image at rest to the delivery of a signal, which the caller has seen waiting for it.
    ///
    /// # Errors
    /// ESRCH where it has died.
    pub(super) fn deliver(self, pid: i32) -> io::Result<Self> {
        ptrace::to_syscall(pid, 0)?;
        Ok(if self == Self::Loaded { Self::Leaving } else { Self::Delivering })
    }

    /// Calls a stopped job's image back, so that an answer can be carried out.
    ///
    /// # Errors
    /// ESRCH where it has died.
    pub(super) fn recall(self, pid: i32) -> io::Result<Self> {
        if self != Self::Stopped {
            return Ok(self);
        }
        ptrace::interrupt(pid)?;
        Ok(Self::Recalled)
    }

    /// Goes on after a change of the image, which is spared the signal `ignored`.
    ///
    /// # Errors
    /// Anything unforeseen; the image must be killed.
    pub(super) fn after(self, change: Change, pid: i32, registers: &mut Registers, ignored: Option<i32>) -> io::Result<Self> {
        match (self, change) {
            (rest, Change::None) => Ok(rest),
            (Self::Leaving, Change::Syscall) => {
                let now = Registers::read(pid)?;
                if !registers.differ_in_result_alone(&now) {
                    return Err(io::ErrorKind::InvalidData.into());
                }
                *registers = now;
                ptrace::to_syscall(pid, 0)?;
                Ok(Self::Delivering)
            }
            (Self::Delivering | Self::Delivered, Change::Signal(signal)) => {
                ptrace::interrupt(pid)?;
                ptrace::to_syscall(pid, if ignored == Some(signal) { 0 } else { signal })?;
                Ok(Self::Delivered)
            }
            (Self::Delivered | Self::Stopped, Change::GroupStop(_)) => {
                ptrace::listen(pid)?;
                Ok(Self::Stopped)
            }
            (Self::Delivered | Self::Stopped, Change::Interrupted) => Ok(Self::Trapped),
            (Self::Recalled, Change::GroupStop(_) | Change::Interrupted) => Ok(Self::Trapped),
            _ => Err(io::ErrorKind::InvalidData.into()),
        }
    }
}
