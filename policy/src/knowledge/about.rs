//! How programs are asked about themselves: `about.toml`, from a word to the programs that print their help or version for
//! it and end.
//!
//! Invariant: it holds for a call with that word and no other; whoever asks sees to that.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use crate::hash::{Map, Set};

const TEXT: &str = include_str!("../../knowledge/about.toml");

static ABOUT: LazyLock<About> = LazyLock::new(|| raw().map(|raw| About::compile(&raw)).unwrap_or_default());

/// The file: words to the names of programs.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    alone: BTreeMap<String, String>,
    below: BTreeMap<String, String>,
}

fn raw() -> Result<Raw, toml::de::Error> {
    toml::from_str(TEXT)
}

/// The table, by word.
#[derive(Default)]
pub(crate) struct About {
    alone: Map<Box<str>, Set<Box<str>>>,
    below: Map<Box<str>, Set<Box<str>>>,
}

impl About {
    /// The compiled-in table.
    pub fn table() -> &'static Self {
        &ABOUT
    }

    fn compile(raw: &Raw) -> Self {
        let table = |raw: &BTreeMap<String, String>| {
            let mut out: Map<Box<str>, Set<Box<str>>> = Map::default();
            for (words, names) in raw {
                for word in words.split_whitespace() {
                    out.entry(word.into()).or_default().extend(names.split_whitespace().map(Into::into));
                }
            }
            out
        };
        Self { alone: table(&raw.alone), below: table(&raw.below) }
    }

    /// Whether a program, or one of its subcommands (`git push`), only tells about itself when `word` is all it is given.
    pub fn tells(&self, name: &str, word: &str) -> bool {
        let has = |table: &Map<Box<str>, Set<Box<str>>>, name: &str| table.get(word).is_some_and(|names| names.contains(name));
        match name.split_once(' ') {
            Some((program, _)) => has(&self.below, program),
            None => has(&self.alone, name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_read() {
        raw().unwrap();
    }

    #[test]
    fn a_word_tells_only_where_it_is_listed() {
        let table = About::table();
        assert!(table.tells("pulumi", "version") && table.tells("git push", "-h"));
        assert!(
            !table.tells("pulumi", "up")
                && !table.tells("git", "push")
                && !table.tells("dnsmasq", "-h")
                && !table.tells("docker run", "-h")
        );
    }
}
