//! What the text itself says about its variables.
//!
//! A variable that the text never sets comes from outside; it is believed not to be an option, since the real argument
//! vector is judged again when the program starts. One that the text sets is followed.

mod assigned;
mod builtins;
mod called;
mod declared;
mod flow;
mod given;
mod learn;
mod own;
mod value;

use std::rc::Rc;

use super::patterns::is_pattern;
use super::{args, numbers};
use crate::hash::{Map, Set};
use crate::shell::{Piece, Script, Word};

pub(super) use flow::Flow;
pub(super) use own::{is_one_word, is_plain, may_hold_blanks};
pub(super) use value::Value;

/// The variables of one text, and of the texts around it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Vars {
    map: Rc<Map<String, Value>>,
    /// `eval` or another IFS: any value may be anything.
    pub(super) doubtful: bool,
    pub(super) evals: usize,
    /// Variables that the text uses before it sets them.
    used: Rc<Set<String>>,
    /// Arrays whose subscripts are keys, and variables whose values are evaluated.
    keyed: Rc<Set<String>>,
    integers: Rc<Set<String>>,
    arrays: Rc<Set<String>>,
    /// Of the environment, where it is known, the variables that hold something else than a number.
    environment: Option<Rc<Set<String>>>,
    /// Those of it that are one word, and no option. What is started further down may have been given others.
    words: Rc<Set<String>>,
    /// What is collected runs in this very shell, one command after the other.
    pub(super) certain: bool,
    /// Variables may have been set that are not followed: what is known of any holds only if they were not.
    pub(super) lost: bool,
    /// Something sets a variable that only the run names.
    pub(super) unnamed: bool,
    /// What is set by anything but an assignment, which is judged where it stands, and what is taken away.
    unjudged: Rc<Set<String>>,
    emptied: Rc<Set<String>>,
    /// What a line of the input is, where that is more than any text.
    input: Option<flow::Input>,
    /// A value was made of other variables.
    pub(super) copies: bool,
    /// Variables that may hold something else than the value that the text gives them, and what is known of it then.
    unsure: Rc<Map<String, Value>>,
    /// What loops, arrays and calls give literally, and which of these names hold nothing else here.
    given: Rc<given::Given>,
    bound: Rc<Vec<given::Bound>>,
    /// Loops, arrays and calls that were looked at.
    followed: usize,
    /// What is split at fewer blanks than usual may stay one word.
    pub(super) coarse: bool,
    /// Of each here-document, what its lines are.
    heredocs: Rc<Vec<Flow>>,
    /// What is unsure is taken for unknown, not for what the text says.
    pub(super) strict: bool,
}

/// What is known about each variable once that is lost.
static ANYTHING: Value = Value::ANY;

/// Passes after which values that are made of each other are known.
const MAX_PASSES: usize = 4;

impl Vars {
    /// Collects what `commands` assign.
    pub fn collect(script: &Script, around: Option<&Self>) -> Self {
        let mut vars = around.cloned().unwrap_or_default();
        vars.certain = true;
        vars.assigned(&script.assigned);
        vars.heredocs = flow::of_words(&script.heredocs);
        let evals = vars.evals;
        // Loops, functions and traps use a value again that was set behind them: until nothing changes.
        for pass in 1.. {
            let before = (Rc::clone(&vars.map), Rc::clone(&vars.given));
            (vars.evals, vars.followed) = (evals, 0);
            assigned::collect(&script.commands, &mut vars);
            assigned::within_words(&script.heredocs, &mut vars);
            if !vars.copies || Rc::ptr_eq(&before.0, &vars.map) && Rc::ptr_eq(&before.1, &vars.given) {
                break;
            }
            if pass == MAX_PASSES {
                vars.lost = true;
                break;
            }
        }
        vars.lost |= vars.may_set(builtins::sets);
        vars.bind_arrays();
        vars
    }

    /// Nothing but what a program was started with.
    pub fn of_environment(environment: &[Vec<u8>]) -> Self {
        let (mut texts, mut words) = (Set::default(), Set::default());
        for entry in environment {
            let entry = String::from_utf8_lossy(entry);
            let (name, value) = entry.split_once('=').unwrap_or((&entry, ""));
            if !numbers::is_number(value) {
                texts.insert(name.to_owned());
            }
            if !value.is_empty() && !value.starts_with('-') && !value.contains(|c: char| c.is_whitespace() || "*?[]\\".contains(c)) {
                words.insert(name.to_owned());
            }
        }
        Self { environment: Some(Rc::new(texts)), words: Rc::new(words), ..Self::default() }
    }

    pub fn environment(&self) -> Option<&Set<String>> {
        self.environment.as_deref()
    }

    /// It holds what the environment gave it, and that is one word and no option.
    pub fn outside_is_word(&self, name: &str) -> bool {
        self.words.contains(name) && !self.overflowed() && !self.doubtful
    }

    /// Variables of the environment may hold something else by now.
    pub fn overflowed(&self) -> bool {
        self.lost || self.unnamed
    }

    /// What is set by something else than an assignment.
    pub fn set_unjudged(&self) -> impl Iterator<Item = &str> {
        self.unjudged.iter().map(String::as_str)
    }

    /// What is unset, or hidden by a local variable without a value.
    pub fn set_empty(&self) -> impl Iterator<Item = &str> {
        self.emptied.iter().map(String::as_str)
    }

    /// An array whose subscripts are keys.
    pub fn associative(&self, name: &str) -> bool {
        self.keyed.contains(name)
    }

    /// The text declares an array whose subscripts are keys.
    pub fn any_associative(&self) -> bool {
        !self.keyed.is_empty()
    }

    /// A variable whose values are evaluated.
    pub fn integer(&self, name: &str) -> bool {
        self.integers.contains(name)
    }

    /// An array of any kind: `declare` reads the value that it is given for one as text once more.
    pub fn array(&self, name: &str) -> bool {
        self.arrays.contains(name) || own::is_array(name)
    }

    /// What a shell that is started knows: which variables it inherits, and with which values, is not followed. Nothing that
    /// this text sets is believed to be a number there.
    pub fn of_child(&self) -> Self {
        let environment = self.environment.as_ref().filter(|_| !self.overflowed()).map(|texts| {
            if self.map.is_empty() {
                return Rc::clone(texts);
            }
            crate::steps::step(texts.len() + self.map.len());
            Rc::new(texts.iter().chain(self.map.keys()).cloned().collect())
        });
        Self { environment, doubtful: self.doubtful, ..Self::default() }
    }

    /// What the environment of `other` is known to hold, it holds as well.
    pub fn with_words_of(self, other: &Self) -> Self {
        Self { words: Rc::clone(&other.words), ..self }
    }

    pub fn get(&self, name: &str) -> Option<&Value> {
        if !self.bound.is_empty()
            && let Some(value) = self.bound_value(name)
        {
            return Some(value);
        }
        if (self.lost || self.unnamed) && self.strict && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
            return Some(&ANYTHING);
        }
        match self.map.get(name) {
            Some(Value::Known(_)) if self.strict && self.unsure.contains_key(name) => self.unsure.get(name),
            value => value,
        }
    }

    /// The text has to be judged both ways: with what it says of its variables, and without.
    pub fn is_unsure(&self) -> bool {
        (!self.unsure.is_empty() || self.lost || self.unnamed) && !self.strict
    }

    pub(super) fn made_of_unsure(&self, word: &Word) -> bool {
        word.pieces.iter().any(|piece| matches!(piece, Piece::Variable { name, .. } if self.unsure.contains_key(name)))
    }

    /// The text gives it no value of its own.
    pub fn untouched(&self, name: &str) -> bool {
        !self.map.contains_key(name)
    }

    /// Values from outside may be anything too.
    pub fn doubtful(&self) -> bool {
        self.doubtful
    }

    /// What is split at blanks usually may stay one word.
    pub fn coarse(&self) -> bool {
        self.coarse
    }
}
