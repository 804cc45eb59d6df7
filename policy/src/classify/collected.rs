//! What was gathered for one question: commands, paths with how they are reached, and words that are names once something
//! opens what only the run names.

/// Paths and changes of directory that are kept for one question.
pub(super) const MAX_PATHS: usize = 20_000;
pub(super) const MAX_BASES: usize = 16;

/// How a program reaches a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
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

#[derive(Debug, Default)]
pub(crate) struct Collected {
    /// Every simple command, as far as its words are known.
    pub commands: Vec<Vec<String>>,
    pub paths: Vec<Reached>,
    /// Directories that the text changes to, in their order.
    pub bases: Vec<String>,
    /// Words that are taken for names, each with the changes of directory in front of it.
    names: Vec<(String, usize)>,
    /// Something opens what only the run names.
    pub opens: bool,
    /// What functions say.
    pub functions: Vec<String>,
}

impl Collected {
    /// A word that may be a name of what is opened.
    pub fn name(&mut self, word: &str) {
        if self.names.len() < MAX_PATHS {
            self.names.push((word.to_owned(), self.bases.len()));
        }
    }

    /// Where something opens what only the run names, that may be any of the names.
    pub fn settled(mut self) -> Self {
        if self.opens {
            let names = self.names.drain(..).map(|(word, after)| Reached { program: "read".to_owned(), word, reach: Reach::File, after });
            self.paths.extend(names);
        }
        self
    }
}
