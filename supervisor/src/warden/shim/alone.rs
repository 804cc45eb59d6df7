//! The shim alone: each start in the tree is asked for over the run's socket, and waits for the reply (docs/preload.md).
//!
//! Invariant: bounded in connections and bytes; whoever is dropped is refused, for a shim that hears nothing starts nothing.
//! Refuses whatever is no hello and no waiting ask of this version, and a launched program whose hello does not come.

use super::asks::{Conversation, Heard};
use super::{SOCKET, Shim};
use crate::sys::socket;
use stayexec_protocol::ask::{ASK_LIMIT, Form, OwnedAsk, Reply, Voice, flag};
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

/// Connections that the kernel keeps until they are taken; callers beyond wait.
const BACKLOG: i32 = 128;
/// Most connections that have not said all yet, and most bytes that they have said.
const OPEN: usize = 256;
const BYTES: usize = 64 << 20;
/// How long the launched program may take to load the library.
const GREETING: Duration = Duration::from_secs(10);

/// The variable with the form.
const FORM: &[u8] = b"STAYEXEC_SHIM=alone";

/// A caller that waits for its reply.
#[derive(Debug)]
pub struct Asking {
    /// The way to it.
    pub stream: UnixStream,
    /// The calling process.
    pub pid: i32,
    /// What it asks.
    pub ask: OwnedAsk,
}

/// The socket of a run that has no other gate.
#[derive(Debug)]
pub struct Alone {
    shim: Shim,
    listener: OwnedFd,
    open: BTreeMap<u64, Conversation>,
    next: u64,
    agent: i32,
    /// Until when the agent's hello is waited for; nothing once it has come.
    greeting: Option<Instant>,
}

impl Alone {
    /// Listens at the shim's address for a tree whose first process is `agent`.
    ///
    /// # Errors
    /// As [`socket::listen_at`].
    pub fn listen(shim: Shim, agent: i32) -> io::Result<Self> {
        let listener = socket::listen_at(&shim.room.path(SOCKET), BACKLOG)?;
        let greeting = Some(Instant::now() + GREETING);
        Ok(Self { shim, listener, open: BTreeMap::new(), next: 0, agent, greeting })
    }

    /// What new connections are noticed by.
    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.listener.as_fd()
    }

    /// Takes a new connection, and gives its number.
    pub fn accept(&mut self) -> Option<u64> {
        let (stream, pid) = socket::accept(&self.listener).ok()?;
        while self.open.len() >= OPEN || self.open.values().map(Conversation::length).sum::<usize>() > BYTES {
            self.open.pop_first();
        }
        let number = self.next;
        self.next += 1;
        self.open.insert(number, Conversation::new(stream, pid));
        Some(number)
    }

    /// The socket of a connection that has not said all.
    pub fn stream(&self, number: u64) -> Option<BorrowedFd<'_>> {
        self.open.get(&number).map(Conversation::descriptor)
    }

    /// Reads what a connection has to say; an ask, once it is whole.
    pub fn hear(&mut self, number: u64) -> Option<Asking> {
        let conversation = self.open.get_mut(&number)?;
        let heard = conversation.hear(ASK_LIMIT + 4);
        if matches!(heard, Heard::NotAll) {
            return None;
        }
        let conversation = self.open.remove(&number)?;
        let Heard::Whole(frame) = heard else { return None };
        let pid = conversation.pid;
        match Voice::read(conversation.body(frame)?) {
            Ok(Voice::Hello(hello)) => {
                if hello.form == Form::Alone && pid == self.agent {
                    self.greeting = None;
                }
                None
            }
            Ok(Voice::Ask(ask)) if ask.head.flags & flag::WAITS != 0 => {
                let mut ask = OwnedAsk::from(ask);
                self.shim.leave(FORM, &mut ask.environment);
                Some(Asking { stream: conversation.into_stream(), pid, ask })
            }
            _ => None,
        }
    }

    /// The agent was not started.
    pub fn expect_no_hello(&mut self) {
        self.greeting = None;
    }

    /// Until when the agent's hello is waited for.
    pub fn greeting(&self) -> Option<Instant> {
        self.greeting
    }
}

/// Sends the reply. A caller that is gone needs none.
pub fn reply(mut stream: &UnixStream, reply: Reply<'_>) {
    let _ = stream.write_all(&reply.to_frame());
}
