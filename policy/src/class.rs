//! The five command classes and their order.
//!
//! Invariant: classes are combined only by `max`, so nothing in this crate can lower one. There is deliberately no
//! function that takes a class and returns a smaller one.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// What a command may do, from the least to the most that a person must worry about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CommandClass {
    /// Only observes.
    Read,
    /// Changes files or state, or is unknown.
    Write,
    /// Talks to another host.
    Network,
    /// Adds or updates software.
    Install,
    /// Cannot be taken back.
    Destructive,
}

impl CommandClass {
    /// All classes in ascending order.
    pub const ALL: [Self; 5] = [Self::Read, Self::Write, Self::Network, Self::Install, Self::Destructive];

    /// The lower-case name used in configuration, on the wire and on screen.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Network => "network",
            Self::Install => "install",
            Self::Destructive => "destructive",
        }
    }

    pub(crate) const fn index(self) -> usize {
        self as usize
    }
}

impl fmt::Display for CommandClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A word that names no class.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no class (read, write, network, install, destructive)")]
pub struct UnknownClass(pub String);

impl FromStr for CommandClass {
    type Err = UnknownClass;

    fn from_str(text: &str) -> Result<Self, UnknownClass> {
        let word = text.trim();
        Self::ALL.into_iter().find(|class| class.as_str().eq_ignore_ascii_case(word)).ok_or_else(|| UnknownClass(word.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_and_names_agree() {
        for pair in CommandClass::ALL.windows(2) {
            assert!(pair[0] < pair[1]);
        }
        for class in CommandClass::ALL {
            assert_eq!(class.to_string().parse(), Ok(class));
        }
        assert_eq!(" Network ".parse(), Ok(CommandClass::Network));
        assert!("harmless".parse::<CommandClass>().is_err());
    }
}
