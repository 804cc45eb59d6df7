//! Words, strings and regular expressions of an awk program, stepped over one at a time.
//!
//! Invariant: one without its end makes the program Write.

use super::Scan;
use crate::CommandClass::{Network, Write};

impl Scan<'_> {
    pub(super) fn word(&mut self) {
        // A number ends where it can be one no longer: `1system(x)` calls.
        if self.byte(0).is_ascii_digit() || self.byte(0) == b'.' {
            while self.byte(0).is_ascii_digit() || self.byte(0) == b'.' {
                self.at += 1;
            }
            self.value = true;
            return;
        }
        let start = self.at;
        while self.byte(0).is_ascii_alphanumeric() || self.byte(0) == b'_' || self.byte(0) >= 0x80 {
            self.at += 1;
        }
        let word = &self.bytes[start..self.at];
        match word {
            b"system" | b"extension" => self.raise(Write),
            b"getline" => self.read = true,
            b"print" | b"printf" => {
                self.print = true;
                self.value = false;
                return;
            }
            b"in" | b"return" | b"else" | b"do" | b"case" | b"delete" | b"exit" | b"BEGIN" | b"END" => {
                self.value = false;
                return;
            }
            _ => {}
        }
        self.value = true;
    }

    pub(super) fn string(&mut self) {
        let start = self.at;
        self.at += 1;
        while self.at < self.bytes.len() && self.byte(0) != b'"' {
            self.at += if self.byte(0) == b'\\' { 2 } else { 1 };
        }
        if self.at >= self.bytes.len() {
            self.raise(Write);
            self.at = self.bytes.len();
            return;
        }
        let text = &self.bytes[start..self.at];
        self.paths |= text.contains(&b'/') || text.windows(2).any(|pair| pair[0] == b'\\' && (pair[1].is_ascii_digit() || pair[1] == b'x'));
        if connects(text) {
            self.raise(Network);
        }
        self.at += 1;
        self.string = start..self.at;
        self.value = true;
    }

    /// `/…/`, with brackets in which a slash is plain. To an awk to which it is not, such a bracket is left open: it refuses
    /// the program before anything runs. Where the end of the bracket is doubtful, nothing after it can be trusted.
    pub(super) fn regex(&mut self) {
        self.at += 1;
        let (mut bracket, mut slash, mut unsure) = (false, false, false);
        loop {
            match self.byte(0) {
                0 | b'\n' => {
                    self.raise(Write);
                    return;
                }
                b'\\' => {
                    self.at += 1;
                    unsure |= bracket && self.byte(0) == b']';
                }
                b'[' if !bracket => {
                    bracket = true;
                    if self.byte(1) == b'^' {
                        self.at += 1;
                    }
                    if self.byte(1) == b']' {
                        self.at += 1;
                    }
                }
                b'[' if self.byte(1) == b':' => {
                    while self.at < self.bytes.len() && !(self.byte(0) == b':' && self.byte(1) == b']') {
                        unsure |= matches!(self.byte(0), b'/' | b'\\');
                        slash |= self.byte(0) == b'/';
                        self.at += 1;
                    }
                    self.at += 1;
                }
                b'[' => unsure = true,
                b']' => bracket = false,
                b'/' if bracket => slash = true,
                b'/' => break,
                _ => {}
            }
            self.at += 1;
        }
        if slash && unsure {
            self.raise(Write);
        }
        self.at += 1;
        self.value = true;
    }
}

/// The text of a string, escapes taken out, is or holds what gawk takes for a connection.
pub(in crate::classify) fn connects(text: &[u8]) -> bool {
    let has = |text: &[u8]| text.windows(5).any(|window| window == b"/inet");
    if !text.contains(&b'\\') {
        return has(text);
    }
    let mut plain = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte != b'\\' {
            plain.push(byte);
            continue;
        }
        let (radix, skip, most) = if after.first() == Some(&b'x') { (16, 1, 2) } else { (8, 0, 3) };
        let digits = after.iter().skip(skip).take(most).take_while(|byte| char::from(**byte).is_digit(radix)).count();
        let value = after.iter().skip(skip).take(digits).fold(0, |sum, byte| sum * radix + char::from(*byte).to_digit(radix).unwrap_or(0));
        if digits > 0 {
            plain.push(value as u8);
            rest = &after[skip + digits..];
        }
    }
    has(&plain)
}
