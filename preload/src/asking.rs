//! One question: from the caller's words to "go on" or not.
//!
//! Invariant: beside the floor the answer is always "go on", and nothing waits; alone, only a whole reply that says so lets
//! the call go on: no address, no server, a torn frame, a word that changed while it was sent are refusals. The connection is
//! closed before either is acted on.

use crate::config::Config;
use crate::refusal::{self, Trouble};
use crate::sending::Sending;
use crate::sys::{self, Errno};
use crate::text::{Entries, Text, Vector, bytes};
use crate::{door, environment};
use stayexec_protocol::ask::{Entry, Form, HEAD_LENGTH, Head, REPLY_MAX, Reply, flag};

/// What is told of one call beside the floor, at most: it has to fit into a socket's buffer, for nobody waits there.
const BUDGET: usize = 64 << 10;

/// The caller's words.
#[derive(Debug, Clone, Copy)]
pub struct Question {
    /// The function that was called.
    pub entry: Entry,
    /// Its return address.
    pub site: usize,
    /// Path, file or line.
    pub target: Text,
    /// Arguments.
    pub argv: Vector,
    /// The environment that the image will get.
    pub environment: Vector,
    /// The descriptor of fexecve or execveat, else -1.
    pub descriptor: i32,
    /// Whether posix_spawn was given file actions.
    pub actions: bool,
}

/// What becomes of the call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum Ruling {
    /// The real function is called.
    GoOn,
    /// It is not, and the caller was told why.
    Refused,
    /// The words are more than the kernel takes.
    TooLong,
}

impl Question {
    /// Asks, in the form that `config` names.
    ///
    /// # Safety
    /// The words are null or C strings and vectors as execve(2) takes them.
    pub unsafe fn ask(&self, config: &Config) -> Ruling {
        match config.form {
            None => Ruling::GoOn,
            Some(Form::Beside) => {
                // SAFETY: the caller's promise.
                let _ = unsafe { self.put(config, false, &mut []) };
                Ruling::GoOn
            }
            Some(Form::Alone) => {
                let mut reply = [0; REPLY_MAX];
                // SAFETY: the caller's promise.
                match unsafe { self.put(config, true, &mut reply) } {
                    Ok(Reply::GoOn) => Ruling::GoOn,
                    Ok(Reply::Refused(line)) => {
                        refusal::tell(line);
                        Ruling::Refused
                    }
                    Err(Trouble::Call(Errno(sys::E2BIG))) => Ruling::TooLong,
                    Err(trouble) => {
                        refusal::tell(trouble.line());
                        Ruling::Refused
                    }
                }
            }
        }
    }

    /// Sends the ask; reads the reply into `to`, if `waits`.
    ///
    /// # Safety
    /// As [`Question::ask`].
    unsafe fn put<'r>(&self, config: &Config, waits: bool, to: &'r mut [u8]) -> Result<Reply<'r>, Trouble> {
        let budget = if waits { usize::MAX } else { BUDGET };
        // SAFETY: the caller's promise.
        let words = unsafe { Words::of(self, waits, budget) };
        let head = words.head(self, waits).to_bytes(words.length).ok_or(Trouble::Call(Errno(sys::E2BIG)))?;
        let connection = door::open(&config.address, waits).map_err(Trouble::Absent)?;
        let mut sending = Sending::over(&connection, &head);
        sending.add(words.target).map_err(Trouble::Call)?;
        sending.add(words.search).map_err(Trouble::Call)?;
        // SAFETY: the caller's promise.
        let entries = unsafe { (Entries::of(self.argv), Entries::of(self.environment)) };
        for word in entries.0.take(words.arguments).chain(entries.1.take(words.variables)) {
            // SAFETY: the caller's promise.
            sending.add(unsafe { bytes(word) }).map_err(Trouble::Call)?;
        }
        let sent = sending.flush().map_err(Trouble::Call)?;
        if sent != words.length.saturating_add(HEAD_LENGTH) {
            return Err(Trouble::Changed);
        }
        if waits { refusal::read(&connection, to) } else { Ok(Reply::GoOn) }
    }
}

/// What of the words is told, measured.
struct Words<'a> {
    target: &'a [u8],
    search: &'a [u8],
    arguments: usize,
    variables: usize,
    length: usize,
    flags: u32,
}

impl Words<'_> {
    /// # Safety
    /// As [`Question::ask`].
    unsafe fn of(question: &Question, with_environment: bool, budget: usize) -> Self {
        // SAFETY: the caller's promise.
        let whole = unsafe { bytes(question.target) };
        let target = whole.get(..budget / 2).unwrap_or(whole);
        let mut flags = if target.len() < whole.len() { flag::CUT } else { 0 };
        let mut search: &[u8] = &[];
        if question.entry.searches() {
            // SAFETY: the C library's own environment.
            match unsafe { crate::text::variable(environment::current(), b"PATH") } {
                Some(path) => search = path,
                None => flags |= flag::NO_PATH,
            }
        }
        if search.len() > budget / 4 {
            (search, flags) = (&[], flags | flag::CUT);
        }
        let mut length = [target, search].iter().fold(0, |n: usize, word| n.saturating_add(4).saturating_add(word.len()));
        // SAFETY: the caller's promise.
        let (arguments, cut) = unsafe { measure(question.argv, &mut length, budget) };
        if cut {
            flags |= flag::CUT;
        }
        let mut variables = 0;
        if with_environment {
            flags |= flag::ENVIRONMENT;
            // SAFETY: the caller's promise.
            (variables, _) = unsafe { measure(question.environment, &mut length, budget) };
        }
        Self { target, search, arguments, variables, length, flags }
    }

    fn head(&self, question: &Question, waits: bool) -> Head {
        let waits = if waits { flag::WAITS } else { 0 };
        let actions = if question.actions { flag::ACTIONS } else { 0 };
        Head {
            entry: question.entry,
            flags: self.flags | waits | actions,
            descriptor: question.descriptor,
            site: question.site as u64,
            arguments: u32::try_from(self.arguments).unwrap_or(u32::MAX),
            variables: u32::try_from(self.variables).unwrap_or(u32::MAX),
        }
    }
}

/// How many entries of `vector` fit, and whether some do not; adds what they take to `length`.
///
/// # Safety
/// As [`Question::ask`].
unsafe fn measure(vector: Vector, length: &mut usize, budget: usize) -> (usize, bool) {
    let mut count = 0_usize;
    // SAFETY: the caller's promise.
    for entry in unsafe { Entries::of(vector) } {
        // SAFETY: the caller's promise.
        let with = unsafe { bytes(entry) }.len().saturating_add(4).saturating_add(*length);
        if with > budget {
            return (count, true);
        }
        *length = with;
        count = count.saturating_add(1);
    }
    (count, false)
}
