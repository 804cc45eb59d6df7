//! The C strings and vectors of a caller.
//!
//! Invariant: read where they lie, never copied, never written. A caller that hands over an address that is not mapped
//! crashes here as it would in the C library's own search.

use core::ffi::{CStr, c_char};

/// A C string, or null.
pub type Text = *const c_char;
/// A null-terminated vector of C strings, or null.
pub type Vector = *const Text;

/// The bytes of a C string; none for null.
///
/// # Safety
/// `text` is null or a C string that stays as it is meanwhile.
pub unsafe fn bytes<'a>(text: Text) -> &'a [u8] {
    if text.is_null() {
        return &[];
    }
    // SAFETY: not null, and the caller's promise.
    unsafe { CStr::from_ptr(text) }.to_bytes()
}

/// The entries of a vector; none for null.
#[derive(Debug, Clone, Copy)]
pub struct Entries(Vector);

impl Entries {
    /// The entries of `vector`.
    ///
    /// # Safety
    /// `vector` is null or a null-terminated vector that stays as it is while the entries are used.
    pub const unsafe fn of(vector: Vector) -> Self {
        Self(vector)
    }
}

impl Iterator for Entries {
    type Item = Text;

    fn next(&mut self) -> Option<Text> {
        if self.0.is_null() {
            return None;
        }
        // SAFETY: not null, and not past the terminating null: the cursor stops there.
        let entry = unsafe { *self.0 };
        if entry.is_null() {
            return None;
        }
        self.0 = self.0.wrapping_add(1);
        Some(entry)
    }
}

/// The value of `name` in an environment, as getenv(3) finds it.
///
/// # Safety
/// As [`Entries::of`], and the entries are C strings.
pub unsafe fn variable<'a>(environment: Vector, name: &[u8]) -> Option<&'a [u8]> {
    // SAFETY: the caller's promise.
    let entries = unsafe { Entries::of(environment) };
    // SAFETY: the caller's promise.
    entries.map(|entry| unsafe { bytes(entry) }).find_map(|entry| value(entry, name))
}

/// What follows `name=` in an entry.
pub fn value<'a>(entry: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    entry.strip_prefix(name)?.strip_prefix(b"=")
}
