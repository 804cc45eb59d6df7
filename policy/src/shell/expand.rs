//! Everything that begins with `$`, and backticks.

use super::ast::{Command, Disputed, Piece, Word};
use super::parser::{Parser, Stop};
use crate::steps::step;

const fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

impl Parser<'_> {
    /// A list up to its `)`. Here-documents that begin inside must also end inside.
    pub(super) fn nested_list(&mut self) -> Vec<Command> {
        let outer = std::mem::take(&mut self.pending);
        let body = self.list(Stop::Paren);
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
                word.pieces.push(Piece::Command { body, quoted });
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
                word.pieces.push(Piece::Variable { name, quoted, risky: false, changed: false });
            }
            byte if byte.is_ascii_digit() || matches!(byte, b'@' | b'*' | b'#' | b'?' | b'-' | b'$' | b'!') => {
                self.bump();
                self.peek();
                self.bump();
                let risky = matches!(byte, b'@' | b'*' | b'-') || byte.is_ascii_digit();
                word.pieces.push(Piece::Variable { name: char::from(byte).to_string(), quoted, risky, changed: false });
            }
            byte => {
                self.disputed.zsh |= matches!(byte, b'=' | b'~' | b'^' | b'+');
                self.bump();
                word.push_text("$", true);
            }
        }
    }

    /// A name, over continuation lines; empty when none begins here.
    fn name(&mut self) -> String {
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

    /// `${…}`.
    fn parameter(&mut self, word: &mut Word, quoted: bool) {
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
            word.pieces.push(Piece::Command { body, quoted });
        } else {
            self.parameter_body(word, quoted);
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
        let offset = self.peek() == b':' && !matches!(self.second(), b'-' | b'=' | b'?' | b'+');
        let risky = named_by_value || matches!(name.as_bytes(), [b'@' | b'*' | b'-'] | [b'0'..=b'9']);
        let at = word.pieces.len();
        let array = name.clone();
        word.pieces.push(if length {
            Piece::Number
        } else if keys {
            Piece::Keys { name, quoted }
        } else {
            Piece::Variable { name, quoted, risky, changed: false }
        });
        if let Some(subscript) = subscript.filter(|_| !whole) {
            word.pieces.push(Piece::Evaluated { word: subscript, array: Some(array) });
        }
        let mut operand = Word::default();
        self.parameter_operand(&mut operand, quoted);
        if let Piece::Variable { risky, changed, .. } = &mut word.pieces[at] {
            *risky |= operand_is_risky(&operand);
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
                b'`' => self.backticks(&mut word, true),
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
                b'`' => self.backticks(operand, quoted),
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

    /// `` `…` ``: the text up to the next backtick without a backslash, unescaped, then read like a text of its own.
    pub(super) fn backticks(&mut self, word: &mut Word, quoted: bool) {
        self.count();
        if self.at_end() {
            return;
        }
        self.bump();
        let bytes = self.src.as_bytes();
        let mut text = Vec::new();
        while self.pos < self.end && bytes[self.pos] != b'`' {
            if bytes[self.pos] == b'\\'
                && (matches!(self.byte(self.pos + 1), b'$' | b'`' | b'\\') || (quoted && self.byte(self.pos + 1) == b'"'))
            {
                self.pos += 1;
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
            evaluated: false,
        };
        self.opaque = self.opaque.or(inner.opaque);
        self.heredocs = inner.heredocs;
        self.assigned.append(&mut inner.assigned);
        word.pieces.push(Piece::Command { body, quoted });
        self.leave();
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
            let text = text.trim_start_matches([':', '+', '=', '?', '/', '#', '%', '^', ',']);
            text.starts_with('-') && text.len() > 1 && (text[1..].starts_with('-') || !operand.pieces.is_empty() && text[1..].contains("-"))
                || text.contains(" -")
                || text.contains("/-")
        }
        Piece::Number | Piece::Evaluated { .. } => false,
        Piece::Variable { .. } | Piece::Keys { .. } | Piece::Command { .. } | Piece::Process { .. } => true,
    })
}
