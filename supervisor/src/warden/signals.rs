//! The warden's signals, read as records (signalfd(2)).
//!
//! Invariant: no signal ends the warden before the agent has ended, SIGKILL apart. Refuses to pass on what the terminal
//! sent to the whole foreground group: the agent has got it already (as sudo(8) does it); SIGHUP apart.

use crate::sys::process;
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};

/// Signals that a person or a program sends to `stayexec run` for the agent.
const FORWARDED: [Signal; 8] =
    [Signal::SIGHUP, Signal::SIGINT, Signal::SIGQUIT, Signal::SIGTERM, Signal::SIGUSR1, Signal::SIGUSR2, Signal::SIGALRM, Signal::SIGCONT];

/// si_code of a signal from the kernel itself, a terminal's among them.
const SI_KERNEL: i32 = 0x80;

/// The descriptor of signals.
#[derive(Debug)]
pub struct Signals(SignalFd);

impl Signals {
    /// Opens it for every signal that can be blocked; all are blocked since the launch.
    ///
    /// # Errors
    /// EMFILE, ENFILE, ENOMEM.
    pub fn open() -> io::Result<Self> {
        Ok(Self(SignalFd::with_flags(&SigSet::all(), SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK)?))
    }

    /// What to wait on.
    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }

    /// Reads one that has come, forwards it to the process `agent` if it is meant for it, and says whether a child changed.
    /// What is left in the descriptor wakes the gate again.
    pub fn take(&mut self, agent: i32) -> bool {
        let Ok(Some(info)) = self.0.read_signal() else { return false };
        let Ok(signal) = Signal::try_from(info.ssi_signo as i32) else { return false };
        // A terminal that goes away tells its session's leader alone, which may be us; twice does no harm.
        if FORWARDED.contains(&signal) && (info.ssi_code != SI_KERNEL || signal == Signal::SIGHUP) {
            // It may have ended; then its status is on the way.
            let _ = process::kill(agent, signal as i32);
        }
        signal == Signal::SIGCHLD
    }
}
