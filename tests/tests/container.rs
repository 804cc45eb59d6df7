//! Inside a container as engines make it: the floor holds there, or the run does not start and says what is missing.

use anyhow::Result;
use stayexec_tests::{Container, Outcome, Scene, cannot_run, containers_work, full};
use std::process::Command;

/// `stayexec` with `words` in a container.
fn inside(scene: &Scene, container: &Container, words: &[&str]) -> Result<Outcome> {
    let stayexec = scene.binary().display().to_string();
    container.launch(scene, &[&[stayexec.as_str()], words].concat())?.finish()
}

fn run(scene: &Scene, container: &Container, tier: &str, text: &str) -> Result<Outcome> {
    inside(scene, container, &["run", "--tier", tier, "--origin", "unattended", "--confine=off", "--", "bash", "-c", text])
}

/// The floor: rm is refused, ls and touch run.
fn floor_holds(container: &Container) -> Result<()> {
    let scene = Scene::new()?;
    if containers_work(&scene) { floor_holds_in(&scene, container) } else { Ok(()) }
}

fn floor_holds_in(scene: &Scene, container: &Container) -> Result<()> {
    let (victim, made) = (scene.victim("victim")?, scene.mark("made"));
    let refused = run(scene, container, "readonly", "ls / >/dev/null && echo listed; rm -rf victim; echo status $?")?;
    victim.expect_alive();
    refused.expect_code(0).expect_line("listed").expect_line("status 126");
    assert_eq!(refused.denials().len(), 1, "{}", refused.told());
    run(scene, container, "full", "touch made; echo status $?")?.expect_code(0).expect_line("status 0").expect_quiet();
    made.expect_made();
    let history = inside(scene, container, &["history", "--all", "--json"])?;
    assert!(history.out().contains("rm -rf victim") && history.out().contains("touch made"), "{}", history.told());
    Ok(())
}

#[test]
fn the_floor_holds_in_a_usual_container() -> Result<()> {
    floor_holds(&Container::usual())
}

#[test]
fn the_floor_holds_without_any_capability() -> Result<()> {
    floor_holds(&Container::default())
}

#[test]
fn the_floor_holds_on_a_root_of_its_own() -> Result<()> {
    let scene = Scene::new()?;
    if !full() || !containers_work(&scene) {
        return Ok(());
    }
    let release = std::fs::read_to_string("/etc/os-release")?;
    let Some(suite) = release.lines().find_map(|line| line.strip_prefix("VERSION_CODENAME=")) else {
        cannot_run("only Debian can make a Debian root that this build runs on");
        return Ok(());
    };
    let root = scene.path("debian");
    let made = Command::new("debootstrap").args(["--variant=minbase", suite]).arg(&root).output();
    if !made.is_ok_and(|made| made.status.success()) {
        cannot_run("debootstrap makes no root here");
        return Ok(());
    }
    floor_holds_in(&scene, &Container { root: Some(root), ..Container::usual() })
}

#[test]
fn nothing_starts_where_a_container_forbids_what_the_gate_needs() -> Result<()> {
    for refused in ["ptrace", "seccomp"] {
        let scene = Scene::new()?;
        if !containers_work(&scene) {
            return Ok(());
        }
        let container = Container { refused: vec![refused], ..Container::usual() };
        let made = scene.mark("made");
        let outcome = run(&scene, &container, "full", "touch made")?;
        made.expect_none();
        assert!(matches!(outcome.code(), 125 | 126), "{}", outcome.told());
        assert!(outcome.err().starts_with("stayexec: "), "{}", outcome.told());
        let doctor = inside(&scene, &container, &["doctor"])?;
        assert_ne!(doctor.code(), 0, "{}", doctor.told());
        assert!((doctor.out() + &doctor.err()).contains(refused), "doctor does not name it: {}", doctor.told());
    }
    Ok(())
}

#[test]
fn a_container_that_the_tree_starts_is_judged_too() -> Result<()> {
    let scene = Scene::new()?;
    if !containers_work(&scene) {
        return Ok(());
    }
    scene.configure("[[rule]]\nmatch = [\"rm\", \"-rf\"]\ndecision = \"block\"\n")?;
    let (victim, made) = (scene.victim("victim")?, scene.mark("made"));
    let started = |command: &[&str]| {
        let words = Container::usual().words(&scene, command)?;
        scene.run().tier("full").origin("background").unconfined().command(words).finish()
    };
    let refused = started(&["env", "rm", "-rf", "victim"])?;
    refused.expect_code(126);
    assert_eq!(refused.denials().len(), 1, "{}", refused.told());
    victim.expect_alive();
    started(&["env", "touch", "made"])?.expect_code(0);
    made.expect_made();
    Ok(())
}

#[test]
fn a_container_of_runcs_that_the_tree_starts_is_judged_too() -> Result<()> {
    let scene = Scene::new()?;
    if !containers_work(&scene) {
        return Ok(());
    }
    let container = Container { runc: true, ..Container::usual() };
    if scene.ungated(container.words(&scene, &["true"])?).is_ok_and(|outcome| outcome.code() != 0) {
        cannot_run("runc starts no container here");
        return Ok(());
    }
    scene.configure("[[rule]]\nmatch = [\"rm\", \"-rf\"]\ndecision = \"block\"\n")?;
    let (victim, made) = (scene.victim("victim")?, scene.mark("made"));
    // Its first stage makes a sibling of itself, which the launched program must not get for a child.
    let started = |command: &[&str]| {
        let words = container.words(&scene, command)?;
        scene
            .run()
            .tier("full")
            .origin("background")
            .unconfined()
            .command(["bash", "-c", "\"$@\"; echo status $?", "bash"])
            .words(words)
            .finish()
    };
    scene.file("work.sh", "rm -rf victim\n")?;
    let refused = started(&["sh", "work.sh"])?;
    victim.expect_alive();
    if refused.err().contains("bpf") {
        // Where there are cgroups of the second version alone it sets device rules by bpf, which the gate refuses.
        return Ok(());
    }
    refused.expect_line("status 126");
    started(&["touch", "made"])?.expect_line("status 0");
    made.expect_made();
    Ok(())
}
