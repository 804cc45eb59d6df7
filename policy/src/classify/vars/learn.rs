//! How what is known about variables grows: each assignment is merged into what is known already.
//!
//! Invariant: merging only loses knowledge, and past a cap nothing is known about any variable.

use std::rc::Rc;

use super::own::{is_plain, shells_own};
use super::{Value, Vars, args, numbers};
use crate::hash::{Map, Set};
use crate::shell::{Piece, Word};
use crate::steps::step;

/// Variables that are followed, and how long a value may be: substitution multiplies them.
pub(super) const MAX_VARIABLES: usize = 256;
const MAX_USED: usize = 1024;
pub(super) const MAX_VALUE: usize = 512;

impl Vars {
    /// The value may not have been set, or stands behind an older one.
    pub(super) fn unsure(&mut self, name: &str, value: &Value, appends: bool) {
        let Value::Known(text) = value else { return };
        let risky = text.split_whitespace().any(|part| part.starts_with('-'));
        let before = self.unsure.get(name);
        if before.is_none() && self.unsure.len() >= MAX_VARIABLES {
            self.lost = true;
            return;
        }
        let (was_risky, was_number) = match before {
            Some(Value::Open { risky, number, .. }) => (*risky, *number),
            _ => (false, self.map.get(name).map_or_else(|| self.outside_is_number(name), Value::number)),
        };
        let number = was_number && value.number() && !appends;
        let merged = Value::Open { risky: risky || was_risky, outside: true, number };
        if before != Some(&merged) {
            step(copied(&self.unsure));
            Rc::make_mut(&mut self.unsure).insert(name.to_owned(), merged);
        }
    }

    /// A value that is taken before the text sets one comes from outside, and may still do so afterwards.
    pub(super) fn used(&mut self, name: &str) {
        if is_plain(name) || name == "IFS" || self.map.contains_key(name) || self.used.contains(name) {
            return;
        }
        if self.used.len() >= MAX_USED {
            self.doubtful = true;
            self.lost = true;
            return;
        }
        step(if Rc::strong_count(&self.used) > 1 { self.used.len() } else { 1 });
        Rc::make_mut(&mut self.used).insert(name.to_owned());
    }

    pub(super) fn set(&mut self, name: &str, value: Value) {
        self.not_given(name);
        if name == "IFS" {
            self.splits_at(&value);
            return;
        }
        self.merge(name, value);
    }

    /// Another IFS. Of blanks alone it splits at no other place than before.
    fn splits_at(&mut self, value: &Value) {
        match value {
            Value::Known(text) if text.chars().all(|c| matches!(c, ' ' | '\t' | '\n')) => self.coarse = true,
            _ => self.doubtful = true,
        }
    }

    /// One more value of a variable, which something else keeps an account of.
    pub(super) fn merge(&mut self, name: &str, value: Value) {
        let value = match value {
            Value::Known(_) if shells_own(name) => Value::ANY,
            value => value,
        };
        let risky = |value: &Value| match value {
            Value::Known(text) => text.split_whitespace().any(|part| part.starts_with('-')),
            Value::Open { risky, .. } => *risky,
        };
        let outside = |value: &Value| matches!(value, Value::Open { outside: true, .. });
        let merged = match self.map.get(name) {
            Some(old) if *old != value => Value::Open {
                risky: risky(old) || risky(&value),
                outside: outside(old) || outside(&value),
                number: old.number() && value.number(),
            },
            None if self.used.contains(name) => {
                Value::Open { risky: risky(&value), outside: true, number: value.number() && self.outside_is_number(name) }
            }
            _ => value,
        };
        // Past the cap nothing is known about any variable.
        if self.map.len() >= MAX_VARIABLES && !self.map.contains_key(name) {
            self.doubtful = true;
            self.lost = true;
            return;
        }
        if self.map.get(name) == Some(&merged) {
            return;
        }
        let long = matches!(&merged, Value::Known(text) if text.len() > MAX_VALUE);
        step(copied(&self.map));
        Rc::make_mut(&mut self.map).insert(name.to_owned(), if long { Value::ANY } else { merged });
    }

    pub(super) fn value(&self, word: &Word) -> Value {
        let arg = args::single(word, self);
        match arg.full() {
            Some(text) => Value::Known(text.to_owned()),
            None => Value::Open {
                risky: arg.risky || arg.head().starts_with('-') || arg.head().contains(" -"),
                outside: arg.outside,
                number: self.number_word(word),
            },
        }
    }

    /// What `${name:=value}` and `{name}>file` set.
    pub(super) fn assigned(&mut self, names: &[String]) {
        for name in names {
            self.set(name, Value::ANY);
            self.unjudged(name);
            // `${name[0]:=value}`
            self.is_array(name);
        }
    }

    /// A variable is set by something else than an assignment with a value that is judged.
    pub(super) fn unjudged(&mut self, name: &str) {
        if self.unjudged.len() < MAX_USED {
            Self::mark(&mut self.unjudged, name);
        } else {
            self.unnamed = true;
        }
    }

    pub(super) fn is_array(&mut self, name: &str) {
        if self.arrays.len() < MAX_USED {
            Self::mark(&mut self.arrays, name);
        } else {
            self.unnamed = true;
        }
    }

    /// A variable loses its value.
    pub(super) fn emptied(&mut self, name: &str) {
        self.doubtful |= name == "IFS";
        if self.emptied.len() < MAX_USED {
            Self::mark(&mut self.emptied, name);
        } else {
            self.unnamed = true;
        }
    }

    /// Text that is evaluated, and sets variables to numbers.
    pub(super) fn evaluated(&mut self, word: &Word) {
        for piece in &word.pieces {
            if let Piece::Text { text, .. } = piece {
                self.evaluated_text(text);
            }
        }
    }

    pub(super) fn evaluated_text(&mut self, text: &str) {
        // What is set is so from the end of its own expression on: `n = n + 1` takes the value from before.
        let (mut pending, mut end) = (Vec::new(), 0);
        for name in numbers::names(text) {
            if text[end..name.start].contains([',', ';']) {
                pending.drain(..).for_each(|name| self.set(name, Value::NUMBER));
            }
            end = name.start + name.text.len();
            if name.changed {
                self.unjudged(name.text);
            }
            if text[end..].starts_with('[') {
                self.is_array(name.text);
            }
            if name.set {
                pending.push(name.text);
            } else {
                self.used(name.text);
            }
        }
        pending.into_iter().for_each(|name| self.set(name, Value::NUMBER));
    }

    fn mark(set: &mut Rc<Set<String>>, name: &str) {
        if !set.contains(name) {
            step(if Rc::strong_count(set) > 1 { set.len() } else { 1 });
            Rc::make_mut(set).insert(name.to_owned());
        }
    }

    /// What `declare -A` and `declare -i` say about a name.
    pub(super) fn declared(&mut self, options: &str, name: &str) {
        if self.keyed.len() + self.integers.len() >= MAX_VARIABLES {
            self.lost = true;
            return;
        }
        // Before it was declared it may have been another kind of array.
        let fresh = !self.used.contains(name) && !self.map.contains_key(name);
        if options.contains('A') && self.certain && fresh {
            Self::mark(&mut self.keyed, name);
        } else if !options.contains('A') && self.keyed.contains(name) {
            Rc::make_mut(&mut self.keyed).remove(name);
        }
        if options.contains(['a', 'A']) {
            self.is_array(name);
        }
        if options.contains('i') {
            Self::mark(&mut self.integers, name);
        }
    }
}

/// Entries that a change copies.
fn copied(map: &Rc<Map<String, Value>>) -> usize {
    if Rc::strong_count(map) > 1 { map.len() } else { 1 }
}
