//! `classify`, `check`, `doctor`, `config show` and `history` as a person or a script uses them.

use anyhow::Result;
use serde_json::Value;
use stayexec_tests::{Input, Outcome, Scene};

fn says(scene: &Scene, words: &[&str]) -> Result<Outcome> {
    scene.stayexec().words(words).finish()
}

#[test]
fn classify_knows_the_classes() -> Result<()> {
    let scene = Scene::new()?;
    for (line, class) in [
        ("ls -la | grep x", "read"),
        ("echo x > file", "write"),
        ("rm file", "write"),
        ("curl https://example.org", "network"),
        ("git push", "network"),
        ("npm install left-pad", "install"),
        ("rm -rf build", "destructive"),
        ("git push --force", "destructive"),
        ("sudo ls", "write"),
        ("env A=b timeout 5 nice sh -c 'rm -r x'", "destructive"),
        ("no-such-tool --help-me", "write"),
    ] {
        let outcome = says(&scene, &["classify", "--json", line])?;
        outcome.expect_code(0).expect_quiet();
        let told: Value = serde_json::from_slice(&outcome.stdout)?;
        let told = told["class"].as_str().unwrap_or_default();
        assert_eq!(told, class, "{line}: {}", outcome.told());
    }
    // What cannot be known is ranked as a write at least.
    for line in ["$(echo rm) -rf x", "eval \"$x\"", "case x in", "python3 script.py"] {
        let outcome = says(&scene, &["classify", "--json", line])?;
        let told: Value = serde_json::from_slice(&outcome.expect_code(0).stdout)?;
        assert_ne!(told["class"], "read", "{line}: {}", outcome.told());
    }
    Ok(())
}

#[test]
fn check_ends_with_the_decision() -> Result<()> {
    let scene = Scene::new()?;
    says(&scene, &["check", "ls"])?.expect_code(0);
    says(&scene, &["check", "touch x"])?.expect_code(3);
    says(&scene, &["check", "--tier", "readonly", "touch x"])?.expect_code(1);
    says(&scene, &["check", "--tier", "full", "touch", "x"])?.expect_code(0);
    says(&scene, &["check", "cat ~/.ssh/id_rsa"])?.expect_code(1);
    // classify knows the matrix alone, and always ends well.
    says(&scene, &["classify", "--tier", "readonly", "touch x"])?.expect_code(0);
    Ok(())
}

#[test]
fn lines_of_json_are_answered_in_order() -> Result<()> {
    let scene = Scene::new()?;
    let text = "{\"command\": \"ls\"}\n{\"argv\": [\"rm\", \"-rf\", \"x\"]}\n{\"command\": \"ls\", \"declared\": \"install\"}\n";
    let outcome = scene.stayexec().words(["check", "--jsonl"]).input(Input::Text(text.into())).finish()?;
    let rows: Vec<Value> = outcome.out().lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
    let told: Vec<_> = rows.iter().map(|r| (r["class"].as_str().unwrap_or(""), r["decision"].as_str().unwrap_or(""))).collect();
    assert_eq!(told, [("read", "allow"), ("destructive", "prompt"), ("install", "prompt")], "{}", outcome.told());
    assert!(rows.iter().all(|r| r["reason"].is_string()));
    Ok(())
}

#[test]
fn doctor_says_what_holds() -> Result<()> {
    for scene in Scene::of_each_user()? {
        let outcome = says(&scene, &["doctor"])?;
        outcome.expect_code(0).expect_quiet();
        assert!(outcome.out().lines().any(|l| l.starts_with("ok") && l.contains("gate")), "{}", outcome.told());
        let outcome = says(&scene, &["doctor", "--json"])?;
        let _: Value = serde_json::from_slice(&outcome.expect_code(0).stdout)?;
    }
    Ok(())
}

#[test]
fn config_show_names_the_origin_of_each_value() -> Result<()> {
    let scene = Scene::new()?;
    let file = scene.configure("tier = \"full\"\n")?;
    let outcome = says(&scene, &["config", "show", "--origin"])?;
    outcome.expect_code(0).expect_quiet();
    let line = outcome.out().lines().find(|l| l.contains("tier")).unwrap_or_default().to_owned();
    assert!(line.contains("full") && line.contains(&file.display().to_string()), "{}", outcome.told());
    Ok(())
}

#[test]
fn history_of_this_workspace_and_of_all() -> Result<()> {
    let scene = Scene::new()?;
    scene.full(["bash", "-c", "ls >/dev/null"])?.expect_code(0);
    let outcome = says(&scene, &["history"])?;
    outcome.expect_code(0).expect_quiet();
    assert!(outcome.out().lines().any(|l| l.contains("allow") && l.trim_end().ends_with("ls")), "{}", outcome.told());
    let elsewhere = |words: &[&str]| scene.stayexec().words(words).folder(scene.path("home")).finish();
    assert!(!elsewhere(&["history"])?.out().contains("ls"));
    assert!(elsewhere(&["history", "--all"])?.out().contains("ls"));
    Ok(())
}

#[test]
fn a_command_line_of_a_megabyte_is_folded_wherever_it_is_shown() -> Result<()> {
    let scene = Scene::new()?;
    scene.full(["bash", "-c", "w=$(printf 'y%.0s' {1..100000}); /bin/echo $w $w $w $w $w $w $w $w $w $w >/dev/null"])?.expect_code(0);
    let outcome = says(&scene, &["history"])?;
    outcome.expect_code(0).expect_quiet();
    assert!(outcome.out().lines().all(|l| l.len() < 2000), "a line has more than 2,000 bytes");
    let outcome = says(&scene, &["history", "--json"])?;
    outcome.expect_code(0).expect_quiet();
    Ok(())
}
