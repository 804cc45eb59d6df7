//! What a held image was when it was judged, to be compared before it runs.
//!
//! Invariant: an image is released only if its registers, every page of its memory that is not its files', its executable,
//! its working directory and its root are what they were. A same-user peer can write a stopped process through
//! /proc/PID/mem, code included; a page that was written is the file's no longer. A peer that shares its file system
//! information (CLONE_FS) can move it elsewhere. What cannot be compared has changed.

use super::capture::Image;
use super::stack;
use crate::sys::arch::Registers;
use crate::sys::memory;
use crate::sys::procfs::{PAGE, Procfs};
use sha2::{Digest, Sha256};
use stayexec_protocol::Event;
use std::io;

/// The snapshot of one image; its registers are kept with the image itself.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Snapshot {
    memory: [u8; 32],
    /// Device, inode and mount of working directory and root.
    places: [(u64, u64, u64); 2],
}

impl Snapshot {
    /// Takes it from an image in its exec stop.
    ///
    /// # Errors
    /// Where the image cannot be read, or is not what was judged any more.
    pub(super) fn take(procfs: &Procfs, image: &Image) -> io::Result<Self> {
        let (pid, registers) = (image.event.process.pid as i32, image.registers);
        let snapshot = Self::of(procfs, pid)?;
        // What changed since it was judged is in the snapshot, and has to be found in it.
        let initial = stack::read(pid, registers.sp(), registers.width())?;
        if initial.argv != image.event.argv || procfs.process(pid)?.link_text("cwd")? != image.event.cwd {
            return Err(io::ErrorKind::InvalidData.into());
        }
        Ok(snapshot)
    }

    fn of(procfs: &Procfs, pid: i32) -> io::Result<Self> {
        let process = procfs.process(pid)?;
        let mut hasher = Sha256::new();
        for page in process.own_pages()? {
            hasher.update(page.to_le_bytes());
            hasher.update(memory::read(pid, page, PAGE as usize)?);
        }
        let place = |link| process.follow_status(link).map(|status| (status.id.dev, status.id.ino, status.mount));
        Ok(Self { memory: hasher.finalize().into(), places: [place("cwd")?, place("root")?] })
    }

    /// Whether the image is still what it was.
    pub(super) fn holds(&self, procfs: &Procfs, image: &Image) -> bool {
        let pid = image.event.process.pid as i32;
        Registers::read(pid).is_ok_and(|now| now == image.registers)
            && Self::of(procfs, image.event.process.pid as i32).is_ok_and(|now| now == *self)
            && executable_holds(procfs, &image.event)
    }
}

fn executable_holds(procfs: &Procfs, event: &Event) -> bool {
    let status = procfs.process(event.process.pid as i32).and_then(|p| p.follow_status("exe"));
    status.is_ok_and(|s| s.id == event.executable.id)
}
