//! Attacks of a peer on a loaded image, and on what the warden reads about it.

use anyhow::Result;
use stayexec_tests::{Scene, rounds};

#[test]
fn a_peer_that_restores_a_refused_images_code_gains_nothing() -> Result<()> {
    for scene in Scene::of_each_user()? {
        let made = scene.mark("made");
        let (restore, mark) = (scene.fixture("restore")?, scene.fixture("mark")?);
        let tries = rounds(100, 1000);
        let count = tries.to_string();
        let run = scene.run().tier("readonly").origin("unattended").unconfined().limit(300);
        let outcome = run.command([restore.as_str(), &count, &mark, made.text()]).finish()?;
        made.expect_none();
        outcome.expect_code(0);
        assert!(outcome.number("writes") > i64::from(tries), "the peer did not write: {}", outcome.told());
        // An image whose code was restored is killed instead of ending by itself; either way it is dead and did nothing.
        assert_eq!(outcome.number("refused") + outcome.number("other"), i64::from(tries), "{}", outcome.told());
    }
    Ok(())
}

#[test]
fn the_peer_can_write_into_an_allowed_image() -> Result<()> {
    let scene = Scene::new()?;
    let made = scene.mark("made");
    let (restore, mark) = (scene.fixture("restore")?, scene.fixture("mark")?);
    let outcome = scene.ungated([restore.as_str(), "20", &mark, made.text()])?;
    assert_eq!(made.count(), 20, "{}", outcome.told());
    Ok(())
}

#[test]
fn files_bound_over_proc_do_not_deceive() -> Result<()> {
    let scene = Scene::new()?;
    let private: &[&str] = if scene.is_root() { &["unshare", "-m"] } else { &["unshare", "-Urm"] };
    let (victim, made) = (scene.victim("victim")?, scene.mark("made"));
    scene.file("agent.py", include_str!("../fixtures/mask.py"))?;
    // Warden and tree share the namespace that the tree binds in; the machine's own stays as it is.
    let gated = |tier: &str| scene.run().tier(tier).origin("unattended").unconfined().inside(private);
    let refused = gated("readonly").command(["/usr/bin/python3", "agent.py", "/bin/rm", "-rf", "victim"]).finish()?;
    victim.expect_alive();
    refused.expect_line("covered").expect_line("status 126");
    assert!(refused.denials().iter().any(|l| l.contains("rm -rf victim")), "{}", refused.told());
    let allowed = gated("full").command(["/usr/bin/python3", "agent.py", "/usr/bin/touch", "made"]).finish()?;
    allowed.expect_line("covered").expect_line("status 0");
    made.expect_made();
    Ok(())
}

#[test]
fn a_program_that_is_started_by_strace_does_not_run() -> Result<()> {
    for scene in Scene::of_each_user()? {
        let (victim, made) = (scene.victim("victim")?, scene.mark("made"));
        let refused = scene.readonly(["strace", "-f", "-o", "/dev/null", "rm", "-rf", "victim"])?;
        victim.expect_alive();
        assert_ne!(refused.code(), 0, "{}", refused.told());
        // The gate cannot look at an image that another tracer holds: not even an allowed one runs.
        let refused = scene.full(["strace", "-f", "-o", "/dev/null", "touch", "made"])?;
        made.expect_none();
        assert_ne!(refused.code(), 0, "{}", refused.told());
        let history = scene.history()?;
        assert!(history.iter().any(|e| e.decision == "deny" && e.reason == "untraceable"), "{history:#?}");
        scene.ungated(["strace", "-f", "-o", "/dev/null", "touch", "made"])?.expect_code(0);
        made.expect_made();
    }
    Ok(())
}

#[test]
fn a_tracer_that_ended_leaves_no_mark() -> Result<()> {
    let scene = Scene::new()?;
    let outcome = scene.readonly(["bash", "-c", "strace -o /dev/null true; ls / >/dev/null && echo fine"])?;
    outcome.expect_line("fine");
    Ok(())
}

#[test]
fn the_tree_cannot_touch_the_judge() -> Result<()> {
    for scene in Scene::of_each_user()? {
        scene.file("agent.py", include_str!("../fixtures/reach.py"))?;
        let folder = scene.path("");
        let command = ["/usr/bin/python3".as_ref(), "agent.py".as_ref(), folder.as_os_str()];
        let outcome = scene.run().tier("full").origin("unattended").command(command).finish()?;
        outcome.expect_code(0);
        assert_eq!(outcome.number("judges"), 3, "warden, reaper and supervisor: {}", outcome.told());
        assert_eq!(outcome.out(), "judges 3\n", "{}", outcome.told());
    }
    Ok(())
}
