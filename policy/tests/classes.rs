//! The class of commands, by kind.

use stayexec_policy::{CommandClass, SecurityPolicy};

#[test]
fn classes() {
    let policy = SecurityPolicy::default();
    let mut expected = CommandClass::Read;
    let mut wrong = Vec::new();
    for line in include_str!("corpus/classes.txt").lines().skip(1).filter(|line| !line.is_empty()) {
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            expected = name.parse().unwrap();
            continue;
        }
        let part = policy.explain_command(line);
        if part.class != expected {
            wrong.push(format!("{line:?} is {}, not {expected}: {}", part.class, part.deciding().reason));
        }
    }
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
}
