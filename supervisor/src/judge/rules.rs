//! `[[rule]]`s, of the configuration and added ones, for a start or a command.
//!
//! How a rule matches is the policy's. Invariant: of the rules that match, the strictest counts. A rule that blocks or asks
//! matches under every name that a start goes by; one that allows only where the loaded file is what its name says, and
//! the environment has it load no other code than the launch would.

use super::agent::Reading;
use super::environment;
use super::facts;
use super::forbidden;
use super::session::Session;
use crate::config::{Frozen, PlacedRule, Rule};
use stayexec_policy::rule::{self, Token};
use stayexec_policy::{GateDecision, Part, SecurityPolicy};
use stayexec_protocol::Event;

/// The strictest rule for an event; `trusted`: its file is what its name says.
pub fn strictest<'a>(session: &'a Session, event: &Event, trusted: bool) -> Option<&'a PlacedRule> {
    let all: Vec<&PlacedRule> = session.frozen.rules.iter().chain(session.kept.rules.iter().map(|own| &own.placed)).collect();
    if all.is_empty() {
        return None;
    }
    if let Some(found) = restraining(&all, &session.policy, &commands(session, event)) {
        return Some(found);
    }
    if !trusted || all.iter().all(|placed| placed.rule.decision != GateDecision::Allow) || !environment::is_inert(session, event) {
        return None;
    }
    if let Some(words) = facts::script_command(session, event) {
        let mut allowing = all.iter().filter(|placed| placed.rule.decision == GateDecision::Allow);
        if let Some(found) = allowing.find(|placed| placed.rule.matches(&session.policy, &words)) {
            return Some(found);
        }
    }
    // What a program is called is its caller's choice: an allowing rule goes by the file.
    let mut by_file = event.clone();
    if let Some(called) = by_file.argv.first_mut() {
        called.clone_from(&event.executable.path);
    }
    let commands = facts::operands(session, &by_file, &Reading::PLAIN).commands;
    allowing(&all, &session.policy, &commands, &facts::explain(session, &by_file))
}

/// The commands by which rules that block or ask know a start.
pub fn commands(session: &Session, event: &Event) -> Vec<Vec<String>> {
    facts::operands(session, event, &Reading::PLAIN).commands.into_iter().chain(names(event)).collect()
}

/// The first added rule that blocks a start of these commands.
pub fn blocking<'a>(session: &'a Session, commands: &[Vec<String>]) -> Option<&'a PlacedRule> {
    let mut added = session.kept.rules.iter().map(|own| &own.placed).filter(|placed| placed.rule.decision == GateDecision::Block);
    added.find(|placed| commands.iter().any(|words| placed.rule.matches(&session.policy, words)))
}

/// The strictest rule for a command that is only asked about.
pub fn strictest_for<'a>(
    frozen: &'a Frozen,
    added: &'a [PlacedRule],
    policy: &SecurityPolicy,
    text: &str,
    part: &Part,
) -> Option<&'a PlacedRule> {
    let all: Vec<&PlacedRule> = frozen.rules.iter().chain(added).collect();
    let commands = forbidden::operands(frozen, policy, text).commands;
    restraining(&all, policy, &commands).or_else(|| allowing(&all, policy, &commands, part))
}

/// The first that blocks, else the first that asks.
fn restraining<'a>(all: &[&'a PlacedRule], policy: &SecurityPolicy, commands: &[Vec<String>]) -> Option<&'a PlacedRule> {
    let first = |decision| {
        let mut rules = all.iter().filter(|placed| placed.rule.decision == decision);
        rules.find(|placed| commands.iter().any(|words| placed.rule.matches(policy, words)))
    };
    first(GateDecision::Block).or_else(|| first(GateDecision::Prompt)).copied()
}

/// One that allows, where every command is allowed and nothing else happens.
fn allowing<'a>(all: &[&'a PlacedRule], policy: &SecurityPolicy, commands: &[Vec<String>], part: &Part) -> Option<&'a PlacedRule> {
    let allow: Vec<Rule> = all.iter().map(|placed| &placed.rule).filter(|rule| rule.decision == GateDecision::Allow).cloned().collect();
    let found = rule::decide(&allow, policy, commands, part)?;
    all.iter().find(|placed| placed.rule == *found).copied()
}

/// What a rule says for itself.
pub fn said(placed: &PlacedRule) -> String {
    match &placed.rule.message {
        Some(message) => message.clone(),
        None => format!("rule at {}", placed.place),
    }
}

/// The words of a rule as one line.
pub fn line(rule: &Rule) -> String {
    let word = |token: &Token| match token {
        Token::One(word) => word.clone(),
        Token::Any(words) => format!("({})", words.join("|")),
    };
    rule.pattern.iter().map(word).collect::<Vec<_>>().join(" ")
}

/// The words under which a start can be known: by its file, by what it is called, and by an operand of an interpreter that
/// may be the program that people mean, as in `node /usr/bin/npm install`.
fn names(event: &Event) -> Vec<Vec<String>> {
    let text = |word: &Vec<u8>| String::from_utf8_lossy(word).into_owned();
    let with = |first: &Vec<u8>, skip: usize| std::iter::once(text(first)).chain(event.argv.iter().skip(skip).map(text)).collect();
    let mut names: Vec<Vec<String>> = vec![with(&event.executable.path, 1)];
    names.extend(event.argv.first().map(|called| with(called, 1)));
    let operands = event.argv.iter().enumerate().skip(1).take(2).filter(|(_, word)| word.contains(&b'/'));
    names.extend(operands.map(|(at, word)| with(word, at + 1)));
    names
}

#[cfg(test)]
mod tests {
    use super::super::session::testing::{event, session};
    use super::*;
    use stayexec_protocol::Script;

    fn rule(words: &[&str], decision: GateDecision) -> PlacedRule {
        let pattern = words.iter().map(|word| Token::One((*word).to_owned())).collect();
        PlacedRule { rule: Rule { pattern, decision, message: None, examples: vec![], counter_examples: vec![] }, place: "x:1".into() }
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
        let decided =
            |path: &str, words: &[&str], trusted| strictest(&session, &event(path, words), trusted).map(|placed| placed.rule.decision);
        assert_eq!(decided("/usr/bin/git", &["git", "status"], true), Some(GateDecision::Allow));
        assert_eq!(decided("/usr/bin/git", &["git", "push", "x"], true), Some(GateDecision::Block));
        assert_eq!(decided("/home/dev/git", &["git", "status"], false), None);
        assert_eq!(decided("/usr/bin/rm", &["git", "status"], true), None);
        assert_eq!(decided("/home/dev/x", &["git", "push"], false), Some(GateDecision::Block));
        assert_eq!(decided("/usr/bin/node", &["node", "/usr/bin/npm", "install"], true), Some(GateDecision::Prompt));
        Ok(())
    }

    #[test]
    fn a_believed_script_is_allowed_by_its_name() -> Result<(), Box<dyn std::error::Error>> {
        let (session, _messages) = session(|frozen| frozen.rules = vec![rule(&["npm", "test"], GateDecision::Allow)])?;
        let npm = Script {
            resolved: b"/usr/lib/node_modules/npm/bin/npm-cli.js".to_vec(),
            root_owned: true,
            chain_root_owned: true,
            unchanged: true,
            same_view: true,
            ..Script::unreadable(b"/usr/bin/npm".to_vec(), false)
        };
        let decided = |path: &str, words: &[&str], script: &Script| {
            let start = Event { script: Some(script.clone()), ..event(path, words) };
            strictest(&session, &start, true).map(|placed| placed.rule.decision)
        };
        let allow = Some(GateDecision::Allow);
        assert_eq!(decided("/usr/bin/env", &["/usr/bin/env", "node", "/usr/bin/npm", "test"], &npm), allow);
        assert_eq!(decided("/usr/bin/node", &["node", "/usr/bin/npm", "test", "--", "x"], &npm), allow);
        assert_eq!(decided("/usr/bin/node", &["node", "/usr/bin/npm", "install"], &npm), None);
        assert_eq!(decided("/usr/bin/node", &["node", "--require", "/usr/bin/npm", "test"], &npm), None);
        // A link may be called anything; the file it leads to is what counts.
        let other = Script { root_owned: false, ..npm.clone() };
        let named = Script { resolved: b"/usr/bin/other".to_vec(), ..npm };
        for script in [other, named] {
            assert_eq!(decided("/usr/bin/node", &["node", "/usr/bin/npm", "test"], &script), None);
        }
        Ok(())
    }
}
