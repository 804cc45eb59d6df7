//! Simple commands: assignments, words and redirections in any order, and functions by `name()`.
//!
//! A parenthesis that is not understood is noted as opaque.

use super::assignment::{assignment, keyed};
use super::ast::{Command, Simple, Word};
use super::parser::Parser;

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
            self.add(simple, word);
            return;
        };
        let mut items = Vec::new();
        let bare = parts.subscript.is_none() && word.bare().is_some_and(|text| parts.value == (0, text.len()));
        let array = array && bare;
        if array {
            self.bump();
            loop {
                self.spaces();
                if let Some(item) = self.word() {
                    items.extend(self.braces(item));
                } else if self.peek() == b')' {
                    self.bump();
                    break;
                } else {
                    self.note("an array that is not understood");
                    break;
                }
            }
        }
        if simple.words.is_empty() || array {
            let named = if simple.words.is_empty() { Word::default() } else { word.clone() };
            let (keys, items) = items.into_iter().map(keyed).unzip::<_, _, Vec<_>, Vec<_>>();
            let mut assign = parts.of(word, array, items);
            assign.keys.extend(keys.into_iter().flatten());
            if simple.words.is_empty() {
                simple.assigns.push(assign);
            } else {
                simple.arrays.push(assign);
                simple.words.push(named);
            }
        } else {
            self.add(simple, word);
        }
    }

    fn add(&mut self, simple: &mut Simple, word: Word) {
        let words = self.braces(word);
        simple.braced |= words.len() != 1;
        simple.words.extend(words);
    }
}
