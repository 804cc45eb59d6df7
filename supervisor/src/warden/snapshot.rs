//! What a held image was when it was judged, to be compared before it runs.
//!
//! Invariant: an image is released only if its registers, every page of its memory that is not its files', and its
//! executable are what they were. A same-user peer can write a stopped process through /proc/PID/mem, code
//! included; a page that was written is the file's no longer. What cannot be compared has changed.

use super::capture::Image;
use crate::sys::arch::Registers;
use crate::sys::memory;
use crate::sys::procfs::{PAGE, Procfs};
use sha2::{Digest, Sha256};
use stayexec_protocol::Event;
use std::io;

/// The snapshot of one image's memory; its registers are kept with the image itself.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Snapshot([u8; 32]);

impl Snapshot {
    /// Takes it from an image in its exec stop.
    ///
    /// # Errors
    /// Where the image cannot be read.
    pub(super) fn take(procfs: &Procfs, image: &Image) -> io::Result<Self> {
        let pid = image.event.process.pid as i32;
        let mut hasher = Sha256::new();
        for page in procfs.process(pid)?.own_pages()? {
            hasher.update(page.to_le_bytes());
            hasher.update(memory::read(pid, page, PAGE as usize)?);
        }
        Ok(Self(hasher.finalize().into()))
    }

    /// Whether the image is still what it was.
    pub(super) fn holds(&self, procfs: &Procfs, image: &Image) -> bool {
        let pid = image.event.process.pid as i32;
        Registers::read(pid).is_ok_and(|now| now == image.registers)
            && Self::take(procfs, image).is_ok_and(|now| now == *self)
            && executable_holds(procfs, &image.event)
    }
}

fn executable_holds(procfs: &Procfs, event: &Event) -> bool {
    let status = procfs.process(event.process.pid as i32).and_then(|p| p.follow_status("exe"));
    status.is_ok_and(|s| s.id == event.executable.id)
}
