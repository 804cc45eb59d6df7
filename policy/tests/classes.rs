//! The class of commands, by kind: nothing that changes, sends, installs or runs something unknown is Read.

mod common;

use std::collections::HashSet;

use stayexec_policy::{CommandClass, SecurityPolicy};

#[test]
fn classes() {
    let policy = SecurityPolicy::default();
    let mut wrong = Vec::new();
    // Those that must be Read have a test of their own.
    for case in common::corpus().into_iter().filter(|case| case.class != Some(CommandClass::Read)) {
        let part = policy.explain_command(&case.text);
        let right = case.class.map_or(part.class > CommandClass::Read, |class| part.class == class);
        if !right {
            let expected = case.class.map_or("worse than read".to_owned(), |class| class.to_string());
            wrong.push(format!("{}: {:?} is {}, not {expected}: {}", case.kind, case.text, part.class, part.deciding().reason));
        }
    }
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn there_are_enough_of_them_and_none_stands_twice() {
    let corpus = common::corpus();
    let mut seen = HashSet::new();
    for case in &corpus {
        assert!(seen.insert(&case.text), "{}: {:?} stands twice", case.kind, case.text);
    }
    assert!(seen.len() >= 4_000, "{}", seen.len());
}
