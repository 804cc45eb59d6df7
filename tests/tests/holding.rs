//! A held image: its parent is free, it can be killed and stopped, and nothing but an answer lets it run.

use anyhow::Result;
use nix::sys::signal::Signal;
use stayexec_tests::{Process, Running, Scene, Terminal, until, within};
use std::time::{Duration, Instant};

fn held_touch(scene: &Scene) -> Result<Process> {
    until("the held image", Duration::from_secs(10), || scene.processes().into_iter().find(|p| p.line == "touch a" && p.state != 'Z'))
}

/// A shell that waits for one held `touch a`, with `before` in front.
fn hold<'s>(scene: &'s Scene, before: &str) -> Result<Running<'s>> {
    let text = format!("{before} touch a & wait $!; echo status $?");
    let running = scene.run().tier("supervised").unconfined().command(["bash", "-c", &text]).start()?;
    scene.asked_once()?;
    Ok(running)
}

#[test]
fn the_parents_timers_go_on() -> Result<()> {
    let scene = Scene::new()?;
    scene.file("timers.js", include_str!("../fixtures/timers.js"))?;
    let mut drifts = Vec::new();
    // A loaded machine delays a tick now and then, with and without the gate: one quiet try of three is enough.
    for _ in 0..3 {
        let running = scene.run().tier("supervised").unconfined().command(["node", "timers.js", "touch", "a"]).start()?;
        let question = scene.asked_once()?;
        running.says("drift")?;
        scene.answer(&question, &["approve"])?.expect_code(0);
        let outcome = running.finish()?;
        outcome.expect_line("status 0");
        drifts.push(outcome.number("drift"));
        if drifts.iter().any(|d| *d < 50) {
            return Ok(());
        }
    }
    panic!("timers drifted by {drifts:?} ms");
}

#[test]
fn other_programs_run_unhindered() -> Result<()> {
    for scene in Scene::of_each_user()? {
        let text = "touch a & for i in {1..50}; do ls / >/dev/null || echo bad; done; echo others; wait $!; echo status $?";
        let running = scene.run().tier("supervised").unconfined().command(["bash", "-c", text]).start()?;
        running.says("others")?;
        let question = scene.asked_once()?;
        scene.mark("a").expect_none();
        scene.answer(&question, &["approve"])?.expect_code(0);
        let outcome = running.finish()?;
        assert_eq!(outcome.out(), "others\nstatus 0\n", "{}", outcome.told());
    }
    Ok(())
}

#[test]
fn a_terminating_signal_ends_it_within_a_second() -> Result<()> {
    for scene in Scene::of_each_user()? {
        for signal in [Signal::SIGKILL, Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP] {
            // A shell without job control has its background jobs ignore SIGINT.
            let running = hold(&scene, "set -m;")?;
            let image = held_touch(&scene)?;
            scene.signal(&image, signal);
            let begun = Instant::now();
            let outcome = running.finish()?;
            let took = begun.elapsed();
            outcome.expect_line(&format!("status {}", 128 + signal as i32));
            println!("{signal}: {took:?}");
            assert!(took < Duration::from_secs(4), "{signal}: {took:?}; aimed at: 1 s");
            within("the question to be withdrawn", || scene.pending().is_ok_and(|p| p.is_empty()))?;
            scene.mark("a").expect_none();
        }
    }
    Ok(())
}

#[test]
fn a_signal_that_it_ignores_does_not_end_it() -> Result<()> {
    for scene in Scene::of_each_user()? {
        let running = hold(&scene, "trap '' HUP TERM;")?;
        let image = held_touch(&scene)?;
        scene.signal(&image, Signal::SIGHUP);
        scene.signal(&image, Signal::SIGTERM);
        let question = scene.asked_once()?;
        scene.answer(&question, &["approve"])?.expect_code(0);
        running.finish()?.expect_line("status 0");
        scene.mark("a").expect_made();
    }
    Ok(())
}

#[test]
fn a_held_nohup_ignores_a_hangup_and_nothing_else() -> Result<()> {
    for scene in Scene::of_each_user()? {
        for (signal, answered) in [(Signal::SIGHUP, true), (Signal::SIGHUP, false), (Signal::SIGTERM, false)] {
            let running = hold(&scene, "nohup")?;
            let line = "nohup touch a";
            let image = until("the held image", Duration::from_secs(10), || {
                scene.processes().into_iter().find(|p| p.line == line && p.state != 'Z')
            })?;
            scene.signal(&image, signal);
            if signal == Signal::SIGTERM {
                running.finish()?.expect_line(&format!("status {}", 128 + signal as i32));
                continue;
            }
            if !answered {
                // The sweep has it delivered before it is answered.
                within("the hangup to be taken from its way", || !image.awaits(signal))?;
            }
            let question = scene.asked_once()?;
            scene.answer(&question, &["approve"])?.expect_code(0);
            let outcome = running.finish()?;
            outcome.expect_line("status 0");
            scene.mark("a").expect_made();
            std::fs::remove_file(scene.work().join("a"))?;
        }
    }
    Ok(())
}

#[test]
fn stopping_and_continuing_does_not_release_it() -> Result<()> {
    for scene in Scene::of_each_user()? {
        let running = hold(&scene, "")?;
        let image = held_touch(&scene)?;
        for _ in 0..5 {
            scene.signal(&image, Signal::SIGSTOP);
            scene.signal(&image, Signal::SIGCONT);
        }
        let question = scene.asked_once()?;
        scene.mark("a").expect_none();
        scene.signal(&image, Signal::SIGSTOP);
        scene.signal(&image, Signal::SIGCONT);
        scene.answer(&question, &["deny"])?.expect_code(0);
        running.finish()?.expect_line("status 126");
        scene.mark("a").expect_none();
    }
    Ok(())
}

#[test]
fn ctrl_z_and_fg_on_a_held_foreground_job() -> Result<()> {
    let scene = Scene::new()?;
    let launch = scene.run().tier("supervised").unconfined().command(["bash", "--norc", "-i"]).env("PS1", "ready> ");
    let mut terminal = Terminal::start(launch)?;
    terminal.shows("ready> ")?;
    terminal.types("touch a\n")?;
    let question = scene.asked_once()?;
    terminal.types("\x1a")?;
    terminal.shows("Stopped")?;
    terminal.shows("ready> ")?;
    scene.mark("a").expect_none();
    assert_eq!(scene.asked_once()?.audit_id, question.audit_id);
    terminal.types("fg\n")?;
    terminal.shows("touch a")?;
    scene.mark("a").expect_none();
    scene.answer(&question, &["approve"])?.expect_code(0);
    terminal.shows("ready> ")?;
    scene.mark("a").expect_made();
    terminal.types("exit 0\n")?;
    terminal.finish()?.expect_code(0);
    Ok(())
}

#[test]
fn ctrl_c_on_a_held_foreground_job() -> Result<()> {
    let scene = Scene::new()?;
    let launch = scene.run().tier("supervised").unconfined().command(["bash", "--norc", "-i"]).env("PS1", "ready> ");
    let mut terminal = Terminal::start(launch)?;
    terminal.shows("ready> ")?;
    terminal.types("touch a\n")?;
    scene.asked_once()?;
    terminal.types("\x03")?;
    terminal.shows("ready> ")?;
    within("the question to be withdrawn", || scene.pending().is_ok_and(|p| p.is_empty()))?;
    scene.mark("a").expect_none();
    terminal.types("exit 0\n")?;
    terminal.shows("exit")?;
    Ok(())
}

#[test]
fn a_script_that_changes_while_it_is_held_is_asked_about_again() -> Result<()> {
    for (scene, call, filled) in Scene::of_each_user()?.into_iter().flat_map(|scene| {
        let scene = std::rc::Rc::new(scene);
        // One that is too long to be read is known by its identity alone.
        let calls = [("./script", 0), ("timeout 9 bash ./script", 0), ("env A=1 nice -n 1 sh script", 0), ("./script", 1_100_000)];
        calls.map(|(call, filled)| (std::rc::Rc::clone(&scene), call, filled))
    }) {
        let script = scene.program("script", format!("#!/bin/sh\ntouch a\nexit\n{}\n", "#".repeat(filled)))?;
        let text = format!("{call}; echo status $?");
        let running = scene.run().tier("supervised").unconfined().command(["bash", "-c", &text]).start()?;
        let first = scene.asked_once()?;
        std::fs::write(&script, format!("#!/bin/sh\ntouch evil\nexit\n{}\n", "#".repeat(filled)))?;
        scene.answer(&first, &["approve"])?;
        let second = until("another question", Duration::from_secs(10), || {
            scene.pending().ok()?.into_iter().find(|q| q.audit_id != first.audit_id)
        })?;
        scene.answer(&second, &["deny"])?.expect_code(0);
        running.finish()?.expect_line("status 126");
        scene.mark("evil").expect_none();
        scene.mark("a").expect_none();
    }
    Ok(())
}
