//! Characters to words: blanks, comments, continuation lines, quotes.
//!
//! Invariant: the position only grows, and every loop either moves it or ends.

use super::MAX_NODES;
use super::ast::{Piece, Word};
use super::parser::Parser;
use crate::steps::step;

/// A byte that ends an unquoted word.
pub(super) const fn is_meta(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'<' | b'>' | b'(' | b')')
}

const fn is_plain(byte: u8) -> bool {
    !is_meta(byte) && !matches!(byte, b'\'' | b'"' | b'\\' | b'$' | b'`')
}

impl<'a> Parser<'a> {
    pub(super) fn at_end(&self) -> bool {
        self.pos >= self.end
    }

    /// The byte at `index`, 0 past the end.
    pub(super) fn byte(&self, index: usize) -> u8 {
        step(1);
        if index < self.end { self.src.as_bytes()[index] } else { 0 }
    }

    fn past_continuation(&self, mut index: usize) -> usize {
        while self.byte(index) == b'\\' && self.byte(index + 1) == b'\n' {
            index += 2;
        }
        index
    }

    /// The current byte, after continuation lines, which the shell removes even inside operators.
    pub(super) fn peek(&mut self) -> u8 {
        self.pos = self.past_continuation(self.pos);
        self.byte(self.pos)
    }

    pub(super) fn second(&self) -> u8 {
        self.byte(self.past_continuation(self.pos + 1))
    }

    pub(super) fn third(&self) -> u8 {
        self.byte(self.past_continuation(self.past_continuation(self.pos + 1) + 1))
    }

    /// Takes one byte (a syntax character, always ASCII).
    pub(super) fn bump(&mut self) {
        self.pos = (self.past_continuation(self.pos) + 1).min(self.end);
    }

    pub(super) fn count(&mut self) {
        self.nodes += 1;
        if self.nodes > MAX_NODES {
            self.capped = true;
            self.note("longer than the classifier reads");
            self.pos = self.end;
        }
    }

    /// Blanks and comments, not newlines.
    pub(super) fn blanks(&mut self) {
        loop {
            match self.peek() {
                b' ' | b'\t' => self.pos += 1,
                b'#' => {
                    self.disputed.comment = true;
                    while !self.at_end() && self.byte(self.pos) != b'\n' {
                        self.pos += 1;
                    }
                }
                _ => return,
            }
        }
    }

    /// Blanks, comments and newlines.
    pub(super) fn spaces(&mut self) {
        loop {
            self.blanks();
            if self.byte(self.pos) != b'\n' || self.at_end() {
                return;
            }
            self.newline();
        }
    }

    /// An unquoted run that could be a reserved word: plain bytes up to a metacharacter.
    pub(super) fn keyword(&mut self) -> &'a str {
        self.peek();
        let start = self.pos;
        let mut at = start;
        while at < self.end && at - start < 12 && is_plain(self.byte(at)) {
            at += 1;
        }
        let src = self.src;
        if at > start && (at >= self.end || is_meta(self.byte(at))) { &src[start..at] } else { "" }
    }

    /// One word; empty when none begins here.
    pub(super) fn word(&mut self) -> Option<Word> {
        let mut word = Word::default();
        let start = self.pos;
        self.word_into(&mut word);
        if self.pos == start && word.pieces.is_empty() {
            return None;
        }
        self.count();
        (!word.pieces.is_empty()).then_some(word)
    }

    fn word_into(&mut self, word: &mut Word) {
        loop {
            let byte = self.peek();
            if self.at_end() {
                return;
            }
            match byte {
                b'<' | b'>' if self.second() == b'(' => self.process(word),
                byte if is_meta(byte) => return,
                b'\'' => self.single_quoted(word),
                b'"' => {
                    self.bump();
                    self.double_quoted(word, true);
                }
                b'\\' => {
                    self.pos += 1;
                    let length = self.src[self.pos..self.end].chars().next().map_or(0, char::len_utf8);
                    word.push_text(&self.src[self.pos..self.pos + length], true);
                    self.pos += length;
                }
                b'$' => self.dollar(word, false),
                b'`' => self.backticks(word, false, true),
                _ => {
                    let start = self.pos;
                    while self.pos < self.end && is_plain(self.byte(self.pos)) {
                        self.pos += 1;
                    }
                    let src = self.src;
                    word.push_text(&src[start..self.pos], false);
                }
            }
        }
    }

    fn single_quoted(&mut self, word: &mut Word) {
        self.pos += 1;
        let start = self.pos;
        while !self.at_end() && self.byte(self.pos) != b'\'' {
            self.pos += 1;
        }
        let src = self.src;
        word.push_text(&src[start..self.pos], true);
        if self.at_end() {
            self.note("quote without its end");
        }
        self.pos = (self.pos + 1).min(self.end);
    }

    /// The inside of double quotes, up to the quote, or up to the end for the body of a here-document.
    pub(super) fn double_quoted(&mut self, word: &mut Word, closed: bool) {
        word.push_text("", true);
        loop {
            let byte = self.peek();
            if self.at_end() {
                if closed {
                    self.note("quote without its end");
                }
                return;
            }
            match byte {
                b'"' if closed => {
                    self.pos += 1;
                    return;
                }
                b'\\' => {
                    let next = self.byte(self.pos + 1);
                    if matches!(next, b'$' | b'`' | b'\\') || (closed && next == b'"') {
                        word.push_text(&self.src[self.pos + 1..self.pos + 2], true);
                        self.pos += 2;
                    } else {
                        word.push_text("\\", true);
                        self.pos += 1;
                    }
                }
                b'$' => self.dollar(word, true),
                b'`' => self.backticks(word, true, closed),
                _ => {
                    let start = self.pos;
                    while self.pos < self.end
                        && !matches!(self.byte(self.pos), b'\\' | b'$' | b'`')
                        && !(closed && self.byte(self.pos) == b'"')
                    {
                        self.pos += 1;
                    }
                    let src = self.src;
                    word.push_text(&src[start..self.pos], true);
                }
            }
        }
    }

    /// `<(…)` or `>(…)`.
    fn process(&mut self, word: &mut Word) {
        if !self.enter() {
            word.push_text("<", false);
            self.bump();
            self.bump();
            return;
        }
        self.bump();
        self.bump();
        let body = self.nested_list();
        word.pieces.push(Piece::Process { body: body.into() });
        self.leave();
    }
}
