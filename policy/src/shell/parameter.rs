//! `${…}`: the name, its subscript, and what an operator makes of the value.
//!
//! What is evaluated on the way (a subscript, an offset) is kept as such; an operator that runs the value is opaque.

use super::ast::{Piece, Word};
use super::expand::is_name;
use super::parser::{Parser, Stop};
use crate::steps::step;

impl Parser<'_> {
    /// `${…}`.
    pub(super) fn parameter(&mut self, word: &mut Word, quoted: bool) {
        if !self.enter() {
            self.bump();
            self.bump();
            word.push_text("${", true);
            return;
        }
        self.bump();
        self.bump();
        if matches!(self.peek(), b' ' | b'\t' | b'\n' | b'|') {
            self.note("a command in ${ …; }");
            self.bump();
            let body = self.list(Stop::Word(&["}"]));
            self.keyword_end("}");
            word.pieces.push(Piece::Command { body: body.into(), quoted });
        } else {
            self.parameters += 1;
            self.parameter_body(word, quoted);
            self.parameters -= 1;
        }
        self.leave();
    }

    fn parameter_body(&mut self, word: &mut Word, quoted: bool) {
        let (mut named_by_value, mut length) = (false, false);
        if self.peek() == b'!' && self.second() != b'}' {
            named_by_value = true;
            self.bump();
        } else if self.peek() == b'#' && (is_name(self.second()) || matches!(self.second(), b'@' | b'*')) {
            length = true;
            self.bump();
        }
        let mut name = self.name();
        if name.is_empty() && matches!(self.peek(), b'@' | b'*' | b'#' | b'?' | b'-' | b'$' | b'!') {
            name.push(char::from(self.byte(self.pos)));
            self.bump();
        }
        if name.is_empty() {
            self.note("an expansion that is not understood");
        }
        let subscript = (self.peek() == b'[' && !name.is_empty()).then(|| self.subscript());
        let whole = subscript.as_ref().is_some_and(|word| matches!(word.literal().as_deref(), Some("@" | "*")));
        // `"${name[*]}"` is one word, whatever IFS joins them with.
        let each = subscript.as_ref().is_some_and(|word| word.literal().as_deref() == Some("@"));
        // `${!name[@]}` are keys, `${!name@}` names.
        let keys = named_by_value && (whole && self.peek() == b'}' || matches!(self.peek(), b'@' | b'*') && self.second() == b'}');
        if named_by_value && !keys {
            self.note("a variable named by another's value");
        }
        if self.peek() == b'@' && self.second() == b'P' {
            self.note("${…@P} runs what the value holds");
        }
        if self.peek() == b'=' || (self.peek() == b':' && self.second() == b'=') {
            self.assigned.push(name.clone());
        }
        if self.peek() == b':' && self.second() == b':' && self.third() == b'=' {
            self.note("${x::=y}, which sets x in zsh");
        }
        let offset = self.peek() == b':' && !matches!(self.second(), b'-' | b'=' | b'?' | b'+');
        let risky = named_by_value || matches!(name.as_bytes(), [b'@' | b'*' | b'-'] | [b'0'..=b'9']);
        let list = whole || matches!(name.as_str(), "@" | "*");
        let at = word.pieces.len();
        let array = name.clone();
        word.pieces.push(if length {
            Piece::Number
        } else if keys {
            Piece::Keys { name, quoted }
        } else {
            Piece::Variable { name, quoted, risky, changed: false, altered: false, list, items: false }
        });
        let subscripted = subscript.is_some();
        if let Some(subscript) = subscript.filter(|_| !whole) {
            word.pieces.push(Piece::Evaluated { word: subscript, array: Some(array) });
        }
        let mut operand = Word::default();
        self.parameter_operand(&mut operand, quoted);
        if let Piece::Variable { risky, changed, altered, list, items, .. } = &mut word.pieces[at] {
            *items = each && !named_by_value && !offset && operand.pieces.is_empty();
            *list |= operand.pieces.iter().any(|piece| matches!(piece, Piece::Variable { list: true, .. } | Piece::Keys { .. }));
            *risky |= operand_is_risky(&operand);
            *altered = subscripted || named_by_value || !operand.pieces.is_empty();
            *changed = !operand.pieces.is_empty() && !default_is_number(&operand);
        }
        if offset {
            word.pieces.push(Piece::Evaluated { word: operand, array: None });
            return;
        }
        // What would run inside the operand is judged as part of this word.
        let runs = |piece: &Piece| matches!(piece, Piece::Command { .. } | Piece::Process { .. } | Piece::Evaluated { .. });
        word.pieces.extend(operand.pieces.into_iter().filter(runs));
    }

    /// `[…]` behind a name, up to the bracket that closes it.
    fn subscript(&mut self) -> Word {
        let mut word = Word::default();
        let mut open = 0_usize;
        self.bump();
        loop {
            let byte = self.peek();
            if self.at_end() || byte == b'}' {
                self.note("a subscript without its end");
                return word;
            }
            match byte {
                b']' if open == 0 => {
                    self.pos += 1;
                    return word;
                }
                b'$' => self.dollar(&mut word, true),
                b'`' => self.backticks(&mut word, true, false),
                b'"' => {
                    self.pos += 1;
                    self.double_quoted(&mut word, true);
                }
                b'\'' | b'\\' => {
                    self.note("a quote in a subscript");
                    self.pos += 1;
                }
                _ => {
                    open = if byte == b'[' { open + 1 } else { open - usize::from(byte == b']') };
                    let end = self.src.ceil_char_boundary(self.pos + 1);
                    word.push_text(&self.src[self.pos..end], false);
                    self.pos = end;
                }
            }
        }
    }

    fn parameter_operand(&mut self, operand: &mut Word, quoted: bool) {
        loop {
            let byte = self.peek();
            if self.at_end() {
                self.note("${ without its end");
                return;
            }
            match byte {
                b'}' => {
                    self.pos += 1;
                    return;
                }
                b'\\' => {
                    self.pos += 1;
                    let length = self.src[self.pos..self.end].chars().next().map_or(0, char::len_utf8);
                    operand.push_text(&self.src[self.pos..self.pos + length], true);
                    self.pos += length;
                }
                b'\'' if !quoted => {
                    let rest = &self.src.as_bytes()[self.pos + 1..self.end];
                    let length = rest.iter().position(|&byte| byte == b'\'').unwrap_or(rest.len());
                    step(length);
                    operand.push_text(&self.src[self.pos + 1..self.pos + 1 + length], true);
                    self.pos = (self.pos + length + 2).min(self.end);
                }
                b'\'' => {
                    // Inside double quotes shells disagree about it.
                    self.note("a single quote in \"${…}\"");
                    self.pos += 1;
                }
                b'"' => {
                    self.pos += 1;
                    self.double_quoted(operand, true);
                }
                b'$' => self.dollar(operand, quoted),
                b'`' => self.backticks(operand, quoted, false),
                b'<' | b'>' if self.second() == b'(' => {
                    self.note("a process in ${…}");
                    self.pos += 1;
                }
                _ => {
                    let start = self.pos;
                    let is_text = |byte| !matches!(byte, b'}' | b'\\' | b'\'' | b'"' | b'$' | b'`' | b'<' | b'>');
                    self.pos += 1;
                    while self.pos < self.end && is_text(self.byte(self.pos)) {
                        self.pos += 1;
                    }
                    // The first byte may be one of a character of several.
                    let end = self.src.ceil_char_boundary(self.pos);
                    operand.push_text(&self.src[start..end], false);
                    self.pos = end;
                }
            }
        }
    }
}

/// `:-3` and its kin leave a number where there was one.
fn default_is_number(operand: &Word) -> bool {
    operand.literal().is_some_and(|text| text.trim_start_matches([':', '-', '=', '+', '?']).bytes().all(|byte| byte.is_ascii_digit()))
}

/// The operand of `${name…}` can make the value begin with a dash, or holds what is only known when it runs.
fn operand_is_risky(operand: &Word) -> bool {
    operand.pieces.iter().any(|piece| match piece {
        Piece::Text { text, .. } => {
            // What the shell makes of it: words that can be read again, with options before the name.
            if text.starts_with(['@', '/']) && text.contains(['-', 'A', 'K', 'k', 'E', 'a']) {
                return true;
            }
            let text = text.trim_start_matches([':', '+', '=', '?', '/', '#', '%', '^', ',']);
            text.starts_with('-') && text.len() > 1 && (text[1..].starts_with('-') || !operand.pieces.is_empty() && text[1..].contains("-"))
                || text.contains(" -")
                || text.contains("/-")
        }
        Piece::Number | Piece::Sequence { .. } | Piece::Evaluated { .. } => false,
        Piece::Variable { .. } | Piece::Keys { .. } | Piece::Command { .. } | Piece::Process { .. } => true,
    })
}
