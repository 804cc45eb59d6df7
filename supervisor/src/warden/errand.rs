//! Work that may wait for a file system or a slow reader, done off the gate's thread.
//!
//! Invariant: the gate never waits for an errand; each has a thread of its own, and their number is bounded. Refuses to be
//! relied on: an errand that does not come back costs its caller a denial, nothing more.

use super::wake::Wake;
use crossbeam_channel::{Receiver, Sender, unbounded};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Most errands at once. Threads that hang in a dead file system count until they come back.
const BOUND: usize = 128;

/// Errands whose results are of type `T`.
#[derive(Debug)]
pub struct Errands<T> {
    results: (Sender<T>, Receiver<T>),
    out: Arc<AtomicUsize>,
    wake: Arc<Wake>,
}

impl<T: Send + 'static> Errands<T> {
    /// None yet; each that comes back rings the bell.
    pub fn new(wake: Arc<Wake>) -> Self {
        Self { results: unbounded(), out: Arc::default(), wake }
    }

    /// Sends one off.
    ///
    /// # Errors
    /// EAGAIN where too many are out or no thread can be had.
    pub fn send(&self, errand: impl FnOnce() -> T + Send + 'static) -> io::Result<()> {
        if self.out.fetch_add(1, Ordering::Relaxed) >= BOUND {
            self.out.fetch_sub(1, Ordering::Relaxed);
            return Err(io::Error::from_raw_os_error(libc::EAGAIN));
        }
        let (result, out, wake) = (self.results.0.clone(), Arc::clone(&self.out), Arc::clone(&self.wake));
        let spawned = std::thread::Builder::new().name("errand".into()).stack_size(256 << 10).spawn(move || {
            let _ = result.send(errand());
            out.fetch_sub(1, Ordering::Relaxed);
            wake.wake();
        });
        if spawned.is_err() {
            self.out.fetch_sub(1, Ordering::Relaxed);
        }
        spawned.map(drop)
    }

    /// The result of one that has come back.
    pub fn next(&self) -> Option<T> {
        self.results.1.try_recv().ok()
    }
}
