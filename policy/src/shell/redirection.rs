//! Redirections, and where here-documents begin.
//!
//! One that is not understood is noted as opaque; one that opens a descriptor for reading is remembered, since a path below
//! `/dev/fd` may open it again for writing.

use super::ast::{Command, Compound, Kind, Piece, Redir, RedirKind, Word};
use super::parser::{Heredoc, Parser, empty};
use crate::steps::step;

impl Parser<'_> {
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
        let word = self.word().unwrap_or_default();
        let mut words = self.braces(word);
        if words.len() > 1 {
            self.note("a redirection to several files");
        }
        let target = words.pop().unwrap_or_default();
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
        step(raw.len());
        // A continuation line between the letters is no quote, and neither is a dollar sign that expands nothing (`<<E$`).
        let quotes = || raw.replace("\\\n", "").contains(['\'', '"', '\\']);
        let quoted = word.pieces.iter().any(|piece| matches!(piece, Piece::Text { quoted: true, .. })) && quotes();
        let delimiter = word.literal().map(std::borrow::Cow::into_owned).unwrap_or_else(|| {
            self.opaque.get_or_insert("a here-document whose end is an expansion");
            raw.to_owned()
        });
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
