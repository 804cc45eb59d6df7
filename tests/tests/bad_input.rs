//! Input that cannot be used: one clear line each, the right status, and nothing let through.

use anyhow::Result;
use nix::sys::signal::Signal;
use stayexec_tests::{Launch, Scene, within};
use std::fs;
use std::os::unix::fs::PermissionsExt;

/// A run that would make `ran`.
fn touching<'s>(run: Launch<'s>) -> Launch<'s> {
    run.command(["touch", "ran"])
}

/// Runs it: it must end with `code` and one line, without having started anything.
#[track_caller]
fn refused(scene: &Scene, launch: Launch<'_>, code: i32) -> Result<String> {
    let outcome = launch.finish()?;
    outcome.expect_code(code);
    assert!(outcome.stdout.is_empty(), "{}", outcome.told());
    scene.mark("ran").expect_none();
    Ok(outcome.expect_one_line())
}

#[track_caller]
fn mentions(line: &str, words: &[&str]) {
    assert!(words.iter().all(|w| line.contains(w)), "{line:?} does not name all of {words:?}");
}

#[test]
fn unknown_flags() -> Result<()> {
    let scene = Scene::new()?;
    mentions(&refused(&scene, touching(scene.run().words(["--no-such-flag"])), 2)?, &["--no-such-flag"]);
    mentions(&refused(&scene, scene.stayexec().words(["no-such-verb"]), 2)?, &["no-such-verb"]);
    mentions(&refused(&scene, touching(scene.run().tier("everything")), 2)?, &["everything", "readonly"]);
    mentions(&refused(&scene, touching(scene.run().origin("nowhere")), 2)?, &["nowhere", "unattended"]);
    mentions(&refused(&scene, touching(scene.run().words(["--deadline", "soon"])), 2)?, &["soon"]);
    mentions(&refused(&scene, touching(scene.run().words(["--require", "luck"])), 2)?, &["luck", "verify"]);
    refused(&scene, scene.stayexec().words(["approve"]), 2)?;
    refused(&scene, scene.run(), 2)?;
    Ok(())
}

#[test]
fn help_and_version_are_no_errors() -> Result<()> {
    let scene = Scene::new()?;
    for words in [["--help"].as_slice(), &["--version"], &["run", "--help"], &["serve", "--help"]] {
        let outcome = scene.stayexec().words(words).finish()?;
        outcome.expect_code(0).expect_quiet();
        assert!(outcome.stdout.len() > 5, "{}", outcome.told());
    }
    Ok(())
}

#[test]
fn a_missing_verb_is_answered_with_the_verbs() -> Result<()> {
    let scene = Scene::new()?;
    for (words, verb) in [(&[][..], "classify"), (&["rules"], "add"), (&["config"], "show"), (&["wrap"], "install")] {
        let outcome = scene.stayexec().words(words).finish()?;
        outcome.expect_code(2);
        assert!(outcome.stdout.is_empty(), "{}", outcome.told());
        let verbs = outcome.err();
        assert!(verbs.contains("Usage: stayexec") && verbs.lines().any(|line| line.trim_start().starts_with(verb)), "{}", outcome.told());
    }
    let help = scene.stayexec().words(["run", "--help"]).finish()?.out();
    assert!(help.contains("default: 10m") && help.contains("default: supervised"), "{help}");
    Ok(())
}

#[test]
fn a_missing_program() -> Result<()> {
    for scene in Scene::of_each_user()? {
        mentions(&refused(&scene, scene.run().command(["no-such-program"]), 127)?, &["no-such-program", "in PATH"]);
        for path in ["./missing", "/no/such/file"] {
            let line = refused(&scene, scene.run().command([path]), 127)?;
            mentions(&line, &[path, "no such file"]);
            assert!(!line.contains("PATH"), "{line}");
        }
    }
    Ok(())
}

#[test]
fn a_missing_interpreter() -> Result<()> {
    let scene = Scene::new()?;
    scene.program("script", "#!/no/such/interpreter\n")?;
    let outcome = scene.run().command(["./script"]).finish()?;
    assert!(outcome.code() == 127 || outcome.code() == 126, "{}", outcome.told());
    mentions(&outcome.expect_one_line(), &["script"]);
    Ok(())
}

#[test]
fn a_program_that_cannot_be_executed() -> Result<()> {
    for scene in Scene::of_each_user()? {
        scene.file("plain", "touch ran\n")?;
        mentions(&refused(&scene, scene.run().command(["./plain"]), 126)?, &["./plain"]);
        mentions(&refused(&scene, scene.run().command(["/etc"]), 126)?, &["/etc"]);
    }
    Ok(())
}

#[test]
fn a_workspace_that_cannot_be_used() -> Result<()> {
    for scene in Scene::of_each_user()? {
        let missing = scene.run().words(["--workspace", "no-such-folder"]);
        mentions(&refused(&scene, touching(missing), 125)?, &["no-such-folder"]);
        scene.file("plain", "")?;
        mentions(&refused(&scene, touching(scene.run().words(["--workspace", "plain"])), 125)?, &["plain"]);
    }
    let scene = Scene::ordinary()?;
    let closed = scene.file("closed/file", "")?;
    let closed = closed.parent().unwrap_or(&closed);
    fs::set_permissions(closed, fs::Permissions::from_mode(0o000))?;
    mentions(&refused(&scene, touching(scene.run().words(["--workspace", "closed"])), 125)?, &["closed"]);
    Ok(())
}

#[test]
fn an_invalid_configuration() -> Result<()> {
    for scene in Scene::of_each_user()? {
        for (text, words) in [
            ("tier = \"full\"\nno_such_key = 1\n", [":2", "no_such_key"]),
            ("tier = \"everything\"\n", [":1", "everything"]),
            ("tier = \n", [":1", "config.toml"]),
            ("\n\n[matrix.readonly]\nwrite = \"allow\"\n", [":4", "write"]),
        ] {
            let own = scene.configure(text)?;
            let line = refused(&scene, touching(scene.run()), 2)?;
            mentions(&line, &words);
            mentions(&line, &[&own.display().to_string()]);
        }
        fs::remove_file(scene.configure("")?)?;
        // A workspace's own file can only tighten.
        scene.file(".stayexec.toml", "tier = \"full\"\n")?;
        mentions(&refused(&scene, touching(scene.run()), 2)?, &[".stayexec.toml", "full"]);
        scene.file(".stayexec.toml", "tier = \"readonly\"\n")?;
        scene.run().origin("unattended").unconfined().command(["bash", "-c", "touch ran"]).finish()?.expect_code(126);
        scene.mark("ran").expect_none();
    }
    Ok(())
}

#[test]
fn a_journal_that_cannot_be_written() -> Result<()> {
    let ordinary = Scene::ordinary()?;
    if !ordinary.is_root() {
        fs::set_permissions(ordinary.path("state"), fs::Permissions::from_mode(0o500))?;
        refused(&ordinary, touching(ordinary.run().tier("full")), 125)?;
        fs::set_permissions(ordinary.path("state"), fs::Permissions::from_mode(0o700))?;
    }
    for scene in Scene::of_each_user()? {
        fs::remove_dir_all(scene.path("state"))?;
        fs::write(scene.path("state"), "in the way")?;
        refused(&scene, touching(scene.run().tier("full")), 125)?;
    }
    Ok(())
}

#[test]
fn a_second_supervisor() -> Result<()> {
    for scene in Scene::of_each_user()? {
        scene.full(["true"])?.expect_code(0);
        let first = scene.supervisor()?;
        let outcome = scene.stayexec().words(["serve"]).finish()?;
        assert_ne!(outcome.code(), 0, "{}", outcome.told());
        outcome.expect_one_line();
        assert_eq!(scene.supervisor()?.pid, first.pid);
        scene.signal(&first, Signal::SIGTERM);
        within("the supervisor to end when it is told to", || stayexec_tests::Process::of(first.pid).is_none())?;
    }
    Ok(())
}

#[test]
fn answers_to_nothing() -> Result<()> {
    let scene = Scene::new()?;
    scene.full(["true"])?.expect_code(0);
    for verb in ["approve", "deny"] {
        let outcome = scene.stayexec().words([verb, "0198c0de-0000-7000-8000-000000000000"]).finish()?;
        outcome.expect_code(4).expect_one_line();
    }
    let outcome = scene.stayexec().words(["pending", "--json"]).finish()?;
    outcome.expect_code(0).expect_quiet();
    assert_eq!(outcome.out().trim(), "[]");
    Ok(())
}

#[test]
fn faces_without_a_supervisor() -> Result<()> {
    let scene = Scene::new()?;
    let outcome = scene.stayexec().words(["pending", "--json"]).finish()?;
    outcome.expect_code(0);
    assert_eq!(outcome.out().trim(), "[]");
    let outcome = scene.stayexec().words(["approve", "0198c0de-0000-7000-8000-000000000000"]).finish()?;
    outcome.expect_code(4).expect_one_line();
    Ok(())
}

#[test]
fn an_environment_without_folders_has_those_below_home() -> Result<()> {
    for scene in Scene::of_each_user()? {
        let mut launch = touching(scene.run().tier("full"));
        for name in ["XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"] {
            launch = launch.without(name);
        }
        launch.finish()?.expect_code(0).expect_quiet();
        scene.mark("ran").expect_made();
        assert!(scene.path("home/.local/state/stayexec").is_dir());
        assert!(!scene.path("state/stayexec").exists());
    }
    Ok(())
}

#[test]
fn a_configuration_that_is_no_text() -> Result<()> {
    let scene = Scene::new()?;
    let text = b"tier = \"full\"\n[matrix.full]\n# caf\xe9\n";
    scene.file("../config/stayexec/config.toml", text)?;
    mentions(&refused(&scene, touching(scene.run()), 2)?, &["config.toml:3", "UTF-8"]);
    std::fs::remove_file(scene.path("config/stayexec/config.toml"))?;
    scene.file(".stayexec.toml", text)?;
    mentions(&refused(&scene, touching(scene.run().words(["--workspace", "."])), 2)?, &[".stayexec.toml:3", "UTF-8"]);
    std::fs::remove_file(scene.work().join(".stayexec.toml"))?;
    scene.file("../config/stayexec/knowledge/own.toml", text)?;
    mentions(&refused(&scene, touching(scene.run()), 2)?, &["own.toml:3", "UTF-8"]);
    Ok(())
}
