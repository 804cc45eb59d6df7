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
            let mut seen = Seen::default();
            while !seen.hangs(watched.load(Ordering::Relaxed)) {
                std::thread::sleep(TICK);
            }
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

/// What the watch saw last, and how often in a row.
#[derive(Debug, Default)]
struct Seen {
    count: u64,
    looks: u32,
}

impl Seen {
    /// Whether the same read has been under way for too many looks.
    fn hangs(&mut self, count: u64) -> bool {
        let same = count % 2 == 1 && count == self.count;
        (self.count, self.looks) = (count, if same { self.looks + 1 } else { 0 });
        self.looks >= LOOKS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_read_that_hangs_is_told_from_many_and_from_rest() {
        let mut seen = Seen::default();
        assert!((0..100).all(|_| !seen.hangs(0)), "at rest");
        assert!((0..100).all(|read| !seen.hangs(2 * read + 1)), "another read each time");
        assert!((0..LOOKS).all(|_| !seen.hangs(301)));
        assert!(seen.hangs(301));
    }

    #[test]
    fn a_read_counts_from_its_beginning_to_its_end() {
        let watch = Watch(Arc::default());
        let within = watch.during(|| watch.0.load(Ordering::Relaxed));
        assert_eq!((within, watch.0.load(Ordering::Relaxed)), (1, 2));
    }
}
