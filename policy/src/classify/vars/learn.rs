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
            _ => (false, true),
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
        if is_plain(name) || self.map.contains_key(name) || self.used.contains(name) {
            return;
        }
        if self.used.len() >= MAX_USED {
            self.doubtful = true;
            self.overflowed = true;
            return;
        }
        step(if Rc::strong_count(&self.used) > 1 { self.used.len() } else { 1 });
        Rc::make_mut(&mut self.used).insert(name.to_owned());
    }

    pub(super) fn set(&mut self, name: &str, value: Value) {
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
            self.overflowed = true;
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

    /// Text that is evaluated, and sets variables to numbers.
    pub(super) fn evaluated(&mut self, word: &Word) {
        for piece in &word.pieces {
            if let Piece::Text { text, .. } = piece {
                numbers::names(text).filter(|name| name.set).for_each(|name| self.set(name.text, Value::NUMBER));
            }
        }
        for piece in &word.pieces {
            if let Piece::Text { text, .. } = piece {
                numbers::names(text).filter(|name| !name.set).for_each(|name| self.used(name.text));
            }
        }
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
            self.overflowed = true;
            return;
        }
        // Before it was declared it may have been another kind of array.
        let fresh = !self.used.contains(name) && !self.map.contains_key(name);
        if options.contains('A') && self.certain && fresh {
            Self::mark(&mut self.keyed, name);
        } else if !options.contains('A') && self.keyed.contains(name) {
            Rc::make_mut(&mut self.keyed).remove(name);
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
