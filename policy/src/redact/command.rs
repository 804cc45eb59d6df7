//! One command, word by word: which of its words are secrets, by the rules of its program.

use super::REDACTED;
use super::names::is_secret_name;
use super::rules::{self, Part, Rule};

/// Programs in front of the one that counts.
const WRAPPERS: &[&str] = &["env", "nice", "nohup", "time", "timeout", "command", "exec", "xargs", "stdbuf", "setsid", "doas", "winpty"];

/// What each word of the command becomes; the first is the program, behind assignments. Words that stay are `None`.
pub(super) fn hide(words: &[String]) -> Command {
    let mut at = words.iter().take_while(|word| is_assignment(word)).count();
    let mut programs = Vec::new();
    while let Some(word) = words.get(at) {
        let name = word.rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
        let wraps = WRAPPERS.contains(&name.as_str()) || name == "sudo";
        programs.push((name, at));
        if !wraps {
            break;
        }
        let next = words[at + 1..]
            .iter()
            .position(|word| !word.starts_with('-') && !is_assignment(word) && !word.bytes().all(|b| b.is_ascii_digit()));
        let Some(next) = next else { break };
        at += 1 + next;
    }
    let mut command = Command { hidden: vec![None; words.len()], reads_secret: false };
    for (index, (name, start)) in programs.iter().enumerate() {
        let end = programs.get(index + 1).map_or(words.len(), |(_, next)| *next);
        match rules::of(name) {
            Some(rules) => command.walk(&rules, name, words, start + 1, end),
            // Where nobody knows what the secrets are, every word is one.
            None => (start + 1..end).for_each(|at| command.put(at, &words[at], REDACTED.to_owned())),
        }
    }
    command
}

pub(super) struct Command {
    pub hidden: Vec<Option<String>>,
    /// It takes a secret from its input.
    pub reads_secret: bool,
}

impl Command {
    fn walk(&mut self, rules: &[&Rule], program: &str, words: &[String], start: usize, end: usize) {
        let (mut operands, mut places, mut flags) = (Vec::<String>::new(), Vec::new(), Vec::<String>::new());
        let mut expected: Option<Part> = None;
        for (at, word) in words.iter().enumerate().take(end).skip(start) {
            let word = word.as_str();
            let option = word.starts_with("--") || (word.len() == 2 && word.starts_with('-'));
            if let Some(part) = expected.take().filter(|_| !option) {
                self.put(at, word, part.hide(word));
                continue;
            }
            let attached = rules.iter().find_map(|rule| rule.attached(word, &operands));
            if !word.starts_with('-') && attached.is_none() {
                operands.push(word.to_owned());
                places.push(at);
                continue;
            }
            flags.push(word.to_owned());
            let takes = |option: &str| rules.iter().find_map(|rule| rule.option(option, &operands));
            if let Some((option, value)) = word.split_once('=')
                && let Some(part) = takes(option)
            {
                self.put(at, word, format!("{option}={}", part.hide(value)));
            } else if let Some(part) = takes(word) {
                expected = Some(part);
            } else if let Some((length, part)) = attached {
                self.put(at, word, format!("{}{}", &word[..length], part.hide(&word[length..])));
            } else if let Some(part) = bundled(word).and_then(|last| takes(&last)) {
                expected = Some(part);
            } else if word.len() > 3 && is_name(word) && is_secret_name(word.trim_start_matches('-')) && !is_find(program) {
                expected = Some(Part::All);
            }
        }
        for (index, &at) in places.iter().enumerate() {
            if let Some(part) = rules.iter().find_map(|rule| rule.operand(index, &operands, &flags)) {
                self.put(at, &words[at], part.hide(&words[at]));
            }
        }
        self.reads_secret |= rules.iter().any(|rule| rule.reads_secret(&operands, &flags));
    }

    fn put(&mut self, at: usize, word: &str, shown: String) {
        if shown != word {
            self.hidden[at] = Some(shown);
        }
    }
}

fn is_name(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'))
}

/// `-su`: the last letter takes a value.
fn bundled(word: &str) -> Option<String> {
    let letters = word.strip_prefix('-').filter(|letters| letters.len() > 1 && letters.bytes().all(|byte| byte.is_ascii_alphabetic()))?;
    letters.chars().next_back().map(|last| format!("-{last}"))
}

/// Programs whose words of one dash are no options with secrets.
fn is_find(program: &str) -> bool {
    matches!(program, "find" | "bfs" | "test" | "[" | "grep" | "rg" | "sed" | "awk")
}

pub(super) fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty()
            && !name.starts_with(|c: char| c.is_ascii_digit())
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}
