//! What the store says of a run that goes on, sealed.
//!
//! A supervisor that is started anew reads from the store which answers are on their way and what was granted. Invariant:
//! it believes only what a supervisor of this run has written, for the very row that it was written for: the secret is the
//! warden's, is in no file, and goes over the control socket alone. Refuses, as not there, whatever does not fit its seal.

use hmac::{Hmac, Mac};
use sha2::Sha256;
use std::fmt::Write as _;

/// Hexadecimal digits of a seal.
const DIGITS: usize = 64;

/// Seals and unseals the rows of one run.
#[derive(Clone)]
pub struct Seal(Hmac<Sha256>);

impl std::fmt::Debug for Seal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Seal")
    }
}

impl Seal {
    /// Under the secret of a run.
    pub fn under(secret: &[u8; 32]) -> Option<Self> {
        Hmac::new_from_slice(secret).ok().map(Self)
    }

    /// The seal of a text, for the row that `row` names.
    pub(super) fn of(&self, row: &[&str], text: &str) -> String {
        let mut digits = String::with_capacity(DIGITS);
        for byte in self.over(row, text).finalize().into_bytes() {
            // Writing into a string does not fail.
            let _ = write!(digits, "{byte:02x}");
        }
        digits
    }

    /// Whether it is the seal of this text in this row.
    pub(super) fn fits(&self, row: &[&str], text: &str, digits: &str) -> bool {
        let digit = |at: usize| u8::from_str_radix(digits.get(at..at + 2)?, 16).ok();
        let seal: Option<Vec<u8>> = (0..DIGITS).step_by(2).map(digit).collect();
        digits.len() == DIGITS && seal.is_some_and(|seal| self.over(row, text).verify_slice(&seal).is_ok())
    }

    /// The text behind its seal.
    pub(super) fn on(&self, row: &[&str], text: &str) -> String {
        self.of(row, text) + text
    }

    /// The text that stands behind its seal; `None` where it is not that of this row.
    pub(super) fn off<'t>(&self, row: &[&str], sealed: &'t str) -> Option<&'t str> {
        let (digits, text) = sealed.split_at_checked(DIGITS)?;
        self.fits(row, text, digits).then_some(text)
    }

    fn over(&self, row: &[&str], text: &str) -> Hmac<Sha256> {
        let mut mac = self.0.clone();
        for part in row.iter().chain([&text]) {
            mac.update(&(part.len() as u64).to_le_bytes());
            mac.update(part.as_bytes());
        }
        mac
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seal_holds_for_its_row_and_its_text_alone() -> Result<(), &'static str> {
        let seal = Seal::under(&[1; 32]).ok_or("no seal")?;
        let sealed = seal.on(&["waiting", "1"], "a grant");
        assert_eq!(seal.off(&["waiting", "1"], &sealed), Some("a grant"));
        assert_eq!(seal.off(&["waiting", "2"], &sealed), None);
        assert_eq!(seal.off(&["waiting1", ""], &sealed), None);
        assert_eq!(seal.off(&["waiting", "1"], &sealed.replace("grant", "giant")), None);
        for short in ["", "a grant", &"é".repeat(40)] {
            assert_eq!(seal.off(&["waiting", "1"], short), None);
        }
        assert_eq!(Seal::under(&[2; 32]).ok_or("no seal")?.off(&["waiting", "1"], &sealed), None);
        Ok(())
    }
}
