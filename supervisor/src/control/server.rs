//! The supervisor's side: one thread accepts, two threads serve each connection, one inbox carries everything to the
//! judge.
//!
//! Invariant: a message reaches the inbox only from a greeted peer, and the judge never waits for a peer: what a peer
//! does not take in time costs it its connection. Refuses more than a fixed number of connections. A connection whose
//! thread dies is closed: nothing is allowed and nothing is denied by that.

use super::client::mismatch;
use super::connection::{Connection, ControlError, send};
use super::peer::Baseline;
use super::{Address, PROGRAM_VERSION};
use crossbeam_channel::{Receiver, Sender, TrySendError};
use stayexec_protocol::{FRAME_LIMIT, Message, VERSION};
use std::io;
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

/// Most connections at once.
const CONNECTIONS: usize = 256;
/// Most messages that may wait for a peer to take them.
const WAITING: usize = 16_384;
/// How long a peer may take to greet, and to take what is sent.
const PATIENCE: Duration = Duration::from_secs(10);
/// Longest greeting.
const GREETING_LIMIT: usize = 256;

/// Number of a connection, never used twice.
pub type ConnectionId = u64;

/// What reaches the judge.
#[derive(Debug)]
pub enum Inbound {
    /// A greeted peer, with its pid.
    Opened(ConnectionId, Outbox, u32),
    /// What it said.
    Said(ConnectionId, Box<Message>),
    /// It is gone.
    Closed(ConnectionId),
    /// Somebody of another build came: whether this supervisor makes room.
    Foreign(Sender<bool>),
}

/// The way to one peer. Never blocks.
#[derive(Debug, Clone)]
pub struct Outbox {
    queue: Sender<Message>,
    stream: Arc<UnixStream>,
}

impl Outbox {
    /// Queues a message; a peer that lets too many wait loses its connection.
    pub fn send(&self, message: Message) {
        if let Err(TrySendError::Full(_)) = self.queue.try_send(message) {
            self.close();
        }
    }

    /// Says why and lets the connection end behind it.
    pub fn refuse(&self, line: String) {
        self.send(Message::Refused(line.into_bytes()));
    }

    /// Ends the connection.
    pub fn close(&self) {
        // An error says that the peer closed it first.
        let _ = self.stream.shutdown(Shutdown::Both);
    }

    /// An outbox whose messages the caller reads from the receiver.
    #[cfg(test)]
    pub(crate) fn for_test() -> io::Result<(Self, Receiver<Message>, UnixStream)> {
        let (one, other) = UnixStream::pair()?;
        let (queue, read) = crossbeam_channel::unbounded();
        Ok((Self { queue, stream: Arc::new(one) }, read, other))
    }
}

/// Binds the supervisor's name; `None` where another supervisor has it.
///
/// # Errors
/// [`ControlError::Step`].
pub fn listen(address: &Address) -> Result<Option<UnixListener>, ControlError> {
    match UnixListener::bind_addr(&address.socket()?) {
        Ok(listener) => Ok(Some(listener)),
        Err(e) if e.kind() == io::ErrorKind::AddrInUse => Ok(None),
        Err(cause) => Err(ControlError::Step { step: "listen on the control socket", cause }),
    }
}

/// Accepts for ever; returns only with the error that ends it.
pub fn serve_connections(listener: &UnixListener, inbox: &Sender<Inbound>, baseline: Baseline) -> ControlError {
    let open = Arc::new(AtomicUsize::new(0));
    let mut next: ConnectionId = 0;
    loop {
        let stream = match listener.accept() {
            Ok((stream, _)) => stream,
            Err(e) if matches!(e.kind(), io::ErrorKind::Interrupted | io::ErrorKind::ConnectionAborted) => continue,
            Err(cause) => return ControlError::Step { step: "accept a connection", cause },
        };
        if open.fetch_add(1, Ordering::Relaxed) >= CONNECTIONS {
            open.fetch_sub(1, Ordering::Relaxed);
            refuse(&stream, "the supervisor has too many connections");
            continue;
        }
        next += 1;
        let guard = Guard { id: next, inbox: inbox.clone(), open: Arc::clone(&open), announced: false };
        // Where no thread can be had the guard is dropped and the peer sees its connection end.
        let _ = thread::Builder::new().name(format!("connection {next}")).spawn(move || serve(stream, baseline, guard));
    }
}

/// Tells the judge of the end of a connection, however its thread ends.
struct Guard {
    id: ConnectionId,
    inbox: Sender<Inbound>,
    open: Arc<AtomicUsize>,
    announced: bool,
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.open.fetch_sub(1, Ordering::Relaxed);
        if self.announced {
            // A judge that is gone needs no word.
            let _ = self.inbox.send(Inbound::Closed(self.id));
        }
    }
}

fn refuse(stream: &UnixStream, line: &str) {
    let _ = stream.set_write_timeout(Some(PATIENCE));
    let _ = send(stream, &Message::Refused(line.into()));
    let _ = stream.shutdown(Shutdown::Both);
}

fn serve(stream: UnixStream, baseline: Baseline, mut guard: Guard) {
    let mut connection = Connection::new(stream);
    let stream = connection.share();
    let pid = match greet(&mut connection, baseline) {
        Ok(pid) => pid,
        Err(Unwelcome::Foreign(version)) => match makes_room(&guard) {
            // The end of the connection is that of the process, so that whoever waits for it finds the name free.
            true => return drop(connection.recv()),
            false => return refuse(&stream, &mismatch(&version)),
        },
        Err(Unwelcome::Other(ControlError::Refused(line))) => return refuse(&stream, &line),
        Err(_) => return refuse(&stream, "this is not a greeting"),
    };
    let (queue, messages) = crossbeam_channel::bounded(WAITING);
    let writer = Arc::clone(&stream);
    if thread::Builder::new().name(format!("writer {}", guard.id)).spawn(move || write(&writer, &messages)).is_err() {
        return;
    }
    let outbox = Outbox { queue, stream: Arc::clone(&stream) };
    outbox.send(Message::Welcome(VERSION, PROGRAM_VERSION.into()));
    if guard.inbox.send(Inbound::Opened(guard.id, outbox, pid)).is_err() {
        return;
    }
    guard.announced = true;
    while let Ok(Some(message)) = connection.recv() {
        if guard.inbox.send(Inbound::Said(guard.id, Box::new(message))).is_err() {
            break;
        }
    }
    let _ = stream.shutdown(Shutdown::Both);
}

/// Why somebody is not let in.
enum Unwelcome {
    /// Another version or build.
    Foreign(Vec<u8>),
    Other(ControlError),
}

impl<E: Into<ControlError>> From<E> for Unwelcome {
    fn from(error: E) -> Self {
        Self::Other(error.into())
    }
}

fn greet(connection: &mut Connection, baseline: Baseline) -> Result<u32, Unwelcome> {
    let stream = connection.share();
    stream.set_read_timeout(Some(PATIENCE)).map_err(ControlError::step("set a timeout"))?;
    stream.set_write_timeout(Some(PATIENCE)).map_err(ControlError::step("set a timeout"))?;
    let pid = baseline.check_client(&stream)?;
    connection.set_limit(GREETING_LIMIT);
    match connection.recv()? {
        Some(Message::Hello(VERSION, version)) if version == PROGRAM_VERSION.as_bytes() => {}
        Some(Message::Hello(_, version)) => return Err(Unwelcome::Foreign(version)),
        Some(_) | None => return Err(ControlError::Closed.into()),
    }
    connection.set_limit(FRAME_LIMIT);
    stream.set_read_timeout(None).map_err(ControlError::step("set a timeout"))?;
    Ok(pid)
}

/// Whether the judge ends for another build.
fn makes_room(guard: &Guard) -> bool {
    let (tell, told) = crossbeam_channel::bounded(1);
    guard.inbox.send(Inbound::Foreign(tell)).is_ok() && told.recv_timeout(PATIENCE).unwrap_or(false)
}

fn write(stream: &UnixStream, messages: &Receiver<Message>) {
    for message in messages {
        let last = matches!(message, Message::Refused(_));
        if send(stream, &message).is_err() || last {
            break;
        }
    }
    let _ = stream.shutdown(Shutdown::Both);
}
