//! The compiled form of an entry, and how options and subcommands are looked up in it.

use std::borrow::Cow;
use std::sync::Arc;

use super::option::{Bundles, Opt};
use crate::CommandClass;
use crate::hash::Map;

/// Where an entry stands: file and line of its header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct At {
    pub file: &'static str,
    pub line: u32,
}

impl std::fmt::Display for At {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Payload {
    Argv,
    Text,
    Texts,
    Dashes,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Writes {
    All,
    Last,
    First,
    Second,
}

/// What is known about one program or subcommand.
#[derive(Debug)]
pub(crate) struct Entry {
    pub at: At,
    pub class: CommandClass,
    pub bare: Option<CommandClass>,
    pub options: Map<Box<str>, Opt>,
    /// Options with which it only looks.
    pub asks: Vec<Box<str>>,
    pub deep: Vec<Box<str>>,
    pub narrow: Vec<Box<str>>,
    pub base: Vec<Box<str>>,
    pub instead: Vec<Box<str>>,
    /// Options with which it opens what its input names.
    pub names: Vec<Box<str>>,
    pub lists: bool,
    pub lax: bool,
    pub words: bool,
    pub dash: bool,
    pub posix: bool,
    pub inert: bool,
    pub hosts: Vec<Box<str>>,
    /// How several letters in one word are read.
    pub bundles: Bundles,
    /// It has an option that makes it worse than it is without.
    pub guarded: bool,
    pub free: bool,
    /// For the first operands; the last holds for the rest. True: a path.
    pub operands: Vec<bool>,
    pub max: Option<usize>,
    pub extra: CommandClass,
    pub except: Vec<Box<str>>,
    pub writes: Option<Writes>,
    pub payload: Option<Payload>,
    pub skip: usize,
    pub assigns: bool,
    pub listens: bool,
    pub scripted: bool,
    pub ignores_hangup: bool,
    pub special: Option<Box<str>>,
    pub sub: Map<Box<str>, Arc<Entry>>,
    /// Subcommands written as `describe-*`.
    pub patterns: Vec<(Box<str>, Arc<Entry>)>,
    /// Words that make it worse wherever they stand.
    pub anywhere: Vec<(Box<str>, CommandClass)>,
    pub caseless: bool,
}

impl Entry {
    pub fn has_sub(&self) -> bool {
        !self.sub.is_empty() || !self.patterns.is_empty()
    }

    pub fn subcommand(&self, word: &str) -> Option<&Self> {
        let word = &*self.spelled(word);
        let listed = self.sub.get(word);
        listed.or_else(|| self.patterns.iter().find(|(pattern, _)| matches(pattern, word)).map(|(_, entry)| entry)).map(Arc::as_ref)
    }

    /// The worst that a word makes of it, wherever it stands.
    pub fn worst(&self, word: &str) -> Option<CommandClass> {
        let word = &*self.spelled(word);
        self.anywhere.iter().filter(|(pattern, _)| matches(pattern, word)).map(|(_, class)| *class).max()
    }

    fn spelled<'a>(&self, word: &'a str) -> Cow<'a, str> {
        if self.caseless { word.to_ascii_lowercase().into() } else { word.into() }
    }

    /// A long option by its name or an unambiguous beginning of it, as `getopt_long` does; and the name in full.
    pub fn long<'a>(&'a self, name: &'a str) -> Option<(&'a str, Opt)> {
        if let Some(found) = self.options.get(name) {
            return Some((name, *found));
        }
        let mut candidates = self.options.iter().filter(|(key, _)| key.starts_with(name) && key.starts_with("--"));
        let (full, &first) = candidates.next()?;
        let (mut alone, mut alike) = (true, true);
        for (_, other) in candidates {
            alone = false;
            alike &= *other == first;
        }
        alike.then_some((if alone { full } else { name }, first))
    }

    pub fn short(&self, letter: char) -> Option<Opt> {
        let mut key = [b'-', 0, 0, 0, 0];
        let length = letter.encode_utf8(&mut key[1..]).len();
        self.options.get(std::str::from_utf8(&key[..=length]).ok()?).copied()
    }
}

/// `*` at the end, in front, or both.
pub(crate) fn matches(pattern: &str, word: &str) -> bool {
    match (pattern.strip_suffix('*'), pattern.strip_prefix('*')) {
        (Some(_), Some(middle)) => word.contains(middle.strip_suffix('*').unwrap_or_default()),
        (Some(prefix), _) => word.starts_with(prefix),
        (_, Some(suffix)) => word.ends_with(suffix),
        _ => pattern == word,
    }
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn patterns() {
        for (pattern, word, fits) in [
            ("a", "a", true),
            ("a", "ab", false),
            ("a*", "ab", true),
            ("*b", "ab", true),
            ("*b", "ba", false),
            ("*b*", "abc", true),
            ("*b*", "ac", false),
            ("*", "", true),
            ("**", "x", true),
        ] {
            assert_eq!(matches(pattern, word), fits, "{pattern} {word}");
        }
    }
}
