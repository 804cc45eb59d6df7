//! The supervisor under hostile text: it is confined, and nothing that a tree says takes it down.

use anyhow::Result;
use stayexec_tests::{Input, Scene, cannot_run, rounds};
use std::fs;

#[test]
fn a_thousand_hostile_starts_leave_it_standing() -> Result<()> {
    for scene in Scene::of_each_user()? {
        scene.file("agent.py", include_str!("../fixtures/fuzz.py"))?;
        let (victim, count) = (scene.victim("victim")?, rounds(1000, 10_000));
        let keeper = scene.run().tier("full").origin("unattended").unconfined().input(Input::Open).command(["cat"]).start()?;
        let supervisor = scene.supervisor()?;
        let run = scene.run().tier("readonly").origin("unattended").unconfined().limit(500);
        let seed = if scene.is_root() { "1" } else { "2" };
        let outcome = run.command(["/usr/bin/python3", "agent.py", seed, &count.to_string()]).finish()?;
        outcome.expect_code(0).expect_line(&format!("over {count}"));
        assert_eq!(scene.supervisor()?.pid, supervisor.pid, "it was started anew");
        // It judges as ever, and tells what it has seen.
        let refused = scene.readonly(["bash", "-c", "ls / >/dev/null && echo listed; rm -rf victim; echo status $?"])?;
        refused.expect_line("listed").expect_line("status 126");
        victim.expect_alive();
        assert!(scene.history()?.len() > count as usize / 2);
        keeper.finish()?.expect_code(0);
    }
    Ok(())
}

#[test]
fn every_thread_that_reads_what_peers_say_is_confined() -> Result<()> {
    for scene in Scene::of_each_user()? {
        if !nix::unistd::geteuid().is_root() {
            cannot_run("only root can look at the supervisor's threads");
            return Ok(());
        }
        let running = scene.run().tier("full").origin("unattended").unconfined().input(Input::Open).command(["cat"]).start()?;
        let supervisor = scene.supervisor()?;
        scene.pending()?;
        let (mut confined, mut free) = (0, Vec::new());
        for task in fs::read_dir(format!("/proc/{}/task", supervisor.pid))?.flatten() {
            let Ok(status) = fs::read_to_string(task.path().join("status")) else { continue };
            let value = |key: &str| status.lines().find_map(|l| l.strip_prefix(key)).map(|v| v.trim().to_owned()).unwrap_or_default();
            if value("Seccomp:") == "2" {
                confined += 1;
            } else {
                free.push((task.file_name().to_string_lossy().into_owned(), value("Name:")));
            }
        }
        assert!(confined >= 3, "judge, acceptor, connection: {confined}");
        // The first thread waits, and starts what [notify] names.
        assert!(free.iter().all(|(tid, name)| *tid == supervisor.pid.to_string() || name.starts_with("noti")), "{free:?}");
        running.finish()?.expect_code(0);
    }
    Ok(())
}
