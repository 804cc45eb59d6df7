//! States of a process that outlive its exec, and ways to have the kernel act on others: none gets a refused program to run,
//! and honest programs run in them as without the gate.

use anyhow::Result;
use stayexec_tests::{Input, Process, Scene};

const STATES: [&str; 26] = [
    "plain",
    "blocked",
    "ignored",
    "timer",
    "pending",
    "executable-data",
    "linux32",
    "hidden",
    "exit-errno",
    "exit-trap",
    "exit-trace",
    "exit-notify",
    "write-errno",
    "write-trap",
    "write-kill",
    "write-trace",
    "exec-notify",
    "exec-trace",
    "no-files",
    "no-size",
    "second",
    "memory",
    "no-data",
    "stack",
    "no-queue",
    "no-processes",
];

#[test]
fn a_refused_program_runs_in_no_state_of_its_caller() -> Result<()> {
    for scene in Scene::of_each_user()? {
        let (states, mark) = (scene.fixture("states")?, scene.fixture("mark")?);
        for state in STATES {
            let command = [states.as_str(), state, mark.as_str(), "made"];
            let outcome = scene.readonly(command)?;
            scene.mark("made").expect_none();
            outcome.expect_code(0);
            assert!(!outcome.out().contains("exit 104"), "{state}: {}", outcome.told());
            if ["plain", "hidden"].contains(&state) {
                // As an ordinary user's, a caller that hides its memory cannot be attached to.
                let refused = if state == "hidden" && !scene.is_root() { "exit 101" } else { "exit 126" };
                outcome.expect_line(refused);
            }
            // A caller whose state has a program fail has it fail behind the gate too, and no other.
            let (gated, plain) = (scene.full(command)?, scene.ungated(command)?);
            match state {
                "hidden" if !scene.is_root() => {}
                // The gate's answer outranks a filter that would have a tracer asked; here there is none.
                "exec-trace" => assert_eq!((plain.out(), gated.out()), ("exit 102\n".into(), "exit 0\n".into()), "{}", gated.told()),
                _ => assert_eq!(gated.out(), plain.out(), "{state}: {}", gated.told()),
            }
            let _ = std::fs::remove_file(scene.work().join("made"));
        }
    }
    Ok(())
}

#[test]
fn the_kernel_is_nobodys_messenger_and_a_lease_keeps_nobody_else_waiting() -> Result<()> {
    for scene in Scene::of_each_user()? {
        scene.file("agent.py", include_str!("../fixtures/messenger.py"))?;
        scene.program("script", "#!/bin/sh\necho ran\n")?;
        // The pids are not known before there is a run.
        let text = "read -r pids; exec /usr/bin/python3 agent.py $pids ./script";
        let run = scene.run().tier("full").origin("unattended").unconfined().input(Input::Open).command(["bash", "-c", text]);
        let mut running = run.start()?;
        let (warden, supervisor) = (scene.warden()?, scene.supervisor()?);
        running.types(&format!("{} {}", warden.pid, supervisor.pid))?;
        let outcome = running.finish()?;
        outcome.expect_code(0).expect_line("over");
        assert!(Process::of(supervisor.pid).is_some_and(|p| p.state != 'Z'), "{}", outcome.told());
        assert!(outcome.number("slowest") < 5_000, "{}", outcome.told());
    }
    Ok(())
}
