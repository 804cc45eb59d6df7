//! What is known about programs: tables compiled in from `knowledge/*.toml`, and files that a user adds.
//!
//! Invariant: an entry that is wrong is an error with its file and name, never a silently looser entry.

mod about;
mod builtin;
mod check;
mod compile;
mod entry;
mod environment;
mod families;
mod load;
mod option;
mod output;
mod schema;
mod sql;

use crate::hash::Map;
use std::sync::{Arc, LazyLock};

pub(crate) use about::About;
pub(crate) use entry::{At, Entry, Payload, Writes};
pub(crate) use environment::Meaning;
pub(crate) use families::Called;
pub use load::KnowledgeError;
pub(crate) use load::table;
pub(crate) use option::{Opt, Role, Value};
pub(crate) use output::{Output, Prints};
pub(crate) use sql::Sql;

use environment::Environment;
use families::Families;

/// Knowledge about programs and variables.
#[derive(Debug, Default)]
pub struct Knowledge {
    entries: Vec<Entry>,
    names: Map<Box<str>, usize>,
    versioned: Map<Box<str>, usize>,
    suffixed: Vec<(Box<str>, Box<str>, usize)>,
    environment: Environment,
    families: Families,
    sql: Sql,
    examples: Vec<Example>,
    /// What is compiled in is not understood: nothing is known.
    flaw: Option<KnowledgeError>,
    /// What holds where nothing here does: the compiled-in knowledge, shared and not copied.
    base: Option<Arc<Knowledge>>,
    /// Calls that only look, of programs that do more: where such an entry says Read, no other is asked.
    looking: Option<Box<Knowledge>>,
    /// Entries that count besides the others and only raise.
    tightening: Option<Box<Knowledge>>,
}

/// Who can write a knowledge file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// The person, or whoever manages the machine: its entries stand in place of the compiled-in ones and may lower a class.
    Own,
    /// The workspace, where the agent writes too: its entries count besides the others and only raise.
    Workspace,
}

/// A knowledge file that is not compiled in.
#[derive(Debug, Clone, Copy)]
pub struct KnowledgeFile<'a> {
    /// Its name, for messages.
    pub name: &'a str,
    /// What it says.
    pub text: &'a str,
    /// Who can write it.
    pub origin: Origin,
}

/// A command line with the class that its entry promises.
#[derive(Debug, Clone)]
pub struct Example {
    /// The file of the entry.
    pub file: &'static str,
    /// Its line, counted from 1.
    pub line: u32,
    /// The command line.
    pub command: String,
    /// Its class.
    pub class: crate::CommandClass,
}

static BUILTIN: LazyLock<Arc<Knowledge>> = LazyLock::new(|| Arc::new(builtin::builtin()));

impl Knowledge {
    /// The knowledge that is compiled in.
    #[must_use]
    pub fn builtin() -> Arc<Self> {
        Arc::clone(&BUILTIN)
    }

    /// What holds where nothing else does.
    pub(crate) fn over(base: Arc<Self>) -> Self {
        Self { base: Some(base), ..Self::default() }
    }

    /// The compiled-in knowledge with other files, later ones first.
    ///
    /// # Errors
    /// The first file that is not understood, with the place.
    pub fn with_files(files: &[KnowledgeFile<'_>]) -> Result<Self, KnowledgeError> {
        load::with_files(files)
    }

    /// Number of program names that are known.
    #[must_use]
    pub fn len(&self) -> usize {
        let below = |name: &str| self.base.as_ref().is_some_and(|base| base.names.contains_key(name));
        self.base.as_ref().map_or(0, |base| base.len()) + self.names.keys().filter(|name| !below(name)).count()
    }

    /// Nothing is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What is wrong with the compiled-in tables. Nothing is Read by such knowledge.
    pub(crate) fn flaw(&self) -> Option<&KnowledgeError> {
        self.layers().find_map(|layer| layer.flaw.as_ref())
    }

    /// The examples that the entries promise: those of further files, where there are any.
    #[must_use]
    pub fn examples(&self) -> &[Example] {
        &self.examples
    }

    /// These tables, then those that hold where they say nothing.
    fn layers(&self) -> impl Iterator<Item = &Self> {
        std::iter::successors(Some(self), |layer| layer.base.as_deref())
    }

    /// Whether a value of a variable that may load code loads none.
    pub(crate) fn is_transport(&self, variable: &str) -> bool {
        self.base.as_ref().map_or(&self.environment, |base| &base.environment).is_transport(variable)
    }

    pub(crate) fn is_tame(&self, variable: &str, value: &str) -> bool {
        self.base.as_ref().map_or(&self.environment, |base| &base.environment).is_tame(variable, value)
    }

    pub(crate) fn sql(&self) -> &Sql {
        self.base.as_ref().map_or(&self.sql, |base| &base.sql)
    }

    pub(crate) fn meaning(&self, variable: &str) -> Meaning<'_> {
        self.base.as_ref().map_or(&self.environment, |base| &base.environment).meaning(variable)
    }

    /// Whether there is an entry for a program of this name.
    #[must_use]
    pub fn knows(&self, name: &str) -> bool {
        self.program(name).is_some()
    }

    /// The entry for a name: as it stands, without a version, without a machine triplet.
    pub(crate) fn program(&self, name: &str) -> Option<&Entry> {
        self.find(name).or_else(|| self.find(without_triplet(name)?))
    }

    /// The entry of a workspace for a name: it only raises.
    pub(crate) fn tightening(&self, name: &str) -> Option<&Entry> {
        self.tightening.as_ref()?.program(name)
    }

    /// With what a program only looks. A person's own entry for it says everything itself.
    pub(crate) fn looking(&self, name: &str) -> Option<&Entry> {
        let own = self.base.is_some() && self.names.contains_key(name);
        self.base.as_deref().unwrap_or(self).looking.as_ref().filter(|_| !own)?.find(name)
    }

    /// The name is known by an ending that its entry lists.
    pub(crate) fn by_suffix(&self, name: &str) -> bool {
        self.exact(name).is_none() && self.suffix(name).is_some()
    }

    fn find(&self, name: &str) -> Option<&Entry> {
        self.exact(name).or_else(|| self.version(name)).or_else(|| self.suffix(name))
    }

    fn exact(&self, name: &str) -> Option<&Entry> {
        self.layers().find_map(|layer| layer.names.get(name).map(|&at| &layer.entries[at]))
    }

    fn version(&self, name: &str) -> Option<&Entry> {
        let stem = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.').trim_end_matches('-');
        let shorter = stem.len() < name.len();
        self.layers().filter(|_| shorter).find_map(|layer| layer.versioned.get(stem).map(|&at| &layer.entries[at]))
    }

    fn suffix(&self, name: &str) -> Option<&Entry> {
        let ends = |stem: &str, suffix: &str| name.strip_suffix(suffix).is_some_and(|rest| rest == stem);
        self.layers()
            .find_map(|layer| layer.suffixed.iter().find(|(stem, suffix, _)| ends(stem, suffix)).map(|(_, _, at)| &layer.entries[*at]))
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
