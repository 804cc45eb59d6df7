//! Credential stores are found in every spelling of what would be opened, and text in data positions is left alone.

mod common;

use std::path::{Path, PathBuf};

use stayexec_policy::SecurityPolicy;
use stayexec_policy::forbidden::{Forbidden, Forbidding, Operands};

fn found(policy: &SecurityPolicy, command: &str) -> Option<Forbidden> {
    let home = Path::new("/home/dev");
    let operands = Operands::of_command(policy, command, Path::new("/home/dev/proj"), home);
    operands.forbidden(&Forbidding::default(), home, &|_: &Path| None::<PathBuf>)
}

#[test]
fn stores_are_blocked_and_nothing_else() {
    let policy = SecurityPolicy::default();
    let mut blocked = false;
    let (mut missed, mut loud) = (Vec::new(), Vec::new());
    for line in common::lines("forbidden.txt") {
        match line.as_str() {
            "[blocked]" => blocked = true,
            "[open]" => blocked = false,
            command => match found(&policy, command) {
                None if blocked => missed.push(command.to_owned()),
                Some(what) if !blocked => loud.push(format!("{command:?}: {} by {}", what.what, what.found)),
                _ => {}
            },
        }
    }
    assert!(
        missed.is_empty() && loud.is_empty(),
        "{} not blocked:\n{}\n{} blocked:\n{}",
        missed.len(),
        missed.join("\n"),
        loud.len(),
        loud.join("\n")
    );
}
