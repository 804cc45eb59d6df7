//! What the text itself says about its variables.
//!
//! A variable that the text never sets comes from outside; it is believed not to be an option, since the real argument
//! vector is judged again when the program starts. One that the text sets is followed.

mod assigned;
mod builtins;
mod learn;
mod own;
mod value;

use std::rc::Rc;

use super::{args, numbers};
use crate::hash::{Map, Set};
use crate::shell::{Command, Piece, Script, Word};

use learn::MAX_VALUE;
pub(super) use own::is_plain;
pub(super) use value::Value;

/// The variables of one text, and of the texts around it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Vars {
    map: Rc<Map<String, Value>>,
    /// `eval` or a changed IFS: any value may be anything.
    pub(super) doubtful: bool,
    pub(super) evals: usize,
    /// Variables that the text uses before it sets them.
    used: Rc<Set<String>>,
    /// Programs of this text whose output is whatever they were given.
    pub(super) free_names: Rc<Set<String>>,
    /// Arrays whose subscripts are keys, and variables whose values are evaluated.
    keyed: Rc<Set<String>>,
    integers: Rc<Set<String>>,
    /// Of the environment, where it is known, the variables that hold something else than a number.
    environment: Option<Rc<Set<String>>>,
    /// More variables than are followed.
    pub(super) overflowed: bool,
    /// What is collected runs in this very shell, one command after the other.
    pub(super) certain: bool,
    /// Something sets a variable that only the run names: nothing is known about any of them.
    pub(super) lost: bool,
    /// A value was made of other variables.
    pub(super) copies: bool,
    /// Variables that may hold something else than the value that the text gives them, and what is known of it then.
    unsure: Rc<Map<String, Value>>,
    /// What is unsure is taken for unknown, not for what the text says.
    pub(super) strict: bool,
}

/// What is known about each variable once that is lost.
static ANYTHING: Value = Value::ANY;

/// Passes after which values that are made of each other are known.
const MAX_PASSES: usize = 4;

impl Vars {
    /// Collects what `commands` assign. `free` says of a program whether its output is arbitrary.
    pub fn collect(script: &Script, around: Option<&Self>, free: &dyn Fn(&str) -> bool) -> Self {
        let mut vars = around.cloned().unwrap_or_default();
        vars.certain = true;
        for name in &script.assigned {
            vars.set(name, Value::ANY);
        }
        let evals = vars.evals;
        // Loops, functions and traps use a value again that was set behind them: until nothing changes.
        for pass in 1.. {
            let before = Rc::clone(&vars.map);
            vars.evals = evals;
            assigned::collect(&script.commands, &mut vars, free);
            if !vars.copies || Rc::ptr_eq(&before, &vars.map) {
                break;
            }
            if pass == MAX_PASSES {
                vars.lost = true;
                break;
            }
        }
        vars
    }

    /// Nothing but what a program was started with.
    pub fn of_environment(environment: &[Vec<u8>]) -> Self {
        let mut texts: Set<String> = Set::default();
        for entry in environment {
            let entry = String::from_utf8_lossy(entry);
            let (name, value) = entry.split_once('=').unwrap_or((&entry, ""));
            if !numbers::is_number(value) {
                texts.insert(name.to_owned());
            }
        }
        Self { environment: Some(Rc::new(texts)), ..Self::default() }
    }

    pub fn environment(&self) -> Option<&Set<String>> {
        self.environment.as_deref()
    }

    pub fn overflowed(&self) -> bool {
        self.overflowed
    }

    /// An array whose subscripts are keys.
    pub fn associative(&self, name: &str) -> bool {
        self.keyed.contains(name)
    }

    /// A variable whose values are evaluated.
    pub fn integer(&self, name: &str) -> bool {
        self.integers.contains(name)
    }

    /// The same for a shell that is started: it has no arrays of this one.
    pub fn of_child(&self) -> Self {
        Self { keyed: Rc::default(), ..self.clone() }
    }

    pub fn get(&self, name: &str) -> Option<&Value> {
        if self.lost && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
            return Some(&ANYTHING);
        }
        match self.map.get(name) {
            Some(Value::Known(_)) if self.strict && self.unsure.contains_key(name) => self.unsure.get(name),
            value => value,
        }
    }

    /// The text has to be judged both ways: with what it says of its variables, and without.
    pub fn is_unsure(&self) -> bool {
        !self.unsure.is_empty() && !self.strict
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

    /// The output of these commands is not freely chosen text: names of files, hashes, counts.
    pub fn tame(&self, body: &[Command]) -> bool {
        !self.doubtful && !body.is_empty() && body.iter().all(|command| self.tame_command(command))
    }

    pub fn tame_command(&self, command: &Command) -> bool {
        match command {
            Command::Simple(simple) => match simple.words.first().and_then(Word::literal) {
                Some(name) => name.len() < MAX_VALUE && !self.free_names.contains(&*name),
                None => false,
            },
            Command::Pipeline(stages) => stages.iter().all(|stage| self.tame_command(stage)),
            Command::Compound(compound) => self.tame(&compound.body),
            Command::Function { .. } => false,
        }
    }
}
