//! Knowledge files of a user and of a workspace: they count in a run and in what is only asked, and a flawed one stops both.

use anyhow::Result;
use stayexec_tests::{Outcome, Scene};

const OWN: &str = "../config/stayexec/knowledge/mine.toml";
const WORKSPACE: &str = ".stayexec/knowledge/ours.toml";
const LOWERS: &str = "[touch]\nclass = \"read\"\n";
const RAISES: &str = "[ls]\nclass = \"read\"\noptions = \"-a\"\nwrite = \"-l\"\n";

fn unattended(scene: &Scene, text: &str) -> Result<Outcome> {
    scene.run().tier("supervised").origin("unattended").unconfined().command(["bash", "-c", text]).finish()
}

fn class(scene: &Scene, verb: &str, text: &str) -> Result<String> {
    Ok(scene.stayexec().words([verb, text]).finish()?.out().split(' ').next().unwrap_or_default().to_owned())
}

#[test]
fn a_file_of_the_user_decides() -> Result<()> {
    for scene in Scene::of_each_user()? {
        unattended(&scene, "touch a; echo status $?")?.expect_line("status 126");
        scene.file(OWN, LOWERS)?;
        unattended(&scene, "touch a; echo status $?")?.expect_line("status 0");
        scene.mark("a").expect_made();
        for verb in ["classify", "check"] {
            assert_eq!(class(&scene, verb, "touch a")?, "read");
        }
        let explained = scene.stayexec().words(["classify", "--explain", "touch a"]).finish()?.out();
        assert!(explained.contains("config/stayexec/knowledge/mine.toml:1)"), "{explained}");
    }
    Ok(())
}

#[test]
fn a_file_of_the_workspace_only_raises() -> Result<()> {
    let scene = Scene::new()?;
    scene.file(WORKSPACE, format!("{LOWERS}{RAISES}"))?;
    unattended(&scene, "touch a; echo status $?")?.expect_line("status 126");
    scene.mark("a").expect_none();
    unattended(&scene, "ls -l; echo status $?")?.expect_line("status 126");
    unattended(&scene, "ls -a >/dev/null; echo status $?")?.expect_line("status 0");
    for verb in ["classify", "check"] {
        assert_eq!(
            [class(&scene, verb, "touch a")?, class(&scene, verb, "ls -l")?, class(&scene, verb, "ls")?],
            ["write", "write", "read"]
        );
    }
    Ok(())
}

#[test]
fn a_flawed_file_stops_everything_with_one_line() -> Result<()> {
    let flaws = [
        ("[frob]\nclas = \"read\"\n", ":2: unknown field `clas`"),
        ("[frob]\nclass = \"read\"\n[frob.examples]\n\"frob --y\" = \"read\"\n", ":4: the example `frob --y` is write, not read"),
    ];
    for (place, name) in [(OWN, "mine.toml"), (WORKSPACE, "ours.toml")] {
        let scene = Scene::new()?;
        for (text, flaw) in flaws {
            scene.file(place, text)?;
            let told = |words: &[&str]| scene.stayexec().words(words).finish();
            for words in [&["run", "--", "touch", "a"][..], &["classify", "ls"], &["check", "ls"], &["config", "show"]] {
                let outcome = told(words)?;
                outcome.expect_code(2);
                let stderr = String::from_utf8_lossy(&outcome.stderr).into_owned();
                assert!(stderr.contains(&format!("{name}{flaw}")) && stderr.lines().count() == 1, "{words:?}: {}", outcome.told());
            }
            scene.mark("a").expect_none();
        }
    }
    Ok(())
}

#[test]
fn the_configuration_names_them() -> Result<()> {
    let scene = Scene::new()?;
    scene.file(OWN, LOWERS)?;
    scene.file(WORKSPACE, RAISES)?;
    let outcome = scene.stayexec().words(["config", "show", "--origin"]).finish()?;
    outcome.expect_code(0);
    for (meaning, name) in [("own", "config/stayexec/knowledge/mine.toml"), ("only raises", ".stayexec/knowledge/ours.toml")] {
        let found = |line: &str| line.starts_with("knowledge ") && line.contains(&format!("\"{meaning}\"")) && line.ends_with(name);
        assert!(outcome.out().lines().any(found), "{}", outcome.told());
    }
    Ok(())
}
