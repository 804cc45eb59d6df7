//! Reading a journal back.
//!
//! Invariant: every record that is handed out was whole. Refuses to guess: where a frame is torn, out of order or breaks
//! the chain, reading ends with an error that names the sequence number and the offset.

use super::{Key, MAGIC, link};
use stayexec_protocol::{FRAME_LIMIT, Record, Wire, WireError};
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

/// Why a journal cannot be read further.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The file system refused.
    #[error("cannot read the journal: {0}")]
    Io(#[from] io::Error),
    /// Not a journal, or one of another version.
    #[error("this is not a journal of this version")]
    Magic,
    /// The last frame is not whole: its writer died in it, or it was cut.
    #[error("record {sequence} at byte {offset} is not whole")]
    Torn {
        /// Sequence number that the frame should have had.
        sequence: u64,
        /// Offset in the file, in bytes.
        offset: u64,
    },
    /// The chain does not hold.
    #[error("record {sequence} at byte {offset} does not follow from the records before it")]
    Chain {
        /// Sequence number that the frame should have had.
        sequence: u64,
        /// Offset in the file, in bytes.
        offset: u64,
    },
    /// The frame is whole, its content is not a record.
    #[error("record {sequence} at byte {offset} cannot be understood: {cause}")]
    Body {
        /// Its sequence number.
        sequence: u64,
        /// Offset in the file, in bytes.
        offset: u64,
        /// What is wrong with it.
        cause: WireError,
    },
}

/// A journal being read: an iterator over sequence numbers and records. At its end it may be asked again: records that
/// were appended meanwhile follow.
#[derive(Debug)]
pub struct Reading {
    file: BufReader<File>,
    key: Option<Key>,
    previous: [u8; 32],
    sequence: u64,
    offset: u64,
    ended: bool,
}

/// Opens the journal at `path`. With a key the chain is verified, without one it is passed over.
///
/// # Errors
/// [`JournalError::Io`] and [`JournalError::Magic`].
pub fn read(path: &Path, key: Option<Key>) -> Result<Reading, JournalError> {
    let mut file = BufReader::new(File::open(path)?);
    let mut magic = [0; MAGIC.len()];
    match file.read_exact(&mut magic) {
        Ok(()) if &magic == MAGIC => {}
        Ok(()) => return Err(JournalError::Magic),
        Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => return Err(JournalError::Magic),
        Err(e) => return Err(e.into()),
    }
    Ok(Reading { file, key, previous: [0; 32], sequence: 0, offset: MAGIC.len() as u64, ended: false })
}

impl Reading {
    fn next_record(&mut self) -> Result<Option<(u64, Record)>, JournalError> {
        let (sequence, offset) = (self.sequence, self.offset);
        let mut head = [0; 12];
        match fill(&mut self.file, &mut head)? {
            0 => return Ok(None),
            12 => {}
            _ => return Err(JournalError::Torn { sequence, offset }),
        }
        let [l0, l1, l2, l3, number @ ..] = head;
        let length = u32::from_le_bytes([l0, l1, l2, l3]) as usize;
        if length > FRAME_LIMIT || u64::from_le_bytes(number) != sequence {
            return Err(JournalError::Chain { sequence, offset });
        }
        let mut frame = vec![0; 12 + length];
        frame[..12].copy_from_slice(&head);
        let mut mac = [0; 32];
        if fill(&mut self.file, &mut frame[12..])? < length || fill(&mut self.file, &mut mac)? < mac.len() {
            return Err(JournalError::Torn { sequence, offset });
        }
        if self.key.is_some_and(|key| link(&key, &self.previous, &frame) != mac) {
            return Err(JournalError::Chain { sequence, offset });
        }
        let record = Record::from_bytes(&frame[12..]).map_err(|cause| JournalError::Body { sequence, offset, cause })?;
        self.previous = mac;
        self.sequence += 1;
        self.offset += (frame.len() + mac.len()) as u64;
        Ok(Some((sequence, record)))
    }
}

impl Iterator for Reading {
    type Item = Result<(u64, Record), JournalError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let next = self.next_record().transpose();
        self.ended = matches!(next, Some(Err(_)));
        next
    }
}

fn fill(from: &mut impl Read, into: &mut [u8]) -> io::Result<usize> {
    let mut got = 0;
    while got < into.len() {
        match from.read(&mut into[got..]) {
            Ok(0) => break,
            Ok(n) => got += n,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(got)
}

#[cfg(test)]
mod tests {
    use super::super::{Journal, load_or_make_key};
    use super::*;
    use stayexec_protocol::Ended;

    fn ended(status: i32) -> Record {
        Record::Ended(Ended { time: 5, status })
    }

    fn written() -> io::Result<(tempfile::TempDir, std::path::PathBuf, Key)> {
        let dir = tempfile::tempdir()?;
        let path = dir.path().join("a.journal");
        let key = load_or_make_key(&dir.path().join("key"))?;
        let mut journal = Journal::create(&path, key)?;
        for status in 0..3 {
            journal.append(&ended(status))?;
        }
        Ok((dir, path, key))
    }

    #[test]
    fn records_come_back_in_order_under_a_key_made_once() -> Result<(), JournalError> {
        let (dir, path, key) = written()?;
        assert_eq!(load_or_make_key(&dir.path().join("key"))?, key);
        let got: Vec<_> = read(&path, Some(key))?.collect::<Result<_, _>>()?;
        assert_eq!(got, [(0, ended(0)), (1, ended(1)), (2, ended(2))]);
        Ok(())
    }

    #[test]
    fn each_changed_byte_is_noticed() -> Result<(), JournalError> {
        let (_dir, path, key) = written()?;
        let whole = std::fs::read(&path)?;
        for at in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[at] ^= 1;
            std::fs::write(&path, &bytes)?;
            let noticed = read(&path, Some(key)).and_then(|r| r.collect::<Result<Vec<_>, _>>()).is_err();
            assert!(noticed, "byte {at}");
        }
        Ok(())
    }

    #[test]
    fn a_torn_end_is_no_record() -> Result<(), JournalError> {
        let (_dir, path, key) = written()?;
        let whole = std::fs::read(&path)?;
        std::fs::write(&path, &whole[..whole.len() - 1])?;
        let got: Vec<_> = read(&path, Some(key))?.collect();
        assert_eq!(got.len(), 3);
        assert!(matches!(got[2], Err(JournalError::Torn { sequence: 2, .. })));
        Ok(())
    }
}
