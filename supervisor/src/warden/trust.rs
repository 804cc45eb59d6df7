//! Facts about the loaded file on which the trust in its name rests.
//!
//! Invariant: each fact is looked up in the warden's own mount namespace and root, by the path that the kernel gives for
//! the image; where a look fails the fact is false. Refuses to add the facts up.

use super::devices::Devices;
use super::layers::Layers;
use crate::sys::path::{self, Lookup, Status};
use crate::sys::procfs::{ProcessDir, Procfs};
use stayexec_protocol::{Executable, FileId, Script};
use std::collections::HashMap;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::sync::{Mutex, PoisonError};

/// The warden's own view of the files, as it was when the run began.
#[derive(Debug)]
pub struct View {
    root: OwnedFd,
    /// Root directory of the launched program: device, inode and mount. The mount's id tells its namespace as well.
    launched_root: (u64, u64, u64),
    /// Start of the run by the clock of file systems, nanoseconds since the epoch.
    started: i64,
    /// Places that were looked at before.
    seen: Mutex<HashMap<(Vec<u8>, FileId), Place>>,
    /// Which file systems may be looked at.
    pub devices: Devices,
    /// How many filters a process has besides the run's own.
    pub layers: Layers,
}

/// An ELF interpreter.
#[derive(Debug, Clone)]
struct Linker {
    path: Vec<u8>,
    /// Device and inode.
    file: (u64, u64),
}

/// What the warden's own view says of a path at which a file was loaded. It holds for the whole run: the file is the same
/// one, unchanged (its ctime is part of the key), and folders that belong to root alone only root could have changed.
#[derive(Debug, Clone, Copy)]
struct Place {
    same_file: bool,
    chain_root_owned: bool,
    dated: bool,
}

/// A path as the launched program's root has it.
const HERE: Lookup = Lookup { in_root: true, one_mount: false, cached: false, no_follow: true };
/// Most places that are remembered.
const BOUND: usize = 4096;

/// Below a process's folder in /proc.
const PRELOAD: &str = "root/etc/ld.so.preload";

impl View {
    /// Takes the view, with `launched` as the process whose mount namespace counts as the run's.
    ///
    /// # Errors
    /// Whatever open(2) and statx(2) say.
    pub fn take(launched: &ProcessDir, started: i64) -> io::Result<Self> {
        let root: OwnedFd = std::fs::File::open("/")?.into();
        let launched_root = place_of(&launched.follow_status("root")?);
        let devices = Devices::take(&launched.mounts()?);
        let layers = Layers::of(launched)?;
        Ok(Self { root, launched_root, started, seen: Mutex::default(), devices, layers })
    }

    /// Facts about the image of `process`, whose first instruction is at `ip`; `here` is what [`View::is_here`] says of it.
    /// With them, the user that a set-user-id bit of its file names.
    ///
    /// # Errors
    /// Where the image's file, or the region of its first instruction, cannot be seen.
    pub fn executable(&self, process: &ProcessDir, ip: u64, here: bool) -> io::Result<(Executable, Option<u32>)> {
        let status = process.follow_status("exe")?;
        let path = process.link_text("exe")?;
        let linker_trusted = match self.linker(process, ip, &status.id)? {
            None => true,
            Some(linker) => here && self.is_untouched(&linker) && self.no_preload(process),
        };
        let set_user = (status.mode & libc::S_ISUID != 0).then_some(status.uid);
        let executable = Executable {
            root_owned: belongs_to_root(&status),
            chain_root_owned: false,
            unchanged: status.id.ctime < self.started,
            same_view: false,
            dated: false,
            linker_trusted,
            path,
            id: status.id,
        };
        Ok((executable, set_user))
    }

    /// Facts about a file that is about to be loaded for `process`. Its loader is known only where it is itself a file that
    /// was found: `loader` is that, or nothing for a static program.
    ///
    /// # Errors
    /// Where a file cannot be seen.
    pub fn executable_before(
        &self,
        procfs: &Procfs,
        process: &ProcessDir,
        file: &OwnedFd,
        loader: Result<Option<OwnedFd>, ()>,
        here: bool,
    ) -> io::Result<Executable> {
        let own = procfs.process(std::process::id() as i32)?;
        let named = |file: &OwnedFd| own.link_text(&format!("fd/{}", file.as_raw_fd()));
        let (status, path) = (path::status(file)?, named(file)?);
        let linker_trusted = match loader {
            Ok(None) => true,
            Ok(Some(loader)) => {
                let id = path::status(&loader)?.id;
                here && self.is_untouched(&Linker { path: named(&loader)?, file: (id.dev, id.ino) }) && self.no_preload(process)
            }
            Err(()) => false,
        };
        let mut executable = Executable {
            root_owned: belongs_to_root(&status),
            chain_root_owned: false,
            unchanged: status.id.ctime < self.started,
            same_view: false,
            dated: false,
            linker_trusted,
            path,
            id: status.id,
        };
        self.placed(&mut executable, here);
        Ok(executable)
    }

    /// The executable with what its place is worth. Looks at its file system only if that is quick.
    pub fn placed(&self, executable: &mut Executable, here: bool) {
        let place = self.place(&executable.path, &executable.id, here);
        executable.chain_root_owned = place.chain_root_owned;
        executable.same_view = place.same_file;
        executable.dated = place.dated;
    }

    /// The script with what its name is worth; `reference` is what it was read from.
    pub fn vouched(&self, procfs: &Procfs, script: Script, reference: &OwnedFd, here: bool) -> Script {
        let named = procfs.process(std::process::id() as i32).and_then(|own| own.link_text(&format!("fd/{}", reference.as_raw_fd())));
        let (Ok(resolved), Ok(status)) = (named, path::status(reference)) else { return script };
        let place = self.place(&resolved, &script.id, here);
        Script {
            root_owned: belongs_to_root(&status),
            chain_root_owned: place.chain_root_owned,
            unchanged: script.id.ctime < self.started,
            same_view: place.same_file,
            resolved,
            ..script
        }
    }

    fn place(&self, path: &[u8], id: &FileId, here: bool) -> Place {
        if !here || !self.devices.is_quick(id.dev) {
            // In another view the path means something else, and what it means in ours nobody asked; on a slow file system
            // looking could wait for whoever serves it. Nothing there is trusted by its name.
            return Place { same_file: false, chain_root_owned: false, dated: false };
        }
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.len() >= BOUND {
            seen.clear();
        }
        *seen.entry((path.to_vec(), id.clone())).or_insert_with(|| Place {
            same_file: self.look(path).is_some_and(|s| s.id == *id),
            chain_root_owned: self.chain_belongs_to_root(path),
            dated: self.is_dated(path),
        })
    }

    /// The image has the root and the mount namespace of the run: its paths mean what ours mean.
    pub fn is_here(&self, process: &ProcessDir) -> bool {
        process.follow_status("root").is_ok_and(|root| place_of(&root) == self.launched_root)
    }

    /// Whether its file system tells contents apart by time: one in memory has no fault at which it would.
    fn is_dated(&self, path: &[u8]) -> bool {
        const IN_MEMORY: [i64; 3] = [libc::TMPFS_MAGIC, 0x8584_58f6, libc::HUGETLBFS_MAGIC];
        path::reference(self.root.as_fd(), path, HERE)
            .and_then(|file| path::file_system(&file))
            .is_ok_and(|kind| !IN_MEMORY.contains(&kind))
    }

    fn look(&self, path: &[u8]) -> Option<Status> {
        path::status_at(self.root.as_fd(), path, true).ok()
    }

    /// The file of the image's first instruction, where that is not the executable's own: its ELF interpreter, as this very
    /// image has it mapped.
    fn linker(&self, process: &ProcessDir, ip: u64, id: &FileId) -> io::Result<Option<Linker>> {
        let Some(region) = process.region(ip)? else { return Err(io::ErrorKind::InvalidData.into()) };
        let own = (region.dev, region.ino) == (id.dev, id.ino);
        Ok((!own).then_some(Linker { path: region.path, file: (region.dev, region.ino) }))
    }

    fn is_untouched(&self, linker: &Linker) -> bool {
        let Some(status) = self.look(&linker.path) else { return false };
        let same = (status.id.dev, status.id.ino) == linker.file;
        same && belongs_to_root(&status) && status.id.ctime < self.started && self.place(&linker.path, &status.id, true).chain_root_owned
    }

    fn chain_belongs_to_root(&self, path: &[u8]) -> bool {
        let folders = path.iter().enumerate().filter(|&(_, &b)| b == b'/').map(|(at, _)| if at == 0 { &path[..1] } else { &path[..at] });
        path.starts_with(b"/") && folders.into_iter().all(|folder| self.look(folder).is_some_and(|s| belongs_to_root(&s)))
    }

    /// No library is forced into every program, or one that was there before the run.
    fn no_preload(&self, process: &ProcessDir) -> bool {
        match process.follow_status(PRELOAD) {
            Err(e) => e.raw_os_error() == Some(libc::ENOENT),
            Ok(status) => belongs_to_root(&status) && status.id.ctime < self.started,
        }
    }
}

fn place_of(root: &Status) -> (u64, u64, u64) {
    (root.id.dev, root.id.ino, root.mount)
}

/// Owned by root, and nobody else can write it.
fn belongs_to_root(status: &Status) -> bool {
    status.uid == 0 && status.mode & 0o022 == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::procfs::Procfs;

    #[test]
    fn folders_that_others_can_write_break_the_chain() -> io::Result<()> {
        let own = Procfs::open()?.process(std::process::id() as i32)?;
        let view = View::take(&own, 0)?;
        assert!(view.chain_belongs_to_root(b"/usr/bin/env"));
        assert!(!view.chain_belongs_to_root(b"/tmp/env"));
        assert!(!view.chain_belongs_to_root(b"/none/env"));
        assert!(!view.chain_belongs_to_root(b"env"));
        Ok(())
    }

    #[test]
    fn a_file_system_in_memory_dates_no_content() -> io::Result<()> {
        let view = View::take(&Procfs::open()?.process(std::process::id() as i32)?, 0)?;
        let kind = |path: &[u8]| path::reference(view.root.as_fd(), path, HERE).and_then(|file| path::file_system(&file));
        for path in [&b"/dev/shm"[..], b"/usr/bin/env", b"/tmp"] {
            assert_eq!(view.is_dated(path), kind(path)? != libc::TMPFS_MAGIC, "{}", String::from_utf8_lossy(path));
        }
        assert!(!view.is_dated(b"/none"));
        Ok(())
    }

    #[test]
    fn nothing_is_unchanged_since_the_beginning_of_time() -> io::Result<()> {
        let own = Procfs::open()?.process(std::process::id() as i32)?;
        let ip = PRELOAD.as_ptr() as u64;
        let view = View::take(&own, 0)?;
        let (mut before, _) = view.executable(&own, ip, true)?;
        view.placed(&mut before, true);
        assert!(before.same_view && before.linker_trusted && !before.unchanged);
        assert!(View::take(&own, i64::MAX)?.executable(&own, ip, true)?.0.unchanged);
        Ok(())
    }
}
