//! What calls of functions that stand in the text give as their parameters.
//!
//! Invariant: a parameter is bound in the body of a function only where every call of it was seen; what may call it without
//! being seen, or moves its parameters, ends that for all functions.

use std::rc::Rc;

use super::given::{Bound, MAX_FOLLOWED, MAX_NAMES, MAX_WORDS};
use super::{Vars, is_pattern};
use crate::shell::{Piece, Word};

impl Vars {
    pub(super) fn is_function(&mut self, name: &str) {
        if !self.given.functions.contains_key(name) {
            if self.given.functions.len() >= MAX_NAMES {
                self.given_mut().moved = true;
                return;
            }
            self.given_mut().functions.insert(name.to_owned(), None);
            // Calls of it may stand in front.
            self.copies = true;
        }
    }

    /// A command: a call of a function of the text, or what changes the parameters of one.
    pub(super) fn called(&mut self, words: &[Word]) {
        if self.given.functions.is_empty() || self.given.moved {
            return;
        }
        let is = |word: &&Word, test: fn(&str) -> bool| word.literal().is_some_and(|word| test(&word));
        let times = words.iter().take_while(|word| is(word, |word| word == "time" || word.starts_with('-'))).count();
        let Some((first, rest)) = words[times..].split_first() else { return };
        // What only the run names is no function where it is judged to be none.
        let Some(name) = first.literal() else { return };
        self.followed += 1;
        let moves = match &*name {
            _ if self.followed > MAX_FOLLOWED => true,
            "set" => sets_parameters(rest),
            "command" | "builtin" => rest.iter().any(|word| word.literal().is_none_or(|word| moves_parameters(&word))),
            name => moves_parameters(name),
        };
        if moves {
            self.given_mut().moved = true;
            return;
        }
        let Some(calls) = self.given.functions.get(&*name) else { return };
        // Behind a word that may be several nobody knows which parameter the next one is.
        let mut merged: Vec<Option<Vec<String>>> = rest
            .iter()
            .take(9)
            .take_while(|word| word.pieces.iter().all(is_one_word))
            .map(|word| word.literal().map(|text| vec![text.into_owned()]))
            .collect();
        if let Some(calls) = calls {
            merged.truncate(calls.len());
            for (words, before) in merged.iter_mut().zip(calls) {
                *words = match (words.take(), before) {
                    (Some(words), Some(before)) if words.iter().all(|word| before.contains(word)) => Some(before.clone()),
                    (Some(words), Some(before)) => {
                        let new = words.into_iter().filter(|word| !before.contains(word));
                        Some(before.iter().cloned().chain(new).collect::<Vec<_>>()).filter(|all| all.len() <= MAX_WORDS)
                    }
                    _ => None,
                };
            }
            if merged == *calls {
                return;
            }
        }
        let name = name.into_owned();
        self.given_mut().functions.insert(name, Some(merged));
    }

    /// With the parameters of a function bound, for its body, and no others.
    pub fn in_function(&self, name: &str) -> Option<Self> {
        let calls = self.given.functions.get(name).filter(|_| !self.given.moved).cloned().flatten().unwrap_or_default();
        let parameters: Vec<Bound> =
            calls.into_iter().enumerate().filter_map(|(at, words)| Some(Bound::new((at + 1).to_string(), words?))).collect();
        let outer = |bound: &&Bound| bound.name.starts_with(|c: char| c.is_ascii_digit());
        (!parameters.is_empty() || self.bound.iter().any(|bound| outer(&bound))).then(|| {
            let mut vars = self.clone();
            vars.bound = Rc::new(self.bound.iter().filter(|bound| !outer(bound)).cloned().collect());
            vars.binding(parameters)
        })
    }

    /// A name that is no literal stands for a function of the text, or for what changes parameters: a call that is not followed.
    pub fn unfollowed(&self, name: &str) -> bool {
        !self.given.functions.is_empty() && (self.given.functions.contains_key(name) || name == "set" || moves_parameters(name))
    }
}

/// `set -- x`, `set x`; what stands behind an `-o` is an option.
fn sets_parameters(words: &[Word]) -> bool {
    let mut option = false;
    !words.iter().all(|word| {
        let Some(word) = word.literal() else { return false };
        let flag = word.starts_with(['-', '+']) && !word.trim_matches('-').is_empty();
        let value = std::mem::replace(&mut option, flag && word.ends_with('o'));
        flag || value
    })
}

fn moves_parameters(name: &str) -> bool {
    matches!(name, "shift" | "source" | "." | "coproc")
}

/// It is one word, whatever it holds.
fn is_one_word(piece: &Piece) -> bool {
    match piece {
        Piece::Text { text, quoted } => *quoted || !is_pattern(text),
        Piece::Variable { quoted, list, .. } => *quoted && !list,
        Piece::Command { quoted, .. } => *quoted,
        Piece::Number | Piece::Process { .. } => true,
        Piece::Keys { .. } | Piece::Sequence { .. } | Piece::Evaluated { .. } => false,
    }
}
