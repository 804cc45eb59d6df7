//! Which file systems can be read without waiting for somebody.
//!
//! Invariant: a file system is called quick only if it lives on a block device, or is of a kind that answers from memory
//! or from one; everything else (FUSE, network, what is not known yet) is read off the gate's thread. A program in the
//! tree can serve a file system itself and never answer.

use std::collections::HashMap;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Mutex;

/// Kinds that are quick although they have no block device of their own: tmpfs, ramfs, overlay, btrfs, zfs, bcachefs
/// (linux/magic.h).
const QUICK: [i64; 6] = [0x0102_1994, 0x8584_58f6, 0x794c_7630, 0x9123_683e, 0x2fc1_2fc1, 0xca45_1a4e];

/// What was learnt about devices.
#[derive(Debug, Default)]
pub struct Devices(Mutex<HashMap<u64, bool>>);

impl Devices {
    /// Whether files of this device (as st_dev) may be read at once.
    pub fn is_quick(&self, dev: u64) -> bool {
        libc::major(dev) != 0 || self.0.lock().is_ok_and(|known| known.get(&dev) == Some(&true))
    }

    /// Whether it was ever asked.
    pub fn is_known(&self, dev: u64) -> bool {
        libc::major(dev) != 0 || self.0.lock().is_ok_and(|known| known.contains_key(&dev))
    }

    /// Asks the file system of an open file what it is. May wait; called off the gate's thread.
    ///
    /// # Errors
    /// Those of fstatfs(2).
    pub fn learn(&self, file: &OwnedFd, dev: u64) -> io::Result<()> {
        let kind = crate::sys::path::file_system(file)?;
        if let Ok(mut known) = self.0.lock() {
            known.insert(dev, QUICK.contains(&kind));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::path;

    #[test]
    fn only_what_was_learnt_to_be_quick_is() -> io::Result<()> {
        let devices = Devices::default();
        let proc: OwnedFd = std::fs::File::open("/proc/self/status")?.into();
        let dev = path::status(&proc)?.id.dev;
        assert!(!devices.is_quick(dev));
        devices.learn(&proc, dev)?;
        assert!(!devices.is_quick(dev), "procfs is none of the quick kinds");
        assert!(devices.is_quick(libc::makedev(8, 1)));
        Ok(())
    }
}
