//! The same removal from inside namespaces and another root: none gets past the gate.

use anyhow::Result;
use stayexec_tests::{Scene, cannot_run};

/// Whether `words` can start anything here, ungated.
fn works(scene: &Scene, words: &[&str]) -> bool {
    let probe = scene.ungated(words.iter().copied().chain(["/bin/true"]));
    let works = probe.is_ok_and(|o| o.code() == 0);
    if !works {
        cannot_run(&format!("{words:?} cannot start a program as {:?}", scene.user()));
    }
    works
}

/// `words` start rm (refused), then touch (allowed in the full tier).
fn vector(words: &[&str]) -> Result<()> {
    for scene in Scene::of_each_user()? {
        if !works(&scene, words) {
            continue;
        }
        let (victim, made) = (scene.victim("victim")?, scene.mark("made"));
        let with = |deed: &[&'static str]| words.iter().copied().chain(deed.iter().copied()).map(str::to_owned).collect::<Vec<_>>();
        let refused = scene.readonly(with(&["rm", "-rf", "victim"]))?;
        victim.expect_alive();
        assert_eq!(refused.denials().len(), 1, "{}", refused.told());
        refused.expect_code(126);
        scene.full(with(&["touch", "made"]))?.expect_code(0);
        made.expect_made();
    }
    Ok(())
}

#[test]
fn a_user_namespace() -> Result<()> {
    vector(&["unshare", "-Ur"])
}

#[test]
fn a_pid_namespace() -> Result<()> {
    vector(&["unshare", "-Urpf"])
}

#[test]
fn a_pid_namespace_with_a_shell_as_its_init() -> Result<()> {
    for scene in Scene::of_each_user()? {
        if !works(&scene, &["unshare", "-Urpf"]) {
            continue;
        }
        let victim = scene.victim("victim")?;
        let outcome = scene.readonly(["unshare", "-Urpf", "bash", "-c", "rm -rf victim; echo status $?"])?;
        victim.expect_alive();
        // The shell is a program like others: it may be refused before it starts rm.
        assert!(outcome.code() == 126 || outcome.out() == "status 126\n", "{}", outcome.told());
        assert_eq!(outcome.denials().len(), 1, "{}", outcome.told());
    }
    Ok(())
}

#[test]
fn namespaces_of_everything() -> Result<()> {
    vector(&["unshare", "-Urmuinpf"])
}

#[test]
fn bubblewrap() -> Result<()> {
    vector(&["bwrap", "--bind", "/", "/", "--dev-bind", "/dev", "/dev"])?;
    vector(&["bwrap", "--bind", "/", "/", "--unshare-all", "--dev", "/dev", "--proc", "/proc"])
}

#[test]
fn a_mount_namespace_in_which_rm_is_named_ls() -> Result<()> {
    for scene in Scene::of_each_user()? {
        if !works(&scene, &["unshare", "-Urm"]) {
            continue;
        }
        let victim = scene.victim("victim")?;
        scene.file("agent.py", include_str!("../fixtures/rebind.py"))?;
        let outcome = scene.readonly(["/usr/bin/python3", "agent.py", "victim"])?;
        victim.expect_alive();
        outcome.expect_code(126);
        assert_eq!(outcome.denials().len(), 1, "{}", outcome.told());
        scene.ungated(["/usr/bin/python3", "agent.py", "victim"])?.expect_code(0);
        victim.expect_gone();
    }
    Ok(())
}

#[test]
fn another_root() -> Result<()> {
    for scene in Scene::of_each_user()? {
        let chroot: &[&str] = if scene.is_root() { &["chroot"] } else { &["unshare", "-Ur", "chroot"] };
        let whole = chroot.iter().copied().chain(["/"]).collect::<Vec<_>>();
        if !works(&scene, &whole) {
            continue;
        }
        let victim = scene.victim("jail/victim")?;
        let made = scene.mark("jail/made");
        scene.fixture("launch-static")?;
        for (from, to) in [("launch-static", "launch"), ("rmtree", "rmtree"), ("mark", "mark")] {
            scene.fixture(from)?;
            std::fs::rename(scene.work().join(from), scene.work().join("jail").join(to))?;
        }
        // The launched chroot becomes /launch, which is judged: in the readonly tier that is where it ends.
        let words = |deed: &[&'static str]| [chroot, &["jail", "/launch", "execve"], deed].concat();
        let refused = scene.readonly(words(&["/rmtree", "/victim"]))?;
        victim.expect_alive();
        assert!(!refused.denials().is_empty(), "{}", refused.told());
        let allowed = scene.full(words(&["/mark", "/made"]))?;
        assert_eq!((made.count(), allowed.out().as_str()), (1, "status 0\n"), "{}", allowed.told());
    }
    Ok(())
}

#[test]
fn a_root_in_which_rm_is_named_ls() -> Result<()> {
    for scene in Scene::of_each_user()? {
        if !scene.is_root() {
            continue;
        }
        let victim = scene.victim("jail/victim")?;
        scene.fixture("rmtree")?;
        std::fs::create_dir_all(scene.work().join("jail/usr/bin"))?;
        std::fs::rename(scene.work().join("rmtree"), scene.work().join("jail/usr/bin/ls"))?;
        scene.file("agent.py", include_str!("../fixtures/jail.py"))?;
        let outcome = scene.readonly(["/usr/bin/python3", "agent.py", "jail", "/victim"])?;
        victim.expect_alive();
        outcome.expect_code(126);
        assert_eq!(outcome.denials().len(), 1, "{}", outcome.told());
        scene.ungated(["/usr/bin/python3", "agent.py", "jail", "/victim"])?.expect_code(0);
        victim.expect_gone();
    }
    Ok(())
}
