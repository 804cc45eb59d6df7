//! Ending a denied image.
//!
//! The image itself writes one line to its standard error and calls exit_group(126), by code that the warden puts at its
//! first instruction. Invariant: the warden stays attached until the image is dead and looks at each system call on its
//! entry: anything but the two that it forced is SIGKILL. Refuses to wait: a standard error that takes no line is left,
//! and an image that does not get on is killed.

use crate::sys::arch::{Forced, Registers};
use crate::sys::ptrace::{self, Change};
use crate::sys::{memory, process};
use std::io;
use std::time::{Duration, Instant};

/// Exit status of a denied image.
pub const STATUS: u64 = crate::exit_code::NOT_EXECUTABLE as u64;
/// How long the line may take.
const LINE_PATIENCE: Duration = Duration::from_millis(20);
/// How long the whole may take. Longer than the work needs by far: a loaded machine must not turn status 126 into 137.
const PATIENCE: Duration = Duration::from_secs(2);
/// How long an image on a terminal stays after its line: agents that read one stop reading when the program has ended.
const LINGER: Duration = Duration::from_millis(50);
/// Space that is left below the stack pointer (the red zone of the x86-64 ABI is 128 bytes).
const RED_ZONE: u64 = 256;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    /// On the way out of execve.
    Leaving,
    /// On the way into write.
    ToWrite,
    /// In write.
    Writing,
    /// The line is written, and whoever reads it has some time.
    Written(Instant),
    /// On the way into exit_group.
    ToExit,
    /// Nothing more to be done.
    Dying,
}

/// An image on its way out.
#[derive(Debug)]
pub struct Ending {
    pid: i32,
    registers: Registers,
    line: Forced,
    step: Step,
    begun: Instant,
    interrupted: bool,
    /// Its standard error is a terminal.
    terminal: bool,
}

/// Whether it is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// The image is still there.
    Going,
    /// It is dead and reaped.
    Over,
}

impl Ending {
    /// Begins with an image that waits at its exec stop.
    ///
    /// With `left` it has left execve since, and stands where its first instruction would come next.
    pub fn begin(pid: i32, registers: Registers, left: bool, terminal: bool, line: &[u8]) -> Self {
        let length = line.len() as u64;
        // Below the stack pointer, or, where the kernel has mapped nothing there, over the arguments: nobody reads them now.
        let below = (registers.sp() - RED_ZONE - length) & !15;
        let written = [below, registers.sp()].into_iter().find(|&at| memory::write(pid, at, line).is_ok());
        // A line that found no room is not written; the image ends all the same.
        let line_call = Forced::Write { address: written.unwrap_or(0), length: written.map_or(0, |_| length) };
        let mut ending = Self { pid, registers, line: line_call, step: Step::Leaving, begun: Instant::now(), interrupted: false, terminal };
        let prepared = ptrace::write_code(pid, registers.ip(), &registers.entry_code())
            .and_then(|()| if left { ending.force(line_call, Step::ToWrite) } else { ptrace::to_syscall(pid, 0) });
        ending.or_kill(prepared);
        ending
    }

    /// Kills an image at once.
    pub fn kill(pid: i32, registers: Registers) -> Self {
        let mut ending = Self::expect(pid, registers);
        ending.or_kill(Err(io::ErrorKind::Other.into()));
        ending
    }

    /// Leaves an image in its stop, in which somebody else kills it; if not, it is killed when its time has passed.
    pub fn expect(pid: i32, registers: Registers) -> Self {
        let line = Forced::Exit { status: STATUS };
        Self { pid, registers, line, step: Step::Dying, begun: Instant::now(), interrupted: false, terminal: false }
    }

    /// The image's process.
    pub fn pid(&self) -> i32 {
        self.pid
    }

    /// Goes on after a change of the image.
    pub fn advance(&mut self, change: Change) -> Progress {
        let next = match (self.step, change) {
            (_, Change::None) => return Progress::Going,
            (_, Change::Ended(_) | Change::Gone) => return Progress::Over,
            (Step::Leaving, Change::Syscall) => self.force(self.line, Step::ToWrite),
            (Step::ToWrite, Change::Syscall) => self.enter(self.line, Step::Writing),
            // It stands where it has come out of the call.
            (Step::Writing, Change::Syscall) if self.terminal => {
                self.step = Step::Written(Instant::now());
                Ok(())
            }
            (Step::Writing, Change::Syscall) => self.force(Forced::Exit { status: STATUS }, Step::ToExit),
            (Step::ToExit, Change::Syscall) => self.enter(Forced::Exit { status: STATUS }, Step::Dying),
            // It waits in a stop, from which nothing but its end can take it.
            (Step::Written(_), _) => Ok(()),
            // Signals, stops and our own interrupt end nothing and let nothing through.
            (Step::Dying, _) | (_, Change::Loaded) => Err(io::ErrorKind::Other.into()),
            (_, Change::Interrupted | Change::GroupStop(_) | Change::Signal(_)) => ptrace::to_syscall(self.pid, 0),
        };
        self.or_kill(next);
        Progress::Going
    }

    /// Gets on when time has passed.
    pub fn tick(&mut self, now: Instant) {
        let elapsed = now.duration_since(self.begun);
        if let Step::Written(since) = self.step
            && now.duration_since(since) >= LINGER
        {
            let left = self.force(Forced::Exit { status: STATUS }, Step::ToExit);
            self.or_kill(left);
        } else if elapsed >= PATIENCE {
            self.or_kill(Err(io::ErrorKind::TimedOut.into()));
        } else if self.step == Step::Writing && elapsed >= LINE_PATIENCE && !self.interrupted {
            self.interrupted = true;
            let interrupted = ptrace::interrupt(self.pid);
            self.or_kill(interrupted);
        }
    }

    /// When `tick` has something to do next.
    pub fn deadline(&self) -> Instant {
        if let Step::Written(since) = self.step {
            return since + LINGER;
        }
        let patience = if self.step == Step::Writing && !self.interrupted { LINE_PATIENCE } else { PATIENCE };
        self.begun + patience
    }

    fn force(&mut self, call: Forced, step: Step) -> io::Result<()> {
        self.step = step;
        self.registers.forcing(self.registers.ip(), call).write(self.pid)?;
        ptrace::to_syscall(self.pid, 0)
    }

    /// Lets the image into a call only if it is the one that was forced.
    fn enter(&mut self, call: Forced, step: Step) -> io::Result<()> {
        let (number, arguments) = self.registers.call_of(call);
        let entered = ptrace::entering(self.pid)?;
        let is_forced = entered.is_some_and(|(nr, args)| nr == number && args.starts_with(&arguments));
        if !is_forced {
            return Err(io::ErrorKind::InvalidData.into());
        }
        self.step = step;
        ptrace::to_syscall(self.pid, 0)
    }

    fn or_kill(&mut self, result: io::Result<()>) {
        if result.is_err() {
            self.step = Step::Dying;
            // It may be dead already; then waiting says so.
            let _ = process::kill(self.pid, libc::SIGKILL);
        }
    }
}
