//! The judge's side: whether HTTP is on, where, and who gets in.
//!
//! Invariant: nothing listens until a person asked for it, in the configuration or by a verb, and only on loopback. Token
//! and codes leave through here, to a peer of the control socket, and nowhere else. Refuses a second listener.

use super::access::Access;
use super::bridge::{Ask, Bridge, News};
use super::server;
use crossbeam_channel::{Receiver, Sender};
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::sync::watch;

/// Questions that may wait for the judge.
const QUEUE: usize = 256;

/// What a person configured.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Options {
    /// Where to listen from the start.
    pub listen: Option<SocketAddr>,
    /// Host names beside those of loopback.
    pub allow_hosts: Vec<String>,
}

/// Why there is no listener, or no secret.
#[derive(Debug, thiserror::Error)]
pub enum DoorError {
    /// Nobody asked for it.
    #[error("HTTP is off; `stayexec web` or `[http] listen` in config.toml turns it on")]
    Off,
    /// It is on at another address.
    #[error("HTTP is on at {0} already; end the supervisor to change it")]
    Elsewhere(SocketAddr),
    /// An address that others can reach.
    #[error("{0} is no loopback address; listen on 127.0.0.1 or [::1], and put a proxy or `ssh -L` before it")]
    Open(SocketAddr),
    /// The system refuses.
    #[error("cannot {0}: {1}")]
    Step(&'static str, io::Error),
}

/// An open listener.
#[derive(Debug)]
pub struct Listening {
    /// Its real address.
    pub address: SocketAddr,
    access: Arc<Access>,
}

impl Listening {
    /// The token.
    pub fn token(&self) -> String {
        self.access.token()
    }

    /// A new one-time code.
    ///
    /// # Errors
    /// [`DoorError::Step`].
    pub fn code(&self) -> Result<String, DoorError> {
        self.access.code().map_err(|cause| DoorError::Step("make a code", cause))
    }
}

/// The judge's side of HTTP.
#[derive(Debug)]
pub struct Door {
    options: Options,
    listening: Option<Listening>,
    asks: Sender<Ask>,
    news: watch::Sender<News>,
    watchers: Arc<AtomicUsize>,
}

impl Door {
    /// A closed door, and where its questions arrive.
    pub fn new(options: Options) -> (Self, Receiver<Ask>) {
        let (asks, asked) = crossbeam_channel::bounded(QUEUE);
        let door = Self { options, listening: None, asks, news: watch::Sender::default(), watchers: Arc::default() };
        (door, asked)
    }

    /// Where the configuration wants it.
    pub fn wanted(&self) -> Option<SocketAddr> {
        self.options.listen
    }

    /// The listener, where there is one.
    ///
    /// # Errors
    /// [`DoorError::Off`].
    pub fn listening(&self) -> Result<&Listening, DoorError> {
        self.listening.as_ref().ok_or(DoorError::Off)
    }

    /// Listens at `address`, or where the configuration says, or at any free port of 127.0.0.1.
    ///
    /// # Errors
    /// Any other [`DoorError`].
    pub fn open(&mut self, address: Option<SocketAddr>) -> Result<&Listening, DoorError> {
        let wanted = address.or(self.options.listen).unwrap_or_else(|| (Ipv4Addr::LOCALHOST, 0).into());
        let listening = match self.listening.take() {
            Some(known) => {
                let other = address.is_some_and(|other| other != known.address && other.port() != 0);
                let at = known.address;
                self.listening = Some(known);
                if other {
                    return Err(DoorError::Elsewhere(at));
                }
                return self.listening();
            }
            None => self.listen(wanted)?,
        };
        Ok(self.listening.insert(listening))
    }

    fn listen(&self, wanted: SocketAddr) -> Result<Listening, DoorError> {
        if !wanted.ip().is_loopback() {
            return Err(DoorError::Open(wanted));
        }
        let step = |step| move |cause| DoorError::Step(step, cause);
        let listener = TcpListener::bind(wanted).map_err(step("listen at this address"))?;
        let address = listener.local_addr().map_err(step("read the listener's address"))?;
        listener.set_nonblocking(true).map_err(step("set the listener up"))?;
        let access = Arc::new(Access::new().map_err(step("make a token"))?);
        let state = server::State {
            access: Arc::clone(&access),
            bridge: Bridge(self.asks.clone()),
            news: self.news.subscribe(),
            watchers: Arc::clone(&self.watchers),
            counters: Arc::default(),
            allow_hosts: Arc::new(self.options.allow_hosts.clone()),
            own: address,
        };
        server::start(listener, state).map_err(step("start the thread that serves HTTP"))?;
        Ok(Listening { address, access })
    }

    /// Tells those who watch.
    pub fn announce(&self, news: News) {
        self.news.send_if_modified(|known| std::mem::replace(known, news) != news);
    }

    /// Whether a page is open somewhere.
    pub fn watched(&self) -> bool {
        self.watchers.load(Ordering::Relaxed) > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_off_until_asked_for_and_never_open_to_others() -> Result<(), DoorError> {
        let (mut door, _asked) = Door::new(Options::default());
        assert!(matches!(door.listening(), Err(DoorError::Off)));
        let others = SocketAddr::from(([0, 0, 0, 0], 0));
        assert!(matches!(door.open(Some(others)), Err(DoorError::Open(_))));
        let address = door.open(None)?.address;
        assert_ne!(address.port(), 0);
        assert_eq!(door.open(None)?.address, address);
        assert!(matches!(door.open(Some(SocketAddr::from(([127, 0, 0, 1], 1)))), Err(DoorError::Elsewhere(_))));
        Ok(())
    }
}
