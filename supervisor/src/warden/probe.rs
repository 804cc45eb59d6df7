//! Which modes hold on this machine, found out by using each once.
//!
//! A throw-away child installs the filter and executes a program; its call is received and read, attached to, let go, and
//! the loaded image is read. Another loads the shim and greets. Invariant: the answer comes from what happened, never from a
//! version number. Refuses to judge: the program is `true`.

use super::room::Room;
use super::shim::{Alone, Shim};
use super::trust::View;
use super::{Plan, RunError, arguments, capture, launch};
use crate::sys::notify::{self, Notification, Reply};
use crate::sys::ptrace::{self, Change};
use crate::sys::{process, procfs::Procfs};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use stayexec_protocol::ask::Form;
use stayexec_protocol::{Event, Mode};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;

/// Patience with each step, in milliseconds.
const PATIENCE: u16 = 5_000;

/// A step of the probe: a noun phrase, and why it failed where it did.
pub type Step = (&'static str, Result<(), String>);

/// Steps of the probe, in their order.
pub const FILTER: &str = "a filter with a listener";
/// A call was notified.
pub const CALL: &str = "a call received";
/// What its caller says was read.
pub const WORDS: &str = "its words read";
/// ptrace took hold.
pub const STOP: &str = "an image stopped after loading";
/// The image was read.
pub const IMAGE: &str = "the image read";
/// The shim greeted.
pub const GREETING: &str = "the preload library loaded";

/// What the probe found: the steps that were tried.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Probe {
    /// Each with its result.
    pub steps: Vec<Step>,
}

impl Probe {
    /// Why a mode does not hold: the first of its steps that failed, or was never reached.
    pub fn missing(&self, mode: Mode) -> Option<(&'static str, String)> {
        let needed: &[&'static str] = match mode {
            Mode::Verify => &[FILTER, CALL, STOP, IMAGE],
            Mode::Seccomp => &[FILTER, CALL, WORDS],
            Mode::Preload => &[GREETING],
        };
        let found = |name: &str| self.steps.iter().find(|(step, _)| *step == name).map(|(_, result)| result.clone());
        needed.iter().find_map(|name| match found(name) {
            Some(Ok(())) => None,
            Some(Err(why)) => Some((*name, why)),
            None => Some((*name, "not tried: a step before it failed".into())),
        })
    }

    fn tried<T>(&mut self, name: &'static str, result: Result<T, impl ToString>) -> Option<T> {
        let result = result.map_err(|why| why.to_string());
        self.steps.push((name, result.as_ref().map(drop).map_err(Clone::clone)));
        result.ok()
    }
}

/// Tries each mode. Must be called while the process has one thread; signals are blocked afterwards.
pub fn probe(plan: &Plan) -> Probe {
    let mut probe = Probe::default();
    let given = process::raise_descriptor_limit().unwrap_or((1024, 1024));
    with_filter(&mut probe, &Plan { require: Mode::Verify, ..plan.clone() }, given);
    let greeted = greeting(&Plan { require: Mode::Preload, ..plan.clone() }, given);
    probe.tried(GREETING, greeted.map_err(|e| e.to_string()));
    probe
}

fn with_filter(probe: &mut Probe, plan: &Plan, given: process::DescriptorLimit) {
    let launched = launch::launch(plan, Path::new(PROGRAM), given, None);
    let Some(mut launched) = probe.tried(FILTER, launched) else { return };
    let Some(listener) = launched.listener.take() else { return };
    let received = launched.go.go().and_then(|()| receive(listener.as_fd()));
    let mut ended = Err(io::ErrorKind::NotFound.into());
    if let Some(call) = probe.tried(CALL, received) {
        probe.tried(WORDS, arguments::vector(&call).and_then(|_| arguments::environment(&call)));
        if probe.tried(STOP, load(listener.as_fd(), call.id, launched.pid)).is_some() {
            probe.tried(IMAGE, read(launched.pid));
            ended = ptrace::detach(launched.pid, 0);
        }
    }
    if ended.is_err() {
        let _ = process::kill(launched.pid, libc::SIGKILL);
    }
}

/// Starts a program with the shim alone and waits for its hello.
fn greeting(plan: &Plan, given: process::DescriptorLimit) -> Result<(), RunError> {
    let step = |cause| RunError::Step { step: "hear the preload library", cause };
    let shim = Room::make(&plan.rooms, plan.run, false).and_then(Shim::lay).map_err(step)?;
    let entries = shim.entries(None, Form::Alone);
    let launched = launch::launch(plan, Path::new(PROGRAM), given, Some(entries))?;
    let mut alone = Alone::listen(shim, launched.pid).map_err(step)?;
    launched.go.go().and_then(|()| readable(alone.descriptor())).map_err(step)?;
    while alone.greeting().is_some() {
        let Some(number) = alone.accept() else { return Err(step(io::ErrorKind::InvalidData.into())) };
        // Its hello is a few bytes, sent as soon as it has connected.
        alone.stream(number).map_or(Ok(()), readable).map_err(step)?;
        alone.hear(number);
    }
    Ok(())
}

/// What is executed.
const PROGRAM: &str = "/bin/true";

fn receive(listener: BorrowedFd<'_>) -> io::Result<Notification> {
    readable(listener)?;
    notify::receive(listener)
}

fn readable(fd: BorrowedFd<'_>) -> io::Result<()> {
    let mut fds = [PollFd::new(fd, PollFlags::POLLIN)];
    match poll(&mut fds, PollTimeout::from(PATIENCE))? {
        0 => Err(io::ErrorKind::TimedOut.into()),
        _ => Ok(()),
    }
}

fn load(listener: BorrowedFd<'_>, id: u64, pid: i32) -> io::Result<()> {
    ptrace::seize(pid)?;
    notify::answer(listener, id, Reply::Continue)?;
    let deadline = std::time::Instant::now() + std::time::Duration::from_millis(PATIENCE.into());
    while std::time::Instant::now() < deadline {
        match ptrace::wait(pid) {
            Change::Loaded => return Ok(()),
            Change::None => std::thread::yield_now(),
            other => return Err(io::Error::other(format!("{other:?} instead of the stop"))),
        }
    }
    Err(io::ErrorKind::TimedOut.into())
}

fn read(pid: i32) -> io::Result<Event> {
    let procfs = Procfs::open()?;
    let view = View::take(&procfs.process(pid)?, process::file_clock())?;
    let mut image = capture::image(&procfs, &view, pid, 0, true)?;
    capture::complete(&procfs, &view, &mut image, false)?;
    Ok(image.event)
}
