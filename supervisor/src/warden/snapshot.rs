//! What a held image was when it was judged, to be compared before it runs.
//!
//! Invariant: an image is released only if its registers, its initial stack, the code at its first instruction and the
//! files that were judged are what they were. A same-user peer can write a stopped process through /proc/PID/mem.

use super::capture::Image;
use super::lookup;
use super::stack;
use crate::sys::arch::Registers;
use crate::sys::memory;
use crate::sys::path::Lookup;
use crate::sys::procfs::Procfs;
use stayexec_protocol::Event;
use std::io;

/// Code around the first instruction that is compared, in bytes.
const CODE: usize = 4096;

/// The snapshot of one image; registers and stack are kept with the image itself.
#[derive(Debug)]
pub(super) struct Snapshot {
    code: stack::Bytes,
    /// Private pages that are no longer the file's: a write to code makes one more.
    anonymous: u64,
}

impl Snapshot {
    /// Takes it from an image in its exec stop.
    ///
    /// # Errors
    /// Where the image cannot be read.
    pub(super) fn take(procfs: &Procfs, image: &Image) -> io::Result<Self> {
        let pid = image.event.process.pid as i32;
        let base = image.registers.ip() & !(CODE as u64 - 1);
        Ok(Self { code: stack::Bytes { base, bytes: memory::read(pid, base, CODE)? }, anonymous: anonymous(procfs, pid)? })
    }

    /// Whether the image is still what it was. What cannot be compared has changed.
    pub(super) fn holds(&self, procfs: &Procfs, image: &Image) -> bool {
        let pid = image.event.process.pid as i32;
        let same = |was: &stack::Bytes| memory::read(pid, was.base, was.bytes.len()).is_ok_and(|now| now == was.bytes);
        Registers::read(pid).is_ok_and(|now| now == image.registers)
            && same(&image.stack)
            && same(&self.code)
            && anonymous(procfs, pid).is_ok_and(|now| now == self.anonymous)
            && executable_holds(procfs, &image.event)
            && script_holds(procfs, &image.event)
    }
}

fn anonymous(procfs: &Procfs, pid: i32) -> io::Result<u64> {
    procfs.process(pid)?.anonymous_kib()
}

fn executable_holds(procfs: &Procfs, event: &Event) -> bool {
    let status = procfs.process(event.process.pid as i32).and_then(|p| p.follow_status("exe"));
    status.is_ok_and(|s| s.id == event.executable.id)
}

/// Whether the script of an event is still the text that was judged.
pub(super) fn script_holds(procfs: &Procfs, event: &Event) -> bool {
    let Some(script) = &event.script else { return true };
    if script.digest == [0; 32] {
        // It could not be read, and was judged as such.
        return true;
    }
    let now = procfs.process(event.process.pid as i32).and_then(|process| {
        let file = lookup::resolve(&process, &script.path, "cwd", Lookup { in_root: true, ..Lookup::default() })?;
        Ok(lookup::script(procfs, &file, &script.path))
    });
    now.is_ok_and(|now| now.id == script.id && now.digest == script.digest)
}
