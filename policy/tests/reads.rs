//! Harmless commands raise no question.

mod common;

use stayexec_policy::{CommandClass, SecurityPolicy};

fn loud(lines: &[String]) -> Vec<String> {
    let policy = SecurityPolicy::default();
    let parts = lines.iter().map(|line| (line, policy.explain_command(line))).filter(|(_, part)| part.class > CommandClass::Read);
    parts
        .map(|(line, part)| {
            let deciding = part.deciding();
            format!("{} {line:?}: {} {}", part.class, deciding.reason, deciding.entry.clone().unwrap_or_default())
        })
        .collect()
}

fn are_quiet(corpus: &str, mark: &str) {
    let lines = common::lines(corpus, mark);
    let loud = loud(&lines);
    assert!(loud.is_empty(), "{} of {}:\n{}", loud.len(), lines.len(), loud.join("\n"));
}

#[test]
fn reads_are_quiet() {
    are_quiet("reads.txt", "\\n");
}

/// As coding agents write them.
#[test]
fn reads_of_agents_are_quiet() {
    are_quiet("agents.txt", "⏎");
    are_quiet("agents2.txt", "⏎");
}
