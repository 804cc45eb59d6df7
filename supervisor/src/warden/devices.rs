//! Which file systems can be read without waiting for somebody.
//!
//! Invariant: a file system is called quick only if it answers from memory, or was mounted when the run began and lives on
//! a block device or in others that did; everything else (FUSE, network, what came later) is read off the gate's thread. A
//! program in the tree can serve a file system itself and never answer, and it can put a block device or an overlay on top.

use crate::sys::procfs::Mount;
use std::collections::{HashMap, HashSet};
use std::os::fd::OwnedFd;
use std::sync::Mutex;

/// Kinds that answer from memory: tmpfs and ramfs (linux/magic.h).
const MEMORY: [i64; 2] = [0x0102_1994, 0x8584_58f6];
/// Kinds whose files show devices that mountinfo does not: btrfs, zfs, bcachefs.
const POOLS: [(i64, &str); 3] = [(0x9123_683e, "btrfs"), (0x2fc1_2fc1, "zfs"), (0xca45_1a4e, "bcachefs")];
/// Kinds without a block device of their own, by the names of mountinfo, that are quick where the run finds them.
const FOUND: [&str; 6] = ["overlay", "btrfs", "zfs", "bcachefs", "tmpfs", "ramfs"];

/// What is known about devices.
#[derive(Debug, Default)]
pub struct Devices {
    known: Mutex<HashMap<u64, bool>>,
    /// Kinds of file systems that the run found.
    kinds: HashSet<String>,
}

impl Devices {
    /// What the mounts at the beginning of the run say.
    pub fn take(mounts: &[Mount]) -> Self {
        let quick = |mount: &Mount| libc::major(mount.dev) != 0 && mount.kind != "fuseblk" || FOUND.contains(&mount.kind.as_str());
        let known = mounts.iter().filter(|mount| quick(mount)).map(|mount| (mount.dev, true)).collect();
        Self { known: Mutex::new(known), kinds: mounts.iter().map(|mount| mount.kind.clone()).collect() }
    }

    /// Whether files of this device (as st_dev) may be read at once.
    pub fn is_quick(&self, dev: u64) -> bool {
        self.known.lock().is_ok_and(|known| known.get(&dev) == Some(&true))
    }

    /// Whether it was ever asked.
    pub fn is_known(&self, dev: u64) -> bool {
        self.known.lock().is_ok_and(|known| known.contains_key(&dev))
    }

    /// Asks the file system of an open file what it is; one that does not say is slow. May wait; called off the gate's
    /// thread.
    pub fn learn(&self, file: &OwnedFd, dev: u64) {
        let kind = crate::sys::path::file_system(file).unwrap_or_default();
        let pool = || POOLS.iter().any(|(magic, name)| *magic == kind && self.kinds.contains(*name));
        let quick = MEMORY.contains(&kind) || libc::major(dev) == 0 && pool();
        if let Ok(mut known) = self.known.lock() {
            known.insert(dev, quick);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::path;

    #[test]
    fn only_what_was_found_or_answers_from_memory_is_quick() -> std::io::Result<()> {
        let found = [(8, 1, "ext4", true), (0, 40, "overlay", true), (9, 1, "fuseblk", false), (0, 41, "fuse.sshfs", false)];
        let dev = |major, minor| libc::makedev(major, minor);
        let mounts: Vec<Mount> = found.iter().map(|&(major, minor, kind, _)| Mount { dev: dev(major, minor), kind: kind.into() }).collect();
        let devices = Devices::take(&mounts);
        for (major, minor, kind, quick) in found {
            assert_eq!(devices.is_quick(dev(major, minor)), quick, "{kind}");
        }
        assert!(!devices.is_quick(dev(7, 0)), "a loop device that came later");
        for (file, quick) in [("/proc/self/status", false), ("/dev/null", true)] {
            let file: OwnedFd = std::fs::File::open(file)?.into();
            let dev = path::status(&file)?.id.dev;
            assert!(!devices.is_known(dev));
            devices.learn(&file, dev);
            assert_eq!(devices.is_quick(dev), quick);
        }
        Ok(())
    }
}
