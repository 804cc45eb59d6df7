//! Starting the agent behind the filter.
//!
//! The warden forks the reaper, the reaper forks the launch child, and the child confines itself, sends its listener over
//! and waits for the word to go. Invariant: the child executes nothing before the warden has the listener and is ready to
//! judge; a step that fails ends the child. Refuses to look for the program: it is given whole.

use super::fence::{self, Writable};
use super::{Plan, RunError, User};
use super::{reaper, shim};
use crate::sys::process::{self, Fork};
use crate::sys::ptrace::{self, Change};
use crate::sys::{filter, socket};
use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, SigmaskHow, Signal, sigaction, sigprocmask};
use stayexec_protocol::Mode;
use std::ffi::{CString, OsStr, OsString};
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixStream;
use std::path::Path;

/// A launch child that waits for the word to go.
#[derive(Debug)]
pub struct Launched {
    /// Its pid.
    pub pid: i32,
    /// The listener of its filter, where it has one.
    pub listener: Option<OwnedFd>,
    /// News of it from the reaper.
    pub news: UnixStream,
    /// The word to go, or not to.
    pub go: Go,
}

/// What lets the launch child execute the program. Without a word it ends as if the gate had failed.
#[derive(Debug)]
pub struct Go(UnixStream);

impl Go {
    /// It may.
    ///
    /// # Errors
    /// EPIPE where it has ended.
    pub fn go(&self) -> io::Result<()> {
        (&self.0).write_all(&[GO])
    }

    /// It was refused.
    ///
    /// # Errors
    /// EPIPE where it has ended.
    pub fn refuse(&self) -> io::Result<()> {
        (&self.0).write_all(&[REFUSED])
    }
}

const GO: u8 = b'g';
const REFUSED: u8 = b'r';

impl Launched {
    /// Whether the warden can attach to it, and so to what it starts: tried out while it waits.
    ///
    /// # Errors
    /// EPERM where a filter, Yama or a missing capability forbids it.
    pub fn try_attaching(&self) -> io::Result<()> {
        ptrace::seize(self.pid)?;
        ptrace::interrupt(self.pid)?;
        loop {
            match ptrace::wait(self.pid) {
                Change::None => std::thread::yield_now(),
                Change::Ended(_) | Change::Gone => return Err(io::Error::from_raw_os_error(libc::ESRCH)),
                _ => return ptrace::detach(self.pid, 0),
            }
        }
    }
}

/// Forks reaper and child. Must be called before the process has a second thread.
///
/// # Errors
/// [`RunError::Step`] with the step that failed in the child.
pub fn launch(
    plan: &Plan,
    program: &Path,
    descriptors: process::DescriptorLimit,
    shim: Option<shim::Entries>,
) -> Result<Launched, RunError> {
    let step = |step| move |cause| RunError::Step { step, cause };
    let (ours, childs) = UnixStream::pair().map_err(step("make a socket pair"))?;
    let (news, reports) = UnixStream::pair().map_err(step("make a socket pair"))?;
    // Whatever can fail for want of memory or a bad word fails here, before the forks.
    let child = Child::prepare(plan, program, descriptors, shim).map_err(step("prepare the command line"))?;
    let everything = SigSet::all();
    let mut before = SigSet::empty();
    sigprocmask(SigmaskHow::SIG_SETMASK, Some(&everything), Some(&mut before)).map_err(|e| step("block signals")(e.into()))?;
    if process::fork().map_err(step("fork"))? == Fork::Child {
        drop((ours, news));
        reaper::live(reports, plan.temporary.as_deref(), || child.become_agent(childs, &before));
    }
    drop((childs, reports));
    receive(ours, news)
}

fn receive(mut ours: UnixStream, mut news: UnixStream) -> Result<Launched, RunError> {
    let mut text = [0; 256];
    let (n, listener) =
        socket::receive_descriptor(&ours, &mut text).map_err(|cause| RunError::Step { step: "receive the listener", cause })?;
    if listener.is_none() && text[..n] != *UNFILTERED {
        // No listener: the child says which step failed, as "errno step".
        let mut said = text[..n].to_vec();
        let _ = ours.read_to_end(&mut said);
        let said = String::from_utf8_lossy(&said).into_owned();
        let (errno, what) = said.split_once(' ').unwrap_or(("0", "start the agent: its launcher died"));
        return Err(failed_step(errno.parse().unwrap_or(0), what));
    }
    let pid = reaper::first_pid(&mut news).map_err(|cause| RunError::Step { step: "hear from the reaper", cause })?;
    Ok(Launched { pid, listener, news, go: Go(ours) })
}

/// What a child without a filter says when it is ready; a failed step begins with a number.
const UNFILTERED: &[u8] = b"u";
/// The step that an old kernel fails in.
const INSTALL: &str = "install the filter";

fn failed_step(errno: i32, what: &str) -> RunError {
    if errno == libc::EBUSY {
        return RunError::Unsupported(
            "cannot install the filter: an outer program listens to seccomp already (another sandbox or container runtime); \
             run stayexec outside of it"
                .into(),
        );
    }
    if errno == libc::EINVAL && what == INSTALL {
        return RunError::Unsupported("cannot install the filter: this kernel is too old; Linux 5.19 or later is needed".into());
    }
    RunError::Unsupported(format!("cannot {what}: {}", io::Error::from_raw_os_error(errno)))
}

/// What the launch child needs, made before the fork.
struct Child {
    program: CString,
    arguments: Vec<CString>,
    /// The same command for /bin/sh, for a text without `#!`, as execvp(3) does it.
    as_script: Vec<CString>,
    environment: Vec<Vec<u8>>,
    shim: Option<shim::Entries>,
    code: Vec<filter::Instruction>,
    privileged: bool,
    /// Whether a filter notifies each start.
    filtered: bool,
    user: Option<User>,
    writable: Writable,
    descriptors: process::DescriptorLimit,
}

impl Child {
    fn prepare(plan: &Plan, program: &Path, descriptors: process::DescriptorLimit, shim: Option<shim::Entries>) -> io::Result<Self> {
        let c = |s: &OsStr| CString::new(s.as_bytes()).map_err(io::Error::other);
        let arguments: Vec<CString> = plan.command.iter().map(|s| c(s)).collect::<io::Result<_>>()?;
        let program = c(program.as_os_str())?;
        let mut as_script = vec![c"sh".to_owned(), program.clone()];
        as_script.extend(arguments.iter().skip(1).cloned());
        let entry = |(key, value): (OsString, OsString)| [key.as_bytes(), b"=", value.as_bytes()].concat();
        let environment = plan.launch_environment().into_iter().map(entry).collect();
        let privileged = process::has_capability(process::CAP_SYS_ADMIN);
        Ok(Self {
            program,
            arguments,
            as_script,
            environment,
            shim,
            code: filter::program(privileged),
            privileged,
            filtered: plan.require != Mode::Preload,
            user: plan.user.clone(),
            writable: plan.writable.clone(),
            descriptors,
        })
    }

    fn become_agent(mut self, socket: UnixStream, mask: &SigSet) -> ! {
        if let Some(entries) = &self.shim {
            entries.put(&mut self.environment, std::process::id());
        }
        // Variables come from an environment, and a path, neither of which holds a zero byte.
        let environment: Vec<CString> = std::mem::take(&mut self.environment).into_iter().flat_map(CString::new).collect();
        match self.confine(&socket) {
            Ok(()) => {}
            Err((step, e)) => {
                let _ = (&socket).write_all(format!("{} {step}", e.raw_os_error().unwrap_or(0)).as_bytes());
                process::exit_now(i32::from(crate::exit_code::GATE_FAILED));
            }
        }
        let mut word = [0];
        if (&socket).read_exact(&mut word).is_err() {
            process::exit_now(i32::from(crate::exit_code::GATE_FAILED));
        }
        if word != [GO] {
            process::exit_now(i32::from(crate::exit_code::NOT_EXECUTABLE));
        }
        restore_signals(mask);
        process::set_descriptor_limit(self.descriptors);
        let mut error = process::execute(&self.program, &self.arguments, &environment);
        if error.raw_os_error() == Some(libc::ENOEXEC) {
            error = process::execute(&c"/bin/sh".to_owned(), &self.as_script, &environment);
        }
        let _ = writeln!(io::stderr(), "stayexec: cannot execute {}: {error}", self.program.to_string_lossy());
        process::exit_now(i32::from(crate::exit_code::NOT_EXECUTABLE))
    }

    fn confine(&self, socket: &UnixStream) -> Result<(), (&'static str, io::Error)> {
        // The launcher's own state is of no use to anybody, and the kernel lets an unprivileged warden attach only to a
        // process that may be looked into.
        process::set_dumpable(true).map_err(|e| ("make the agent visible to its warden", e))?;
        if !self.privileged {
            process::set_no_new_privs().map_err(|e| ("set no_new_privs", e))?;
        }
        fence::raise(&self.writable, self.privileged).map_err(|e| ("fence the tree off from the warden", e))?;
        // The filter needs the privilege that is given up then.
        let listener = if self.filtered { Some(filter::install(&self.code).map_err(|e| (INSTALL, e))?) } else { None };
        if let Some(user) = &self.user {
            process::become_user(user.uid, user.gid, &user.groups).map_err(|e| ("become the user", e))?;
        }
        let Some(listener) = listener else {
            return (&mut &*socket).write_all(UNFILTERED).map_err(|e| ("say that it is ready", e));
        };
        socket::send_descriptor(socket, b"l", &listener).map_err(|e| ("send the listener", e))
    }
}

/// The agent starts with the signals that the person's shell gave the warden; Rust alone had ignored SIGPIPE.
fn restore_signals(mask: &SigSet) {
    let default = SigAction::new(SigHandler::SigDfl, SaFlags::empty(), SigSet::empty());
    // SAFETY: the default disposition runs no code of ours.
    let _ = unsafe { sigaction(Signal::SIGPIPE, &default) };
    let _ = sigprocmask(SigmaskHow::SIG_SETMASK, Some(mask), None);
}
