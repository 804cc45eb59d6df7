//! Everything that begins with `$`, and backticks.

use super::ast::{Command, Disputed, Piece, Word};
use super::parser::{Parser, Stop};
use crate::steps::step;

pub(super) const fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

impl Parser<'_> {
    /// A list up to its `)`. Here-documents that begin inside must also end inside.
    pub(super) fn nested_list(&mut self) -> Vec<Command> {
        let outer = std::mem::take(&mut self.pending);
        self.nested += 1;
        let body = self.list(Stop::Paren);
        self.nested -= 1;
        if !std::mem::replace(&mut self.pending, outer).is_empty() {
            self.note("here-document across a substitution");
        }
        body
    }

    pub(super) fn dollar(&mut self, word: &mut Word, quoted: bool) {
        self.count();
        if self.at_end() {
            return;
        }
        match self.second() {
            b'(' if self.third() == b'(' && self.is_arithmetic(1) => {
                self.bump();
                self.arithmetic_expansion(word);
            }
            b'(' => {
                if !self.enter() {
                    self.bump();
                    word.push_text("$", true);
                    self.bump();
                    return;
                }
                self.bump();
                self.bump();
                let body = self.nested_list();
                word.pieces.push(Piece::Command { body: body.into(), quoted });
                self.leave();
            }
            b'{' => self.parameter(word, quoted),
            b'[' => {
                self.bump();
                self.disputed.not_posix = true;
                self.bracket_arithmetic(word);
            }
            b'\'' if !quoted => {
                self.bump();
                self.ansi_quoted(word);
            }
            b'"' if !quoted => {
                self.bump();
                self.bump();
                self.double_quoted(word, true);
            }
            byte if byte.is_ascii_alphabetic() || byte == b'_' => {
                self.bump();
                let name = self.name();
                word.pieces.push(Piece::Variable { name, quoted, risky: false, changed: false, altered: false, list: false, items: false });
            }
            byte if byte.is_ascii_digit() || matches!(byte, b'@' | b'*' | b'#' | b'?' | b'-' | b'$' | b'!') => {
                self.bump();
                self.peek();
                self.bump();
                let risky = matches!(byte, b'@' | b'*' | b'-') || byte.is_ascii_digit();
                let list = matches!(byte, b'@' | b'*');
                let name = char::from(byte).to_string();
                word.pieces.push(Piece::Variable { name, quoted, risky, changed: false, altered: false, list, items: false });
            }
            byte => {
                self.disputed.zsh |= matches!(byte, b'=' | b'~' | b'^' | b'+');
                self.bump();
                word.push_text("$", true);
            }
        }
    }

    /// A name, over continuation lines; empty when none begins here.
    pub(super) fn name(&mut self) -> String {
        let mut name = String::new();
        while is_name(self.peek()) {
            let start = self.pos;
            while is_name(self.byte(self.pos)) {
                self.pos += 1;
            }
            name.push_str(&self.src[start..self.pos]);
        }
        name
    }

    /// `` `…` ``: the text up to the next backtick without a backslash, unescaped, then read like a text of its own.
    ///
    /// Between double quotes `\\"` is unescaped as well; in a here-document and in `${…}` it is not, or not by every shell.
    pub(super) fn backticks(&mut self, word: &mut Word, quoted: bool, closed: bool) {
        self.count();
        if self.at_end() {
            return;
        }
        self.bump();
        let bytes = self.src.as_bytes();
        let mut text = Vec::new();
        while self.pos < self.end && bytes[self.pos] != b'`' {
            if bytes[self.pos] == b'\\' {
                let next = self.byte(self.pos + 1);
                let quote = next == b'"' && quoted;
                if quote && (!closed || self.parameters > 0) {
                    self.note("an escaped quote between backticks");
                }
                self.pos += usize::from(quote || matches!(next, b'$' | b'`' | b'\\'));
            }
            text.push(bytes[self.pos]);
            step(1);
            self.pos += 1;
        }
        if self.at_end() {
            self.note("backtick without its end");
        }
        self.pos = (self.pos + 1).min(self.end);
        if !self.enter() {
            word.push_text("`", true);
            return;
        }
        let text = String::from_utf8_lossy(&text).into_owned();
        let mut inner = Parser::new(&text, self.depth);
        inner.nested = 1;
        inner.nodes = self.nodes;
        inner.heredocs = std::mem::take(&mut self.heredocs);
        let body = inner.list(Stop::End);
        if !inner.pending.is_empty() {
            inner.note("here-document across a substitution");
        }
        self.nodes = inner.nodes;
        self.capped |= inner.capped;
        self.disputed = Disputed {
            not_posix: self.disputed.not_posix || inner.disputed.not_posix,
            zsh: self.disputed.zsh || inner.disputed.zsh,
            comment: self.disputed.comment || inner.disputed.comment,
            ..self.disputed
        };
        self.opaque = self.opaque.or(inner.opaque);
        self.heredocs = inner.heredocs;
        self.assigned.append(&mut inner.assigned);
        self.reopened |= inner.reopened;
        word.pieces.push(Piece::Command { body: body.into(), quoted });
        self.leave();
    }
}
