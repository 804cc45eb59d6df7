//! Warden or supervisor dies: nothing runs unjudged, no question is lost.

use anyhow::Result;
use nix::sys::signal::Signal;
use stayexec_tests::{Input, Process, Running, Scene, until, within};
use std::io::Write;
use std::time::Duration;

fn gone(pid: u32) -> bool {
    Process::of(pid).is_none_or(|p| p.state == 'Z')
}

/// Kills the supervisor and waits for the next one.
fn replace_supervisor(scene: &Scene) -> Result<Process> {
    let first = scene.supervisor()?;
    scene.signal(&first, Signal::SIGKILL);
    until("another supervisor", Duration::from_secs(30), || scene.supervisor().ok().filter(|p| p.pid != first.pid))
}

fn press(running: &mut Running<'_>) -> Result<()> {
    Ok(running.stdin.as_mut().map_or(Ok(()), |pipe| pipe.write_all(b"\n"))?)
}

#[test]
fn a_question_outlives_its_supervisor() -> Result<()> {
    for scene in Scene::of_each_user()? {
        let made = scene.mark("a");
        let run = scene.run().tier("supervised").unconfined();
        let running = run.command(["bash", "-c", "touch a; echo status $?"]).start()?;
        let question = scene.asked_once()?;
        replace_supervisor(&scene)?;
        let again = scene.asked_once()?;
        assert_eq!((&again.audit_id, &again.command), (&question.audit_id, &question.command));
        made.expect_none();
        scene.answer(&again, &["approve"])?.expect_code(0);
        running.finish()?.expect_code(0).expect_line("status 0");
        made.expect_made();
    }
    Ok(())
}

#[test]
fn a_run_goes_on_under_the_next_supervisor() -> Result<()> {
    for scene in Scene::of_each_user()? {
        let victim = scene.victim("victim")?;
        let run = scene.run().tier("readonly").origin("unattended").unconfined().input(Input::Open);
        let mut running =
            run.command(["bash", "-c", "echo ready; read; ls >/dev/null && echo read-ok; rm -rf victim; echo status $?"]).start()?;
        running.says("ready")?;
        let first = scene.supervisor()?;
        scene.signal(&first, Signal::SIGKILL);
        within("the supervisor to end", || gone(first.pid))?;
        press(&mut running)?;
        let outcome = running.finish()?;
        assert_eq!(outcome.out(), "ready\nread-ok\nstatus 126\n", "{}", outcome.told());
        victim.expect_alive();
    }
    Ok(())
}

#[test]
fn held_images_die_with_the_warden_and_nothing_starts_afterwards() -> Result<()> {
    for scene in Scene::of_each_user()? {
        scene.leaves_processes();
        let (held, later) = (scene.mark("held"), scene.mark("later"));
        // The shell goes on when its held child is dead, and tries once more without any gate to ask.
        let text = "touch held; echo first $? >>told; touch later; echo second $? >>told; echo over >>told";
        let running = scene.run().tier("supervised").unconfined().command(["bash", "-c", text]).start()?;
        scene.asked_once()?;
        let warden = scene.warden()?;
        scene.signal(&warden, Signal::SIGKILL);
        let told = scene.work().join("told");
        until("the shell to go on, or to end", Duration::from_secs(30), || {
            let over = std::fs::read_to_string(&told).is_ok_and(|t| t.contains("over"));
            let shell = scene.processes().into_iter().any(|p| p.line.starts_with("bash -c"));
            (over || !shell).then_some(())
        })?;
        let told = std::fs::read_to_string(&told).unwrap_or_default();
        assert!(!told.contains("first 0") && !told.contains("second 0"), "{told}");
        held.expect_none();
        later.expect_none();
        drop(running);
    }
    Ok(())
}

#[test]
fn an_image_that_is_killed_while_it_is_held_withdraws_its_question() -> Result<()> {
    for scene in Scene::of_each_user()? {
        let run = scene.run().tier("supervised").unconfined();
        let text = "touch a & echo pid $!; wait $!; echo status $?";
        let running = run.command(["bash", "-c", text]).start()?;
        let question = scene.asked_once()?;
        running.says("pid ")?;
        let held = until("the held image", Duration::from_secs(10), || scene.processes().into_iter().find(|p| p.line == "touch a"))?;
        scene.signal(&held, Signal::SIGKILL);
        running.finish()?.expect_line("status 137");
        within("the question to be withdrawn", || scene.pending().is_ok_and(|p| p.is_empty()))?;
        assert_ne!(scene.answer(&question, &["approve"])?.code(), 0);
        scene.mark("a").expect_none();
    }
    Ok(())
}

#[test]
fn a_run_that_ends_takes_its_questions_along() -> Result<()> {
    let scene = Scene::new()?;
    let running = scene.run().tier("supervised").unconfined().command(["bash", "-c", "touch a"]).start()?;
    scene.asked_once()?;
    scene.signal(&scene.warden()?, Signal::SIGTERM);
    running.finish()?.expect_code(128 + 15);
    within("the question to be withdrawn", || scene.pending().is_ok_and(|p| p.is_empty()))?;
    scene.mark("a").expect_none();
    Ok(())
}

#[test]
fn the_history_outlives_both() -> Result<()> {
    let scene = Scene::new()?;
    scene.leaves_processes();
    let run = scene.run().tier("full").origin("unattended").unconfined();
    let running = run.command(["bash", "-c", "touch a; ls / >/dev/null; echo ready; sleep 1000"]).start()?;
    running.says("ready")?;
    within("the last program", || scene.processes().iter().any(|p| p.line == "sleep 1000"))?;
    let (warden, supervisor) = (scene.warden()?, scene.supervisor()?);
    scene.signal(&warden, Signal::SIGKILL);
    scene.signal(&supervisor, Signal::SIGKILL);
    within("both to end", || gone(warden.pid) && gone(supervisor.pid))?;
    let told: Vec<String> = scene.history()?.into_iter().map(|e| e.argv.join(" ")).collect();
    for line in ["touch a", "ls /", "sleep 1000"] {
        assert_eq!(told.iter().filter(|t| *t == line).count(), 1, "{told:#?}");
    }
    drop(running);
    Ok(())
}
