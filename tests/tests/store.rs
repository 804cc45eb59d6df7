//! What the tree writes past the supervisor into what governs a run: it counts from the next start on, and is shown there.

use anyhow::Result;
use nix::sys::signal::Signal;
use stayexec_tests::{Input, Launch, Process, Scene, within};
use std::os::unix::fs::PermissionsExt;

/// The run's supervisor dies, as it would for want of memory; the warden starts another.
fn kill_supervisor(scene: &Scene) -> Result<()> {
    let supervisor = scene.supervisor()?;
    scene.signal(&supervisor, Signal::SIGKILL);
    within("the supervisor to end", || Process::of(supervisor.pid).is_none_or(|p| p.state == 'Z'))
}

fn agent<'s>(scene: &'s Scene, words: &[&str]) -> Launch<'s> {
    let run = scene.run().tier("supervised").origin("unattended").unconfined().input(Input::Open);
    run.command([&["/usr/bin/python3", "agent.py"], words].concat())
}

#[test]
fn rules_written_into_the_store_count_from_the_next_start_on_and_are_shown_there() -> Result<()> {
    for scene in Scene::of_each_user()? {
        let victim = scene.victim("victim")?;
        scene.file("agent.py", include_str!("../fixtures/store.py"))?;
        let add = scene.stayexec().words(["rules", "add", "--decision", "allow", "frobnicate"]).finish()?;
        add.expect_code(0);
        let mut running = agent(&scene, &["write"]).start()?;
        running.says("status")?;
        kill_supervisor(&scene)?;
        running.press()?;
        let outcome = running.finish()?;
        assert_eq!(outcome.out(), "written 1\nstatus 126\nstatus 126\n", "{}", outcome.told());
        victim.expect_alive();
        assert!(!outcome.err().contains("changed in the store"), "{}", outcome.told());
        let again = agent(&scene, &[]).finish()?;
        let shown: Vec<String> = again.err().lines().filter(|line| line.contains("changed in the store")).map(str::to_owned).collect();
        assert!(matches!(&shown[..], [line] if line.ends_with("rule allow `rm` (new)")), "{}", again.told());
        // From here on it is the person's own rule: they were told.
        again.expect_line("status 0");
        victim.expect_gone();
        let third = agent(&scene, &[]).finish()?;
        assert!(!third.err().contains("changed in the store"), "said once: {}", third.told());
    }
    Ok(())
}

#[test]
fn a_program_for_notices_that_the_tree_configures_is_not_run_in_its_run() -> Result<()> {
    for scene in Scene::of_each_user()? {
        let (config, told) = (scene.path("config/stayexec/config.toml"), scene.path("tmp/told"));
        let program = scene.path("tmp/tell");
        scene.file("../tmp/tell", format!("#!/bin/sh\n: >{}\n", told.display()))?;
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755))?;
        let text = format!(
            "import os, subprocess, sys\n\
            os.makedirs({folder:?}, exist_ok=True)\n\
            open({file:?}, 'w').write('[notify]\\ncommand = [\"{program}\"]\\n')\n\
            print('written', flush=True)\n\
            sys.stdin.readline()\n\
            print('status', subprocess.call(['touch', 'made']), flush=True)\n",
            folder = config.parent().unwrap_or(&config).display().to_string(),
            file = config.display().to_string(),
            program = program.display(),
        );
        scene.file("agent.py", &text)?;
        let run = || scene.run().tier("supervised").unconfined().input(Input::Open).command(["/usr/bin/python3", "agent.py"]);
        let asked = |shown: bool| -> Result<()> {
            let mut running = run().start()?;
            running.says("written")?;
            kill_supervisor(&scene)?;
            running.press()?;
            scene.answer(&scene.asked_once()?, &["approve"])?.expect_code(0);
            let outcome = running.finish()?;
            outcome.expect_line("status 0");
            assert_eq!(outcome.err().contains("changed since the last run"), shown, "{}", outcome.told());
            Ok(())
        };
        asked(false)?;
        assert!(!told.exists(), "the run began without notices");
        asked(true)?;
        within("the person's own program to be told", || told.exists())?;
    }
    Ok(())
}
