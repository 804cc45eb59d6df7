//! Rules of the configuration: a beginning of a command, and what happens to commands that have it.
//!
//! `match = ["git", ["push", "fetch"], "--force"]`: the program by its name, then words that must be the first operands
//! in this order, and options that must stand somewhere before `--`, alone, bundled, abbreviated or with a value. Options
//! between the words do not matter. A list is a choice.
//!
//! A block or prompt rule holds when any command of a text has the beginning; an allow rule only when every command has
//! one and nothing else happens in the text. A rule that can never match, or whose examples do not hold, is an error.

use serde::{Deserialize, Serialize};

use crate::classify;
use crate::{GateDecision, SecurityPolicy};

mod decide;
mod shape;

pub use decide::decide;
use shape::{Shape, option_is};

/// One word of a pattern.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Token {
    /// This word.
    One(String),
    /// Any of these.
    Any(Vec<String>),
}

impl Token {
    fn words(&self) -> &[String] {
        match self {
            Self::One(word) => std::slice::from_ref(word),
            Self::Any(words) => words,
        }
    }

    fn is_option(&self) -> bool {
        self.words().iter().all(|word| word.starts_with('-') && word.len() > 1)
    }
}

/// `[[rule]]` of the configuration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// The beginning of a command.
    #[serde(rename = "match")]
    pub pattern: Vec<Token>,
    /// What happens to it.
    pub decision: GateDecision,
    /// What the agent is told.
    #[serde(default)]
    pub message: Option<String>,
    /// Commands that must match.
    #[serde(default)]
    pub examples: Vec<String>,
    /// Commands that must not.
    #[serde(default)]
    pub counter_examples: Vec<String>,
}

/// What is wrong with a rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RuleError {
    /// No word to match.
    #[error("the rule matches nothing: its `match` is empty")]
    Empty,
    /// A word that no command can have there.
    #[error("the rule can never match: `{0}` {1}")]
    Never(String, &'static str),
    /// An example that does not match.
    #[error("the example `{0}` does not match the rule")]
    Example(String),
    /// A counter-example that matches.
    #[error("the counter-example `{0}` matches the rule")]
    CounterExample(String),
}

impl Rule {
    /// Checks that the rule can match, and its examples.
    ///
    /// # Errors
    /// The first flaw.
    pub fn validate(&self, policy: &SecurityPolicy) -> Result<(), RuleError> {
        let program = self.pattern.first().ok_or(RuleError::Empty)?;
        for token in &self.pattern {
            if token.words().is_empty() {
                return Err(RuleError::Empty);
            }
            let mixed = token.words().iter().any(|word| word.starts_with('-')) && !token.is_option();
            if let (true, Some(word)) = (mixed, token.words().first()) {
                return Err(RuleError::Never(word.clone(), "stands in a choice of options and words"));
            }
            if let Some(word) = token.words().iter().find(|word| word.is_empty() || word.contains('\0') || *word == "--") {
                return Err(RuleError::Never(word.clone(), "is no word of a command"));
            }
        }
        if let Some(word) = program
            .words()
            .iter()
            .find(|word| word.starts_with('-') || word.ends_with('/') || word.contains(|c: char| c.is_whitespace() || "=*?".contains(c)))
        {
            return Err(RuleError::Never(word.clone(), "is no name of a program"));
        }
        for example in &self.examples {
            if !self.matches_text(policy, example) {
                return Err(RuleError::Example(example.clone()));
            }
        }
        match self.counter_examples.iter().find(|example| self.matches_text(policy, example)) {
            Some(example) => Err(RuleError::CounterExample(example.clone())),
            None => Ok(()),
        }
    }

    /// Any command of the text has the beginning.
    #[must_use]
    pub fn matches_text(&self, policy: &SecurityPolicy, text: &str) -> bool {
        classify::collect_command(policy, text).commands.iter().any(|words| self.matches(policy, words))
    }

    /// The argument vector has the beginning.
    #[must_use]
    pub fn matches(&self, policy: &SecurityPolicy, argv: &[String]) -> bool {
        let (Some(program), Some((name, rest))) = (self.pattern.first(), argv.split_first()) else { return false };
        let short = name.rsplit('/').next().unwrap_or(name);
        if !program.words().iter().any(|word| if word.contains('/') { word == name } else { word == short }) {
            return false;
        }
        let shape = Shape::of(policy.knowledge().program(short), rest);
        let mut operands = shape.operands.iter();
        self.pattern[1..].iter().all(|token| {
            if token.is_option() {
                token.words().iter().any(|want| shape.options.iter().any(|option| option_is(option, want)))
            } else {
                operands.next().is_some_and(|operand| token.words().iter().any(|want| want == *operand || want == "*"))
            }
        })
    }
}

#[cfg(test)]
mod tests;
