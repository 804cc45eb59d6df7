//! What is known about programs: tables compiled in from `knowledge/*.toml`, and files that a user adds.
//!
//! Invariant: an entry that is wrong is an error with its file and name, never a silently looser entry.

mod entry;
mod environment;
mod load;
mod schema;

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

pub(crate) use entry::{At, Entry, Opt, Payload, Role, Value, Writes};
pub(crate) use environment::Meaning;
pub use load::KnowledgeError;

use environment::Environment;

/// Knowledge about programs and variables.
#[derive(Debug, Default)]
pub struct Knowledge {
    entries: Vec<Entry>,
    names: HashMap<Box<str>, usize>,
    versioned: HashMap<Box<str>, usize>,
    suffixed: Vec<(Box<str>, Box<str>, usize)>,
    environment: Environment,
    examples: Vec<Example>,
}

/// A command line with the class that its entry promises.
#[derive(Debug, Clone)]
pub struct Example {
    /// The file of the entry.
    pub file: &'static str,
    /// The command line.
    pub command: String,
    /// Its class.
    pub class: crate::CommandClass,
}

static BUILTIN: LazyLock<Arc<Knowledge>> = LazyLock::new(|| Arc::new(load::builtin()));

impl Knowledge {
    /// The knowledge that is compiled in.
    #[must_use]
    pub fn builtin() -> Arc<Self> {
        Arc::clone(&BUILTIN)
    }

    /// The compiled-in knowledge with files of a user's own, later ones first: `(name, text)`.
    ///
    /// # Errors
    /// The first file that is not understood, with the place.
    pub fn with_files(files: &[(String, String)]) -> Result<Self, KnowledgeError> {
        load::with_files(files)
    }

    /// Number of program names that are known.
    #[must_use]
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Nothing is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// The examples that the entries promise.
    #[must_use]
    pub fn examples(&self) -> &[Example] {
        &self.examples
    }

    pub(crate) fn meaning(&self, variable: &str) -> Meaning<'_> {
        self.environment.meaning(variable)
    }

    /// A file that an agent sources in front of each command.
    pub(crate) fn is_agent_source(&self, path: &str) -> bool {
        self.environment.is_source(path)
    }

    /// A file in which an agent notes the state of its shell.
    pub(crate) fn is_agent_sink(&self, path: &str) -> bool {
        self.environment.is_sink(path)
    }

    /// The entry for a name: as it stands, without a version, without a machine triplet.
    pub(crate) fn program(&self, name: &str) -> Option<&Entry> {
        self.find(name).or_else(|| self.find(without_triplet(name)?)).map(|at| &self.entries[at])
    }

    /// The name is known by an ending that its entry lists.
    pub(crate) fn by_suffix(&self, name: &str) -> bool {
        !self.names.contains_key(name) && self.suffix(name).is_some()
    }

    fn find(&self, name: &str) -> Option<usize> {
        if let Some(&at) = self.names.get(name) {
            return Some(at);
        }
        let stem = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.').trim_end_matches('-');
        if stem.len() < name.len()
            && let Some(&at) = self.versioned.get(stem)
        {
            return Some(at);
        }
        self.suffix(name)
    }

    fn suffix(&self, name: &str) -> Option<usize> {
        self.suffixed
            .iter()
            .find(|(stem, suffix, _)| name.strip_suffix(&**suffix).is_some_and(|rest| rest == &**stem))
            .map(|(_, _, at)| *at)
    }
}

fn without_triplet(name: &str) -> Option<&str> {
    let at = name.find("-linux-gnu")?;
    let rest = &name[at + "-linux-gnu".len()..];
    let rest = rest.strip_prefix("eabihf").or_else(|| rest.strip_prefix("eabi")).unwrap_or(rest);
    let machine = &name[..at];
    let known = ["x86_64", "aarch64", "i686", "i386", "arm", "riscv64", "powerpc64le", "s390x"].contains(&machine);
    if known { rest.strip_prefix('-') } else { None }
}
