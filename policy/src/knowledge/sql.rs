//! What is known about SQL: words that may stand in front of a parenthesis, and settings that only change what is shown.

use serde::Deserialize;

use super::entry::matches;
use crate::hash::Set;

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawSql {
    keywords: String,
    types: String,
    functions: String,
    settings: String,
}

/// The lists, compiled.
#[derive(Debug, Default)]
pub(crate) struct Sql {
    calls: Set<Box<str>>,
    /// `json_*`, `*_size`.
    patterns: Vec<Box<str>>,
    settings: Set<Box<str>>,
}

impl Sql {
    pub(super) fn compile(raw: &RawSql) -> Self {
        let mut out = Self::default();
        for word in [&raw.keywords, &raw.types, &raw.functions].into_iter().flat_map(|list| list.split_whitespace()) {
            if word.contains('*') {
                out.patterns.push(word.into());
            } else {
                out.calls.insert(word.into());
            }
        }
        out.settings.extend(raw.settings.split_whitespace().map(Into::into));
        out
    }

    /// A word in lower case that may stand in front of a parenthesis.
    pub fn is_call(&self, word: &str) -> bool {
        self.calls.contains(word) || self.patterns.iter().any(|pattern| matches(pattern, word))
    }

    /// What stands behind `set`: a variable of this session that changes what is shown, or one of the text's own.
    pub fn is_setting(&self, words: &[&str]) -> bool {
        let words = match words {
            ["session" | "local", rest @ ..] => rest,
            words => words,
        };
        let Some(name) = words.first() else { return false };
        let name = name.strip_prefix("@@session.").unwrap_or(name);
        (name.starts_with('@') && !name.starts_with("@@")) || self.settings.contains(name)
    }
}
