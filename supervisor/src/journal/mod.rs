//! The journal: the audit of one run, append-only and chained.
//!
//! A file is an 8-byte magic, then frames: length of the body (u32), sequence number (u64), body (a `Record`), and an
//! HMAC-SHA256 over the previous frame's HMAC and this frame. Invariant: a frame is written with one write(2) before the
//! call that it describes proceeds. Refuses to repair: a torn last frame is reported and never counted as a record.

mod read;
mod write;

pub use read::{JournalError, Reading, read};
pub use write::{Journal, load_or_make_key};

use hmac::{Hmac, Mac};
use sha2::Sha256;

/// First bytes of a journal: name and version of the format.
pub const MAGIC: &[u8; 8] = b"SXJRNL\0\x02";

/// The key of the chain, kept outside the store.
pub type Key = [u8; 32];

/// Link of one frame to the frame before it.
fn link(key: &Key, previous: &[u8; 32], head_and_body: &[u8]) -> [u8; 32] {
    // HMAC takes keys of any length, so this cannot fail; an impossible failure breaks the chain, which verification shows.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key) else { return [0; 32] };
    mac.update(previous);
    mac.update(head_and_body);
    mac.finalize().into_bytes().into()
}
