//! Starting the supervisor.
//!
//! Invariant: it is this very program again, with an empty environment and resolved paths as arguments, in a session of
//! its own. Where we are init, or next to it, a supervisor that died is ours to reap, and is. Refuses to wait by sleeping:
//! the supervisor closes a pipe when it listens, or says one line why it does not.

use super::{Address, ControlError};
use crate::sys::process;
use nix::fcntl::OFlag;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::SigSet;
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long a supervisor may take until it listens.
const STARTING: Duration = Duration::from_secs(20);
/// Longest diagnostic file that is still appended to.
const LOG_LIMIT: u64 = 1 << 20;
/// What a supervisor writes into the pipe when it listens, before its pid.
const READY: &str = "ready";
/// What it writes when another one is there already.
const TAKEN: &str = "taken";

/// Starts a supervisor for `address` and returns when it listens, or when another one does.
///
/// # Errors
/// [`ControlError::Step`] for what failed here, [`ControlError::Refused`] with what the supervisor said.
pub(super) fn start(address: &Address) -> Result<(), ControlError> {
    let (ready, told) = nix::unistd::pipe2(OFlag::O_CLOEXEC)
        .map_err(|errno| ControlError::Step { step: "make a pipe for the supervisor", cause: errno.into() })?;
    let mut command = Command::new("/proc/self/exe");
    command
        .arg0("stayexec")
        .arg("serve")
        .arg("--started")
        .arg("--runtime-dir")
        .arg(&address.runtime_dir)
        .arg("--state-dir")
        .arg(&address.state_dir);
    if let Some(config) = &address.config {
        command.arg("--config").arg(config);
    }
    let mut child = command
        .env_clear()
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(Stdio::from(told))
        .stderr(Stdio::from(log(address)?))
        .spawn()
        .map_err(ControlError::step("start the supervisor"))?;
    // It holds our copy of the pipe's other end.
    drop(command);
    let line = wait(ready)?;
    // Only the process that detached itself is waited for; where somebody else has reaped it already, all the better.
    let _ = child.wait();
    let mut words = line.split_whitespace();
    if let (Some(READY), Some(pid)) = (words.next(), words.next()) {
        reap(pid.parse().ok());
        return Ok(());
    }
    match line.trim() {
        TAKEN => Ok(()),
        "" => Err(ControlError::Refused(format!("the supervisor did not start; {} says why", log_path(address).display()))),
        other => Err(ControlError::Refused(other.to_owned())),
    }
}

/// Supervisors that were started here. Detached, they are children of init: of us, in a container whose first process
/// we are.
static STARTED: Mutex<Vec<i32>> = Mutex::new(Vec::new());

/// Notes a supervisor that has just been started, and reaps those before it that have died.
fn reap(started: Option<i32>) {
    // A thread that died holding the list has left it whole.
    let mut all = STARTED.lock().unwrap_or_else(PoisonError::into_inner);
    // Whoever is not our child is no matter of ours.
    all.retain(|&pid| matches!(waitpid(Pid::from_raw(pid), Some(WaitPidFlag::WNOHANG)), Ok(WaitStatus::StillAlive)));
    all.extend(started.filter(|&pid| pid > 0));
}

/// Reaps the supervisors that were started here, are our children and have died.
pub fn reap_started() {
    reap(None);
}

fn log_path(address: &Address) -> std::path::PathBuf {
    address.state_dir.join("supervisor.log")
}

fn log(address: &Address) -> Result<File, ControlError> {
    let path = log_path(address);
    let long = std::fs::metadata(&path).is_ok_and(|file| file.len() > LOG_LIMIT);
    let mut options = OpenOptions::new();
    options.create(true).mode(0o600).custom_flags(OFlag::O_NOFOLLOW.bits());
    if long {
        options.write(true).truncate(true)
    } else {
        options.append(true)
    };
    options.open(path).map_err(ControlError::step("open the supervisor's log in the state folder"))
}

/// Everything that the supervisor says before it closes the pipe.
fn wait(ready: OwnedFd) -> Result<String, ControlError> {
    let end = Instant::now() + STARTING;
    let mut said = Vec::new();
    loop {
        let left = end.saturating_duration_since(Instant::now());
        let mut fds = [PollFd::new(ready.as_fd(), PollFlags::POLLIN)];
        let timeout = PollTimeout::try_from(left).unwrap_or(PollTimeout::ZERO);
        match poll(&mut fds, timeout) {
            Ok(0) => return Err(ControlError::Refused(format!("the supervisor does not listen after {} s", STARTING.as_secs()))),
            Ok(_) => {}
            Err(nix::errno::Errno::EINTR) => continue,
            Err(errno) => return Err(ControlError::Step { step: "wait for the supervisor", cause: errno.into() }),
        }
        let mut piece = [0; 4096];
        match nix::unistd::read(&ready, &mut piece) {
            Ok(0) => return Ok(String::from_utf8_lossy(&said).into_owned()),
            Ok(n) if said.len() < 64 << 10 => said.extend_from_slice(&piece[..n]),
            Ok(_) | Err(nix::errno::Errno::EINTR) => {}
            Err(errno) => return Err(ControlError::Step { step: "wait for the supervisor", cause: errno.into() }),
        }
    }
}

/// The other end of the pipe, inside a supervisor that was started.
#[derive(Debug)]
pub struct Readiness(bool);

impl Readiness {
    /// Leaves the starter's session where `started`; to be called before the first thread.
    ///
    /// # Errors
    /// [`ControlError::Step`] where the process cannot detach.
    pub fn begin(started: bool) -> Result<Self, ControlError> {
        if started {
            // The starter's caller may wait for the end of a pipe that we were given with everything else.
            process::close_all_but_streams();
            // A warden blocks signals, and a mask is inherited.
            SigSet::empty().thread_set_mask().map_err(|errno| ControlError::Step { step: "unblock signals", cause: errno.into() })?;
            nix::unistd::daemon(false, true).map_err(|errno| ControlError::Step { step: "detach the supervisor", cause: errno.into() })?;
        }
        Ok(Self(started))
    }

    /// Listening.
    pub fn ready(self) {
        self.say(&format!("{READY} {}", std::process::id()));
    }

    /// Another supervisor listens already.
    pub fn taken(self) {
        self.say(TAKEN);
    }

    /// Not listening, and why.
    pub fn failed(self, line: &str) {
        self.say(line);
    }

    fn say(self, line: &str) {
        if !self.0 {
            return;
        }
        // A starter that is gone needs no word.
        let mut out = std::io::stdout();
        let _ = out.write_all(line.as_bytes()).and_then(|()| out.write_all(b"\n")).and_then(|()| out.flush());
        if let Ok(null) = OpenOptions::new().read(true).write(true).open("/dev/null") {
            let _ = nix::unistd::dup2_stdout(null);
        }
    }
}
