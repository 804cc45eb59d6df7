//! What the gate waits on (epoll(7)).

use nix::errno::Errno;
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

/// Where something happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// The listener: a call.
    Listener,
    /// Signals of the warden.
    Signals,
    /// The reaper.
    Reaper,
    /// The supervisor.
    Supervisor,
    /// Another thread rang.
    Wake,
    /// Somebody connects to the shim's socket.
    Door,
    /// This connection to it has something to say.
    Asking(u64),
    /// The process of this held call has ended.
    Held(u64),
}

/// Tokens below this are the fixed sources.
const HELD: u64 = 16;
/// Tokens from here on are connections to the shim's socket.
const ASKING: u64 = 1 << 63;

impl Source {
    fn token(self) -> u64 {
        match self {
            Self::Listener => 0,
            Self::Signals => 1,
            Self::Reaper => 2,
            Self::Supervisor => 3,
            Self::Wake => 4,
            Self::Door => 5,
            Self::Asking(number) => ASKING + number,
            Self::Held(call) => HELD + call,
        }
    }

    fn from_token(token: u64) -> Option<Self> {
        match token {
            0 => Some(Self::Listener),
            1 => Some(Self::Signals),
            2 => Some(Self::Reaper),
            3 => Some(Self::Supervisor),
            4 => Some(Self::Wake),
            5 => Some(Self::Door),
            ASKING.. => Some(Self::Asking(token - ASKING)),
            HELD.. => Some(Self::Held(token - HELD)),
            _ => None,
        }
    }
}

/// The set of what is waited on.
#[derive(Debug)]
pub struct Poller(Epoll);

impl Poller {
    /// An empty set.
    ///
    /// # Errors
    /// EMFILE, ENFILE, ENOMEM.
    pub fn new() -> io::Result<Self> {
        Ok(Self(Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?))
    }

    /// Adds a descriptor. A closed descriptor leaves by itself.
    ///
    /// # Errors
    /// ENOMEM, ENOSPC.
    pub fn add(&self, fd: BorrowedFd<'_>, source: Source) -> io::Result<()> {
        Ok(self.0.add(fd, EpollEvent::new(EpollFlags::EPOLLIN, source.token()))?)
    }

    /// Takes a descriptor out that stays open.
    ///
    /// # Errors
    /// ENOENT where it was never added.
    pub fn remove(&self, fd: impl AsFd) -> io::Result<()> {
        Ok(self.0.delete(fd)?)
    }

    /// Says whether writing is waited for as well.
    ///
    /// # Errors
    /// ENOENT where it was never added.
    pub fn set_writing(&self, fd: BorrowedFd<'_>, source: Source, writing: bool) -> io::Result<()> {
        let flags = if writing { EpollFlags::EPOLLIN | EpollFlags::EPOLLOUT } else { EpollFlags::EPOLLIN };
        Ok(self.0.modify(fd, &mut EpollEvent::new(flags, source.token()))?)
    }

    /// Waits until something happens or `deadline` has come.
    ///
    /// # Errors
    /// Those of epoll_wait(2), EINTR apart.
    pub fn wait(&self, deadline: Option<Instant>) -> io::Result<Vec<Source>> {
        let timeout = deadline.map_or(EpollTimeout::NONE, |at| {
            // Rounded up: a deadline that is nearly there must not make the loop spin.
            let left = at.saturating_duration_since(Instant::now()) + Duration::from_micros(999);
            EpollTimeout::try_from(left).unwrap_or(EpollTimeout::MAX)
        });
        let mut events = [EpollEvent::empty(); 32];
        match self.0.wait(&mut events, timeout) {
            Ok(n) => Ok(events[..n].iter().filter_map(|e| Source::from_token(e.data())).collect()),
            Err(Errno::EINTR) => Ok(Vec::new()),
            Err(e) => Err(e.into()),
        }
    }
}
