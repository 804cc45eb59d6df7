//! `[notify] command`: a program of the person's, told of each question once.
//!
//! Invariant: the command is fixed at the start, before anything of a peer was read, and is that of the run's own start;
//! what a peer said reaches its standard input alone. Its threads are not confined, since they start programs; they parse nothing. Refuses to wait: a
//! program that hangs is ended after its time, and where too many notices wait the next is left out, with one line.

use crate::error::say;
use crate::sys::pidfd;
use crossbeam_channel::{Receiver, Sender};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::memfd::{MFdFlags, memfd_create};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::{Pid, User, getuid};
use std::fs::File;
use std::io::{self, Seek, Write};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Programs at once.
const THREADS: usize = 4;
/// Notices that may wait.
const QUEUE: usize = 1_024;
/// How long a program may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// The command, and the way to its threads where there is one.
#[derive(Debug, Clone, Default)]
pub struct Notices {
    command: Vec<String>,
    queue: Option<Sender<String>>,
}

impl Notices {
    /// Starts the threads; none where no command is configured.
    ///
    /// # Errors
    /// No thread can be had.
    pub fn start(command: &[String]) -> io::Result<Self> {
        if command.is_empty() {
            return Ok(Self::default());
        }
        let (queue, notices) = crossbeam_channel::bounded::<String>(QUEUE);
        for _ in 0..THREADS {
            let (command, notices) = (command.to_vec(), notices.clone());
            std::thread::Builder::new().name("notify".into()).spawn(move || tell_all(&command, &notices))?;
        }
        Ok(Self { command: command.to_vec(), queue: Some(queue) })
    }

    /// The way to the threads for a run that was started with this command. What was written into the file since then is
    /// not run for it.
    pub fn of(&self, command: &[String]) -> Option<&Sender<String>> {
        self.queue.as_ref().filter(|_| self.command == command)
    }

    /// The line for a run that is started with another command than this supervisor.
    pub fn differ(&self, command: &[String]) -> Option<Vec<u8>> {
        let line = "[notify] has changed since the supervisor was started, and tells nobody of this run; it counts when the \
            supervisor is started anew, a minute after the last run";
        (self.command != command).then(|| line.into())
    }
}

fn tell_all(command: &[String], notices: &Receiver<String>) {
    for notice in notices {
        if let Err(e) = tell(command, &notice) {
            say(&format!("cannot run [notify] command: {e}"));
        }
    }
}

/// Runs the command once.
fn tell(command: &[String], notice: &str) -> io::Result<()> {
    let Some((program, arguments)) = command.split_first() else { return Ok(()) };
    // A file in memory: a program that reads nothing holds nobody up.
    let mut input = File::from(memfd_create(c"stayexec-notice", MFdFlags::MFD_CLOEXEC)?);
    input.write_all(notice.as_bytes())?;
    input.write_all(b"\n")?;
    input.rewind()?;
    let mut child = Command::new(program)
        .args(arguments)
        .env_clear()
        .envs(environment())
        .current_dir("/")
        .process_group(0)
        .stdin(Stdio::from(input))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    let pid = i32::try_from(child.id()).map_err(io::Error::other)?;
    let ended = pidfd::open(pid).and_then(|handle| wait(handle.as_fd()));
    if !matches!(ended, Ok(true)) {
        // It is not reaped yet, so the group is still its own.
        let _ = killpg(Pid::from_raw(pid), Signal::SIGKILL);
        child.wait()?;
        return Err(io::Error::other(format!("it was ended after {} s", PATIENCE.as_secs())));
    }
    let status = child.wait()?;
    if status.success() { Ok(()) } else { Err(io::Error::other(format!("it ended with {status}"))) }
}

/// Whether the program ended in its time.
fn wait(handle: std::os::fd::BorrowedFd<'_>) -> io::Result<bool> {
    let end = Instant::now() + PATIENCE;
    loop {
        let left = end.saturating_duration_since(Instant::now());
        let mut fds = [PollFd::new(handle, PollFlags::POLLIN)];
        match poll(&mut fds, PollTimeout::try_from(left).unwrap_or(PollTimeout::ZERO)) {
            Ok(ready) => return Ok(ready > 0),
            Err(nix::errno::Errno::EINTR) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
}

/// A supervisor's own environment is empty; what a desktop program needs is known all the same.
fn environment() -> Vec<(&'static str, String)> {
    let uid = getuid();
    let mut all = vec![
        ("PATH", "/usr/local/bin:/usr/bin:/bin".to_owned()),
        ("LANG", "C.UTF-8".to_owned()),
        ("XDG_RUNTIME_DIR", format!("/run/user/{uid}")),
        ("DBUS_SESSION_BUS_ADDRESS", format!("unix:path=/run/user/{uid}/bus")),
    ];
    if let Ok(Some(user)) = User::from_uid(uid) {
        all.push(("HOME", user.dir.to_string_lossy().into_owned()));
        all.push(("USER", user.name));
    }
    all
}
