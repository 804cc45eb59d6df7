//! Who may ask: the token, one-time codes, and sessions of browsers.
//!
//! Invariant: secrets are 256 random bits, live in memory alone and end with the process; they are compared by digest. A
//! session needs its cookie and its key together: cookies reach every port of a host, the key stays with the page's own
//! origin. Refuses a code that was used or is old, and counts what was wrong; what is right is let in whatever the count.

use crate::sys::random;
use sha2::{Digest, Sha256};
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long a code can be exchanged.
const CODE: Duration = Duration::from_secs(5 * 60);
/// How long a session lasts without a request.
const SESSION: Duration = Duration::from_secs(12 * 60 * 60);
/// Most codes, and most sessions, at once; the oldest goes.
const KEPT: usize = 32;
/// Wrong secrets that are answered as such within a window.
const WRONG: u32 = 30;
/// That window.
const WINDOW: Duration = Duration::from_secs(60);

type Print = [u8; 32];

fn print(secret: &str) -> Print {
    Sha256::digest(secret.as_bytes()).into()
}

/// A new secret, as hexadecimal digits.
fn secret() -> io::Result<String> {
    Ok(random::bytes()?.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Why somebody is not let in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// Wrong, used or old.
    Wrong,
    /// The same, too often.
    TooOften,
}

/// A browser's session.
#[derive(Debug)]
struct Session {
    cookie: Print,
    key: Print,
    until: Instant,
}

#[derive(Debug)]
struct Kept {
    token: String,
    codes: Vec<(Print, Instant)>,
    sessions: Vec<Session>,
    wrong: (Instant, u32),
}

/// All secrets of one listener.
#[derive(Debug)]
pub struct Access(Mutex<Kept>);

impl Access {
    /// With a new token.
    ///
    /// # Errors
    /// No random bytes can be had.
    pub fn new() -> io::Result<Self> {
        let kept = Kept { token: secret()?, codes: Vec::new(), sessions: Vec::new(), wrong: (Instant::now(), 0) };
        Ok(Self(Mutex::new(kept)))
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        // A thread that died holding it has left each list whole.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The token.
    pub fn token(&self) -> String {
        self.kept().token.clone()
    }

    /// A new one-time code.
    ///
    /// # Errors
    /// No random bytes can be had.
    pub fn code(&self) -> io::Result<String> {
        let code = secret()?;
        let mut kept = self.kept();
        if kept.codes.len() >= KEPT {
            kept.codes.remove(0);
        }
        kept.codes.push((print(&code), Instant::now() + CODE));
        Ok(code)
    }

    /// Exchanges a code for a session: its cookie and its key.
    ///
    /// # Errors
    /// A [`Refusal`]; `None` inside where no random bytes can be had.
    pub fn exchange(&self, code: &str) -> Result<(String, String), Option<Refusal>> {
        let now = Instant::now();
        let mut kept = self.kept();
        kept.codes.retain(|(_, until)| *until > now);
        let print_of = print(code);
        let Some(at) = kept.codes.iter().position(|(known, _)| *known == print_of) else { return Err(Some(kept.refuse(now))) };
        let (cookie, key) = (secret().map_err(|_| None)?, secret().map_err(|_| None)?);
        kept.codes.remove(at);
        kept.sessions.retain(|session| session.until > now);
        if kept.sessions.len() >= KEPT {
            kept.sessions.remove(0);
        }
        kept.sessions.push(Session { cookie: print(&cookie), key: print(&key), until: now + SESSION });
        Ok((cookie, key))
    }

    /// Lets the token in.
    ///
    /// # Errors
    /// A [`Refusal`].
    pub fn bearer(&self, token: &str) -> Result<(), Refusal> {
        let mut kept = self.kept();
        if print(token) == print(&kept.token) { Ok(()) } else { Err(kept.refuse(Instant::now())) }
    }

    /// Lets a session in, by both of its halves.
    ///
    /// # Errors
    /// A [`Refusal`].
    pub fn session(&self, cookie: &str, key: &str) -> Result<(), Refusal> {
        let (now, cookie, key) = (Instant::now(), print(cookie), print(key));
        let mut kept = self.kept();
        let fits = |session: &&mut Session| session.cookie == cookie && session.key == key && session.until > now;
        if let Some(session) = kept.sessions.iter_mut().find(fits) {
            session.until = now + SESSION;
            return Ok(());
        }
        Err(kept.refuse(now))
    }

    /// Ends a session.
    pub fn leave(&self, cookie: &str) {
        let cookie = print(cookie);
        self.kept().sessions.retain(|session| session.cookie != cookie);
    }
}

impl Kept {
    fn refuse(&mut self, now: Instant) -> Refusal {
        if now.saturating_duration_since(self.wrong.0) > WINDOW {
            self.wrong = (now, 0);
        }
        self.wrong.1 = self.wrong.1.saturating_add(1);
        if self.wrong.1 > WRONG { Refusal::TooOften } else { Refusal::Wrong }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_counts_once_and_a_session_needs_both_halves() -> io::Result<()> {
        let access = Access::new()?;
        let code = access.code()?;
        let Ok((cookie, key)) = access.exchange(&code) else { return Err(io::Error::other("refused")) };
        assert_eq!(access.exchange(&code), Err(Some(Refusal::Wrong)));
        assert_eq!(access.session(&cookie, &key), Ok(()));
        assert_eq!(access.session(&cookie, &cookie), Err(Refusal::Wrong));
        assert_eq!(access.session(&key, &key), Err(Refusal::Wrong));
        access.leave(&cookie);
        assert_eq!(access.session(&cookie, &key), Err(Refusal::Wrong));
        Ok(())
    }

    #[test]
    fn wrong_tokens_never_keep_the_right_one_out() -> io::Result<()> {
        let access = Access::new()?;
        let last = (0..=WRONG).map(|_| access.bearer("x")).last();
        assert_eq!(last, Some(Err(Refusal::TooOften)));
        assert_eq!(access.bearer(&access.token()), Ok(()));
        Ok(())
    }
}
