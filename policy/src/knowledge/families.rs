//! Files that are several programs, told apart by the name that they are called by.
//!
//! Invariant: a name that is not listed for such a file is never taken for the program of that name, nor for the file's.

use std::collections::BTreeMap;

use super::Knowledge;
use crate::hash::{Map, Set};

/// The names of one file.
#[derive(Debug)]
enum Names {
    Any,
    These(Set<Box<str>>),
}

#[derive(Debug, Default)]
pub(super) struct Families(Map<Box<str>, Names>);

/// What a file is when it is called by a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Called<'a> {
    /// The name that counts.
    pub name: &'a str,
    /// A name that counts besides: another known program's.
    pub besides: Option<&'a str>,
    /// The file goes by its name, and what it is by this one nobody knows.
    pub strange: bool,
}

impl Families {
    pub(super) fn compile(raw: &BTreeMap<String, String>) -> Self {
        let mut out = Map::default();
        for (files, names) in raw {
            for file in files.split('|') {
                let names = match names.as_str() {
                    "*" => Names::Any,
                    names => Names::These(names.split_whitespace().map(Into::into).collect()),
                };
                out.insert(file.into(), names);
            }
        }
        Self(out)
    }

    fn of(&self, file: &str) -> Option<&Names> {
        self.0.get(file).or_else(|| self.0.get(stem(file)))
    }
}

/// A name without version and machine triplet.
fn stem(name: &str) -> &str {
    let name = super::without_triplet(name).unwrap_or(name);
    name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.').trim_end_matches('-')
}

impl Knowledge {
    /// What `file` is when `argv[0]` is `word`. Both are bare names.
    pub(crate) fn called<'a>(&self, file: &'a str, word: Option<&'a str>) -> Called<'a> {
        let plain = Called { name: file, besides: None, strange: false };
        let family = self.base.as_deref().unwrap_or(self).families.of(file);
        // A login shell is called with a dash in front.
        let Some(word) = word.map(|word| word.strip_prefix('-').unwrap_or(word)).filter(|word| !word.is_empty()) else {
            return Called { strange: family.is_some(), ..plain };
        };
        if word == file {
            return plain;
        }
        let other = self.program(word).filter(|entry| !self.program(file).is_some_and(|own| std::ptr::eq(own, *entry)));
        let besides = other.map(|_| word);
        match family {
            Some(Names::Any) => Called { name: word, ..plain },
            Some(Names::These(names)) if names.contains(word) || names.contains(stem(word)) => Called { name: word, ..plain },
            Some(Names::These(_)) => Called { besides, strange: stem(word) != stem(file), ..plain },
            None => Called { besides, ..plain },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_counts_only_where_the_file_goes_by_it() {
        let knowledge = Knowledge::builtin();
        let called = |file, word| {
            let called = knowledge.called(file, word);
            (called.name, called.besides, called.strange)
        };
        assert_eq!(called("busybox", Some("-sh")), ("sh", None, false));
        assert_eq!(called("pgrep", Some("pkill")), ("pkill", None, false));
        assert_eq!(called("pgrep", Some("pgrep")), ("pgrep", None, false));
        assert_eq!(called("pgrep", Some("ls")), ("pgrep", Some("ls"), true));
        assert_eq!(called("pgrep", Some("nosuch")), ("pgrep", None, true));
        assert_eq!(called("pgrep", None), ("pgrep", None, true));
        assert_eq!(called("llvm-readobj-14", Some("llvm-readelf-14")), ("llvm-readelf-14", None, false));
        assert_eq!(called("clang-14", Some("clang")), ("clang-14", None, false));
        assert_eq!(called("rm", Some("ls")), ("rm", Some("ls"), false));
        assert_eq!(called("mawk", Some("awk")), ("mawk", None, false));
        assert_eq!(called("rg", Some("agent")), ("rg", None, false));
    }
}
