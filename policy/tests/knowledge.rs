//! What the knowledge promises about itself.

use stayexec_policy::{CommandClass, Knowledge, KnowledgeFile, Origin, SecurityPolicy};

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

fn with(text: &str, origin: Origin) -> Result<SecurityPolicy, stayexec_policy::KnowledgeError> {
    let knowledge = Knowledge::with_files(&[KnowledgeFile { name: "mine.toml", text, origin }])?;
    Ok(SecurityPolicy::default().with_knowledge(knowledge))
}

#[test]
fn files_of_a_user_are_checked_and_win() {
    let policy = with("[frobnicate]\nclass = \"read\"\noptions = \"-v\"\n", Origin::Own).unwrap();
    assert_eq!(policy.classify_command("frobnicate -v x"), CommandClass::Read);
    assert_eq!(policy.classify_command("frobnicate -w x"), CommandClass::Write);
    assert!(policy.explain_command("frobnicate -w x").deciding().entry.as_deref() == Some("mine.toml:1"));
    let lower = with("[touch]\nclass = \"read\"\n", Origin::Own).unwrap();
    assert_eq!(lower.classify_command("touch x"), CommandClass::Read, "the person decides");
    for flawed in [
        "[x]\nclass = \"harmless\"\n",
        "[x]\nclass = \"read\"\n[x.examples]\n\"x --y\" = \"read\"\n",
        "[x]\nclass = \"read\"\nlax = true\n",
    ] {
        assert!(with(flawed, Origin::Own).is_err() && with(flawed, Origin::Workspace).is_err(), "{flawed}");
    }
}

#[test]
fn files_of_a_workspace_only_raise() {
    let text = "[touch]\nclass = \"read\"\n[frobnicate]\nclass = \"read\"\n[ls]\nclass = \"read\"\nwrite = \"-l\"\n[\"deploy\"]\nclass = \"network\"\n";
    let policy = with(text, Origin::Workspace).unwrap();
    assert_eq!(policy.classify_command("touch x"), CommandClass::Write);
    assert_eq!(policy.classify_command("frobnicate"), CommandClass::Write);
    assert_eq!(policy.classify_command("ls -l"), CommandClass::Write);
    assert_eq!(policy.classify_command("ls"), CommandClass::Read);
    assert_eq!(policy.classify_command("deploy"), CommandClass::Network);
}

#[test]
fn a_flaw_is_one_line_with_file_and_line() {
    for (text, begins) in [
        ("\n[x]\nclas = \"read\"\n", "mine.toml:3: unknown field `clas`"),
        ("[x]\nclass = \"harmless\"\n", "mine.toml:2: "),
        ("[y]\n\n[x]\nclass = \"read\"\nlax = true\n", "mine.toml:3: [x]: lax"),
        (
            "[x]\nclass = \"read\"\n[x.examples]\n\"x y\" = \"read\"\n\"x --y\" = \"read\"\n",
            "mine.toml:5: the example `x --y` is write, not read",
        ),
        ("[x]\nclass = \"read\"\n[x.sub.y]\noperands = \"z\"\n", "mine.toml:3: [x.sub.y]: operands"),
        ("[x", "mine.toml:1: "),
        ("[y]\n[x]\nclass = \"read\"\nwrite = \"-w\"\n", "mine.toml:2: [x]: has options that raise"),
        ("[\"x|y\"]\nclass = \"read\"\n[\"y|z\"]\nclass = \"read\"\n", "mine.toml:3: [y|z]: y stands twice"),
    ] {
        let error = with(text, Origin::Own).unwrap_err().to_string();
        assert!(error.starts_with(begins) && !error.contains('\n'), "{text}: {error}");
    }
}

#[test]
fn what_a_file_does_not_name_stays_as_it_was() {
    let policy = with("[python]\nclass = \"network\"\n[\"new\"]\nclass = \"read\"\nversioned = true\n", Origin::Own).unwrap();
    assert_eq!(policy.knowledge().len(), Knowledge::builtin().len() + 1);
    assert_eq!(policy.classify_command("python x"), CommandClass::Network);
    assert_eq!(policy.classify_command("new3.2"), CommandClass::Read);
    assert_eq!(policy.classify_command("LD_PRELOAD=x ls"), CommandClass::Write);
    for example in Knowledge::builtin().examples().iter().filter(|example| !example.command.contains("python")) {
        assert_eq!(policy.classify_command(&example.command), example.class, "{}", example.command);
    }
}
