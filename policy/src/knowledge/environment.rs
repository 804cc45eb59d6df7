//! Variables that make programs load code or start commands.

use super::entry::matches;
use super::schema::RawEnvironment;

/// What a variable means to the programs that see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Meaning<'a> {
    Harmless,
    /// The value is a command line.
    Command,
    /// Code or configuration is loaded.
    Load,
    /// As `Load`, for these programs.
    LoadFor(&'a [Box<str>]),
    /// `PATH`.
    Path,
}

#[derive(Debug, Default)]
pub(super) struct Environment {
    command: Vec<Box<str>>,
    load: Vec<Box<str>>,
    load_for: Vec<(Box<str>, Vec<Box<str>>)>,
    harmless: Vec<Box<str>>,
}

impl Environment {
    pub(super) fn compile(raw: &RawEnvironment) -> Self {
        let words = |text: &str| text.split_whitespace().map(Into::into).collect::<Vec<Box<str>>>();
        Self {
            command: words(&raw.command),
            load: words(&raw.load),
            load_for: raw.load_for.iter().map(|(name, programs)| (name.as_str().into(), words(programs))).collect(),
            harmless: words(&raw.harmless),
        }
    }

    pub(super) fn meaning(&self, name: &str) -> Meaning<'_> {
        let listed = |list: &[Box<str>]| list.iter().any(|pattern| matches(pattern, name));
        if name == "PATH" {
            Meaning::Path
        } else if listed(&self.harmless) {
            Meaning::Harmless
        } else if listed(&self.command) {
            Meaning::Command
        } else if listed(&self.load) {
            Meaning::Load
        } else if let Some((_, programs)) = self.load_for.iter().find(|(pattern, _)| matches(pattern, name)) {
            Meaning::LoadFor(programs)
        } else {
            Meaning::Harmless
        }
    }
}
