//! What the knowledge promises about itself.

use stayexec_policy::{CommandClass, Knowledge, SecurityPolicy};

#[test]
fn examples_hold() {
    let policy = SecurityPolicy::default();
    let mut wrong = Vec::new();
    for example in Knowledge::builtin().examples() {
        let class = policy.classify_command(&example.command);
        if class != example.class {
            wrong.push(format!("{}: `{}` is {class}, not {}", example.file, example.command, example.class));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn there_is_enough_of_it() {
    assert!(Knowledge::builtin().len() > 600, "{}", Knowledge::builtin().len());
}

#[test]
fn files_of_a_user_are_checked_and_win() {
    let file = |text: &str| vec![("mine.toml".to_owned(), text.to_owned())];
    let knowledge = Knowledge::with_files(&file("[frobnicate]\nclass = \"read\"\noptions = \"-v\"\n")).unwrap();
    let policy = SecurityPolicy::default().with_knowledge(knowledge);
    assert_eq!(policy.classify_command("frobnicate -v x"), CommandClass::Read);
    assert_eq!(policy.classify_command("frobnicate -w x"), CommandClass::Write);
    assert!(policy.explain_command("frobnicate -w x").deciding().entry.as_deref() == Some("mine.toml:1"));
    assert!(Knowledge::with_files(&file("[x]\nclass = \"harmless\"\n")).is_err());
    assert!(Knowledge::with_files(&file("[x]\nclass = \"read\"\nlax = true\n")).is_err(), "options of a Read are listed");
    assert!(Knowledge::with_files(&file("[x]\nclass = \"read\"\n[x.examples]\n\"x --y\" = \"read\"\n")).is_err());
}
