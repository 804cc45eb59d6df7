//! Many programs, one after the other and at once: nothing is left, nothing grows.

use anyhow::Result;
use stayexec_tests::{Process, Scene, fds, resident_kib, rounds, within};

/// Children of `parent` that ended and were not reaped.
fn zombies(parent: u32) -> Vec<Process> {
    Process::all().into_iter().filter(|p| p.parent == parent && p.state == 'Z').collect()
}

#[test]
fn thousands_in_a_row_leave_nothing() -> Result<()> {
    for scene in Scene::of_each_user()? {
        let storm = scene.fixture("storm")?;
        let count = rounds(1000, 10_000).to_string();
        // The agent runs a few, waits to be looked at, runs the many, and waits again.
        let script = format!("{storm} serial 200 /usr/bin/true; echo first; read; {storm} serial {count} /usr/bin/true; echo second; read");
        let run = scene.run().tier("full").origin("unattended").limit(600).input(stayexec_tests::Input::Open);
        let mut running = run.command(["bash", "-c", script.as_str()]).start()?;
        running.says("first")?;
        let (warden, supervisor) = (scene.warden()?.pid, scene.supervisor()?.pid);
        let before = [warden, supervisor].map(|pid| (fds(pid), resident_kib(pid)));
        running.press()?;
        running.says("second")?;
        within("zombies to be reaped", || zombies(warden).is_empty() && zombies(supervisor).is_empty())?;
        for (pid, (open, resident)) in [warden, supervisor].into_iter().zip(before) {
            assert!(fds(pid) <= open + 2, "{pid}: {open} descriptors before, {} after", fds(pid));
            let after = resident_kib(pid);
            println!("{pid}: {resident} KiB before, {after} KiB after {count} programs");
            assert!(after < resident + 4096, "{pid}: {resident} KiB before, {after} KiB after {count} programs");
        }
        running.press()?;
        let outcome = running.finish()?;
        outcome.expect_code(0).expect_line("ok 200").expect_line(&format!("ok {count}"));
    }
    Ok(())
}

#[test]
fn two_hundred_at_once_leave_nothing() -> Result<()> {
    for scene in Scene::of_each_user()? {
        let storm = scene.fixture("storm")?;
        let script = format!("{storm} parallel 200 /usr/bin/sleep 0.2; echo done; read");
        let run = scene.run().tier("full").origin("unattended").input(stayexec_tests::Input::Open);
        let running = run.command(["bash", "-c", script.as_str()]).start()?;
        running.says("done")?;
        let warden = scene.warden()?.pid;
        within("zombies to be reaped", || zombies(warden).is_empty())?;
        assert!(fds(warden) < 40, "{} descriptors", fds(warden));
        running.finish()?.expect_line("ok 200");
    }
    Ok(())
}

#[test]
fn two_hundred_refused_at_once_leave_nothing() -> Result<()> {
    let scene = Scene::new()?;
    let storm = scene.fixture("storm")?;
    let made = scene.mark("made");
    let run = scene.run().tier("readonly").origin("unattended").unconfined();
    let outcome = run.command([storm.as_str(), "parallel", "200", "/usr/bin/touch", made.text()]).finish()?;
    outcome.expect_line("ok 0");
    assert_eq!(outcome.denials().len(), 200, "{}", outcome.told());
    made.expect_none();
    assert_eq!(scene.history()?.iter().filter(|e| e.decision == "deny").count(), 200);
    Ok(())
}

#[test]
fn many_runs_share_a_supervisor() -> Result<()> {
    let scene = Scene::new()?;
    scene.full(["true"])?.expect_code(0).expect_quiet();
    let supervisor = scene.supervisor()?.pid;
    let before = fds(supervisor);
    for _ in 0..rounds(20, 200) {
        scene.full(["true"])?.expect_code(0).expect_quiet();
    }
    assert_eq!(scene.supervisor()?.pid, supervisor);
    assert!(zombies(supervisor).is_empty());
    assert!(fds(supervisor) <= before + 1, "{before} descriptors before, {} after", fds(supervisor));
    Ok(())
}

#[test]
fn runs_that_begin_at_once_share_one_supervisor() -> Result<()> {
    for scene in Scene::of_each_user()? {
        let begun: Vec<_> = (0..8).map(|i| scene.run().tier("full").command(["touch", &format!("made-{i}")]).start()).collect();
        for running in begun {
            running?.finish()?.expect_code(0).expect_quiet();
        }
        assert!((0..8).all(|i| scene.mark(&format!("made-{i}")).there()));
        within("one supervisor", || scene.processes().iter().filter(|p| scene.is_supervisor(p)).count() == 1)?;
        assert_eq!(scene.history()?.len(), 8);
    }
    Ok(())
}
