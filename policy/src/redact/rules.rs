//! Where programs take secrets, from `knowledge/secrets.toml`: options by what their value is, operands, the input.

use std::sync::LazyLock;

use serde::Deserialize;

use super::REDACTED;
use super::names::is_secret_name;
use crate::KnowledgeError;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    rule: Vec<Rule>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Rule {
    programs: String,
    words: String,
    flags: String,
    value: String,
    colon: String,
    percent: String,
    equals: String,
    pass: String,
    pairs: String,
    glued: String,
    stdin: Option<String>,
    first: bool,
    second: bool,
    last: bool,
    named: bool,
    slash: bool,
    colon_last: bool,
}

/// What of a value is the secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    All,
    Behind(&'static str),
    Pairs,
}

impl Part {
    pub fn hide(self, value: &str) -> String {
        let hidden = |head: &str, secret: &str| match secret {
            "" => head.to_owned(),
            secret if super::pairs::is_variable(secret) => format!("{head}{secret}"),
            _ => format!("{head}{REDACTED}"),
        };
        match self {
            Self::All => hidden("", value),
            Self::Pairs if value.contains('=') => hidden("", value),
            Self::Pairs => value.to_owned(),
            Self::Behind(mark) => match value.find(mark) {
                Some(at) => hidden(&value[..at + mark.len()], &value[at + mark.len()..]),
                None => value.to_owned(),
            },
        }
    }
}

fn rules() -> Result<&'static [Rule], &'static KnowledgeError> {
    static RULES: LazyLock<Result<File, KnowledgeError>> =
        LazyLock::new(|| crate::knowledge::table("secrets.toml", include_str!("../../knowledge/secrets.toml")));
    RULES.as_ref().map(|file| file.rule.as_slice())
}

/// What is wrong with the table, if anything is.
pub(crate) fn checked() -> Result<(), KnowledgeError> {
    rules().map(|_| ()).map_err(Clone::clone)
}

/// The rules of a program; none where the table is not understood.
pub(super) fn of(program: &str) -> Option<Vec<&'static Rule>> {
    let rules = rules().ok()?;
    Some(rules.iter().filter(|rule| lists(&rule.programs, program)).collect())
}

fn lists(list: &str, word: &str) -> bool {
    list.split_whitespace().any(|listed| listed == word)
}

impl Rule {
    /// The operands begin with the words of the rule; how many those are.
    fn holds(&self, operands: &[String]) -> Option<usize> {
        let mut at = 0;
        for want in self.words.split_whitespace() {
            let fits = |word: &String| want.split('|').any(|want| crate::forbidden::matches(want, word));
            at += operands.get(at..)?.iter().position(fits)? + 1;
        }
        Some(at)
    }

    /// What `option` takes by this rule, behind these operands.
    pub fn option(&self, option: &str, operands: &[String]) -> Option<Part> {
        self.holds(operands)?;
        let parts = [
            (&self.value, Part::All),
            (&self.colon, Part::Behind(":")),
            (&self.percent, Part::Behind("%")),
            (&self.equals, Part::Behind("=")),
            (&self.pass, Part::Behind("pass:")),
            (&self.pairs, Part::Pairs),
        ];
        parts.into_iter().find(|(list, _)| lists(list, option)).map(|(_, part)| part)
    }

    /// A short option with its value right behind it: the option, and what the value is.
    pub fn attached(&self, word: &str, operands: &[String]) -> Option<(usize, Part)> {
        self.holds(operands)?;
        if let Some(glued) = self.glued.split_whitespace().find(|glued| word.starts_with(*glued) && word.len() > glued.len()) {
            return Some((glued.len(), Part::All));
        }
        let short = word.get(..2).filter(|short| word.len() > 2 && short.starts_with('-') && *short != "--")?;
        Some((2, self.option(short, operands)?))
    }

    /// The operand at `index` of all `operands` is a secret.
    pub fn operand(&self, index: usize, operands: &[String], flags: &[String]) -> Option<Part> {
        let behind = self.holds(operands)?;
        if !self.flags.is_empty() && !flags.iter().any(|flag| lists(&self.flags, flag)) {
            return None;
        }
        let last = index >= behind && index + 1 == operands.len();
        let hit = (self.first && index == behind) || (self.second && index == behind + 1) || (self.last && last);
        let named = self.named && index.checked_sub(1).is_some_and(|before| is_secret_name(&operands[before]) || operands[before] == "key");
        match () {
            () if hit || named => Some(Part::All),
            () if self.slash && index == 0 && operands[0].contains('/') => Some(Part::Behind("/")),
            () if self.colon_last && last => Some(Part::Behind(":")),
            () => None,
        }
    }

    /// The program reads a secret from its input.
    pub fn reads_secret(&self, operands: &[String], flags: &[String]) -> bool {
        let Some(wanted) = &self.stdin else { return false };
        self.holds(operands).is_some() && (wanted.is_empty() || flags.iter().any(|flag| lists(wanted, flag)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_is_well_formed() {
        let rules = rules().unwrap();
        assert!(rules.len() > 30 && rules.iter().all(|rule| !rule.programs.is_empty()));
    }
}
