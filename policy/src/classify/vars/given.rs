//! What loops, arrays and calls of functions give literally: a variable that holds one of a few words that stand in the text.
//!
//! Invariant: all that a name may hold is among its words, wherever it is *bound*: in the body of a loop over them, in the
//! body of a function whose calls all stand in the text, and for an array that certainly was set before. Whatever else sets
//! the name ends that.

use std::rc::Rc;

use super::{Value, Vars, is_pattern};
use crate::hash::{Map, Set};
use crate::shell::{Assign, Piece, Word};
use crate::steps::step;

/// Words of one name, and names, that are followed.
pub(super) const MAX_WORDS: usize = 16;
pub(super) const MAX_NAMES: usize = 32;
/// Loops, arrays and calls of a text that are looked at.
pub(super) const MAX_FOLLOWED: usize = 1024;

#[derive(Debug, Clone, Default)]
pub(super) struct Given {
    /// Of a name that something else sets as well: nothing.
    words: Map<String, Option<Vec<String>>>,
    /// All words that a loop or an array gives a name, also where other things set it.
    ever: Map<String, Vec<String>>,
    /// Arrays that were set for certain before they were used.
    arrays: Set<String>,
    /// Functions of the text, with what each call gives as its first, second, … word.
    pub(super) functions: Map<String, Option<Vec<Option<Vec<String>>>>>,
    /// Variables that stand where a program is named.
    heads: Set<String>,
    /// Parameters may be others than those of the call: `shift`, `set -- x`, a call of what only the run names.
    pub(super) moved: bool,
}

/// A name with all that it may hold here.
#[derive(Debug, Clone)]
pub(super) struct Bound {
    pub(super) name: String,
    value: Value,
    words: Rc<Vec<String>>,
}

impl Bound {
    pub(super) fn new(name: String, words: Vec<String>) -> Self {
        let value = match words.as_slice() {
            [only] => Value::Known(only.clone()),
            _ => Value::Open {
                risky: words.iter().any(|word| word.split_whitespace().any(|part| part.starts_with('-'))),
                outside: false,
                number: words.iter().all(|word| super::numbers::is_number(word)),
            },
        };
        Self { name, value, words: Rc::new(words) }
    }
}

impl Vars {
    pub(super) fn given_mut(&mut self) -> &mut Given {
        step(if Rc::strong_count(&self.given) > 1 { self.given.words.len() + self.given.functions.len() } else { 1 });
        Rc::make_mut(&mut self.given)
    }

    /// Something else sets the name.
    pub(super) fn not_given(&mut self, name: &str) {
        if matches!(self.given.words.get(name), Some(Some(_))) {
            self.given_mut().words.insert(name.to_owned(), None);
        }
        if self.is_bound(name) {
            let others = self.bound.iter().filter(|bound| bound.name != name).cloned();
            self.bound = Rc::new(others.collect());
        }
    }

    /// A loop, or an array, gives the name these words; they are not known where one is no literal.
    pub(super) fn gives(&mut self, name: &str, words: Option<Vec<String>>) {
        self.followed += 1;
        let words = words.filter(|_| self.followed <= MAX_FOLLOWED);
        if let Some(words) = &words {
            self.ever(name, words);
        }
        let before = self.given.words.get(name);
        let full = before.is_none() && self.given.words.len() >= MAX_NAMES;
        let merged = match (before, words) {
            (Some(None), _) => return,
            (None, _) if full || self.map.contains_key(name) => None,
            (_, None) => None,
            (before, Some(words)) => {
                let mut all = before.cloned().flatten().unwrap_or_default();
                words.into_iter().for_each(|word| {
                    if !all.contains(&word) {
                        all.push(word)
                    }
                });
                Some(all).filter(|all| all.len() <= MAX_WORDS)
            }
        };
        if self.given.words.get(name) != Some(&merged) && !(full && merged.is_none()) {
            self.given_mut().words.insert(name.to_owned(), merged);
        }
    }

    fn ever(&mut self, name: &str, words: &[String]) {
        let known = self.given.ever.get(name);
        let new = |word: &String| known.is_none_or(|known| !known.contains(word));
        let new: Vec<String> = words.iter().filter(|word| new(word)).take(MAX_WORDS).cloned().collect();
        let room = known.map_or(self.given.ever.len() < MAX_NAMES, |known| known.len() < MAX_WORDS);
        if room && !new.is_empty() {
            self.given_mut().ever.entry(name.to_owned()).or_default().extend(new);
        }
    }

    /// Words that stand where a program is named in one turn of a loop, whatever else may stand there.
    pub fn candidates(&self, word: &Word) -> &[String] {
        match lone(word) {
            Some(Piece::Variable { name, .. }) => self.given.ever.get(name).map_or(&[], Vec::as_slice),
            _ => &[],
        }
    }

    /// What a loop goes over, where each word of it is known.
    pub(super) fn listed(&self, words: &[Word]) -> Option<Vec<String>> {
        if self.followed > MAX_FOLLOWED {
            return None;
        }
        let mut out = Vec::new();
        for word in words.iter().take(MAX_WORDS + 1) {
            match lone(word) {
                Some(Piece::Variable { name, items: true, .. }) if self.given.arrays.contains(name) => {
                    out.extend(self.given.words.get(name)?.as_ref()?.iter().cloned());
                }
                Some(Piece::Variable { name, quoted: false, risky: false, altered: false, list: false, .. })
                    if !self.unsure.contains_key(name) && !self.doubtful && !self.coarse =>
                {
                    let Some(Value::Known(text)) = self.get(name) else { return None };
                    out.extend(text.split_whitespace().map(str::to_owned));
                }
                _ => {
                    let active = |piece: &Piece| matches!(piece, Piece::Text { text, quoted: false } if is_pattern(text));
                    out.push(word.literal().filter(|_| !word.pieces.iter().any(active))?.into_owned());
                }
            }
        }
        (words.len() <= MAX_WORDS && !out.is_empty() && !out.iter().any(|word| is_pattern(word))).then_some(out)
    }

    /// `name=(…)`, which `declare` may make something else of.
    pub(super) fn gives_items(&mut self, assign: &Assign, certain: bool, plain: bool) {
        let name = &assign.name;
        let listed = plain && assign.keys.is_empty() && assign.subscript.is_none();
        let items = if assign.items.is_empty() { Some(Vec::new()) } else { self.listed(&assign.items) };
        let first = certain && !self.used.contains(name);
        self.gives(name, items.filter(|_| listed));
        if first && !self.given.arrays.contains(name) && self.given.arrays.len() < MAX_NAMES {
            self.given_mut().arrays.insert(name.clone());
        }
    }

    /// What stands in place of a program's name; false where nothing can be known of it.
    pub(super) fn heads(&mut self, word: &Word) -> bool {
        let Some(Piece::Variable { name, altered: false, list: false, .. }) = lone(word) else { return false };
        if !self.given.heads.contains(name) {
            if self.given.heads.len() >= MAX_NAMES {
                return false;
            }
            self.given_mut().heads.insert(name.clone());
        }
        true
    }

    /// What stands in place of a program's name may be a builtin that sets variables.
    pub(super) fn may_set(&self, sets: impl Fn(&str) -> bool) -> bool {
        self.given.heads.iter().any(|name| match name.parse::<usize>() {
            Ok(at) => {
                let calls = || self.given.functions.values().flatten().filter_map(|calls| calls.get(at.wrapping_sub(1)));
                let known = |words: &Option<Vec<String>>| words.as_ref().is_some_and(|words| !words.iter().any(|word| sets(word)));
                self.given.moved || calls().next().is_none() || !calls().all(known)
            }
            Err(_) => !matches!(self.given.words.get(name), Some(Some(words)) if !words.iter().any(|word| sets(word))),
        })
    }

    /// With the variable of a loop bound, for its body.
    pub fn in_loop(&self, name: &str) -> Option<Self> {
        let words = self.given.words.get(name)?.clone().filter(|words| !words.is_empty())?;
        Some(self.binding(vec![Bound::new(name.to_owned(), words)]))
    }

    pub(super) fn binding(&self, mut bound: Vec<Bound>) -> Self {
        step(self.bound.len());
        bound.extend(self.bound.iter().cloned());
        Self { bound: Rc::new(bound), ..self.clone() }
    }

    /// The arrays that certainly were set, for the whole text.
    pub(super) fn bind_arrays(&mut self) {
        let names = self.given.arrays.iter().filter_map(|name| Some((name, self.given.words.get(name)?.as_ref()?)));
        let new: Vec<Bound> =
            names.filter(|(_, words)| !words.is_empty()).map(|(name, words)| Bound::new(name.clone(), words.clone())).collect();
        if !new.is_empty() {
            *self = self.binding(new);
        }
    }

    fn bound(&self, name: &str) -> Option<&Bound> {
        step(self.bound.len());
        self.bound.iter().find(|bound| bound.name == name).filter(|_| !self.overflowed() && !self.doubtful && !self.emptied.contains(name))
    }

    pub(super) fn bound_value(&self, name: &str) -> Option<&Value> {
        self.bound(name).map(|bound| &bound.value)
    }

    /// Nothing but words of the text can stand there.
    pub fn is_bound(&self, name: &str) -> bool {
        !self.bound.is_empty() && self.bound(name).is_some()
    }

    /// All that a word may be that stands where a program is named, if it is one word each time.
    pub fn choices(&self, word: &Word) -> Option<Rc<Vec<String>>> {
        let Some(Piece::Variable { name, altered: false, list: false, .. }) = lone(word) else { return None };
        let words = &self.bound(name)?.words;
        let plain = |word: &String| !word.is_empty() && !is_pattern(word) && !word.contains(char::is_whitespace);
        words.iter().all(plain).then(|| Rc::clone(words))
    }
}

/// The only piece of a word; quotes leave an empty one in front.
fn lone(word: &Word) -> Option<&Piece> {
    let mut pieces = word.pieces.iter().filter(|piece| !matches!(piece, Piece::Text { text, .. } if text.is_empty()));
    pieces.next().filter(|_| pieces.next().is_none())
}
