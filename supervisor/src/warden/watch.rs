//! A watch over the gate's thread while it reads the memory of a caller.
//!
//! Before an exec that memory is the caller's own: a page of it can lie on a file system that the tree serves, or be locked
//! by a thread that waits for one, and no call reads it without waiting. Invariant: such a wait ends the run, with the agent,
//! instead of keeping it for ever. Refuses to be more than that: what was judged stays judged, and a warden that is gone
//! lets nothing start.

use crate::sys::process;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// How often the watch looks.
const TICK: Duration = Duration::from_secs(2);
/// At how many looks in a row the same read has to be under way. A machine that slept has missed its own looks too.
const LOOKS: u32 = 5;

/// The number of beginnings and ends of reads: odd while one is under way.
#[derive(Debug)]
pub(super) struct Watch(Arc<AtomicU64>);

impl Watch {
    /// Starts it; `agent` ends with the run.
    ///
    /// # Errors
    /// EAGAIN where no thread can be had.
    pub(super) fn start(agent: i32) -> io::Result<Self> {
        let count = Arc::new(AtomicU64::new(0));
        let watched = Arc::clone(&count);
        std::thread::Builder::new().name("watch".into()).stack_size(64 << 10).spawn(move || {
            wait_for_hang(&watched, TICK);
            super::say("a program keeps the gate from reading what it calls; the run ends, and nothing more is started");
            let _ = process::kill(agent, libc::SIGKILL);
            process::exit_now(i32::from(crate::exit_code::GATE_FAILED));
        })?;
        Ok(Self(count))
    }

    /// Reads under the watch.
    pub(super) fn during<T>(&self, read: impl FnOnce() -> T) -> T {
        self.0.fetch_add(1, Ordering::Relaxed);
        let result = read();
        self.0.fetch_add(1, Ordering::Relaxed);
        result
    }
}

/// Returns when one read has been under way for too long.
fn wait_for_hang(count: &AtomicU64, tick: Duration) {
    let (mut last, mut looks) = (0, 0);
    while looks < LOOKS {
        std::thread::sleep(tick);
        let now = count.load(Ordering::Relaxed);
        looks = if now % 2 == 1 && now == last { looks + 1 } else { 0 };
        last = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_read_that_hangs_is_told_from_many_and_from_rest() {
        let count = Arc::new(AtomicU64::new(0));
        let watched = Arc::clone(&count);
        let watch = std::thread::spawn(move || wait_for_hang(&watched, Duration::from_millis(1)));
        let watched = Watch(Arc::clone(&count));
        for _ in 0..10_000 {
            watched.during(std::thread::yield_now);
        }
        assert!(!watch.is_finished());
        count.fetch_add(1, Ordering::Relaxed);
        assert!(watch.join().is_ok());
    }
}
