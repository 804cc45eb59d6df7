//! `$'…'`: quoted text with escapes.
//!
//! What is no text, or ends in other shells where it does not end here, is noted as opaque.

use super::ast::Word;
use super::parser::Parser;
use crate::steps::step;

impl Parser<'_> {
    /// `$'…'`. A quote behind a backslash ends the string in some shells and not in others: opaque.
    pub(super) fn ansi_quoted(&mut self, word: &mut Word) {
        self.peek();
        self.pos += 1;
        let start = self.pos;
        let bytes = self.src.as_bytes();
        while self.pos < self.end && bytes[self.pos] != b'\'' {
            step(1);
            if bytes[self.pos] == b'\\' {
                if self.byte(self.pos + 1) == b'\'' {
                    self.note("a quote inside $'…'");
                }
                self.pos += 1;
            }
            self.pos += 1;
        }
        self.pos = self.pos.min(self.end);
        let src = self.src;
        // A backslash may have stepped into a character of several bytes; then the end is inside it.
        let mut stop = self.pos;
        while !src.is_char_boundary(stop) {
            stop += 1;
        }
        self.pos = stop;
        if self.at_end() {
            self.note("quote without its end");
        }
        match ansi_text(&src[start..stop.min(self.end)]) {
            // A NUL alone is the empty string, and none that follows is lost.
            _ if matches!(&src[start..stop.min(self.end)], "\\0" | "\\00" | "\\000" | "\\x00") => word.push_text("", true),
            Some(text) => word.push_text(&text, true),
            None => {
                self.note("an escape in $'…' that is not text");
                word.push_text("\u{fffd}", true);
            }
        }
        self.pos = (self.pos + 1).min(self.end);
    }
}

/// The text of `$'…'`.
fn ansi_text(raw: &str) -> Option<String> {
    let mut out = String::with_capacity(raw.len());
    let mut chars = raw.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        let code = |chars: &mut std::iter::Peekable<std::str::Chars<'_>>, radix: u32, most: usize, first: u32| {
            let mut value = first;
            let mut taken = 0;
            while taken < most
                && let Some(digit) = chars.peek().and_then(|c| c.to_digit(radix))
            {
                value = value * radix + digit;
                taken += 1;
                chars.next();
            }
            value
        };
        match chars.next()? {
            'a' => out.push('\x07'),
            'b' => out.push('\x08'),
            'e' | 'E' => out.push('\x1b'),
            'f' => out.push('\x0c'),
            'n' => out.push('\n'),
            'r' => out.push('\r'),
            't' => out.push('\t'),
            'v' => out.push('\x0b'),
            c @ ('\\' | '\'' | '"' | '?') => out.push(c),
            'x' => push_code(&mut out, code(&mut chars, 16, 2, 0))?,
            'u' => push_code(&mut out, code(&mut chars, 16, 4, 0))?,
            'U' => push_code(&mut out, code(&mut chars, 16, 8, 0))?,
            // Of three digits a shell may take the low eight bits.
            c @ '0'..='7' => push_code(&mut out, Some(code(&mut chars, 8, 2, c.to_digit(8)?)).filter(|&value| value <= 0o377)?)?,
            'c' => return None,
            c => {
                out.push('\\');
                out.push(c);
            }
        }
    }
    Some(out)
}

/// A NUL would end the string, a byte above ASCII is half a character: neither is text that can be judged.
fn push_code(out: &mut String, value: u32) -> Option<()> {
    if value == 0 || (0x80..=0xff).contains(&value) {
        return None;
    }
    out.push(char::from_u32(value)?);
    Some(())
}
