//! An argument vector as its program reads it: operands here, options there.

use crate::knowledge::{Entry, Value};

/// Operands and options of an argument vector, as its program would tell them apart.
pub(super) struct Shape<'a> {
    pub operands: Vec<&'a str>,
    pub options: Vec<&'a str>,
}

impl<'a> Shape<'a> {
    pub fn of(entry: Option<&Entry>, rest: &'a [String]) -> Self {
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
                at += entry.map_or(0, |entry| takes_next(entry, word));
            }
        }
        shape
    }
}

/// How many of the next words are the option's value.
fn takes_next(entry: &Entry, word: &str) -> usize {
    let words = |value: Value| match value {
        Value::Required => 1,
        Value::Named => 2,
        Value::None | Value::Attached => 0,
    };
    if word.starts_with("--") || entry.dash {
        return if word.contains('=') { 0 } else { entry.long(word).map_or(0, |(_, option)| words(option.value)) };
    }
    let mut letters = word[1..].chars().peekable();
    while let Some(letter) = letters.next() {
        match entry.short(letter).map(|option| option.value) {
            Some(value @ (Value::Required | Value::Named)) => return if letters.peek().is_none() { words(value) } else { 0 },
            Some(Value::Attached) => return 0,
            _ => {}
        }
    }
    0
}

/// `-f` is in `-qf`, `--force` is `--force=x` and `--forc`.
pub(super) fn option_is(option: &str, want: &str) -> bool {
    if option == want {
        return true;
    }
    if let Some(name) = want.strip_prefix("--") {
        let given = option.split('=').next().unwrap_or(option);
        return given == want || given.strip_prefix("--").is_some_and(|given| given.len() >= 3 && name.starts_with(given));
    }
    want.len() == 2 && !option.starts_with("--") && option[1..].contains(&want[1..])
}
