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
use crate::knowledge::Entry;
use crate::{GateDecision, Part, ReasonCode, SecurityPolicy};

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
            .find(|word| word.starts_with('-') || word.contains(char::is_whitespace) || word.ends_with('/') || word.contains('='))
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

/// Operands and options of an argument vector, as its program would tell them apart.
struct Shape<'a> {
    operands: Vec<&'a str>,
    options: Vec<&'a str>,
}

impl<'a> Shape<'a> {
    fn of(entry: Option<&Entry>, rest: &'a [String]) -> Self {
        let mut shape = Self { operands: Vec::new(), options: Vec::new() };
        let mut entry = entry;
        let mut ended = false;
        let mut at = 0;
        while let Some(word) = rest.get(at) {
            at += 1;
            if ended || !word.starts_with('-') || word == "-" {
                shape.operands.push(word);
                if !ended && let Some(below) = entry.and_then(|entry| entry.subcommand(word)) {
                    entry = Some(below);
                }
            } else if word == "--" {
                ended = true;
            } else {
                shape.options.push(word);
                at += usize::from(entry.is_some_and(|entry| takes_next(entry, word)));
            }
        }
        shape
    }
}

/// The option's value is the next word.
fn takes_next(entry: &Entry, word: &str) -> bool {
    use crate::knowledge::Value;
    if word.starts_with("--") || entry.dash {
        return !word.contains('=') && entry.long(word).is_some_and(|option| option.value == Value::Required);
    }
    let mut letters = word[1..].chars().peekable();
    while let Some(letter) = letters.next() {
        match entry.short(letter).map(|option| option.value) {
            Some(Value::Required) => return letters.peek().is_none(),
            Some(Value::Attached) => return false,
            _ => {}
        }
    }
    false
}

/// `-f` is in `-qf`, `--force` is `--force=x` and `--forc`.
fn option_is(option: &str, want: &str) -> bool {
    if option == want {
        return true;
    }
    if let Some(name) = want.strip_prefix("--") {
        let given = option.split('=').next().unwrap_or(option);
        return given == want || given.strip_prefix("--").is_some_and(|given| given.len() >= 3 && name.starts_with(given));
    }
    want.len() == 2 && !option.starts_with("--") && option[1..].contains(&want[1..])
}

/// The rule that decides, strictest first; `commands` and `part` come from the same text or exec.
///
/// An allow rule decides only when each command is allowed and the rest of the tree holds nothing besides commands.
#[must_use]
pub fn decide<'r>(rules: &'r [Rule], policy: &SecurityPolicy, commands: &[Vec<String>], part: &Part) -> Option<&'r Rule> {
    let first = |decision: GateDecision| {
        rules.iter().filter(move |rule| rule.decision == decision).find(|rule| commands.iter().any(|words| rule.matches(policy, words)))
    };
    if let Some(rule) = first(GateDecision::Block).or_else(|| first(GateDecision::Prompt)) {
        return Some(rule);
    }
    let allowed = |words: &Vec<String>| rules.iter().find(|rule| rule.decision == GateDecision::Allow && rule.matches(policy, words));
    let mut deciding = None;
    for words in commands.iter().filter(|words| !is_shell_text(policy, words)) {
        deciding = Some(allowed(words)?);
    }
    deciding.filter(|_| only_commands(part))
}

/// `sh -c TEXT`: its text stands among the commands itself.
fn is_shell_text(policy: &SecurityPolicy, words: &[String]) -> bool {
    let Some(name) = words.first() else { return false };
    let short = name.rsplit('/').next().unwrap_or(name);
    let shell = policy.knowledge().program(short).and_then(|entry| entry.special.as_deref()) == Some("shell");
    shell && !name.contains("./") && words.iter().skip(1).any(|word| word.starts_with('-') && !word.starts_with("--") && word.contains('c'))
}

fn only_commands(part: &Part) -> bool {
    use ReasonCode as R;
    let plain = matches!(
        part.code,
        R::Known
            | R::UnknownProgram
            | R::UnknownSubcommand
            | R::UnlistedOption
            | R::RaisingOption
            | R::Operand
            | R::InterpreterText
            | R::Payload
            | R::Parts
            | R::Empty
            | R::ProgramText
    );
    plain && part.parts.iter().all(only_commands)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(pattern: &[&str], decision: GateDecision) -> Rule {
        let pattern = pattern.iter().map(|word| Token::One((*word).to_owned())).collect();
        Rule { pattern, decision, message: None, examples: Vec::new(), counter_examples: Vec::new() }
    }

    #[test]
    fn beginnings() {
        let policy = SecurityPolicy::default();
        let force = rule(&["git", "push", "--force"], GateDecision::Block);
        for text in [
            "git push --force",
            "git push origin main --force",
            "git -C dir push --force=x",
            "git -c a.b=c push --forc",
            "ls && sudo git push --force",
            "/usr/bin/git push --force",
            "sh -c 'git push --force'",
            "env X=1 git push --force",
        ] {
            assert!(force.matches_text(&policy, text), "{text}");
        }
        for text in [
            "git push",
            "git pull --force",
            "echo git push --force",
            "git push -- --force",
            "git commit -m 'git push --force'",
            "git add push --force",
        ] {
            assert!(!force.matches_text(&policy, text), "{text}");
        }
        assert!(rule(&["rm", "-r"], GateDecision::Block).matches_text(&policy, "rm -fr x"));
        assert!(rule(&["npm", "run", "*"], GateDecision::Block).matches_text(&policy, "npm --silent run x"));
    }

    #[test]
    fn flaws_are_errors() {
        let policy = SecurityPolicy::default();
        assert_eq!(rule(&[], GateDecision::Block).validate(&policy), Err(RuleError::Empty));
        assert!(matches!(rule(&["-x"], GateDecision::Block).validate(&policy), Err(RuleError::Never(..))));
        assert!(matches!(rule(&["git push"], GateDecision::Block).validate(&policy), Err(RuleError::Never(..))));
        let mut wrong = rule(&["git", "push"], GateDecision::Block);
        wrong.examples.push("git pull".into());
        assert!(matches!(wrong.validate(&policy), Err(RuleError::Example(_))));
        wrong.examples.clear();
        wrong.counter_examples.push("ls; git push".into());
        assert!(matches!(wrong.validate(&policy), Err(RuleError::CounterExample(_))));
        let parsed: Rule =
            toml::from_str("match = [\"git\", [\"push\", \"pull\"]]\ndecision = \"prompt\"\nexamples = [\"git pull\"]").unwrap();
        assert_eq!(parsed.validate(&policy), Ok(()));
        assert!(toml::from_str::<Rule>("match = [\"x\"]\ndecision = \"allow\"\nmesage = \"\"").is_err());
    }

    #[test]
    fn allow_needs_every_command() {
        let policy = SecurityPolicy::default();
        let rules = [rule(&["make"], GateDecision::Allow), rule(&["git", "push"], GateDecision::Prompt)];
        let decided = |text: &str| {
            decide(&rules, &policy, &classify::collect_command(&policy, text).commands, &policy.explain_command(text))
                .map(|rule| rule.decision)
        };
        assert_eq!(decided("make test"), Some(GateDecision::Allow));
        assert_eq!(decided("sh -c 'make test'"), Some(GateDecision::Allow));
        assert_eq!(decided("make && make install"), Some(GateDecision::Allow));
        for text in [
            "make; rm x",
            "make > /etc/passwd",
            "make $(rm x)",
            "LD_PRELOAD=x make",
            "./make",
            "sudo make",
            "make 'unclosed",
            "$X make",
            "ls",
        ] {
            assert_eq!(decided(text), None, "{text}");
        }
        assert_eq!(decided("make; git push"), Some(GateDecision::Prompt));
    }
}
