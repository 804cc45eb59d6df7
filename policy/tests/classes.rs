//! The class of commands, by kind.

use stayexec_policy::{CommandClass, SecurityPolicy};

#[test]
fn classes() {
    let policy = SecurityPolicy::default();
    let mut expected = CommandClass::Read;
    let mut wrong = Vec::new();
    let files = [include_str!("corpus/classes.txt"), include_str!("corpus/kinds.txt")];
    for line in files.iter().flat_map(|text| text.lines().skip(1)).filter(|line| !line.is_empty()) {
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

#[test]
fn there_are_enough_of_them() {
    let files = [
        include_str!("corpus/classes.txt"),
        include_str!("corpus/kinds.txt"),
        include_str!("corpus/reads.txt"),
        include_str!("corpus/bypass.txt"),
    ];
    let lines: std::collections::HashSet<&str> = files.iter().flat_map(|text| text.lines().skip(1)).filter(|line| line.len() > 2).collect();
    assert!(lines.len() >= 1_500, "{}", lines.len());
}
