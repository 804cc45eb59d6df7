//! Launchers: an agent's own name starts it behind the gate, once, and never itself.

use anyhow::Result;
use stayexec_tests::{Launch, Outcome, Scene, User};
use std::ffi::OsString;
use std::path::PathBuf;

/// The folder of the launchers, and one with the real programs.
fn folders(scene: &Scene) -> (PathBuf, PathBuf) {
    (scene.path("data/stayexec/bin"), scene.path("real"))
}

/// A program of the scene's user in the folder of real ones.
fn real(scene: &Scene, name: &str, text: &str) -> Result<PathBuf> {
    scene.file("../real/.keep", "")?;
    scene.program(&format!("../real/{name}"), text)?;
    Ok(scene.path("real").join(name))
}

/// PATH with these folders first.
fn path(folders: &[&PathBuf]) -> OsString {
    let list: Vec<String> = folders.iter().map(|folder| folder.display().to_string()).collect();
    format!("{}:/usr/bin:/bin", list.join(":")).into()
}

/// A command with the launchers first in PATH, then the real programs.
fn wrapped<'s>(scene: &'s Scene, words: &[&str]) -> Launch<'s> {
    let (launchers, real) = folders(scene);
    scene.ungated_launch(words).env("PATH", path(&[&launchers, &real]))
}

fn wrap(scene: &Scene, words: &[&str]) -> Result<Outcome> {
    let (launchers, real) = folders(scene);
    scene.stayexec().words(["wrap"]).words(words).env("PATH", path(&[&launchers, &real])).finish()
}

/// Says how it was started, and tries to remove a victim, in words that nobody reads out of its text.
const AGENT: &str = "#!/bin/sh\necho \"agent $# $*\"\ncase $PATH in *stayexec/bin*) echo launchers in PATH;; esac\n$REMOVE -rf \"$VICTIM\"\necho status $?\n";

#[test]
fn the_name_alone_starts_the_agent_behind_the_gate() -> Result<()> {
    for scene in Scene::of_each_user()? {
        let victim = scene.victim("victim")?;
        let agent = real(&scene, "agent", AGENT)?;
        let installed = wrap(&scene, &["install", "--tier", "readonly", "--origin=unattended", "--confine=off", "agent"])?;
        installed.expect_code(0).expect_quiet();
        assert!(installed.out().contains(&format!("starts {} behind the gate", agent.display())), "{}", installed.told());
        let outcome = wrapped(&scene, &["agent", "a b", "--", "--tier", "*"]).env("VICTIM", victim.path()).env("REMOVE", "rm").finish()?;
        assert_eq!(outcome.out(), "agent 4 a b -- --tier *\nstatus 126\n", "{}", outcome.told());
        assert_eq!(outcome.denials().len(), 1, "{}", outcome.told());
        victim.expect_alive();
        // The positive control: without its launcher the same name starts the same program, and nothing stops it.
        wrap(&scene, &["remove", "agent"])?.expect_code(0);
        wrapped(&scene, &["agent"]).env("VICTIM", victim.path()).env("REMOVE", "rm").finish()?.expect_line("status 0");
        victim.expect_gone();
        assert!(!folders(&scene).0.exists());
    }
    Ok(())
}

#[test]
fn status_and_signals_are_those_of_the_real_program() -> Result<()> {
    let scene = Scene::new()?;
    real(&scene, "seven", "#!/bin/sh\ncat\nexit 7\n")?;
    real(&scene, "killed", "#!/bin/sh\nkill -TERM $$\n")?;
    wrap(&scene, &["install", "--tier=full", "--origin=unattended", "seven", "killed"])?.expect_code(0);
    let outcome = wrapped(&scene, &["seven"]).input(stayexec_tests::Input::Text("typed".into())).finish()?;
    assert_eq!((outcome.out(), outcome.code()), ("typed".to_owned(), 7), "{}", outcome.told());
    wrapped(&scene, &["killed"]).finish()?.expect_code(143);
    Ok(())
}

#[test]
fn no_launcher_is_ever_the_real_program() -> Result<()> {
    for scene in Scene::of_each_user()? {
        let (launchers, reals) = folders(&scene);
        let agent = real(&scene, "agent", "#!/bin/sh\necho \"the real $0\"\n")?;
        wrap(&scene, &["install", "--tier=full", "--origin=unattended", "agent"])?.expect_code(0);
        // A link to it, a copy of it and its folder by another name, all in front of the real one.
        let (links, copies, alias) = (scene.path("links"), scene.path("copies"), scene.path("alias"));
        for folder in [&links, &copies] {
            std::fs::create_dir(folder)?;
        }
        std::os::unix::fs::symlink(launchers.join("agent"), links.join("agent"))?;
        std::os::unix::fs::symlink(&launchers, &alias)?;
        std::fs::copy(launchers.join("agent"), copies.join("agent"))?;
        scene.give(&copies.join("agent"))?;
        let told = format!("the real {}\n", agent.display());
        for first in [&launchers, &links, &copies, &alias] {
            let path = path(&[first, &links, &copies, &alias, &launchers, &reals]);
            for words in [&["agent"][..], &[&scene.binary().display().to_string(), "run", "--tier=full", "--", "agent"]] {
                let outcome = scene.ungated_launch(words).env("PATH", &path).finish()?;
                assert_eq!(outcome.out(), told, "{words:?} {}", outcome.told());
            }
        }
        // None but launchers: nothing is started.
        let outcome = scene.ungated_launch(["agent"]).env("PATH", path(&[&launchers, &links, &copies])).finish()?;
        outcome.expect_code(127);
        assert!(outcome.expect_one_line().contains("agent"), "{}", outcome.told());
    }
    Ok(())
}

#[test]
fn inside_a_gate_a_launcher_is_the_real_program() -> Result<()> {
    for scene in Scene::of_each_user()? {
        let (launchers, reals) = folders(&scene);
        let victim = scene.victim("victim")?;
        real(&scene, "agent", AGENT)?;
        // What the launcher would allow does not matter: the gate that is around stays.
        wrap(&scene, &["install", "--tier=full", "--confine=off", "agent"])?.expect_code(0);
        let text = "PATH=$AGAIN; agent nested; echo over";
        let run = scene.run().tier("full").origin("unattended").unconfined().command(["bash", "-c", text]);
        let outcome = run.env("AGAIN", path(&[&launchers, &reals])).env("VICTIM", victim.path()).env("REMOVE", "rm").finish()?;
        assert_eq!(outcome.out(), "agent 1 nested\nlaunchers in PATH\nstatus 126\nover\n", "{}", outcome.told());
        victim.expect_alive();
        // One run, and the chain of starts in it.
        let history = scene.history()?;
        assert!(history.iter().all(|entry| entry.row["run"] == history[0].row["run"]), "{history:#?}");
        assert!(history.iter().any(|entry| entry.command.contains("wrap run")), "{history:#?}");
        // Where a person is asked, one approval covers the launcher and what it becomes.
        let run = scene.run().tier("supervised").unconfined().command(["bash", "-c", text]);
        let running = run.env("AGAIN", path(&[&launchers, &reals])).env("VICTIM", victim.path()).env("REMOVE", "true").start()?;
        scene.answer(&scene.asked_once()?, &["approve"])?.expect_code(0);
        assert_eq!(running.finish()?.out(), "agent 1 nested\nlaunchers in PATH\nstatus 0\nover\n");
    }
    Ok(())
}

#[test]
fn the_tree_cannot_change_a_launcher() -> Result<()> {
    let scene = Scene::new()?;
    let (launchers, _) = folders(&scene);
    real(&scene, "agent", "#!/bin/sh\necho real\n")?;
    wrap(&scene, &["install", "--tier=full", "--origin=unattended", "agent"])?.expect_code(0);
    let launcher = launchers.join("agent");
    let before = std::fs::read(&launcher)?;
    let file = launcher.display();
    let lines = [format!("cp /bin/true {file}"), format!("rm -f {file}"), format!("touch {}/new", launchers.display())];
    for line in lines.iter().chain(&[format!("cat {file}"), format!("{} wrap remove agent", scene.binary().display())]) {
        let text = format!("{line}; echo status $?");
        let outcome = scene.full(["bash", "-c", &text])?;
        assert!(!outcome.out().contains("status 0"), "{line}: {}", outcome.told());
    }
    assert_eq!(std::fs::read(&launcher)?, before);
    assert_eq!(std::fs::read_dir(&launchers)?.count(), 1);
    Ok(())
}

#[test]
fn a_program_that_starts_its_own_launcher_again_is_stopped() -> Result<()> {
    let scene = Scene::new()?;
    let (launchers, reals) = folders(&scene);
    real(&scene, "agent", "#!/bin/sh\nPATH=$AGAIN exec agent\n")?;
    wrap(&scene, &["install", "--tier=full", "--origin=unattended", "agent"])?.expect_code(0);
    let outcome = wrapped(&scene, &["agent"]).env("AGAIN", path(&[&launchers, &reals])).finish()?;
    outcome.expect_code(2);
    assert!(outcome.expect_one_line().contains(&format!("{} starts its own launcher again", reals.join("agent").display())));
    Ok(())
}

#[test]
fn nothing_in_the_environment_makes_a_launcher_leave_the_gate_out() -> Result<()> {
    let scene = Scene::new()?;
    let victim = scene.victim("victim")?;
    real(&scene, "agent", AGENT)?;
    wrap(&scene, &["install", "--tier=readonly", "--origin=unattended", "agent"])?.expect_code(0);
    let mut launch = wrapped(&scene, &["agent"]).env("VICTIM", victim.path()).env("REMOVE", "rm");
    for name in ["STAYEXEC_WRAP_DEPTH", "STAYEXEC_RUN", "STAYEXEC_GATED", "STAYEXEC"] {
        launch = launch.env(name, "1");
    }
    launch.finish()?.expect_line("status 126");
    victim.expect_alive();
    Ok(())
}

#[test]
fn status_tells_what_each_name_starts() -> Result<()> {
    let scene = Scene::of(User::Own)?;
    let (launchers, reals) = folders(&scene);
    assert_eq!(wrap(&scene, &["status", "--json"])?.expect_code(0).out(), "[]\n");
    real(&scene, "agent", "#!/bin/sh\n")?;
    let outcome = wrap(&scene, &["install", "--writable", "/tmp/a b", "agent", "absent"])?;
    outcome.expect_code(0);
    assert!(outcome.out().contains("absent starts nothing yet: cannot find absent"), "{}", outcome.told());
    assert!(!outcome.out().contains("export PATH"), "the folder is first: {}", outcome.told());
    let rows: serde_json::Value = serde_json::from_str(&wrap(&scene, &["status", "--json"])?.out())?;
    let agent = serde_json::json!({
        "name": "agent", "launcher": launchers.join("agent"), "program": reals.join("agent"),
        "options": "'--writable=/tmp/a b'", "first": true,
    });
    assert_eq!(rows[1], agent);
    assert_eq!(rows[0]["program"], serde_json::Value::Null);
    // Behind the real one in PATH, or not in it at all: the line to add, and where.
    for (shell, file) in
        [("/bin/bash", "~/.bashrc"), ("/usr/bin/zsh", "~/.zshrc"), ("/bin/dash", "~/.profile"), ("/bin/fish", "config.fish")]
    {
        let late = scene.stayexec().words(["wrap", "status"]).env("PATH", path(&[&reals, &launchers])).env("SHELL", shell).finish()?;
        late.expect_code(0);
        assert!(late.out().contains("agent   NO"), "{}", late.told());
        assert!(late.out().contains(file) && late.out().contains(&launchers.display().to_string()), "{}", late.told());
    }
    // The line is true: a shell that reads it finds the launcher first.
    let install = scene.stayexec().words(["wrap", "install", "agent"]).env("PATH", path(&[&reals])).env("SHELL", "/bin/bash").finish()?;
    let line = install.out().lines().find_map(|line| line.trim().strip_prefix("export ").map(str::to_owned));
    let text = format!("export {}; command -v agent", line.unwrap_or_default());
    let found = scene.ungated_launch(["bash", "-c", &text]).env("PATH", path(&[&reals])).finish()?;
    assert_eq!(found.out(), format!("{}\n", launchers.join("agent").display()));
    // No start-up file was touched.
    assert_eq!(std::fs::read_dir(scene.path("home"))?.count(), 0);
    wrap(&scene, &["remove", "--all"])?.expect_code(0);
    assert!(!launchers.exists());
    Ok(())
}

#[test]
fn what_cannot_be_wrapped_is_said() -> Result<()> {
    let scene = Scene::new()?;
    let (launchers, _) = folders(&scene);
    real(&scene, "agent", "#!/bin/sh\n")?;
    for name in ["/usr/bin/agent", "./agent", "stayexec", "", ".agent", "-x", "a\nb"] {
        for verb in ["install", "remove"] {
            let outcome = wrap(&scene, &[verb, "--", name])?;
            outcome.expect_code(2).expect_one_line();
        }
    }
    wrap(&scene, &["install"])?.expect_code(2).expect_one_line();
    wrap(&scene, &["remove", "agent"])?.expect_code(2).expect_one_line();
    wrap(&scene, &["install", "--tier", "bogus", "agent"])?.expect_code(2).expect_one_line();
    assert!(wrap(&scene, &["install", "--writable", "here", "agent"])?.expect_code(2).expect_one_line().contains("absolute"));
    assert!(!launchers.exists());
    // A file and a link that somebody else put there stay as they are.
    wrap(&scene, &["install", "other"])?.expect_code(0);
    std::fs::write(launchers.join("agent"), "mine\n")?;
    std::os::unix::fs::symlink("/bin/true", launchers.join("link"))?;
    for name in ["agent", "link"] {
        for verb in ["install", "remove"] {
            let line = wrap(&scene, &[verb, name])?.expect_code(2).expect_one_line();
            assert!(line.contains("move it away first"), "{line}");
        }
    }
    assert_eq!(std::fs::read_to_string(launchers.join("agent"))?, "mine\n");
    wrap(&scene, &["remove", "--all"])?.expect_code(0);
    assert!(launchers.join("agent").exists() && launchers.join("link").exists() && !launchers.join("other").exists());
    Ok(())
}
