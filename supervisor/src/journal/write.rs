//! Appending to a journal.
//!
//! Invariant: `append` returns `Ok` only when the whole frame is in the file, and the file in a folder. Refuses to go on
//! behind a torn frame: after a short write the file is cut back to the last whole frame, and where that fails nothing more is
//! written.

use super::{Key, MAGIC, link};
use crate::sys::random;
use stayexec_protocol::{Record, Wire};
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

/// An open journal.
#[derive(Debug)]
pub struct Journal {
    file: File,
    key: Key,
    previous: [u8; 32],
    sequence: u64,
    length: u64,
    /// A torn frame could not be cut off: the file must not grow any more.
    torn: bool,
}

impl Journal {
    /// Creates the journal at `path`, readable by its owner alone.
    ///
    /// # Errors
    /// Whatever open(2) or write(2) say; also where the file exists.
    pub fn create(path: &Path, key: Key) -> io::Result<Self> {
        let mut file = OpenOptions::new().append(true).create_new(true).mode(0o600).open(path)?;
        file.write_all(MAGIC)?;
        Ok(Self { file, key, previous: [0; 32], sequence: 0, length: MAGIC.len() as u64, torn: false })
    }

    /// Appends one record and returns its sequence number, counted from 0.
    ///
    /// # Errors
    /// Whatever write(2) says; a short write counts as a full disk. The record is then not in the journal.
    pub fn append(&mut self, record: &Record) -> io::Result<u64> {
        if self.torn {
            self.cut_back()?;
        }
        let mut frame = vec![0; 4];
        frame.extend_from_slice(&self.sequence.to_le_bytes());
        record.put(&mut frame);
        let body = u32::try_from(frame.len() - 12).map_err(io::Error::other)?;
        frame.splice(..4, body.to_le_bytes());
        let mac = link(&self.key, &self.previous, &frame);
        frame.extend_from_slice(&mac);
        if self.file.metadata()?.nlink() == 0 {
            return Err(io::Error::new(io::ErrorKind::NotFound, "the journal was removed"));
        }
        self.write_once(&frame)?;
        self.previous = mac;
        self.length += frame.len() as u64;
        self.sequence += 1;
        Ok(self.sequence - 1)
    }

    /// Waits until everything appended is on the disk.
    ///
    /// # Errors
    /// Whatever fdatasync(2) says.
    pub fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
    }

    fn write_once(&mut self, frame: &[u8]) -> io::Result<()> {
        loop {
            match self.file.write(frame) {
                Ok(n) if n == frame.len() => return Ok(()),
                Ok(_) => {
                    self.torn = true;
                    self.cut_back()?;
                    return Err(io::ErrorKind::StorageFull.into());
                }
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
    }

    fn cut_back(&mut self) -> io::Result<()> {
        self.file.set_len(self.length)?;
        self.torn = false;
        Ok(())
    }
}

/// The chain's key at `path`; made from the kernel's random numbers where there is none.
///
/// # Errors
/// Whatever the file system says, or a key of a wrong length.
pub fn load_or_make_key(path: &Path) -> io::Result<Key> {
    let mut key = [0; 32];
    match File::open(path) {
        Ok(mut file) => {
            file.read_exact(&mut key)?;
            return Ok(key);
        }
        Err(e) if e.kind() == io::ErrorKind::NotFound => {}
        Err(e) => return Err(e),
    }
    key = random::bytes()?;
    // Two first runs may meet here: each writes a file of its own, the link decides, the loser reads the winner's.
    let own = path.with_extension(format!("new-{}", std::process::id()));
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(&own)?.write_all(&key)?;
    let linked = std::fs::hard_link(&own, path);
    std::fs::remove_file(&own)?;
    match linked {
        Ok(()) => Ok(key),
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {
            File::open(path)?.read_exact(&mut key)?;
            Ok(key)
        }
        Err(e) => Err(e),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stayexec_protocol::Ended;

    #[test]
    fn a_journal_without_a_name_takes_no_record() -> io::Result<()> {
        let dir = tempfile::tempdir()?;
        let path = dir.path().join("journal");
        let mut journal = Journal::create(&path, [1; 32])?;
        let record = Record::Ended(Ended { time: 0, status: 0 });
        journal.append(&record)?;
        std::fs::remove_file(&path)?;
        assert!(journal.append(&record).is_err());
        Ok(())
    }
}
