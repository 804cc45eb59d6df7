//! A bell that other threads ring to wake the gate (eventfd(2)).

use nix::sys::eventfd::{EfdFlags, EventFd};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};

/// The bell.
#[derive(Debug)]
pub struct Wake(EventFd);

impl Wake {
    /// A silent bell.
    ///
    /// # Errors
    /// EMFILE, ENFILE, ENOMEM.
    pub fn new() -> io::Result<Self> {
        Ok(Self(EventFd::from_value_and_flags(0, EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK)?))
    }

    /// Rings. A bell that rings already rings on.
    pub fn wake(&self) {
        let _ = self.0.write(1);
    }

    /// Silences it.
    pub fn silence(&self) {
        let _ = self.0.read();
    }

    /// What to wait on.
    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
