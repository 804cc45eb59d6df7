//! Named sets of options.

use super::{Origin, Require};

/// A named set of options.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Preset {
    /// Nobody there: unattended, require verify, fail on a denial.
    Ci,
    /// The defaults.
    Dev,
}

impl Preset {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ci => "ci",
            Self::Dev => "dev",
        }
    }

    /// The origin that it sets.
    pub const fn origin(self) -> Option<Origin> {
        match self {
            Self::Ci => Some(Origin::Unattended),
            Self::Dev => None,
        }
    }

    /// The least mode that it sets.
    pub const fn require(self) -> Option<Require> {
        match self {
            Self::Ci => Some(Require::Verify),
            Self::Dev => None,
        }
    }

    /// Whether a denial makes the run fail.
    pub const fn fail_on_denied(self) -> bool {
        matches!(self, Self::Ci)
    }
}
