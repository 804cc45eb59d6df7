//! The readonly tier: what only observes runs, everything else ends with 126 and one line.

use anyhow::Result;
use stayexec_tests::Scene;

const SESSION: &str = "ls >/dev/null && echo read-ok; rm -rf victim; echo status $?";

#[test]
fn a_session_reads_and_cannot_remove() -> Result<()> {
    for scene in Scene::of_each_user()? {
        let victim = scene.victim("victim")?;
        let outcome = scene.readonly(["bash", "-c", SESSION])?;
        assert_eq!(outcome.out(), "read-ok\nstatus 126\n", "{}", outcome.told());
        assert!(outcome.err().starts_with("stayexec: denied (destructive): rm -rf victim"), "{}", outcome.told());
        assert_eq!(outcome.err().lines().count(), 1, "{}", outcome.told());
        outcome.expect_code(0);
        victim.expect_alive();
    }
    Ok(())
}

#[test]
fn the_second_floor_changes_nothing_of_it() -> Result<()> {
    for scene in Scene::of_each_user()? {
        let victim = scene.victim("victim")?;
        let outcome = scene.run().tier("readonly").origin("unattended").command(["bash", "-c", SESSION]).finish()?;
        assert_eq!(outcome.out(), "read-ok\nstatus 126\n", "{}", outcome.told());
        assert_eq!(outcome.err().lines().count(), 1, "{}", outcome.told());
        victim.expect_alive();
    }
    Ok(())
}

#[test]
fn the_session_removes_without_a_gate() -> Result<()> {
    let scene = Scene::new()?;
    let victim = scene.victim("victim")?;
    let outcome = scene.ungated(["bash", "-c", SESSION])?;
    assert_eq!(outcome.out(), "read-ok\nstatus 0\n", "{}", outcome.told());
    victim.expect_gone();
    Ok(())
}

#[test]
fn what_the_launched_process_becomes_is_judged() -> Result<()> {
    for scene in Scene::of_each_user()? {
        let victim = scene.victim("victim")?;
        let outcome = scene.readonly(["bash", "-c", "rm -rf victim"])?;
        outcome.expect_code(126);
        assert_eq!(outcome.denials().len(), 1, "{}", outcome.told());
        victim.expect_alive();
    }
    Ok(())
}

#[test]
fn a_script_and_the_interpreter_of_its_env_line_start_unasked() -> Result<()> {
    for scene in Scene::of_each_user()? {
        let agent = scene.program("agent", "#!/usr/bin/env node\nconsole.log('agent', process.argv[2]);\n")?;
        let outcome = scene.readonly([agent.as_os_str(), "hello".as_ref()])?;
        outcome.expect_code(0).expect_quiet();
        assert_eq!(outcome.out(), "agent hello\n", "{}", outcome.told());
    }
    Ok(())
}

#[test]
fn the_launch_carries_no_grant() -> Result<()> {
    let scene = Scene::new()?;
    let victim = scene.victim("victim")?;
    let agent = scene.program(
        "agent",
        "#!/usr/bin/env node\nconst r = require('child_process').spawnSync('rm', ['-rf', 'victim']);\nconsole.log('status', r.status);\n",
    )?;
    let outcome = scene.readonly([agent])?;
    outcome.expect_code(0).expect_line("status 126");
    victim.expect_alive();
    Ok(())
}

#[test]
fn the_program_a_person_named_runs_whatever_its_class() -> Result<()> {
    for scene in Scene::of_each_user()? {
        let victim = scene.victim("victim")?;
        scene.readonly(["rm", "-rf", "victim"])?.expect_code(0).expect_quiet();
        victim.expect_gone();
    }
    Ok(())
}

#[test]
fn a_write_is_refused_as_a_write() -> Result<()> {
    let scene = Scene::new()?;
    let made = scene.mark("made");
    let outcome = scene.readonly(["bash", "-c", "touch made; echo status $?"])?;
    outcome.expect_line("status 126");
    assert!(outcome.err().starts_with("stayexec: denied (write): touch made"), "{}", outcome.told());
    made.expect_none();
    Ok(())
}

#[test]
fn the_status_is_the_agents_own() -> Result<()> {
    let scene = Scene::new()?;
    scene.readonly(["bash", "-c", "exit 37"])?.expect_code(37).expect_quiet();
    scene.readonly(["bash", "-c", "kill -TERM $$"])?.expect_code(128 + 15).expect_quiet();
    Ok(())
}

#[test]
fn history_tells_what_ran_and_what_did_not() -> Result<()> {
    let scene = Scene::new()?;
    let _victim = scene.victim("victim")?;
    scene.readonly(["bash", "-c", SESSION])?.expect_code(0);
    let history = scene.history()?;
    let told: Vec<_> = history.iter().map(|e| (e.argv.first().map_or("", String::as_str), e.decision.as_str(), e.class.as_str())).collect();
    assert!(told.contains(&("ls", "allow", "read")), "{history:#?}");
    assert!(told.contains(&("rm", "deny", "destructive")), "{history:#?}");
    assert!(history.iter().any(|e| e.argv.first().is_some_and(|w| w == "bash") && e.reason == "launch"), "{history:#?}");
    assert_eq!(history.len(), 3, "{history:#?}");
    Ok(())
}
