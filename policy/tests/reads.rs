//! Harmless commands raise no question.

use stayexec_policy::{CommandClass, SecurityPolicy};

#[test]
fn reads_are_quiet() {
    let policy = SecurityPolicy::default();
    let lines: Vec<String> =
        include_str!("corpus/reads.txt").lines().skip(1).filter(|line| !line.is_empty()).map(|line| line.replace("\\n", "\n")).collect();
    let mut loud = Vec::new();
    for line in &lines {
        let part = policy.explain_command(line);
        if part.class > CommandClass::Read {
            let deciding = part.deciding();
            loud.push(format!("{} {line:?}: {} {}", part.class, deciding.reason, deciding.entry.clone().unwrap_or_default()));
        }
    }
    assert!(loud.is_empty(), "{} of {}:\n{}", loud.len(), lines.len(), loud.join("\n"));
}
