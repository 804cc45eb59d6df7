//! What was gathered for one question: commands, paths with how they are reached, and words that are names once something
//! opens what only the run names.

use super::args::UNKNOWN;
use crate::hash::Map;

/// Paths and changes of directory that are kept for one question.
pub(super) const MAX_PATHS: usize = 20_000;
pub(super) const MAX_BASES: usize = 16;

/// How a program reaches a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Reach {
    /// It opens it.
    #[default]
    File,
    /// It shows names and sizes, never contents.
    Names,
    /// It reads everything below it.
    Below,
}

/// An operand.
#[derive(Debug)]
pub(crate) struct Reached {
    pub program: String,
    pub word: String,
    pub reach: Reach,
    /// So many of the changes of directory stand in front of it.
    pub after: usize,
}

/// A word that may name a store from a folder that the text changes to: a script of thousands of words has few of them.
fn stands_in_a_folder(word: &str) -> bool {
    const FILES: &[&str] = &["config.json", "credentials", "credentials.toml", "hosts.yml"];
    word.contains(['/', '*', '?', '[']) || word.starts_with(['~', '.', UNKNOWN]) || FILES.contains(&word)
}

#[derive(Debug, Default)]
pub(crate) struct Collected {
    /// Every simple command, as far as its words are known.
    pub commands: Vec<Vec<String>>,
    pub paths: Vec<Reached>,
    /// Directories that the text changes to, in their order.
    pub bases: Vec<String>,
    /// Words that are taken for names, each with the most changes of directory in front of it.
    names: Map<String, usize>,
    /// Something opens what only the run names.
    pub opens: bool,
    /// What functions say.
    pub functions: Vec<String>,
}

impl Collected {
    /// A word that may be a name of what is opened.
    pub fn name(&mut self, word: &str) {
        if !word.contains(|c: char| c.is_alphanumeric() || c == UNKNOWN || "*?[~/".contains(c)) {
            return;
        }
        let after = if stands_in_a_folder(word) { self.bases.len() } else { 0 };
        if let Some(known) = self.names.get_mut(word) {
            *known = after.max(*known);
        } else if self.names.len() < MAX_PATHS {
            self.names.insert(word.to_owned(), after);
        }
    }

    /// Where something opens what only the run names, that may be any of the names.
    pub fn settled(mut self) -> Self {
        if self.opens {
            let names = self.names.drain().map(|(word, after)| Reached { program: "read".to_owned(), word, reach: Reach::File, after });
            self.paths.extend(names);
        }
        self
    }
}
