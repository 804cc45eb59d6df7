//! Faults: a full disk, and judges that are killed at any moment. Nothing unrecorded runs.

use anyhow::Result;
use nix::sys::signal::Signal;
use stayexec_tests::{Scene, cannot_run, rounds, until};
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// The state folder on a small file system of its own, in a mount namespace that ends with the command.
const SMALL_DISK: [&str; 6] =
    ["unshare", "-m", "bash", "-c", "mount -t tmpfs -o size=1m,mode=0777 none \"$XDG_STATE_HOME\" && exec \"$@\"", "bash"];

#[test]
fn on_a_full_disk_nothing_unrecorded_runs_and_the_run_goes_on_when_there_is_room() -> Result<()> {
    let scene = Scene::new()?;
    if !scene.is_root() {
        cannot_run("only root can mount a small disk");
        return Ok(());
    }
    let text = "touch first; head -c 4M /dev/zero >$XDG_STATE_HOME/fill; exec 3<>$XDG_STATE_HOME/fill\n\
        for i in {1..300}; do /bin/echo x >/dev/null || break; done\n\
        touch second; echo full $?; : >$XDG_STATE_HOME/fill; touch third; echo room $?";
    let run = scene.run().tier("full").origin("unattended").unconfined().inside(SMALL_DISK);
    let outcome = run.command(["bash", "-c", text]).finish()?;
    outcome.expect_code(0).expect_line("full 126").expect_line("room 0");
    scene.mark("first").expect_made();
    scene.mark("second").expect_none();
    scene.mark("third").expect_made();
    assert!(outcome.err().lines().any(|l| l.starts_with("stayexec: ")), "{}", outcome.told());
    Ok(())
}

/// A shell that starts marker after marker, and tells of each that it is told ran.
const LOAD: &str = "for i in {1..100000}; do ./mark made-$i && echo $i; done";

/// One kill at an instant of its own, under load; returns how many markers ran.
fn killed_at(after: Duration, warden_too: bool) -> Result<usize> {
    let scene = Scene::new()?;
    scene.leaves_processes();
    scene.fixture("mark")?;
    let running = scene.run().tier("full").origin("unattended").unconfined().command(["bash", "-c", LOAD]).start()?;
    running.says("1\n")?;
    let (warden, supervisor) = (scene.warden()?, scene.supervisor()?);
    let begun = Instant::now();
    until("the instant", Duration::from_secs(5), || (begun.elapsed() >= after).then_some(()))?;
    scene.signal(&supervisor, Signal::SIGKILL);
    if warden_too {
        scene.signal(&warden, Signal::SIGKILL);
    } else {
        // It goes on under the next supervisor.
        let told = running.out().lines().count();
        until("twenty more markers", Duration::from_secs(30), || (running.out().lines().count() > told + 20).then_some(()))?;
        scene.signal(&warden, Signal::SIGTERM);
    }
    drop(running);
    until("the load to end", Duration::from_secs(20), || scene.processes().iter().all(|p| !p.line.starts_with("./mark")).then_some(()))?;
    let mut recorded: HashMap<String, usize> = HashMap::new();
    for entry in scene.history()?.into_iter().filter(|e| e.decision == "allow" && e.argv.len() == 2) {
        *recorded.entry(entry.argv.into_iter().nth(1).unwrap_or_default()).or_default() += 1;
    }
    let made: Vec<String> = std::fs::read_dir(scene.work())?
        .flatten()
        .filter_map(|f| f.file_name().into_string().ok())
        .filter(|name| name.starts_with("made-"))
        .collect();
    for name in &made {
        assert_eq!(recorded.get(name), Some(&1), "{name} ran and has {:?} records", recorded.get(name));
        assert_eq!(scene.mark(name).count(), 1, "{name} ran more than once");
    }
    Ok(made.len())
}

/// Ten held markers are approved one after the other while the supervisor is killed at an instant of its own.
fn answered_through(after: Duration) -> Result<()> {
    let scene = Scene::new()?;
    scene.fixture("mark")?;
    let run = scene.run().tier("supervised").unconfined();
    let running = run.command(["bash", "-c", "for i in {0..9}; do ./mark made-$i & done; wait; echo over"]).start()?;
    let questions = scene.asked(10)?;
    let (supervisor, begun) = (scene.supervisor()?, Instant::now());
    std::thread::scope(|scope| -> Result<()> {
        let killer = scope.spawn(|| {
            let _ = until("the instant", Duration::from_secs(5), || (begun.elapsed() >= after).then_some(()));
            scene.signal(&supervisor, Signal::SIGKILL);
        });
        for question in &questions {
            // An answer that met a dying supervisor is given again: 5 says that it had counted.
            until("an answer that counts", Duration::from_secs(20), || {
                let code = scene.answer(question, &["approve"]).ok()?.code();
                matches!(code, 0 | 5).then_some(())
            })?;
        }
        let _ = killer.join();
        Ok(())
    })?;
    running.finish()?.expect_line("over");
    let history = scene.history()?;
    for i in 0..10 {
        let name = format!("made-{i}");
        assert_eq!(scene.mark(&name).count(), 1, "{name}");
        assert_eq!(history.iter().filter(|e| e.argv.last() == Some(&name) && e.decision == "allow").count(), 1, "{name}: {history:#?}");
    }
    Ok(())
}

#[test]
fn no_answer_is_lost_or_applied_twice_when_the_supervisor_is_killed() -> Result<()> {
    for after in instants(rounds(5, 200)) {
        answered_through(after / 4)?;
    }
    Ok(())
}

/// Instants from the start of the load on, spread without any pattern.
fn instants(count: u32) -> impl Iterator<Item = Duration> {
    (0..count).map(|i| Duration::from_micros(u64::from(i.wrapping_mul(2_654_435_761) >> 12) % 300_000))
}

#[test]
fn whatever_ran_has_one_record_when_the_supervisor_is_killed() -> Result<()> {
    for after in instants(rounds(5, 200)) {
        assert!(killed_at(after, false)? > 20);
    }
    Ok(())
}

#[test]
fn whatever_ran_has_one_record_when_both_are_killed() -> Result<()> {
    for after in instants(rounds(5, 200)) {
        assert!(killed_at(after, true)? > 0);
    }
    Ok(())
}
