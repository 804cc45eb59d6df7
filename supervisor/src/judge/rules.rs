//! `[[rule]]`: commands by their leading words.
//!
//! Invariant: of the rules that match, the strictest counts. A rule that blocks or asks matches under every name that a
//! start goes by; one that allows only under the name of a file that is what it says. Refuses a rule whose own examples
//! it does not meet.

use super::workspaces::Workspace;
use crate::config::{Frozen, PlacedRule, Rule};
use stayexec_policy::GateDecision;
use stayexec_protocol::Event;

/// The strictest rule for an event; `trusted`: its file is what its name says.
pub fn strictest<'a>(frozen: &'a Frozen, workspace: &'a Workspace, event: &Event, trusted: bool) -> Option<&'a PlacedRule> {
    if frozen.rules.is_empty() && workspace.rules.is_empty() {
        return None;
    }
    let forms = Forms::of(event);
    let all = frozen.rules.iter().chain(workspace.rules.iter().map(|own| &own.placed));
    let matching = all.filter(|placed| {
        let strict = leads(&placed.rule, &forms.loaded);
        match placed.rule.decision {
            GateDecision::Allow => strict && trusted,
            GateDecision::Prompt | GateDecision::Block => strict || forms.other.iter().any(|words| leads(&placed.rule, words)),
        }
    });
    // `max_by_key` takes the last of equals; the first is the one that people see first.
    matching.rev().max_by_key(|placed| placed.rule.decision)
}

/// The strictest rule for plain words, as `check` has them.
pub fn strictest_for_words<'a>(frozen: &'a Frozen, words: &[&str]) -> Option<&'a PlacedRule> {
    let words: Vec<&[u8]> = words.iter().map(|word| word.as_bytes()).collect();
    let named: Vec<&[u8]> =
        words.split_first().map(|(first, rest)| std::iter::once(name(first)).chain(rest.iter().copied()).collect()).unwrap_or_default();
    frozen.rules.iter().rev().filter(|placed| leads(&placed.rule, &named)).max_by_key(|placed| placed.rule.decision)
}

/// What a rule says for itself.
pub fn said(placed: &PlacedRule) -> String {
    match &placed.rule.message {
        Some(message) => message.clone(),
        None => format!("rule at {}", placed.place),
    }
}

/// Holds every rule against its own examples.
///
/// # Errors
/// One line with file and line.
pub fn check(frozen: &Frozen) -> Result<(), String> {
    for PlacedRule { rule, place } in &frozen.rules {
        let matches = |example: &String| {
            let words: Vec<&[u8]> = example.split_whitespace().map(str::as_bytes).collect();
            leads(rule, &words)
        };
        if let Some(example) = rule.examples.iter().find(|example| !matches(example)) {
            return Err(format!("{place}: this rule does not match its example `{example}`"));
        }
        if let Some(example) = rule.counter_examples.iter().find(|example| matches(example)) {
            return Err(format!("{place}: this rule matches its counter-example `{example}`"));
        }
    }
    Ok(())
}

/// The words under which a start can be known.
struct Forms<'a> {
    /// By the loaded file.
    loaded: Vec<&'a [u8]>,
    /// By what it is called, and by its script.
    other: Vec<Vec<&'a [u8]>>,
}

impl<'a> Forms<'a> {
    fn of(event: &'a Event) -> Self {
        let with = |first: &'a [u8], skip: usize| -> Vec<&'a [u8]> {
            std::iter::once(name(first)).chain(event.argv.iter().skip(skip).map(Vec::as_slice)).collect()
        };
        let mut other: Vec<_> = event.argv.first().map(|called| with(called, 1)).into_iter().collect();
        // An interpreter's operand may be the program that people mean: `node /usr/bin/npm install`.
        other.extend(
            event.argv.iter().enumerate().skip(1).take(2).filter(|(_, word)| word.contains(&b'/')).map(|(at, word)| with(word, at + 1)),
        );
        Self { loaded: with(&event.executable.path, 1), other }
    }
}

fn name(path: &[u8]) -> &[u8] {
    path.iter().rposition(|&byte| byte == b'/').map_or(path, |at| &path[at + 1..])
}

fn leads(rule: &Rule, words: &[&[u8]]) -> bool {
    words.len() >= rule.r#match.len() && rule.r#match.iter().zip(words).all(|(want, have)| want.as_bytes() == *have)
}

#[cfg(test)]
mod tests {
    use super::super::session::testing::{event, session, workspace};
    use super::*;

    fn rule(words: &[&str], decision: GateDecision) -> PlacedRule {
        let words = words.iter().map(|word| (*word).to_owned()).collect();
        PlacedRule {
            rule: Rule { r#match: words, decision, message: None, examples: vec![], counter_examples: vec![] },
            place: "x:1".into(),
        }
    }

    #[test]
    fn the_strictest_counts_and_allow_needs_the_file_itself() -> Result<(), Box<dyn std::error::Error>> {
        let (session, _messages) = session(|frozen| {
            frozen.rules = vec![
                rule(&["git"], GateDecision::Allow),
                rule(&["git", "push"], GateDecision::Block),
                rule(&["npm", "install"], GateDecision::Prompt),
            ];
        })?;
        let (workspace, _dir) = workspace()?;
        let decided = |path: &str, words: &[&str], trusted| {
            strictest(&session.frozen, &workspace, &event(path, words), trusted).map(|placed| placed.rule.decision)
        };
        assert_eq!(decided("/usr/bin/git", &["git", "status"], true), Some(GateDecision::Allow));
        assert_eq!(decided("/usr/bin/git", &["git", "push", "x"], true), Some(GateDecision::Block));
        assert_eq!(decided("/home/dev/git", &["git", "status"], false), None);
        assert_eq!(decided("/usr/bin/rm", &["git", "status"], true), None);
        assert_eq!(decided("/home/dev/x", &["git", "push"], false), Some(GateDecision::Block));
        assert_eq!(decided("/usr/bin/node", &["node", "/usr/bin/npm", "install"], true), Some(GateDecision::Prompt));
        Ok(())
    }

    #[test]
    fn examples_are_held_against_their_rule() -> Result<(), Box<dyn std::error::Error>> {
        let (mut session, _messages) = session(|frozen| frozen.rules = vec![rule(&["git", "push"], GateDecision::Block)])?;
        let mut set = |good: &str, bad: &str| {
            session.frozen.rules[0].rule.examples = vec![good.to_owned()];
            session.frozen.rules[0].rule.counter_examples = vec![bad.to_owned()];
            check(&session.frozen)
        };
        assert_eq!(set("git push origin", "git pull"), Ok(()));
        assert!(set("git pull", "ls").is_err_and(|line| line.starts_with("x:1: ")));
        assert!(set("git push", "git push x").is_err());
        Ok(())
    }
}
