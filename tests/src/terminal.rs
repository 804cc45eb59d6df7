//! A person at a terminal: types, and waits for what the screen shows.
//!
//! Invariant: typing goes on only after what was waited for was seen.

use crate::{Launch, Outcome, until};
use anyhow::{Context, Result};
use nix::fcntl::{FcntlArg, FdFlag, fcntl};
use nix::poll::{PollFd, PollFlags, poll};
use nix::pty::{Winsize, openpty};
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

const SIZE: Winsize = Winsize { ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 };
const LIMIT: Duration = Duration::from_secs(30);

/// A command on a terminal of its own, which it leads.
#[derive(Debug)]
pub struct Terminal {
    child: Child,
    keys: File,
    seen: Arc<Mutex<Vec<u8>>>,
    over: Arc<AtomicBool>,
    reader: Option<JoinHandle<()>>,
    at: usize,
    begun: Instant,
}

impl Terminal {
    /// Starts `launch` on a new terminal of 80 columns and 24 rows.
    ///
    /// # Errors
    /// There is no terminal to be had, or the command cannot be started.
    pub fn start(launch: Launch<'_>) -> Result<Self> {
        let pair = openpty(Some(&SIZE), None).context("cannot open a terminal")?;
        // A descriptor that a child inherits would keep the terminal from going away.
        for side in [&pair.master, &pair.slave] {
            fcntl(side, FcntlArg::F_SETFD(FdFlag::FD_CLOEXEC)).context("cannot keep the terminal to ourselves")?;
        }
        let mut command = launch.inside(["setsid", "--ctty"]).env("TERM", "xterm").assembled()?;
        command.stdin(Stdio::from(pair.slave.try_clone()?)).stdout(Stdio::from(pair.slave.try_clone()?)).stderr(Stdio::from(pair.slave));
        let child = command.spawn()?;
        drop(command);
        let keys = File::from(pair.master);
        let (screen, seen, over) = (keys.try_clone()?, Arc::default(), Arc::default());
        let reader = std::thread::spawn({
            let (seen, over) = (Arc::clone(&seen), Arc::clone(&over));
            move || watch(screen, &seen, &over)
        });
        Ok(Self { child, keys, seen, over, reader: Some(reader), at: 0, begun: Instant::now() })
    }

    /// Its process id.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Types `text`.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn types(&mut self, text: &str) -> Result<()> {
        Ok(self.keys.write_all(text.as_bytes())?)
    }

    /// Everything that was shown.
    #[must_use]
    pub fn shown(&self) -> String {
        self.seen.lock().map(|s| String::from_utf8_lossy(&s).into_owned()).unwrap_or_default()
    }

    /// Waits until `text` is shown, behind what was waited for before.
    ///
    /// # Errors
    /// 30 s passed.
    pub fn shows(&mut self, text: &str) -> Result<()> {
        let (from, seen) = (self.at, Arc::clone(&self.seen));
        let found = until(&format!("{text:?} on the terminal"), LIMIT, || {
            let seen = seen.lock().ok()?;
            let rest = seen.get(from..)?;
            rest.windows(text.len()).position(|w| w == text.as_bytes())
        });
        self.at += found.with_context(|| format!("--- shown\n{}", self.shown()))? + text.len();
        Ok(())
    }

    /// Closes the terminal, as a window is closed, and waits for the end of the command.
    ///
    /// # Errors
    /// 30 s passed.
    pub fn hang_up(mut self) -> Result<()> {
        self.over.store(true, Ordering::Relaxed);
        if let Some(reader) = self.reader.take() {
            let _ = reader.join();
        }
        // The last descriptor of the terminal's own side: its place is taken by another file.
        self.keys = File::open("/dev/null")?;
        until("the command to end", LIMIT, || self.child.try_wait().ok().flatten()).map(drop)
    }

    /// Waits for the end of the command.
    ///
    /// # Errors
    /// 30 s passed.
    pub fn finish(mut self) -> Result<Outcome> {
        let ended = until("the command to end", LIMIT, || self.child.try_wait().ok().flatten());
        let status = ended.with_context(|| format!("--- shown\n{}", self.shown()))?;
        Ok(Outcome { status, stdout: self.shown().into_bytes(), stderr: Vec::new(), took: self.begun.elapsed() })
    }
}

/// Reads what is shown until the terminal is gone, or `over`.
fn watch(mut screen: File, seen: &Mutex<Vec<u8>>, over: &AtomicBool) {
    let mut block = [0; 4096];
    while !over.load(Ordering::Relaxed) {
        let mut fds = [PollFd::new(screen.as_fd(), PollFlags::POLLIN)];
        match poll(&mut fds, 50_u8) {
            Ok(0) | Err(nix::errno::Errno::EINTR) => continue,
            Ok(_) => {}
            Err(_) => break,
        }
        let Ok(n @ 1..) = screen.read(&mut block) else { break };
        if let Ok(mut seen) = seen.lock() {
            seen.extend_from_slice(block.get(..n).unwrap_or_default());
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        if !matches!(self.child.try_wait(), Ok(Some(_))) {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}
