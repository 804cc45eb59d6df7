//! A started command: its streams as they grow, and its end.
//!
//! Invariant: no command outlives its limit, and none is left unreaped.

use crate::{Input, Outcome, Scene, until};
use anyhow::{Context, Result, bail};
use std::io::{Read, Write};
use std::process::{Child, ChildStdin};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

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
    stdin: Option<ChildStdin>,
    out: Stream,
    err: Stream,
    begun: Instant,
    limit: Duration,
    ended: bool,
}

impl<'s> Running<'s> {
    pub(crate) fn new(scene: &'s Scene, mut child: Child, input: Input, limit: Duration) -> Self {
        let (out, err) = (Stream::of(child.stdout.take()), Stream::of(child.stderr.take()));
        let stdin = match (input, child.stdin.take()) {
            (Input::Text(text), Some(mut pipe)) => {
                // Whoever reads no further than it needs breaks the pipe; that is no failure.
                std::thread::spawn(move || pipe.write_all(&text));
                None
            }
            (_, pipe) => pipe,
        };
        Self { scene, child, stdin, out, err, begun: Instant::now(), limit, ended: false }
    }

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

    /// Writes a line to its standard input, where that is open.
    ///
    /// # Errors
    /// It reads no more.
    pub fn types(&mut self, line: &str) -> Result<()> {
        Ok(self.stdin.as_mut().map_or(Ok(()), |pipe| writeln!(pipe, "{line}"))?)
    }

    /// Writes an empty line.
    ///
    /// # Errors
    /// As [`Running::types`].
    pub fn press(&mut self) -> Result<()> {
        self.types("")
    }

    /// Whether it has ended; [`Running::finish`] says how.
    pub fn has_ended(&mut self) -> bool {
        !matches!(self.child.try_wait(), Ok(None))
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
