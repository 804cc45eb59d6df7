//! How long a question waits: a number and a unit.
//!
//! Invariant: between one second and a week. Refuses a number without a unit, and zero.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// A length of time in whole seconds, as configuration and command line write it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Deadline(u64);

const LONGEST: u64 = 7 * 24 * 3600;

impl Deadline {
    /// Ten minutes.
    pub const DEFAULT: Self = Self(600);

    /// As a duration.
    pub const fn duration(self) -> Duration {
        Duration::from_secs(self.0)
    }
}

impl FromStr for Deadline {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is no length of time; write a number and s, m, h or d, as in 90s or 10m, up to 7d");
        let text_ref = text.trim();
        let at = text_ref.find(|c: char| !c.is_ascii_digit()).ok_or_else(wrong)?;
        let (number, unit) = text_ref.split_at(at);
        let unit: u64 = match unit {
            "s" => 1,
            "m" => 60,
            "h" => 3600,
            "d" => 24 * 3600,
            _ => return Err(wrong()),
        };
        let seconds = number.parse::<u64>().ok().and_then(|n| n.checked_mul(unit)).ok_or_else(wrong)?;
        if (1..=LONGEST).contains(&seconds) { Ok(Self(seconds)) } else { Err(wrong()) }
    }
}

impl TryFrom<String> for Deadline {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Deadline> for String {
    fn from(deadline: Deadline) -> Self {
        deadline.to_string()
    }
}

impl fmt::Display for Deadline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (unit, seconds) in [("d", 24 * 3600), ("h", 3600), ("m", 60)] {
            if self.0.is_multiple_of(seconds) {
                return write!(f, "{}{unit}", self.0 / seconds);
            }
        }
        write!(f, "{}s", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_with_units_only() {
        for (text, shown) in [("90s", "90s"), ("10m", "10m"), ("60m", "1h"), ("7d", "7d")] {
            assert_eq!(text.parse::<Deadline>().map(|d| d.to_string()).as_deref(), Ok(shown));
        }
        for text in ["", "10", "m", "0s", "8d", "-1s", "1.5h", "99999999999999999999s", "10 m"] {
            assert!(text.parse::<Deadline>().is_err(), "{text}");
        }
    }
}
