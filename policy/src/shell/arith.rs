//! Arithmetic: `$((…))`, `((…))`, `$[…]`.
//!
//! What it computes is of no interest; what runs inside is. Text that is no plain arithmetic is opaque, since another
//! shell, or the same one after a failed parse, runs it as commands.

use super::ast::{Piece, Word};
use super::parser::Parser;
use crate::steps::step;

/// Bytes looked at to tell `((` from `( (`, for one text.
const PRESCAN: usize = 1 << 20;

impl Parser<'_> {
    /// At `offset` bytes from here stand two opening parentheses: does their partner stand as `))`?
    pub(super) fn is_arithmetic(&mut self, offset: usize) -> bool {
        let bytes = self.src.as_bytes();
        let mut at = self.pos + offset;
        let mut open = 0_usize;
        while at < self.end && self.prescanned < PRESCAN {
            self.prescanned += 1;
            step(1);
            match bytes[at] {
                b'\\' => at += 1,
                quote @ (b'"' | b'\'') => {
                    at += 1;
                    while at < self.end && bytes[at] != quote && self.prescanned < PRESCAN {
                        self.prescanned += 1;
                        step(1);
                        at += if bytes[at] == b'\\' && quote == b'"' { 2 } else { 1 };
                    }
                }
                b'(' => open += 1,
                b')' if open == 2 => return self.byte(at + 1) == b')',
                b')' => open = open.saturating_sub(1),
                _ => {}
            }
            at += 1;
        }
        self.note("parentheses without their end");
        false
    }

    /// `((…))` with the position on the first parenthesis; the number goes into `word`.
    pub(super) fn arithmetic_expansion(&mut self, word: &mut Word) {
        self.arithmetic(word, false);
    }

    /// With `several`, expressions may stand in a row behind semicolons.
    pub(super) fn arithmetic(&mut self, word: &mut Word, several: bool) {
        if !self.enter() {
            self.bump();
            word.push_text("((", true);
            return;
        }
        self.bump();
        self.bump();
        self.arithmetic_text(word, b')', several);
        if self.peek() == b')' {
            self.bump();
        } else {
            self.note("arithmetic without its end");
        }
        self.leave();
    }

    pub(super) fn bracket_arithmetic(&mut self, word: &mut Word) {
        if !self.enter() {
            self.bump();
            return;
        }
        self.bump();
        self.arithmetic_text(word, b']', false);
        self.leave();
    }

    fn arithmetic_text(&mut self, word: &mut Word, closer: u8, several: bool) {
        let mut inner = Word::default();
        let mut open = 0_usize;
        // Two operands in a row are a command's words, not arithmetic.
        let mut after_operand = false;
        let mut gap = false;
        loop {
            let byte = self.peek();
            if self.at_end() {
                self.note("arithmetic without its end");
                break;
            }
            match byte {
                _ if byte == closer && open == 0 => {
                    self.pos += 1;
                    break;
                }
                b'(' | b'[' => {
                    open += 1;
                    self.plain(&mut inner);
                    after_operand = false;
                }
                b')' | b']' => {
                    open = open.saturating_sub(1);
                    self.plain(&mut inner);
                    after_operand = true;
                    gap = false;
                }
                b'$' => {
                    self.dollar(&mut inner, true);
                    after_operand = true;
                    gap = false;
                }
                b'`' => {
                    self.backticks(&mut inner, true, false);
                    after_operand = true;
                    gap = false;
                }
                b'"' => {
                    self.pos += 1;
                    self.double_quoted(&mut inner, true);
                    after_operand = true;
                    gap = false;
                }
                b' ' | b'\t' | b'\n' => {
                    gap = after_operand;
                    self.plain(&mut inner);
                }
                byte if byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'#' | b'@' | b'.') => {
                    if gap && after_operand {
                        self.note("text in (( )) that is no arithmetic");
                    }
                    let start = self.pos;
                    while self.byte(self.pos).is_ascii_alphanumeric() || matches!(self.byte(self.pos), b'_' | b'#' | b'@' | b'.') {
                        self.pos += 1;
                    }
                    inner.push_text(&self.src[start..self.pos], false);
                    after_operand = true;
                    gap = false;
                }
                b'+' | b'-' | b'*' | b'/' | b'%' | b'=' | b'<' | b'>' | b'!' | b'&' | b'|' | b'^' | b'~' | b'?' | b':' | b',' => {
                    after_operand = false;
                    gap = false;
                    self.plain(&mut inner);
                }
                b';' if several => {
                    after_operand = false;
                    gap = false;
                    self.plain(&mut inner);
                }
                _ => {
                    self.note("text in (( )) that is no arithmetic");
                    let length = self.src[self.pos..self.end].chars().next().map_or(1, char::len_utf8);
                    self.pos += length;
                }
            }
        }
        word.pieces.push(Piece::Number);
        word.pieces.push(Piece::Evaluated { word: inner, array: None });
    }

    /// One byte of text.
    fn plain(&mut self, inner: &mut Word) {
        inner.push_text(&self.src[self.pos..=self.pos], false);
        self.pos += 1;
    }
}
