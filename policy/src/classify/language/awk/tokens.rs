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
        if text.windows(5).any(|window| window == b"/inet") {
            self.raise(Network);
        }
        self.at += 1;
        self.string = start..self.at;
        self.value = true;
    }

    /// `/…/`, with brackets in which a slash is plain. Where the end is doubtful, nothing after it can be trusted.
    pub(super) fn regex(&mut self) {
        self.at += 1;
        let mut bracket = false;
        loop {
            match self.byte(0) {
                0 | b'\n' => {
                    self.raise(Write);
                    return;
                }
                b'\\' => self.at += 1,
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
                        self.at += 1;
                    }
                    self.at += 1;
                }
                b']' => bracket = false,
                b'/' if bracket => self.raise(Write),
                b'/' => break,
                _ => {}
            }
            self.at += 1;
        }
        self.at += 1;
        self.value = true;
    }
}
