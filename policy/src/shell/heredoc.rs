//! The bodies of here-documents, which begin behind the line that names their ends.
//!
//! Invariant: a body without its end reaches to the end of the text; then, and where shells disagree about the end, the
//! script is opaque.

use super::ast::Word;
use super::parser::{Heredoc, Parser};
use crate::steps::step;

impl Parser<'_> {
    /// One newline, with the bodies of the here-documents that begin after it.
    pub(super) fn newline(&mut self) {
        self.pos += 1;
        for heredoc in std::mem::take(&mut self.pending) {
            self.heredoc_body(&heredoc);
        }
    }

    fn heredoc_body(&mut self, heredoc: &Heredoc) {
        let start = self.pos;
        let mut line = start;
        // Where the line begins that continuation lines make, and what they leave of it.
        let mut whole = start;
        let mut joined = String::new();
        let (body_end, next) = loop {
            if line >= self.end {
                self.note("here-document without its end");
                break (self.end, self.end);
            }
            let length = self.src.as_bytes()[line..self.end].iter().position(|&byte| byte == b'\n').unwrap_or(self.end - line);
            step(length + 1);
            let text = &self.src[line..line + length];
            let bare = if heredoc.strip { text.trim_start_matches('\t') } else { text };
            let next = (line + length + 1).min(self.end);
            if whole < line && (bare == heredoc.delimiter || ends(&joined, bare, heredoc)) {
                // Some shells compare this line, some what it is part of.
                self.note("a here-document whose end is part of a continuation line");
                break (whole, next);
            }
            if whole == line && bare == heredoc.delimiter {
                break (line, next);
            }
            if self.nested > 0 && bare.strip_prefix(heredoc.delimiter.as_str()).is_some_and(|rest| rest.contains(')')) {
                self.note("a here-document whose end may be the parenthesis behind it");
            }
            let continues = !heredoc.quoted && text.bytes().rev().take_while(|&byte| byte == b'\\').count() % 2 == 1;
            if continues {
                if joined.len() <= heredoc.delimiter.len() {
                    joined.push_str(&bare[..bare.len() - 1]);
                }
            } else {
                joined.clear();
                whole = next;
            }
            line = next;
        };
        let mut word = Word::default();
        if heredoc.quoted {
            word.push_text(&self.src[start..body_end], true);
        } else {
            let end = std::mem::replace(&mut self.end, body_end);
            self.double_quoted(&mut word, false);
            self.end = end;
        }
        self.pos = next;
        self.heredocs[heredoc.slot] = word;
    }
}

/// The line that continuation lines made ends the body.
fn ends(joined: &str, last: &str, heredoc: &Heredoc) -> bool {
    heredoc.delimiter.strip_prefix(joined) == Some(last)
}
