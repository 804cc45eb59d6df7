//! How many seccomp filters a process has besides those with which the run began.
//!
//! A run inside a run adds one to itself (`warden/nested.rs`). All that comes from it has that one too, whatever became of
//! its ancestors and its environment: nobody takes a filter off again. Invariant: a process with fewer than an inner run
//! began with does not come from it. Refuses to count before any start has declared a tier: until then nobody asks, and
//! looking costs as much as the rest of what is read of a process.

use super::nested::TIER;
use crate::sys::procfs::ProcessDir;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

/// Counts filters.
#[derive(Debug)]
pub struct Layers {
    own: u32,
    any: AtomicBool,
}

impl Layers {
    /// With those of the launched process as the run's own.
    ///
    /// # Errors
    /// Where they cannot be read.
    pub fn of(launched: &ProcessDir) -> io::Result<Self> {
        Ok(Self { own: count(launched)?, any: AtomicBool::new(false) })
    }

    /// Those that a process has besides, where it starts with this environment.
    ///
    /// # Errors
    /// Where they cannot be read.
    pub fn above(&self, process: &ProcessDir, environment: &[Vec<u8>]) -> io::Result<u32> {
        let declares = |entry: &Vec<u8>| entry.strip_prefix(TIER.as_bytes()).is_some_and(|rest| rest.starts_with(b"="));
        if environment.iter().any(declares) {
            self.any.store(true, Ordering::Relaxed);
        }
        if self.any.load(Ordering::Relaxed) { Ok(count(process)?.saturating_sub(self.own)) } else { Ok(0) }
    }
}

fn count(process: &ProcessDir) -> io::Result<u32> {
    process.status_field("Seccomp_filters")?.parse().map_err(io::Error::other)
}
