//! A run inside a run: the outer gate stays, and the inner run can only tighten.

use anyhow::Result;
use nix::sys::signal::Signal;
use stayexec_tests::{Input, Outcome, Scene, within};

/// An inner run of `tier` as the launched program of an outer one.
fn nested(scene: &Scene, outer: &str, inner: &str, text: &str) -> Result<Outcome> {
    let stayexec = scene.binary().display().to_string();
    let run = scene.run().tier(outer).origin("unattended").unconfined();
    run.command([stayexec.as_str(), "run", "--tier", inner, "--confine=off", "--", "bash", "-c", text]).finish()
}

#[test]
fn a_stricter_inner_tier_holds_for_everything_below() -> Result<()> {
    for scene in Scene::of_each_user()? {
        // A program that is known to read, and starts whatever it is told.
        scene.file("../config/stayexec/knowledge/mine.toml", "[choom]\nclass = \"read\"\noptions = \"-n=\"\nposix = true\n")?;
        let starts = |tier: &str, words: &str| nested(&scene, "full", tier, &format!("{words} choom -n 0 touch made; echo status $?"));
        starts("full", "")?.expect_code(0).expect_line("status 0");
        scene.mark("made").expect_made();
        std::fs::remove_file(scene.work().join("made"))?;
        for words in ["", "env -u STAYEXEC_TIER_WITHIN", "env -i"] {
            let outcome = starts("readonly", words)?;
            outcome.expect_code(0).expect_line("status 126");
            scene.mark("made").expect_none();
            assert!(outcome.err().contains("only tightens it"), "{}", outcome.told());
        }
        // What was judged for the outer run before is not repeated for the inner one, and the other way round.
        let stayexec = scene.binary().display().to_string();
        let text =
            format!("touch one; echo status $?; {stayexec} run --tier readonly -- touch one; echo status $?; touch one; echo status $?");
        let outcome = scene.full(["bash", "-c", &text])?;
        assert_eq!(outcome.out(), "status 0\nstatus 126\nstatus 0\n", "{}", outcome.told());
    }
    Ok(())
}

#[test]
fn a_looser_inner_tier_changes_nothing() -> Result<()> {
    for scene in Scene::of_each_user()? {
        let victim = scene.victim("victim")?;
        let outcome = nested(&scene, "readonly", "full", "rm -rf victim; echo status $?")?;
        victim.expect_alive();
        outcome.expect_code(126);
        let outcome = nested(&scene, "readonly", "full", "ls -d /")?;
        outcome.expect_code(0).expect_line("/");
    }
    Ok(())
}

#[test]
fn its_questions_are_the_outer_runs() -> Result<()> {
    let scene = Scene::new()?;
    let stayexec = scene.binary().display().to_string();
    let run = scene.run().tier("supervised").unconfined().input(Input::Open);
    let running = run.command([stayexec.as_str(), "run", "--tier", "full", "--", "bash", "-c", "touch made & wait; echo over"]).start()?;
    let question = scene.asked_once()?;
    scene.mark("made").expect_none();
    scene.answer(&question, &["approve"])?.expect_code(0);
    running.finish()?.expect_code(0).expect_line("over");
    scene.mark("made").expect_made();
    // One run, one journal.
    assert_eq!(scene.history()?.iter().map(|entry| entry.row["run"].to_string()).collect::<std::collections::HashSet<_>>().len(), 1);
    Ok(())
}

#[test]
fn a_word_in_the_environment_makes_nobody_believe_in_a_gate() -> Result<()> {
    let scene = Scene::new()?;
    let victim = scene.victim("victim")?;
    let run = scene.run().tier("readonly").origin("unattended").unconfined().env("STAYEXEC_TIER_WITHIN", "full");
    let outcome = run.command(["bash", "-c", "rm -rf victim; echo status $?"]).finish()?;
    victim.expect_alive();
    outcome.expect_line("status 126");
    // Behind a filter of somebody else's it is no gate either.
    let outer = scene.fixture("outer")?;
    let run = scene.run().tier("full").origin("unattended").inside([outer.as_str(), "noptrace", "listener", "--"]);
    run.command(["touch", "made"]).finish()?.expect_code(125);
    scene.mark("made").expect_none();
    Ok(())
}

#[test]
fn a_descendant_that_has_lost_its_ancestors_and_its_environment_stays_bound() -> Result<()> {
    for scene in Scene::of_each_user()? {
        scene.file("orphan.py", include_str!("../fixtures/orphan.py"))?;
        let stayexec = scene.binary().display().to_string();
        // Its new parent is the run's reaper, or a process of the outer run that may do more.
        for reaps in ["reaps", "reaps not"] {
            let run = scene.run().tier("full").unconfined().input(Input::Open);
            let mut running = run.command(["/usr/bin/python3", "orphan.py", stayexec.as_str(), reaps]).start()?;
            let inner = scene.asked_once()?;
            assert_eq!(inner.argv.first().map(String::as_str), Some("/usr/bin/python3"), "{inner:?}");
            scene.answer(&inner, &["approve"])?.expect_code(0);
            running.says("inner -9")?;
            let orphan = scene.asked_once()?;
            assert_eq!(orphan.argv, ["touch", "made"], "{reaps}");
            scene.answer(&orphan, &["deny"])?.expect_code(0);
            running.press()?;
            running.finish()?.expect_code(0);
            scene.mark("made").expect_none();
        }
    }
    Ok(())
}

/// Whether no run has left a temporary folder.
fn is_clean(scene: &Scene) -> bool {
    let entries = std::fs::read_dir(scene.path("tmp")).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name()).all(|name| !name.to_string_lossy().starts_with("stayexec-"))
}

#[test]
fn the_temporary_folder_of_a_confined_run_goes_with_it_also_inside_another_and_after_its_warden() -> Result<()> {
    for scene in Scene::of_each_user()? {
        let stayexec = scene.binary().display().to_string();
        let inner = [stayexec.as_str(), "run", "--tier", "readonly", "--", "bash", "-c", "ls -d $TMPDIR"];
        let outcome = scene.run().tier("full").origin("unattended").unconfined().command(inner).finish()?;
        outcome.expect_code(0);
        assert!(outcome.out().starts_with(&scene.path("tmp/stayexec-").display().to_string()), "{}", outcome.told());
        within("the inner run's folder to go", || is_clean(&scene))?;
        // One that never starts.
        let inner = [stayexec.as_str(), "run", "--tier", "readonly", "--", "no-such-program"];
        scene.run().tier("full").origin("unattended").unconfined().command(inner).finish()?.expect_code(127);
        within("the inner run's folder to go", || is_clean(&scene))?;
        let text = "echo ready; read -r; echo over";
        let run = scene.run().tier("readonly").origin("unattended").input(Input::Open).command(["bash", "-c", text]);
        let mut running = run.start()?;
        running.says("ready")?;
        assert!(!is_clean(&scene), "it has one");
        scene.signal(&scene.warden()?, Signal::SIGKILL);
        running.press()?;
        running.says("over")?;
        running.finish()?.expect_code(137);
        within(&format!("the folder to go with the last process of {:?}", scene.user()), || is_clean(&scene))?;
    }
    Ok(())
}
