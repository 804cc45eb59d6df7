//! Victims and marks: what must survive, and what shows that a program ran.

use std::path::{Path, PathBuf};

/// A folder with something in it, which nobody may remove.
#[derive(Debug)]
pub struct Victim(PathBuf);

impl Victim {
    pub(crate) fn new(path: PathBuf) -> Self {
        Self(path)
    }

    /// Its path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Its path as text.
    ///
    /// # Panics
    /// Never: scenes have plain names.
    #[must_use]
    pub fn text(&self) -> &str {
        self.0.to_str().unwrap_or_else(|| panic!("{:?} is not text", self.0))
    }

    /// Asserts that nothing of it was removed.
    #[track_caller]
    pub fn expect_alive(&self) {
        assert!(self.0.join("inner/kept").exists(), "{} was removed", self.0.display());
    }

    /// Asserts that it was removed: the positive control.
    #[track_caller]
    pub fn expect_gone(&self) {
        assert!(!self.0.exists(), "{} is still there", self.0.display());
    }
}

/// A file that a program makes, or grows by one byte, when it runs.
#[derive(Debug)]
pub struct Mark(PathBuf);

impl Mark {
    pub(crate) fn new(path: PathBuf) -> Self {
        Self(path)
    }

    /// Its path as text.
    ///
    /// # Panics
    /// Never: scenes have plain names.
    #[must_use]
    pub fn text(&self) -> &str {
        self.0.to_str().unwrap_or_else(|| panic!("{:?} is not text", self.0))
    }

    /// How often it was made.
    #[must_use]
    pub fn count(&self) -> u64 {
        std::fs::metadata(&self.0).map_or(0, |m| m.len())
    }

    /// Whether it is there.
    #[must_use]
    pub fn there(&self) -> bool {
        self.0.exists()
    }

    /// Asserts that no program made it.
    #[track_caller]
    pub fn expect_none(&self) {
        assert!(!self.there(), "{} was made: a refused program ran", self.0.display());
    }

    /// Asserts that it was made: the positive control.
    #[track_caller]
    pub fn expect_made(&self) {
        assert!(self.there(), "{} was not made", self.0.display());
    }
}
