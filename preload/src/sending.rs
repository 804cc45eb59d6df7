//! Sending pieces that stay where they are.
//!
//! Invariant: bounded stack, whatever is sent: a few pieces at a time go to the kernel, which reads them from the caller's
//! memory. Counts what went, since another thread may change the words meanwhile. Refuses to wait on a socket that does not.

use crate::sys::{self, Descriptor, Errno, Piece};

/// Pieces for one call of sendmsg: lengths and bytes.
const BATCH: usize = 32;

/// Bytes on their way.
#[derive(Debug)]
pub struct Sending<'a> {
    socket: &'a Descriptor,
    head: &'a [u8],
    sent: usize,
    count: usize,
    lengths: [[u8; 4]; BATCH],
    words: [&'a [u8]; BATCH],
}

impl<'a> Sending<'a> {
    /// Over `socket`, to begin with `head` as it is.
    pub const fn over(socket: &'a Descriptor, head: &'a [u8]) -> Self {
        Self { socket, head, sent: 0, count: 0, lengths: [[0; 4]; BATCH], words: [&[]; BATCH] }
    }

    /// Adds a word behind its length.
    pub fn add(&mut self, word: &'a [u8]) -> Result<(), Errno> {
        if self.count >= BATCH {
            self.flush()?;
        }
        let length = u32::try_from(word.len()).map_err(|_| Errno(sys::E2BIG))?;
        if let (Some(l), Some(w)) = (self.lengths.get_mut(self.count), self.words.get_mut(self.count)) {
            (*l, *w) = (length.to_le_bytes(), word);
            self.count = self.count.saturating_add(1);
        }
        Ok(())
    }

    /// Sends what was added; how many bytes went in all.
    pub fn flush(&mut self) -> Result<usize, Errno> {
        const ALL: usize = 1 + BATCH * 2;
        let mut pieces = [Piece::EMPTY; ALL];
        let (lengths, words) = (self.lengths.iter(), self.words.iter());
        let words = lengths.zip(words).take(self.count).flat_map(|(l, w)| [Piece::of(l), Piece::of(w)]);
        let filled = core::iter::once(Piece::of(self.head)).chain(words);
        pieces.iter_mut().zip(filled).for_each(|(place, piece)| *place = piece);
        let used = pieces.get_mut(..self.count.saturating_mul(2).saturating_add(1)).unwrap_or_default();
        self.sent = self.sent.saturating_add(all(self.socket, used)?);
        (self.head, self.count) = (&[], 0);
        Ok(self.sent)
    }
}

/// Sends all of the pieces, however little the kernel takes at a time.
fn all(socket: &Descriptor, pieces: &mut [Piece]) -> Result<usize, Errno> {
    let mut sent = 0_usize;
    let mut done = 0_usize;
    while let Some(rest) = pieces.get_mut(done..).filter(|rest| !rest.is_empty()) {
        let mut went = sys::send(socket, rest)?;
        sent = sent.saturating_add(went);
        for piece in rest {
            if went < piece.length() {
                *piece = piece.after(went);
                break;
            }
            went = went.saturating_sub(piece.length());
            done = done.saturating_add(1);
        }
    }
    Ok(sent)
}
