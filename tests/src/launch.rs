//! Starting a command of a scene, and waiting for its end.
//!
//! Invariant: no command outlives its limit, and none is left unreaped.

use crate::{Outcome, Scene, until};
use anyhow::{Context, Result, bail};
use std::ffi::{OsStr, OsString};
use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

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
        if self.scene.offers("run", "--confine") { self.words(["--confine=off"]) } else { self }
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
        let begun = Instant::now();
        let mut child = command.spawn().with_context(|| format!("cannot start {:?}", self.words))?;
        let (out, err) = (Stream::of(child.stdout.take()), Stream::of(child.stderr.take()));
        let stdin = match (self.input, child.stdin.take()) {
            (Input::Text(text), Some(mut pipe)) => {
                // Whoever reads no further than it needs breaks the pipe; that is no failure.
                std::thread::spawn(move || pipe.write_all(&text));
                None
            }
            (_, pipe) => pipe,
        };
        Ok(Running { scene: self.scene, child, stdin, out, err, begun, limit: self.limit, ended: false })
    }

    /// Starts it and waits for its end.
    ///
    /// # Errors
    /// It cannot be started or does not end in time.
    pub fn finish(self) -> Result<Outcome> {
        self.start()?.finish()
    }
}

/// What was read from a pipe so far.
#[derive(Debug)]
struct Stream {
    bytes: Arc<Mutex<Vec<u8>>>,
    reader: Option<JoinHandle<()>>,
}

impl Stream {
    fn of(pipe: Option<impl Read + Send + 'static>) -> Self {
        let bytes = Arc::new(Mutex::new(Vec::new()));
        let reader = pipe.map(|mut pipe| {
            let bytes = Arc::clone(&bytes);
            std::thread::spawn(move || {
                let mut block = [0; 65536];
                while let Ok(n @ 1..) = pipe.read(&mut block) {
                    if let Ok(mut bytes) = bytes.lock() {
                        bytes.extend_from_slice(block.get(..n).unwrap_or_default());
                    }
                }
            })
        });
        Self { bytes, reader }
    }

    fn so_far(&self) -> Vec<u8> {
        self.bytes.lock().map(|b| b.clone()).unwrap_or_default()
    }

    fn at_end(&self) -> bool {
        self.reader.as_ref().is_none_or(JoinHandle::is_finished)
    }
}

/// A started command.
#[derive(Debug)]
pub struct Running<'s> {
    scene: &'s Scene,
    child: Child,
    /// Its standard input, where the test writes to it.
    pub stdin: Option<ChildStdin>,
    out: Stream,
    err: Stream,
    begun: Instant,
    limit: Duration,
    ended: bool,
}

impl Running<'_> {
    /// Its process id.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Its standard output so far.
    #[must_use]
    pub fn out(&self) -> String {
        String::from_utf8_lossy(&self.out.so_far()).into_owned()
    }

    /// Its standard error so far.
    #[must_use]
    pub fn err(&self) -> String {
        String::from_utf8_lossy(&self.err.so_far()).into_owned()
    }

    /// Waits until standard output holds `text`.
    ///
    /// # Errors
    /// The limit passed.
    pub fn says(&self, text: &str) -> Result<()> {
        let said = until(&format!("{text:?} on standard output"), self.limit, || self.out().contains(text).then_some(()));
        said.with_context(|| self.told())
    }

    /// Waits for its end, and for the end of its streams.
    ///
    /// # Errors
    /// It does not end in time, or something else still holds its streams 10 s after its end.
    pub fn finish(mut self) -> Result<Outcome> {
        drop(self.stdin.take());
        let (mut status, limit) = (None, self.limit);
        let waited = until("the command to end", limit, || {
            status = self.child.try_wait().ok().flatten();
            status
        });
        let took = self.begun.elapsed();
        let status = waited.with_context(|| self.told())?;
        self.ended = true;
        let streams = until("the ends of its streams", Duration::from_secs(10), || (self.out.at_end() && self.err.at_end()).then_some(()));
        if streams.is_err() {
            bail!("its streams are still held: {}", self.told());
        }
        Ok(Outcome { status, stdout: self.out.so_far(), stderr: self.err.so_far(), took })
    }

    fn told(&self) -> String {
        format!("{:#?}\n--- stdout\n{}\n--- stderr\n{}", self.scene.processes(), self.out(), self.err())
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        if !self.ended {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}
