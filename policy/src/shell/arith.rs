//! Arithmetic: `$((…))`, `((…))`, `$[…]`.
//!
//! What it computes is of no interest; what runs inside is. Text that is no plain arithmetic is opaque, since another
//! shell, or the same one after a failed parse, runs it as commands.

use super::ast::{Piece, Word};
use super::parser::Parser;
use crate::steps::step;

/// Bytes looked at to tell `((` from `( (`, for one text.
const PRESCAN: usize = 1 << 20;

const PARAMETER: &str = "a parameter that arithmetic evaluates";

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
        if !self.enter() {
            self.bump();
            word.push_text("((", true);
            return;
        }
        self.bump();
        self.bump();
        self.arithmetic_text(word, b')');
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
        self.arithmetic_text(word, b']');
        self.leave();
    }

    fn arithmetic_text(&mut self, word: &mut Word, closer: u8) {
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
                    self.pos += 1;
                    after_operand = false;
                }
                b')' | b']' => {
                    open = open.saturating_sub(1);
                    self.pos += 1;
                    after_operand = true;
                    gap = false;
                }
                b'$' => {
                    let next = if self.second() == b'{' { self.third() } else { self.second() };
                    if next.is_ascii_digit() || matches!(next, b'@' | b'*') {
                        self.note(PARAMETER);
                    }
                    self.dollar(&mut inner, true);
                    after_operand = true;
                    gap = false;
                }
                b'`' => {
                    self.backticks(&mut inner, true);
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
                    self.pos += 1;
                }
                byte if byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'#' | b'@' | b'.') => {
                    if gap && after_operand {
                        self.note("text in (( )) that is no arithmetic");
                    }
                    while self.byte(self.pos).is_ascii_alphanumeric() || matches!(self.byte(self.pos), b'_' | b'#' | b'@' | b'.') {
                        self.pos += 1;
                    }
                    after_operand = true;
                    gap = false;
                }
                b'+' | b'-' | b'*' | b'/' | b'%' | b'=' | b'<' | b'>' | b'!' | b'&' | b'|' | b'^' | b'~' | b'?' | b':' | b',' => {
                    after_operand = false;
                    gap = false;
                    self.pos += 1;
                }
                _ => {
                    self.note("text in (( )) that is no arithmetic");
                    let length = self.src[self.pos..self.end].chars().next().map_or(1, char::len_utf8);
                    self.pos += length;
                }
            }
        }
        word.pieces.push(Piece::Number);
        word.pieces.extend(inner.pieces.into_iter().filter(|piece| matches!(piece, Piece::Command { .. } | Piece::Process { .. })));
    }
}
