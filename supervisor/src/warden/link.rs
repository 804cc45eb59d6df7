//! The warden's connection to the supervisor.
//!
//! Invariant: reading and writing never block the gate. A supervisor that goes away is sought, or started, on a thread of
//! its own until one greets; whatever had not been answered is then asked again by the gate. The rules that count in the
//! run are kept here, and brought to each supervisor, which believes no file about them. Refuses to keep messages for
//! a supervisor that is away: what is open is known to the gate, and nothing else matters.

use crate::control::{self, Address, Connection, ControlError};
use crossbeam_channel::{Receiver, TryRecvError, bounded};
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::Duration;

use super::wake::Wake;
use stayexec_protocol::{Enlist, FRAME_LIMIT, Message};

/// Bytes that a buffer keeps when it is empty.
const BUFFER: usize = 64 << 10;
/// Pause between two attempts to reach a supervisor.
const PAUSE: Duration = Duration::from_millis(200);

/// What has to be known to enlist, again and again.
#[derive(Debug, Clone)]
struct Introduction {
    address: Address,
    enlist: Enlist,
}

/// What a supervisor that takes the run has said.
struct Enlisted {
    connection: Connection,
    kept: Vec<u8>,
    lines: Vec<Vec<u8>>,
}

enum State {
    Up { stream: UnixStream, inbox: Vec<u8>, outbox: Vec<u8> },
    Seeking(Receiver<UnixStream>),
}

/// The connection, or the search for one.
pub struct Link {
    introduction: Introduction,
    wake: Arc<Wake>,
    state: State,
}

impl Link {
    /// Reaches or starts the supervisor and enlists the run; with what the person has to be told, a line each.
    ///
    /// # Errors
    /// Whatever keeps the first connection from standing; the run does not start then.
    pub fn open(address: Address, enlist: Enlist, wake: Arc<Wake>) -> Result<(Self, Vec<Vec<u8>>), ControlError> {
        let mut introduction = Introduction { address, enlist };
        let Enlisted { connection, kept, lines } = introduction.enlist()?;
        introduction.enlist.kept = kept;
        Ok((Self { introduction, wake, state: up(connection)? }, lines))
    }

    /// The socket, while there is one.
    pub fn socket(&self) -> Option<BorrowedFd<'_>> {
        match &self.state {
            State::Up { stream, .. } => Some(stream.as_fd()),
            State::Seeking(_) => None,
        }
    }

    /// Whether there is more to be written than the socket took.
    pub fn has_backlog(&self) -> bool {
        matches!(&self.state, State::Up { outbox, .. } if !outbox.is_empty())
    }

    /// Sends a message, now or as soon as the socket takes it.
    pub fn send(&mut self, message: &Message) {
        let State::Up { outbox, .. } = &mut self.state else { return };
        match message.to_frame() {
            Ok(frame) => {
                outbox.extend_from_slice(&frame);
                self.flush();
            }
            // The gate asks only what it has read under the same limits; a call that cannot be asked stays held.
            Err(_) => self.seek(),
        }
    }

    /// Writes what the socket takes.
    pub fn flush(&mut self) {
        let State::Up { stream, outbox, .. } = &mut self.state else { return };
        while !outbox.is_empty() {
            match stream.write(outbox) {
                Ok(n) if n > 0 => drop(outbox.drain(..n)),
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => return,
                _ => return self.seek(),
            }
        }
        outbox.shrink_to(BUFFER);
    }

    /// The messages that have come. After the last of a connection the search for another has begun.
    pub fn receive(&mut self) -> Vec<Message> {
        let State::Up { stream, inbox, .. } = &mut self.state else { return Vec::new() };
        let mut piece = [0; 64 << 10];
        let mut alive = true;
        // What is left in the socket wakes the gate again.
        while alive && inbox.len() <= FRAME_LIMIT {
            match stream.read(&mut piece) {
                Ok(0) => alive = false,
                Ok(n) => inbox.extend_from_slice(&piece[..n]),
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => break,
                Err(_) => alive = false,
            }
        }
        let mut messages = Vec::new();
        loop {
            match Message::take_frame(inbox) {
                Ok(Some(message)) => {
                    if let Message::Kept(kept) = &message {
                        self.introduction.enlist.kept.clone_from(kept);
                    }
                    messages.push(message);
                }
                Ok(None) => break,
                Err(_) => {
                    alive = false;
                    break;
                }
            }
        }
        inbox.shrink_to(BUFFER);
        if !alive {
            self.seek();
        }
        messages
    }

    /// Takes over a connection that the search has made; `true` where one was.
    pub fn resume(&mut self) -> bool {
        let State::Seeking(found) = &self.state else { return false };
        match found.try_recv() {
            Ok(stream) => {
                self.state = State::Up { stream, inbox: Vec::new(), outbox: Vec::new() };
                true
            }
            Err(TryRecvError::Empty) => false,
            Err(TryRecvError::Disconnected) => {
                self.seek();
                false
            }
        }
    }

    fn seek(&mut self) {
        let (found, receiver) = bounded(1);
        let introduction = self.introduction.clone();
        let wake = Arc::clone(&self.wake);
        // Where no thread can be had the receiver is disconnected, and the next wake-up tries again.
        let _ = std::thread::Builder::new().name("seek".into()).spawn(move || {
            let never = crossbeam_channel::never::<()>();
            loop {
                if let Ok(State::Up { stream, .. }) = introduction.enlist().and_then(|enlisted| up(enlisted.connection)) {
                    let _ = found.send(stream);
                    wake.wake();
                    return;
                }
                let _ = never.recv_timeout(PAUSE);
            }
        });
        self.state = State::Seeking(receiver);
    }
}

impl Introduction {
    fn enlist(&self) -> Result<Enlisted, ControlError> {
        let mut connection = control::connect_or_start(&self.address)?;
        match connection.ask(&Message::Enlist(self.enlist.clone()))? {
            Message::Enlisted(kept, lines) => Ok(Enlisted { connection, kept, lines }),
            _ => Err(ControlError::Refused("the supervisor does not take the run".into())),
        }
    }
}

fn up(connection: Connection) -> Result<State, ControlError> {
    let stream = connection.into_stream()?;
    stream.set_nonblocking(true).map_err(ControlError::step("make the control socket non-blocking"))?;
    Ok(State::Up { stream, inbox: Vec::new(), outbox: Vec::new() })
}
