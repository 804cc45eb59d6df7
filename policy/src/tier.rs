//! How much an agent may do on its own.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The autonomy of a run; each level has a row in the [`Matrix`](crate::Matrix).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AutonomyLevel {
    /// Reads run, everything else is refused.
    ReadOnly,
    /// Reads run, everything else is asked about.
    #[default]
    Supervised,
    /// Reads and writes run, the rest is asked about.
    Full,
}

/// The short name of [`AutonomyLevel`].
pub type Tier = AutonomyLevel;

impl AutonomyLevel {
    /// All levels, from the tightest to the loosest.
    pub const ALL: [Self; 3] = [Self::ReadOnly, Self::Supervised, Self::Full];

    /// The name used in configuration and on the command line.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ReadOnly => "readonly",
            Self::Supervised => "supervised",
            Self::Full => "full",
        }
    }

    pub(crate) const fn index(self) -> usize {
        self as usize
    }
}

impl fmt::Display for AutonomyLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A word that names no tier.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no tier (readonly, supervised, full)")]
pub struct UnknownTier(pub String);

impl FromStr for AutonomyLevel {
    type Err = UnknownTier;

    fn from_str(text: &str) -> Result<Self, UnknownTier> {
        let word = text.trim();
        Self::ALL.into_iter().find(|tier| tier.as_str().eq_ignore_ascii_case(word)).ok_or_else(|| UnknownTier(word.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip() {
        for tier in AutonomyLevel::ALL {
            assert_eq!(tier.as_str().parse(), Ok(tier));
        }
        assert_eq!(AutonomyLevel::default(), Tier::Supervised);
    }
}
