//! Whether the floor holds on this machine, found out by using it once.
//!
//! A throw-away child installs the filter and executes a program; its call is received, attached to, let go, and the
//! loaded image is read. Invariant: the answer comes from what happened, never from a version number. Refuses to judge:
//! the program is `true`.

use super::trust::View;
use super::{Plan, RunError, capture, launch};
use crate::sys::notify::{self, Reply};
use crate::sys::ptrace::{self, Change};
use crate::sys::{process, procfs::Procfs};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use stayexec_protocol::Event;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;

/// Patience with each step, in milliseconds.
const PATIENCE: u16 = 5_000;

/// What the probe found: the steps in their order, the first that failed with its reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Probe {
    /// Each step that was tried, as a noun phrase, and whether it held.
    pub steps: Vec<(&'static str, Result<(), String>)>,
}

impl Probe {
    /// Whether a run can verify every image.
    pub fn holds(&self) -> bool {
        self.steps.iter().all(|(_, result)| result.is_ok())
    }
}

/// Tries the floor. Must be called while the process has one thread; signals are blocked afterwards.
pub fn probe(plan: &Plan) -> Probe {
    let mut steps = Vec::new();
    let mut tried = |name, result: Result<(), String>| {
        let held = result.is_ok();
        steps.push((name, result));
        held
    };
    let program = Path::new("/bin/true");
    let launched = process::raise_descriptor_limit()
        .map_err(|cause| RunError::Step { step: "raise the limit of descriptors", cause })
        .and_then(|given| launch::launch(plan, program, given, None))
        .map_err(|e: RunError| e.to_string());
    let mut launched = match launched {
        Ok(launched) => {
            tried("a filter with a listener", Ok(()));
            launched
        }
        Err(e) => {
            tried("a filter with a listener", Err(e));
            return Probe { steps };
        }
    };
    let mut attached = None;
    let Some(listener) = launched.listener.take() else { return Probe { steps } };
    let received = launched.go().and_then(|()| receive(listener.as_fd())).map_err(|e| e.to_string());
    if let (true, Ok(id)) = (tried("a call received", received.clone().map(drop)), received) {
        let loaded = load(listener.as_fd(), id, launched.pid).map_err(|e| e.to_string());
        if tried("an image stopped after loading", loaded) {
            attached = Some(launched.pid);
            tried("the image read", read(launched.pid).map(drop).map_err(|e| e.to_string()));
        }
    }
    if let Some(pid) = attached {
        let _ = ptrace::detach(pid, 0);
    } else {
        let _ = process::kill(launched.pid, libc::SIGKILL);
    }
    Probe { steps }
}

fn receive(listener: BorrowedFd<'_>) -> io::Result<u64> {
    readable(listener)?;
    Ok(notify::receive(listener)?.id)
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
