//! What the text itself says about its variables.
//!
//! A variable that the text never sets comes from outside; it is believed not to be an option, since the real argument
//! vector is judged again when the program starts. One that the text sets is followed.

use crate::hash::{Map, Set};
use std::rc::Rc;

use super::args;
use crate::shell::{Command, Piece, Script, Word};
use crate::steps::step;

/// What is known about the value of a variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Value {
    Known(String),
    /// `outside`: from a variable that the text never sets, or names of files. `number`: that, whatever happens.
    Open {
        risky: bool,
        outside: bool,
        number: bool,
    },
}

impl Value {
    /// Anything at all.
    pub(super) const ANY: Self = Self::Open { risky: true, outside: true, number: false };
    /// What arithmetic gives.
    pub(super) const NUMBER: Self = Self::Open { risky: false, outside: false, number: true };
}

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

/// Variables that the shell sets by itself, or that no assignment sets: what a text gives them is not what they hold.
fn shells_own(name: &str) -> bool {
    const OWN: &[&str] = &[
        "_",
        "REPLY",
        "OPTARG",
        "OPTIND",
        "OPTERR",
        "MAPFILE",
        "COPROC",
        "PIPESTATUS",
        "RANDOM",
        "SRANDOM",
        "SECONDS",
        "LINENO",
        "GROUPS",
        "FUNCNAME",
        "DIRSTACK",
        "PWD",
        "OLDPWD",
        "UID",
        "EUID",
        "PPID",
        "HISTCMD",
        "SHELLOPTS",
        "SHLVL",
        "COLUMNS",
        "LINES",
        "match",
        "mbegin",
        "mend",
        "MATCH",
        "MBEGIN",
        "MEND",
        "status",
        "pipestatus",
        "ERRNO",
        "READLINE_LINE",
        "READLINE_POINT",
    ];
    OWN.contains(&name) || ["BASH", "EPOCH", "COMP_"].iter().any(|head| name.starts_with(head))
}

/// Variables that are followed, and how long a value may be: substitution multiplies them.
pub(super) const MAX_VARIABLES: usize = 256;
const MAX_USED: usize = 1024;
pub(super) const MAX_VALUE: usize = 512;

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
            super::assign::collect(&script.commands, &mut vars, free);
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
            if !super::numbers::is_number(value) {
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

    /// A value that is taken before the text sets one comes from outside, and may still do so afterwards.
    pub(super) fn used(&mut self, name: &str) {
        if args::is_plain(name) || self.map.contains_key(name) || self.used.contains(name) {
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
                super::numbers::names(text).filter(|name| name.set).for_each(|name| self.set(name.text, Value::NUMBER));
            }
        }
        for piece in &word.pieces {
            if let Piece::Text { text, .. } = piece {
                super::numbers::names(text).filter(|name| !name.set).for_each(|name| self.used(name.text));
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
