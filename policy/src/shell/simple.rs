//! Simple commands: assignments, words, redirections, and where here-documents begin.
//!
//! A parenthesis or a redirection that is not understood is noted as opaque.

use super::ast::{Assign, Command, Compound, Kind, Piece, Redir, RedirKind, Simple, Word};
use super::parser::{Heredoc, Parser, empty};

impl Parser<'_> {
    pub(super) fn simple(&mut self) -> Option<Command> {
        let mut simple = Simple::default();
        loop {
            self.blanks();
            if self.at_end() {
                break;
            }
            if let Some(redir) = self.redirection() {
                simple.redirs.push(redir);
                continue;
            }
            let Some(word) = self.word() else {
                if self.peek() != b'(' {
                    break;
                }
                if simple.words.len() == 1 && simple.assigns.is_empty() && self.is_empty_parens() {
                    let name = simple.words[0].literal().unwrap_or_default().into_owned();
                    return self.function_body(name);
                }
                self.note("a parenthesis where none may stand");
                break;
            };
            self.place(&mut simple, word);
        }
        let empty = simple.assigns.is_empty() && simple.words.is_empty() && simple.redirs.is_empty();
        (!empty).then_some(Command::Simple(simple))
    }

    fn is_empty_parens(&mut self) -> bool {
        let start = self.pos;
        self.bump();
        self.blanks();
        if self.peek() == b')' {
            self.bump();
            return true;
        }
        self.pos = start;
        false
    }

    /// An assignment in front, or a word; `name=(…)` in both places.
    fn place(&mut self, simple: &mut Simple, word: Word) {
        let array = self.byte(self.pos) == b'(' && !self.at_end();
        let Some(parts) = assignment(&word) else {
            simple.words.push(word);
            return;
        };
        let mut items = Vec::new();
        let bare = parts.subscript.is_none() && word.bare().is_some_and(|text| parts.value == (0, text.len()));
        if array && bare {
            self.bump();
            loop {
                self.spaces();
                if let Some(item) = self.word() {
                    items.push(item);
                } else if self.peek() == b')' {
                    self.bump();
                    break;
                } else {
                    self.note("an array that is not understood");
                    break;
                }
            }
        }
        if simple.words.is_empty() {
            let (keys, items) = items.into_iter().map(keyed).unzip::<_, _, Vec<_>, Vec<_>>();
            let mut assign = parts.of(word, items);
            assign.keys.extend(keys.into_iter().flatten());
            simple.assigns.push(assign);
        } else {
            simple.words.push(word);
            simple.words.extend(items);
        }
    }

    /// The command with the redirections behind it.
    pub(super) fn with_redirections(&mut self, command: Option<Command>) -> Option<Command> {
        let mut redirs = Vec::new();
        loop {
            self.blanks();
            match self.redirection() {
                Some(redir) => redirs.push(redir),
                None => break,
            }
        }
        if redirs.is_empty() {
            return command;
        }
        Some(match command {
            Some(Command::Compound(mut command)) => {
                command.redirs = redirs;
                Command::Compound(command)
            }
            other => Command::Compound(Compound { redirs, body: other.into_iter().collect(), ..empty(Kind::Brace) }),
        })
    }

    /// A redirection, with its descriptor in front.
    pub(super) fn redirection(&mut self) -> Option<Redir> {
        let start = self.pos;
        self.peek();
        let mut at = self.pos;
        let mut named = None;
        if self.byte(at) == b'{' {
            while at < self.end && (self.byte(at).is_ascii_alphanumeric() || matches!(self.byte(at), b'_' | b'{')) && at - self.pos < 64 {
                at += 1;
            }
            at += usize::from(self.byte(at) == b'}');
        } else {
            while self.byte(at).is_ascii_digit() && at - self.pos < 16 {
                at += 1;
            }
        }
        if at > self.pos {
            let numbered = matches!(self.byte(at), b'<' | b'>') && matches!(self.byte(at - 1), b'0'..=b'9' | b'}');
            if !numbered {
                self.pos = start;
                return None;
            }
            named = self.src[self.pos..at].strip_prefix('{').and_then(|name| name.strip_suffix('}')).map(str::to_owned);
            self.pos = at;
        }
        let kind = match (self.peek(), self.second(), self.third()) {
            (b'<' | b'>', b'(', _) if at == start => return None,
            (b'<', b'<', b'<') => self.take(3, RedirKind::HereString),
            (b'<', b'<', _) if named.is_some() => {
                self.note("a here-document on a descriptor of a variable");
                self.take(2, RedirKind::HereString)
            }
            (b'<', b'<', b'-') => return Some(self.heredoc(3, true)),
            (b'<', b'<', _) => return Some(self.heredoc(2, false)),
            (b'<' | b'>', b'&', _) => self.take(2, RedirKind::Duplicate),
            (b'<', b'>', _) | (b'>', b'>' | b'|', _) => self.take(2, RedirKind::Output),
            (b'&', b'>', b'>') => self.take(3, RedirKind::Output),
            (b'&', b'>', _) => self.take(2, RedirKind::Output),
            (b'<', _, _) => self.take(1, RedirKind::Input),
            (b'>', _, _) => self.take(1, RedirKind::Output),
            _ => {
                self.pos = start;
                return None;
            }
        };
        let number = self.src[start..self.pos].trim_start_matches(['\\', '\n', ' ', '\t']).split(['<', '>', '&']).next();
        let plain = number.is_none_or(str::is_empty);
        self.reopened |= named.is_some() || matches!(kind, RedirKind::Input | RedirKind::HereString) && !plain;
        self.assigned.extend(named);
        self.blanks_only();
        let target = self.word().unwrap_or_default();
        if target.pieces.is_empty() {
            self.note("a redirection without its target");
        }
        // A copy of what is no output, or of what only the run knows.
        let output = || target.literal().is_some_and(|text| matches!(&*text, "1" | "2" | "-" | "1-" | "2-"));
        self.reopened |= kind == RedirKind::Duplicate && !output() && !target.literal().is_some_and(|text| is_file(&text));
        Some(Redir { kind, target })
    }

    fn take(&mut self, bytes: usize, kind: RedirKind) -> RedirKind {
        for _ in 0..bytes {
            self.bump();
        }
        kind
    }

    fn blanks_only(&mut self) {
        while matches!(self.peek(), b' ' | b'\t') {
            self.pos += 1;
        }
    }

    fn heredoc(&mut self, bytes: usize, strip: bool) -> Redir {
        self.take(bytes, RedirKind::Input);
        self.blanks_only();
        let start = self.pos;
        let word = self.word().unwrap_or_default();
        let raw = &self.src[start..self.pos];
        let delimiter = word.literal().map(std::borrow::Cow::into_owned).unwrap_or_else(|| {
            self.opaque.get_or_insert("a here-document whose end is an expansion");
            raw.to_owned()
        });
        let quoted = raw.contains(['\'', '"', '\\']);
        if delimiter.is_empty() || delimiter.contains('\n') {
            self.note("a here-document without a name for its end");
        }
        let slot = self.heredocs.len();
        self.heredocs.push(Word::default());
        self.pending.push(Heredoc { delimiter, strip, quoted, slot });
        Redir { kind: RedirKind::Heredoc(slot), target: Word::default() }
    }
}

/// `>& file`, which is a write, and no copy of a descriptor.
fn is_file(text: &str) -> bool {
    text.bytes().any(|byte| !byte.is_ascii_digit() && byte != b'-')
}

/// Where the parts of an assignment stand in its word.
struct Parts {
    /// Length of the name.
    name: usize,
    /// Piece and byte of the bracket that closes a subscript.
    subscript: Option<(usize, usize)>,
    /// `+=`
    appends: bool,
    /// Piece and byte where the value begins.
    value: (usize, usize),
}

/// The word is an assignment: `name=…`, `name+=…`, `name[…]=…`.
fn assignment(word: &Word) -> Option<Parts> {
    let Some(Piece::Text { text, quoted: false }) = word.pieces.first() else {
        return None;
    };
    let name = text.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
    if name == 0 || text.as_bytes()[0].is_ascii_digit() {
        return None;
    }
    let subscript = match text.as_bytes().get(name) {
        Some(b'[') => Some(closing(word, name + 1)?),
        _ => None,
    };
    let (piece, mut at) = subscript.map_or((0, name), |(piece, at)| (piece, at + 1));
    let Piece::Text { text, quoted: false } = &word.pieces[piece] else { return None };
    let appends = text.as_bytes().get(at) == Some(&b'+');
    at += usize::from(appends);
    (text.as_bytes().get(at) == Some(&b'=')).then_some(Parts { name, subscript, appends, value: (piece, at + 1) })
}

/// Piece and byte of the first unquoted closing bracket, `from` a byte of the first piece on.
fn closing(word: &Word, from: usize) -> Option<(usize, usize)> {
    let mut open = 0_usize;
    word.pieces.iter().enumerate().find_map(|(index, piece)| {
        let Piece::Text { text, quoted: false } = piece else { return None };
        let skip = if index == 0 { from } else { 0 };
        crate::steps::step(text.len());
        text.bytes().enumerate().skip(skip).find_map(|(at, byte)| match byte {
            b'[' => {
                open += 1;
                None
            }
            b']' if open == 0 => Some((index, at)),
            b']' => {
                open -= 1;
                None
            }
            _ => None,
        })
    })
}

impl Parts {
    fn of(&self, mut word: Word, items: Vec<Word>) -> Assign {
        let name = match &word.pieces[0] {
            Piece::Text { text, .. } => text[..self.name].to_owned(),
            _ => String::new(),
        };
        let value = split_off(&mut word, self.value);
        let subscript = self.subscript.map(|end| {
            split_off(&mut word, end);
            split_off(&mut word, (0, self.name + 1))
        });
        let appends = self.appends;
        Assign { name, appends, subscript, value, items, keys: Vec::new() }
    }
}

/// An item of an array without its subscript.
fn keyed(mut item: Word) -> (Option<Word>, Word) {
    let opens = matches!(item.pieces.first(), Some(Piece::Text { text, quoted: false }) if text.starts_with('['));
    let Some(end) = closing(&item, 1).filter(|_| opens) else { return (None, item) };
    let mut value = split_off(&mut item, end);
    if let Some(Piece::Text { text, .. }) = value.pieces.first_mut() {
        *text = text.trim_start_matches(']').trim_start_matches('+').trim_start_matches('=').to_owned();
    }
    (Some(split_off(&mut item, (0, 1))), value)
}

/// What stands from this byte of this piece on.
fn split_off(word: &mut Word, (piece, at): (usize, usize)) -> Word {
    let mut rest = word.pieces.split_off(piece);
    if let Some(Piece::Text { text, quoted }) = rest.first_mut() {
        let tail = text.split_off(at);
        let head = Piece::Text { text: std::mem::replace(text, tail), quoted: *quoted };
        word.pieces.push(head);
        if text.is_empty() {
            rest.remove(0);
        }
    }
    Word { pieces: rest }
}
