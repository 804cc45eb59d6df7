//! A person at a terminal: job control works under the gate as it does without.

use anyhow::Result;
use stayexec_tests::{Process, Scene, Terminal, within};

/// A shell's prompt; split, so that the typed command line does not show it.
const PROMPT: &str = "ready> ";
const SHELL: [&str; 3] = ["bash", "--norc", "-i"];

/// An interactive gated bash on a terminal.
fn gated_shell(scene: &Scene) -> Result<Terminal> {
    let launch = scene.run().tier("full").origin("unattended").command(SHELL).env("PS1", PROMPT);
    let mut terminal = Terminal::start(launch)?;
    terminal.shows(PROMPT)?;
    Ok(terminal)
}

/// The process of the scene whose line is `line`.
fn find(scene: &Scene, line: &str) -> Option<Process> {
    scene.processes().into_iter().find(|p| p.line == line)
}

fn in_state(scene: &Scene, line: &str, states: &str) -> Result<()> {
    within(&format!("{line} in state {states}"), || find(scene, line).is_some_and(|p| states.contains(p.state)))
}

/// Waits until `line` runs in the foreground of its terminal, asleep.
fn in_foreground(scene: &Scene, line: &str) -> Result<()> {
    within(&format!("{line} in the foreground"), || {
        find(scene, line).is_some_and(|p| p.state == 'S' && i64::from(p.foreground) == i64::from(p.group))
    })
}

#[test]
fn ctrl_c_ends_the_foreground_job_alone() -> Result<()> {
    for scene in Scene::of_each_user()? {
        let mut terminal = gated_shell(&scene)?;
        terminal.types("sleep 1001\n")?;
        in_foreground(&scene, "sleep 1001")?;
        terminal.types("\x03")?;
        terminal.shows(PROMPT)?;
        terminal.types("echo status-$?\n")?;
        terminal.shows("status-130")?;
        terminal.shows(PROMPT)?;
        terminal.types("exit 5\n")?;
        terminal.finish()?.expect_code(5);
    }
    Ok(())
}

#[test]
fn ctrl_z_and_fg() -> Result<()> {
    for scene in Scene::of_each_user()? {
        let mut terminal = gated_shell(&scene)?;
        terminal.types("sleep 1002\n")?;
        in_foreground(&scene, "sleep 1002")?;
        terminal.types("\x1a")?;
        terminal.shows("Stopped")?;
        terminal.shows(PROMPT)?;
        in_state(&scene, "sleep 1002", "T")?;
        terminal.types("jobs\n")?;
        terminal.shows("Stopped")?;
        terminal.shows("sleep 1002")?;
        terminal.shows(PROMPT)?;
        terminal.types("fg\n")?;
        in_foreground(&scene, "sleep 1002")?;
        terminal.types("\x03")?;
        terminal.shows(PROMPT)?;
        terminal.types("exit 0\n")?;
        terminal.finish()?.expect_code(0);
    }
    Ok(())
}

#[test]
fn a_background_job_and_bg() -> Result<()> {
    let scene = Scene::new()?;
    let mut terminal = gated_shell(&scene)?;
    terminal.types("sleep 1003 &\n")?;
    terminal.shows(PROMPT)?;
    in_state(&scene, "sleep 1003", "S")?;
    terminal.types("kill -STOP %1; wait %1; echo got-$?\n")?;
    terminal.shows("got-")?;
    terminal.shows(PROMPT)?;
    in_state(&scene, "sleep 1003", "T")?;
    terminal.types("bg %1\n")?;
    terminal.shows(PROMPT)?;
    in_state(&scene, "sleep 1003", "S")?;
    terminal.types("kill %1\n")?;
    terminal.shows(PROMPT)?;
    within("the job to end", || find(&scene, "sleep 1003").is_none())?;
    terminal.types("exit 0\n")?;
    terminal.shows("exit")?;
    drop(terminal);
    Ok(())
}

#[test]
fn a_pipeline_of_jobs_in_the_foreground() -> Result<()> {
    let scene = Scene::new()?;
    let mut terminal = gated_shell(&scene)?;
    terminal.types("sleep 1004 | cat\n")?;
    in_foreground(&scene, "sleep 1004")?;
    in_foreground(&scene, "cat")?;
    terminal.types("\x03")?;
    terminal.shows(PROMPT)?;
    within("both jobs to end", || find(&scene, "sleep 1004").is_none() && find(&scene, "cat").is_none())?;
    terminal.types("exit 0\n")?;
    terminal.finish()?.expect_code(0);
    Ok(())
}

#[test]
fn a_refusal_shows_its_line() -> Result<()> {
    let scene = Scene::new()?;
    let victim = scene.victim("victim")?;
    let launch = scene.run().tier("readonly").origin("unattended").unconfined().command(SHELL).env("PS1", PROMPT);
    let mut terminal = Terminal::start(launch)?;
    terminal.shows(PROMPT)?;
    terminal.types("rm -rf victim\n")?;
    terminal.shows("stayexec: denied (destructive): rm -rf victim")?;
    terminal.shows(PROMPT)?;
    terminal.types("echo status-$?\n")?;
    terminal.shows("status-126")?;
    terminal.types("exit 0\n")?;
    terminal.finish()?.expect_code(0);
    victim.expect_alive();
    Ok(())
}

/// From a shell outside, the whole run is one job.
#[test]
fn the_run_itself_is_a_job_of_the_outer_shell() -> Result<()> {
    for scene in Scene::of_each_user()? {
        let outer = scene.ungated_launch(SHELL).env("PS1", PROMPT);
        let mut terminal = Terminal::start(outer)?;
        terminal.shows(PROMPT)?;
        terminal.types(&format!("{} run --tier full --origin unattended -- sleep 1005\n", scene.binary().display()))?;
        within("the agent", || find(&scene, "sleep 1005").is_some())?;
        in_state(&scene, "sleep 1005", "S")?;
        terminal.types("\x1a")?;
        terminal.shows("Stopped")?;
        terminal.shows(PROMPT)?;
        in_state(&scene, "sleep 1005", "T")?;
        terminal.types("fg\n")?;
        in_state(&scene, "sleep 1005", "S")?;
        terminal.types("\x03")?;
        terminal.shows(PROMPT)?;
        within("the agent to end", || find(&scene, "sleep 1005").is_none())?;
        terminal.types("echo status-$?\n")?;
        terminal.shows("status-130")?;
        terminal.types("exit 0\n")?;
        terminal.finish()?.expect_code(0);
    }
    Ok(())
}

#[test]
fn a_terminal_that_goes_away_ends_the_run() -> Result<()> {
    let scene = Scene::new()?;
    let mut terminal = gated_shell(&scene)?;
    terminal.types("sleep 1006\n")?;
    in_foreground(&scene, "sleep 1006")?;
    let warden = scene.warden()?;
    drop(terminal);
    within("the agent to end", || find(&scene, "sleep 1006").is_none())?;
    within("the warden to end", || Process::of(warden.pid).is_none_or(|p| p.state == 'Z'))?;
    Ok(())
}

#[test]
fn the_terminal_is_as_it_was() -> Result<()> {
    let scene = Scene::new()?;
    let gate = format!("{} run --tier full --origin unattended --", scene.binary().display());
    let script = format!("stty -a >before; {gate} stty -echo; {gate} true; stty -a >after; stty echo; echo over");
    let mut terminal = Terminal::start(scene.ungated_launch(["bash", "-c", &script]))?;
    terminal.shows("over")?;
    terminal.finish()?.expect_code(0);
    let read = |name: &str| std::fs::read_to_string(scene.work().join(name));
    // What the agent set stays set, as without the gate; nothing else changed.
    assert_eq!(read("before")?.replace(" echo ", " -echo "), read("after")?);
    Ok(())
}
