//! The bodies of here-documents, which begin behind the line that names their ends.
//!
//! Invariant: a body without its end reaches to the end of the text, and the script is opaque.

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
        let mut joined = false;
        let (body_end, next) = loop {
            if line >= self.end {
                self.note("here-document without its end");
                break (self.end, self.end);
            }
            let length = self.src.as_bytes()[line..self.end].iter().position(|&byte| byte == b'\n').unwrap_or(self.end - line);
            step(length + 1);
            let text = &self.src[line..line + length];
            let bare = if heredoc.strip { text.trim_start_matches('\t') } else { text };
            if bare == heredoc.delimiter && !joined {
                break (line, (line + length + 1).min(self.end));
            }
            joined = !heredoc.quoted && text.bytes().rev().take_while(|&byte| byte == b'\\').count() % 2 == 1;
            line = (line + length + 1).min(self.end);
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
