//! What the output of programs is when it becomes words: names and counts, or text that somebody chose.
//!
//! Invariant: a program, or an option, that the table does not list prints any text.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use super::entry::matches;
use crate::hash::Map;

static OUTPUT: LazyLock<Output> = LazyLock::new(super::builtin::output);

/// The file: commands to the options with which it holds.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawOutput {
    pub names: BTreeMap<String, String>,
    pub begins: BTreeMap<String, String>,
    pub filters: BTreeMap<String, String>,
}

/// The table, by a program's name, alone or with the word behind it.
#[derive(Debug, Default)]
pub(crate) struct Output {
    names: Map<Box<str>, Options>,
    begins: Map<Box<str>, Options>,
    filters: Map<Box<str>, Options>,
}

/// Options with which it holds.
#[derive(Debug, Default)]
struct Options {
    letters: String,
    words: Vec<Box<str>>,
    /// Letters and words of which one must be there.
    needed: Vec<Box<str>>,
}

/// What a command prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Prints {
    /// Names, hashes, counts.
    Names,
    /// Lines that begin with one of those, and a blank behind it.
    Begins,
    /// Lines of its input.
    Lines,
    Anything,
}

impl Output {
    pub(crate) fn table() -> &'static Self {
        &OUTPUT
    }

    pub(super) fn compile(raw: &RawOutput) -> Self {
        let table = |raw: &BTreeMap<String, String>| {
            let entries =
                raw.iter().flat_map(|(names, options)| names.split('|').map(move |name| (name.into(), Options::compile(options))));
            entries.collect()
        };
        Self { names: table(&raw.names), begins: table(&raw.begins), filters: table(&raw.filters) }
    }

    /// What the command with this name prints, given its words; `None` stands for one that only the run knows.
    pub(crate) fn of(&self, name: &str, words: &[Option<&str>]) -> Prints {
        for (table, prints) in [(&self.names, Prints::Names), (&self.begins, Prints::Begins)] {
            if table.get(name).is_some_and(|options| options.hold(words)) {
                return prints;
            }
            if let Some((Some(second), rest)) = words.split_first()
                && table.get(format!("{name} {second}").as_str()).is_some_and(|options| options.hold(rest))
            {
                return prints;
            }
        }
        let one = |options: &Options| {
            let operands = words.iter().filter(|word| word.is_none_or(|word| !word.starts_with('-')));
            let texts = operands.filter(|word| word.is_none_or(|word| !word.bytes().all(|byte| byte.is_ascii_digit()))).count();
            options.hold(words) && texts <= usize::from(name.ends_with("grep"))
        };
        if self.filters.get(name).is_some_and(one) { Prints::Lines } else { Prints::Anything }
    }
}

impl Options {
    fn compile(text: &str) -> Self {
        let mut out = Self::default();
        for token in text.split_whitespace() {
            let (token, needed) = token.strip_suffix('!').map_or((token, false), |token| (token, true));
            let letters = token.strip_prefix('-').filter(|rest| !rest.starts_with('-') && !rest.is_empty() && !rest.ends_with('*'));
            match letters.filter(|_| !text.starts_with("words ")) {
                Some(letters) => {
                    out.letters.push_str(letters);
                    if needed {
                        out.needed.extend(letters.chars().map(|letter| format!("-{letter}").into_boxed_str()));
                    }
                }
                None => {
                    out.words.push(token.into());
                    if needed {
                        out.needed.push(token.into());
                    }
                }
            }
        }
        out
    }

    fn hold(&self, words: &[Option<&str>]) -> bool {
        if self.words.iter().any(|word| **word == *"*") {
            return true;
        }
        let mut needed = self.needed.is_empty();
        words.iter().flatten().all(|word| {
            crate::steps::step(word.len());
            let listed = self.words.iter().any(|listed| matches(listed, word));
            let letters = word.strip_prefix('-').filter(|letters| !letters.starts_with('-')).unwrap_or_default();
            let bundled = !letters.is_empty() && letters.chars().all(|letter| self.letter(letter));
            let has = |option: &str| option == *word || bundled && option.len() == 2 && letters.contains(&option[1..]);
            needed |= self.needed.iter().any(|option| has(option));
            listed && !chooses(word) || bundled || !word.starts_with(['-', '+']) && !chooses(word)
        }) && needed
    }

    fn letter(&self, letter: char) -> bool {
        self.letters.contains(letter) || letter.is_ascii_digit() && self.letters.contains('#')
    }
}

/// A word that could be printed as it stands, or in part, and would be an option then.
fn chooses(word: &str) -> bool {
    [" -", "/-", "\n-", "\t-", "%n-", "%t-", "\\n", "\\t"].iter().any(|dash| word.contains(dash))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prints(line: &str) -> Prints {
        let words: Vec<Option<&str>> = line.split(' ').map(|word| Some(word).filter(|word| *word != "$x")).collect();
        Output::table().of(words[0].unwrap_or_default(), &words[1..])
    }

    #[test]
    fn names_and_what_is_chosen() {
        for line in [
            "ls",
            "ls -1 x",
            "find . -name *.c",
            "date +%Y-%m-%d",
            "basename x/y.c",
            "basename $x .c",
            "git rev-parse --short HEAD",
            "git diff --name-only HEAD~1",
            "git log -1 --format=%H -- x",
            "wc -l x",
            "rg -l foo",
            "grep -rl foo src",
            "readlink -f $x",
            "stat -c %s x",
            "docker ps -aq",
            "command -v ls",
        ] {
            assert_eq!(prints(line), Prints::Names, "{line}");
        }
        for line in ["head -1", "sort -u", "grep -v x", "tail -n 3", "head -n5", "sort -k2"] {
            assert_eq!(prints(line), Prints::Lines, "{line}");
        }
        for line in [
            "date +-delete",
            "basename x/-delete",
            "basename -- -delete",
            "dirname -- -delete/x",
            "stat -c -delete in",
            "find in -printf -delete",
            "realpath --relative-to=. ./-delete",
            "expr x-delete : x",
            "git log --format=-delete -1",
            "git for-each-ref --format=-delete",
            "docker ps --format -delete",
            "git show HEAD:in",
            "git cat-file -p x",
            "git config a.b",
            "head -1 in",
            "sort in",
            "uniq in",
            "grep delete in",
            "printenv X",
            "readlink in",
            "psql -Atc x",
            "git rev-parse -delete",
            "ls -l",
            "nosuch",
            "grep -o x",
            "git diff",
        ] {
            assert_eq!(prints(line), Prints::Anything, "{line}");
        }
    }
}
