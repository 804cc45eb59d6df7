//! The supervisor's process, from its start to its end.
//!
//! Invariant: it says that it is ready only when it listens. Refuses to be one of two: the second at the same name ends
//! with one line. When the thread that accepts dies, so does the process: wardens keep their calls held and start it anew.

use super::confine::confine;
use super::index;
use super::notify::Notices;
use super::supervisor::Supervisor;
use crate::control::{Address, Baseline, ControlError, Inbound, Readiness, listen, serve_connections};
use crate::http::{self, Door};
use crate::journal::load_or_make_key;
use crossbeam_channel::{Receiver, select};
use hmac::{Hmac, Mac};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

/// Messages that may wait for the judge; more wait in their sockets.
const INBOX: usize = 256;
/// Stack of the judge's thread: parsers of hostile text recurse.
const STACK: usize = 32 << 20;
/// Longest wait between two looks at the clock: a suspended machine must not stretch a deadline.
const LOOK: Duration = Duration::from_secs(30);
/// How long the thread that accepts may take to end.
const CLOSING: Duration = Duration::from_secs(1);
/// Most messages that are taken in between two waits for the disk.
const BATCH: usize = 1_024;

/// How a supervisor is started.
#[derive(Debug, Clone)]
pub struct Options {
    /// Where it is reached.
    pub address: Address,
    /// Started by a run: it detaches, tells its starter, and ends after its last peer.
    pub started: bool,
    /// How long it stays without a peer, where it was started by a run.
    pub linger: Duration,
    /// HTTP.
    pub http: http::Options,
    /// `[notify] command`; nothing where there is none.
    pub notify: Vec<String>,
}

/// Why there is no supervisor, or not any more.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The control socket.
    #[error(transparent)]
    Control(#[from] ControlError),
    /// Somebody else does it.
    #[error("another supervisor serves this user and runtime folder already; it can be used as it is")]
    Taken,
    /// A step of the start failed.
    #[error("cannot {step}: {cause}")]
    Step {
        /// What was being done, as an infinitive.
        step: &'static str,
        /// Why it failed.
        cause: io::Error,
    },
    /// A thread ended that never should.
    #[error("the supervisor cannot go on: {0}")]
    Broken(String),
}

/// Serves until its last run is over, or for ever where a person started it.
///
/// # Errors
/// Any [`ServeError`].
pub fn serve(options: &Options) -> Result<(), ServeError> {
    crate::sys::allocator::keep_small();
    let readiness = Readiness::begin(options.started)?;
    let Doors { inbox, ended, listener } = match open(options) {
        Ok(Some(doors)) => doors,
        Ok(None) => {
            readiness.taken();
            return if options.started { Ok(()) } else { Err(ServeError::Taken) };
        }
        Err(e) => {
            readiness.failed(&e.to_string());
            return Err(e);
        }
    };
    readiness.ready();
    let outward =
        Outward { http: options.http.clone(), notices: Notices::start(&options.notify).map_err(step("start the threads for notices"))? };
    let linger = options.started.then_some(options.linger);
    let state = options.address.state_dir.clone();
    let closed = ended.clone();
    let judge = move || {
        confine().map_err(step("confine the judge"))?;
        judge(&inbox, &ended, state, linger, outward)
    };
    let judge = thread::Builder::new().name("judge".into()).stack_size(STACK).spawn(judge);
    let judge = judge.map_err(step("start the judge"))?;
    let result = judge.join().unwrap_or_else(|_| Err(ServeError::Broken("the judge died".into())));
    close(listener, &closed);
    result
}

/// Gives the name back before the connections end: whoever sees its own end finds the name free.
fn close(listener: UnixListener, closed: &Receiver<ControlError>) {
    let shut = nix::sys::socket::shutdown(listener.as_raw_fd(), nix::sys::socket::Shutdown::Both);
    drop(listener);
    if shut.is_ok() {
        // The thread that accepts has ended already where it was the reason.
        let _ = closed.recv_timeout(CLOSING);
    }
}

fn step(step: &'static str) -> impl Fn(io::Error) -> ServeError {
    move |cause| ServeError::Step { step, cause }
}

/// What leaves the machine's terminals.
struct Outward {
    http: http::Options,
    notices: Notices,
}

struct Doors {
    inbox: Receiver<Inbound>,
    /// Why nothing is accepted any more.
    ended: Receiver<ControlError>,
    listener: UnixListener,
}

/// Closes the process to others and opens the socket; `None` where another supervisor has it.
fn open(options: &Options) -> Result<Option<Doors>, ServeError> {
    let baseline = Baseline::take();
    nix::sys::prctl::set_dumpable(false).map_err(|errno| step("close the supervisor's memory to others")(errno.into()))?;
    // Where it was started by a run, the kernel's name for it is that of the link it was started through.
    nix::sys::prctl::set_name(c"stayexec").map_err(|errno| step("name the supervisor's process")(errno.into()))?;
    nix::sys::stat::umask(nix::sys::stat::Mode::from_bits_truncate(0o077));
    let Some(listener) = listen(&options.address)? else { return Ok(None) };
    let accepting = listener.try_clone().map_err(step("duplicate the control socket"))?;
    let (send, inbox) = crossbeam_channel::bounded(INBOX);
    let (tell, ended) = crossbeam_channel::bounded(1);
    let accept = move || {
        // The threads of all connections are its own, and confined with it.
        let error = match confine() {
            Ok(()) => serve_connections(&accepting, &send, baseline),
            Err(cause) => ControlError::Step { step: "confine the supervisor", cause },
        };
        drop(accepting);
        // The judge's receiver outlives this thread.
        let _ = tell.send(error);
    };
    thread::Builder::new().name("accept".into()).spawn(accept).map_err(step("start the thread that accepts"))?;
    Ok(Some(Doors { inbox, ended, listener }))
}

/// The judge's thread: one message after the other, deadlines between them.
fn judge(
    inbox: &Receiver<Inbound>,
    ended: &Receiver<ControlError>,
    state: PathBuf,
    linger: Option<Duration>,
    outward: Outward,
) -> Result<(), ServeError> {
    let key = load_or_make_key(&state.join("digest.key")).map_err(step("make the key for digests"))?;
    let mac = Hmac::new_from_slice(&key).map_err(|e| ServeError::Broken(e.to_string()))?;
    let mut supervisor = Supervisor::new(mac, state, index::start());
    let (door, asked) = Door::new(outward.http);
    supervisor.door = Some(door);
    supervisor.notices = outward.notices;
    supervisor.listen();
    let followed = supervisor.following.done.clone();
    let mut idle_since = Some(Instant::now());
    loop {
        let due = supervisor.sweep().unwrap_or(LOOK).min(LOOK);
        supervisor.flush().map_err(ServeError::Broken)?;
        supervisor.announce();
        if supervisor.leaves() {
            return Ok(());
        }
        let left = match (linger, idle_since) {
            (Some(linger), Some(since)) => linger.saturating_sub(since.elapsed()),
            _ => LOOK,
        };
        select! {
            recv(inbox) -> inbound => match inbound {
                // What came while the disk was waited for is taken in together.
                Ok(inbound) => std::iter::once(inbound).chain(inbox.try_iter()).take(BATCH).for_each(|inbound| supervisor.take(inbound)),
                Err(_) => return Err(deaf()),
            },
            recv(followed) -> done => if let Ok((call, leads)) = done
                && let Some(start) = supervisor.following.end(call, leads)
            {
                supervisor.judge_followed(call.0, start);
            },
            recv(asked) -> ask => ask.into_iter().chain(asked.try_iter()).take(BATCH).for_each(|ask| supervisor.asked(ask)),
            recv(ended) -> error => return Err(error.map_or_else(|_| deaf(), ServeError::from)),
            default(due.min(left)) => {}
        }
        if !supervisor.idle() {
            idle_since = None;
        } else if idle_since.is_none() {
            idle_since = Some(Instant::now());
        }
        if let (Some(linger), Some(since)) = (linger, idle_since)
            && since.elapsed() >= linger
            && inbox.is_empty()
        {
            return Ok(());
        }
    }
}

fn deaf() -> ServeError {
    ServeError::Broken("nothing accepts connections any more".into())
}
