//! Where a value comes from.
//!
//! Invariant: every resolved value carries its source; there is no value without one.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

/// Where a value comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// Nobody set it.
    Default,
    /// A file and the line in it, counted from 1.
    File(Arc<PathBuf>, usize),
    /// A variable of the environment.
    Variable(&'static str),
    /// An option of the command line.
    Flag(&'static str),
    /// A preset named on the command line.
    Preset(&'static str),
}

impl Source {
    /// A person typed it for this run.
    pub fn explicit(&self) -> bool {
        matches!(self, Self::Variable(_) | Self::Flag(_) | Self::Preset(_))
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File(path, line) => write!(f, "{}:{line}", path.display()),
            Self::Variable(name) | Self::Flag(name) => f.write_str(name),
            Self::Preset(name) => write!(f, "--preset {name}"),
        }
    }
}

/// A value with its source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sourced<T> {
    /// The value.
    pub value: T,
    /// Where it comes from.
    pub source: Source,
}

impl<T> Sourced<T> {
    /// A value and its source.
    pub fn new(value: T, source: Source) -> Self {
        Self { value, source }
    }

    /// A value that nobody set.
    pub fn default(value: T) -> Self {
        Self::new(value, Source::Default)
    }

    /// The same source with another value.
    pub fn map<U>(self, with: impl FnOnce(T) -> U) -> Sourced<U> {
        Sourced { value: with(self.value), source: self.source }
    }
}
