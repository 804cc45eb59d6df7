//! What a command of a scene is started with.
//!
//! Invariant: nothing of the tests' own environment or privilege reaches it but what the scene gives.

use crate::sys::with_default_signals;
use crate::{Outcome, Running, Scene};
use anyhow::{Context, Result};
use std::ffi::{OsStr, OsString};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

/// What a command has as standard input.
#[derive(Debug)]
pub enum Input {
    /// /dev/null.
    Null,
    /// A pipe with this text.
    Text(Vec<u8>),
    /// A pipe that the test writes to.
    Open,
}

/// A command that was not started yet.
#[derive(Debug)]
pub struct Launch<'s> {
    scene: &'s Scene,
    words: Vec<OsString>,
    environment: Vec<(OsString, OsString)>,
    folder: PathBuf,
    input: Input,
    limit: Duration,
}

impl<'s> Launch<'s> {
    pub(crate) fn new(scene: &'s Scene) -> Self {
        let environment = scene.environment().into_iter().map(|(k, v)| (k.into(), v.into())).collect();
        Self { scene, words: Vec::new(), environment, folder: scene.work(), input: Input::Null, limit: Duration::from_secs(120) }
    }

    /// Adds words.
    #[must_use]
    pub fn words<S: AsRef<OsStr>>(mut self, words: impl IntoIterator<Item = S>) -> Self {
        self.words.extend(words.into_iter().map(|w| w.as_ref().to_owned()));
        self
    }

    /// Adds `--` and the gated command.
    #[must_use]
    pub fn command<S: AsRef<OsStr>>(self, words: impl IntoIterator<Item = S>) -> Self {
        self.words(["--"]).words(words)
    }

    /// Adds `--tier`.
    #[must_use]
    pub fn tier(self, tier: &str) -> Self {
        self.words(["--tier", tier])
    }

    /// Adds `--origin`.
    #[must_use]
    pub fn origin(self, origin: &str) -> Self {
        self.words(["--origin", origin])
    }

    /// Switches the second floor off, where there is one, so that only judged execs stand between a program and its victim.
    #[must_use]
    pub fn unconfined(self) -> Self {
        self.words(["--confine=off"])
    }

    /// Puts words before the command: a program that starts it.
    #[must_use]
    pub fn inside<S: AsRef<OsStr>>(mut self, words: impl IntoIterator<Item = S>) -> Self {
        self.words.splice(..0, words.into_iter().map(|w| w.as_ref().to_owned()));
        self
    }

    /// Sets a variable of its environment.
    #[must_use]
    pub fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.environment.push((name.into(), value.as_ref().to_owned()));
        self
    }

    /// Takes a variable out of its environment.
    #[must_use]
    pub fn without(mut self, name: &str) -> Self {
        self.environment.retain(|(known, _)| known != name);
        self
    }

    /// Sets its working directory.
    #[must_use]
    pub fn folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.folder = folder.into();
        self
    }

    /// Sets its standard input.
    #[must_use]
    pub fn input(mut self, input: Input) -> Self {
        self.input = input;
        self
    }

    /// Sets how long it may take.
    #[must_use]
    pub fn limit(mut self, seconds: u64) -> Self {
        self.limit = Duration::from_secs(seconds);
        self
    }

    /// The command, without streams.
    ///
    /// # Errors
    /// There is no word.
    pub fn assembled(&self) -> Result<Command> {
        let (program, rest) = self.words.split_first().context("a command has a word")?;
        let mut command = Command::new(program);
        command.args(rest).env_clear().envs(self.environment.iter().cloned()).current_dir(&self.folder);
        if let Some(id) = self.scene.switch() {
            command.uid(id).gid(id);
        }
        with_default_signals(&mut command);
        Ok(command)
    }

    /// Starts it.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn start(self) -> Result<Running<'s>> {
        let mut command = self.assembled()?;
        let piped = !matches!(self.input, Input::Null);
        command.stdin(if piped { Stdio::piped() } else { Stdio::null() }).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn().with_context(|| format!("cannot start {:?}", self.words))?;
        Ok(Running::new(self.scene, child, self.input, self.limit))
    }

    /// Starts it and waits for its end.
    ///
    /// # Errors
    /// It cannot be started or does not end in time.
    pub fn finish(self) -> Result<Outcome> {
        self.start()?.finish()
    }
}
