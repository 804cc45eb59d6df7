//! Harmless commands raise no question.

mod common;

use stayexec_policy::{CommandClass, SecurityPolicy};

#[test]
fn reads_are_quiet() {
    let policy = SecurityPolicy::default();
    let mut loud = Vec::new();
    let mut count = 0;
    for case in common::corpus().into_iter().filter(|case| case.class == Some(CommandClass::Read)) {
        count += 1;
        let part = policy.explain_command(&case.text);
        if part.class > CommandClass::Read {
            let deciding = part.deciding();
            let entry = deciding.entry.clone().unwrap_or_default();
            loud.push(format!("{}: {} {:?}: {} {entry}", case.kind, part.class, case.text, deciding.reason));
        }
    }
    assert!(loud.is_empty(), "{} of {count}:\n{}", loud.len(), loud.join("\n"));
}
