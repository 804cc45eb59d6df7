//! The lesser modes: what they judge, what they say of themselves, and that nobody gets one without asking for it.

use anyhow::{Context, Result};
use stayexec_tests::{Entry, Input, Launch, Outcome, Scene};

/// A run behind a filter that takes `away` what it names, as a container's runtime would.
fn behind<'s>(scene: &'s Scene, away: &[&str]) -> Result<Launch<'s>> {
    let outer = scene.fixture("outer")?;
    Ok(scene.run().unconfined().inside([outer.as_str()].iter().chain(away).chain(&["--"])))
}

#[track_caller]
fn expect_warned(outcome: &Outcome, mode: &str) {
    let warned = format!("stayexec: warning: require = {mode} (--require)");
    assert!(outcome.err().starts_with(&warned), "{}", outcome.told());
}

#[track_caller]
fn expect_marked(rows: &[Entry], mode: &str) {
    assert!(!rows.is_empty() && rows.iter().all(|entry| entry.row["mode"] == mode && entry.row["verified"] == false), "{rows:#?}");
}

#[test]
fn without_ptrace_or_a_listener_nothing_starts_unless_less_was_asked_for() -> Result<()> {
    for scene in Scene::of_each_user()? {
        for away in [&["noptrace"][..], &["listener"], &["noptrace", "listener"], &["noseccomp"]] {
            let outcome = behind(&scene, away)?.command(["touch", "made"]).finish()?;
            outcome.expect_code(125);
            outcome.expect_one_line();
            scene.mark("made").expect_none();
        }
        let outcome = behind(&scene, &["listener"])?.words(["--require", "seccomp"]).command(["touch", "made"]).finish()?;
        outcome.expect_code(125);
        assert!(outcome.err().contains("listens to seccomp already"), "{}", outcome.told());
        scene.mark("made").expect_none();
    }
    Ok(())
}

#[test]
fn without_ptrace_calls_are_judged_by_what_they_say() -> Result<()> {
    for scene in Scene::of_each_user()? {
        let victim = scene.victim("victim")?;
        scene.program("script", "#!/bin/sh -e\nrm -rf victim\n")?;
        let text =
            "ls -d /; rm -rf victim; echo status $?; ./script; echo status $?; none; echo status $?; /usr/bin/env true; echo status $?";
        let run = behind(&scene, &["noptrace"])?.words(["--require", "seccomp"]).origin("unattended");
        let outcome = run.command(["bash", "-c", text]).finish()?;
        victim.expect_alive();
        expect_warned(&outcome, "seccomp");
        let lines: Vec<String> = outcome.out().lines().map(str::to_owned).collect();
        assert_eq!(lines, ["/", "status 126", "status 126", "status 127", "status 0"], "{}", outcome.told());
        assert!(outcome.err().contains("stayexec: denied (destructive): rm -rf victim"), "{}", outcome.told());
        let rows = scene.history()?;
        expect_marked(&rows, "seccomp");
        assert!(rows.iter().all(|entry| entry.row["stage"] == "called"));
        let script = rows.iter().find(|entry| entry.argv.iter().any(|word| word == "./script"));
        assert_eq!(script.map(|entry| entry.argv.clone()).unwrap_or_default(), ["/bin/sh", "-e", "./script"]);
    }
    Ok(())
}

#[test]
fn without_ptrace_a_question_holds_its_caller() -> Result<()> {
    for scene in Scene::of_each_user()? {
        // A supervisor that is there already: one from behind the filter would not be trusted outside of it.
        scene.full(["true"])?.expect_code(0);
        let run = behind(&scene, &["noptrace"])?.words(["--require", "seccomp"]).input(Input::Open);
        let running = run.command(["bash", "-c", "touch made; echo status $?; touch more; echo status $?"]).start()?;
        let question = scene.asked_once()?;
        scene.mark("made").expect_none();
        scene.answer(&question, &["approve"])?.expect_code(0);
        running.says("status 0")?;
        let question = scene.asked_once()?;
        scene.answer(&question, &["deny", "--note", "not now"])?.expect_code(0);
        let outcome = running.finish()?;
        outcome.expect_line("status 126");
        scene.mark("made").expect_made();
        scene.mark("more").expect_none();
        assert!(outcome.err().contains("not now"), "{}", outcome.told());
    }
    Ok(())
}

#[test]
fn held_in_the_call_its_caller_waits_and_what_is_loaded_is_compared() -> Result<()> {
    for scene in Scene::of_each_user()? {
        // The parent of a vforked child waits in its own call as long as the child has not started.
        let text = "import subprocess, time\n\
            begun = time.time()\n\
            child = subprocess.Popen(['touch', 'made'])\n\
            print('started', flush=True)\n\
            print('status', child.wait(), flush=True)\n";
        scene.file("agent.py", text)?;
        let run = scene.run().tier("supervised").unconfined().words(["--hold", "call"]);
        let running = run.command(["/usr/bin/python3", "agent.py"]).start()?;
        let question = scene.asked_once()?;
        assert!(!running.out().contains("started"), "{}", running.out());
        scene.answer(&question, &["approve"])?.expect_code(0);
        running.finish()?.expect_code(0).expect_line("status 0");
        scene.mark("made").expect_made();
        let rows: Vec<Entry> = scene.history()?.into_iter().filter(|entry| entry.argv == ["touch", "made"]).collect();
        let stages: Vec<_> = rows.iter().map(|entry| (entry.row["stage"].clone(), entry.decision.clone(), entry.reason.clone())).collect();
        let stage = |stage: &str| (stage.into(), "allow".to_owned(), "answer".to_owned());
        assert_eq!(stages, [stage("called"), stage("loaded")]);
        assert!(rows.iter().all(|entry| entry.row["verified"] == true));
    }
    Ok(())
}

#[test]
fn an_approval_in_the_call_covers_nothing_else() -> Result<()> {
    for scene in Scene::of_each_user()? {
        // The second takes the place of the first while its question is open.
        scene.copy("/bin/touch".as_ref(), "tool")?;
        scene.copy("/bin/mkdir".as_ref(), "other")?;
        let run = scene.run().tier("supervised").unconfined().words(["--hold", "call"]).input(Input::Open);
        let text = "import os, threading\n\
            def swap():\n    input(); os.rename('other', 'tool'); print('swapped', flush=True)\n\
            threading.Thread(target=swap).start()\n\
            print('status', os.spawnv(os.P_WAIT, './tool', ['./tool', 'made']), flush=True)\n";
        scene.file("agent.py", text)?;
        let mut running = run.command(["/usr/bin/python3", "agent.py"]).start()?;
        let question = scene.asked_once()?;
        running.press()?;
        running.says("swapped")?;
        scene.answer(&question, &["approve"])?.expect_code(0);
        // What was loaded is asked about anew.
        let question = scene.asked_once()?;
        scene.mark("made").expect_none();
        scene.answer(&question, &["deny"])?.expect_code(0);
        running.finish()?.expect_line("status 126");
        scene.mark("made").expect_none();
    }
    Ok(())
}

#[test]
fn held_in_the_call_the_rest_is_judged_as_ever() -> Result<()> {
    let scene = Scene::new()?;
    let victim = scene.victim("victim")?;
    let run = scene.run().tier("readonly").origin("unattended").unconfined().words(["--hold", "call"]);
    let text = "ls -d /; env -i /bin/ls -d /etc; rm -rf victim; echo status $?; none; echo status $?";
    let outcome = run.command(["bash", "-c", text]).finish()?;
    victim.expect_alive();
    let lines: Vec<String> = outcome.out().lines().map(str::to_owned).collect();
    assert_eq!(lines, ["/", "/etc", "status 126", "status 127"], "{}", outcome.told());
    assert_eq!(outcome.denials().len(), 1, "{}", outcome.told());
    assert!(scene.history()?.iter().all(|entry| entry.row["stage"] == "loaded"));
    Ok(())
}

#[test]
fn the_shim_alone_judges_what_honest_programs_start() -> Result<()> {
    for scene in Scene::of_each_user()? {
        let victim = scene.victim("victim")?;
        scene.program("script", "#!/bin/sh\nrm -rf victim\n")?;
        scene.program("text", "rm -rf victim\n")?;
        let text = "import os, subprocess\n\
            print('system', os.WEXITSTATUS(os.system('ls -d / ; rm -rf victim')), flush=True)\n\
            for argv in (['ls', '-d', '/etc'], ['rm', '-rf', 'victim'], ['./script'], ['none'], ['env', '-i', 'A=1', 'rm', '-rf', 'victim']):\n    \
                try:\n        print(argv[0], subprocess.call(argv), flush=True)\n    \
                except OSError as e:\n        print(argv[0], e.errno, flush=True)\n";
        scene.file("agent.py", text)?;
        let run = behind(&scene, &["noptrace", "listener"])?.words(["--require", "preload"]).origin("unattended");
        let outcome = run.command(["/usr/bin/python3", "agent.py"]).finish()?;
        victim.expect_alive();
        expect_warned(&outcome, "preload");
        let lines: Vec<String> = outcome.out().lines().map(str::to_owned).collect();
        // The line of `system` holds more than a read, and is refused whole.
        assert_eq!(lines, ["system 126", "/etc", "ls 0", "rm 1", "./script 1", "none 2", "env 1"], "{}", outcome.told());
        expect_marked(&scene.history()?, "preload");
        let outcome =
            scene.run().tier("full").origin("unattended").unconfined().words(["--require", "preload"]).command(["./text"]).finish()?;
        outcome.expect_code(125);
        victim.expect_alive();
    }
    Ok(())
}

#[test]
fn the_shim_alone_leaves_what_posix_spawn_was_told_as_it_is_and_records_the_launch() -> Result<()> {
    let scene = Scene::new()?;
    scene.file("agent.py", include_str!("../fixtures/spawns.py"))?;
    let plain = scene.ungated(["/usr/bin/python3", "agent.py"])?;
    plain.expect_code(0);
    for line in ["fds [0, 1, 2, 7] same True leader True", "blocked [<Signals.SIGUSR2: 12>] handler 0", "environment ['A', 'PATH']"] {
        assert_eq!(plain.out().lines().filter(|found| found.ends_with(line)).count(), 2, "{line}: {}", plain.told());
    }
    let run = scene.run().tier("full").origin("unattended").unconfined().words(["--require", "preload"]);
    let outcome = run.command(["/usr/bin/python3", "agent.py"]).finish()?;
    assert_eq!(outcome.out(), plain.out(), "{}", outcome.told());
    let history = scene.history()?;
    let launches: Vec<&Entry> = history.iter().filter(|row| row.reason == "launch").collect();
    assert!(matches!(&launches[..], [row] if row.argv == ["/usr/bin/python3", "agent.py"]), "{history:#?}");
    assert_eq!(history.len(), 3, "{history:#?}");
    expect_marked(&history, "preload");
    // What is forbidden a person does not launch either.
    let secret = scene.path("home/.ssh/id").display().to_string();
    scene.file("../home/.ssh/id", "secret\n")?;
    let run = scene.run().tier("full").origin("unattended").unconfined().words(["--require", "preload"]);
    let outcome = run.command(["/usr/bin/cat", &secret]).finish()?;
    outcome.expect_code(126);
    assert!(outcome.stdout.is_empty() && outcome.denials().len() == 1, "{}", outcome.told());
    assert_eq!(scene.history()?.iter().filter(|row| row.reason == "forbidden").count(), 1);
    Ok(())
}

#[test]
fn the_shim_alone_waits_for_its_answer() -> Result<()> {
    for scene in Scene::of_each_user()? {
        let run = scene.run().tier("supervised").unconfined().words(["--require", "preload"]);
        let running = run.command(["bash", "-c", "touch made; echo status $?; touch more; echo status $?"]).start()?;
        let question = scene.asked_once()?;
        scene.mark("made").expect_none();
        scene.answer(&question, &["approve"])?.expect_code(0);
        running.says("status 0")?;
        let question = scene.asked_once()?;
        scene.answer(&question, &["deny", "--note", "not now"])?.expect_code(0);
        let outcome = running.finish()?;
        outcome.expect_line("status 126");
        scene.mark("made").expect_made();
        scene.mark("more").expect_none();
        assert!(outcome.err().contains("not now"), "{}", outcome.told());
    }
    Ok(())
}

#[test]
fn a_program_that_does_not_load_the_shim_is_no_gate() -> Result<()> {
    for scene in Scene::of_each_user()? {
        scene.fixture("launch-static")?;
        scene.fixture("mark")?;
        let run = scene.run().tier("full").origin("unattended").unconfined().words(["--require", "preload"]);
        let outcome = run.command(["./launch-static", "fork", "/bin/true"]).finish()?;
        outcome.expect_code(125);
        assert!(outcome.err().contains("cannot load the preload library"), "{}", outcome.told());
        let run = scene.run().tier("full").origin("unattended").unconfined().words(["--require", "preload"]);
        let outcome = run.command(["bash", "-c", "./launch-static fork /bin/true; ./launch-static fork /bin/true"]).finish()?;
        outcome.expect_code(0);
        let said = outcome.err().matches("launch-static cannot load the preload library").count();
        assert_eq!(said, 1, "{}", outcome.told());
    }
    Ok(())
}

/// The checks of `doctor --json` behind a filter, by name.
fn checks(scene: &Scene, away: &[&str]) -> Result<serde_json::Map<String, serde_json::Value>> {
    let outer = scene.fixture("outer")?;
    let outcome = scene.stayexec().words(["doctor", "--json"]).inside([outer.as_str()].iter().chain(away).chain(&["--"])).finish()?;
    let rows: Vec<serde_json::Value> = serde_json::from_slice(&outcome.stdout).with_context(|| outcome.told())?;
    let failed = rows.iter().any(|row| row["health"] == "failed");
    outcome.expect_code(if failed { 125 } else { 0 });
    Ok(rows.into_iter().map(|row| (row["check"].as_str().unwrap_or_default().to_owned(), row)).collect())
}

#[test]
fn the_doctor_says_which_mode_holds_and_what_to_change() -> Result<()> {
    for scene in Scene::of_each_user()? {
        let health = |away: &[&str]| -> Result<[String; 3]> {
            let checks = checks(&scene, away)?;
            for name in ["verify", "seccomp", "preload"] {
                let advised = checks[name]["advice"].is_string();
                assert_eq!(advised, checks[name]["health"] != "ok", "{checks:#?}");
            }
            Ok(["verify", "seccomp", "preload"].map(|name| checks[name]["health"].as_str().unwrap_or_default().to_owned()))
        };
        assert_eq!(health(&[])?, ["ok", "ok", "ok"]);
        assert_eq!(health(&["noptrace"])?, ["failed", "ok", "ok"]);
        assert_eq!(health(&["listener"])?, ["failed", "warning", "ok"]);
        assert_eq!(health(&["noptrace", "listener"])?, ["failed", "warning", "ok"]);
        let checks = checks(&scene, &["noptrace", "nolandlock"])?;
        let advice = checks["verify"]["advice"].as_str().unwrap_or_default().to_owned();
        assert!(advice.contains("--cap-add SYS_PTRACE") || advice.contains("ptrace_scope"), "{advice}");
        assert_eq!(checks["landlock"]["health"], "warning");
    }
    Ok(())
}

#[test]
fn a_multiplexer_is_warned_of() -> Result<()> {
    let scene = Scene::new()?;
    let outcome = scene.stayexec().words(["doctor", "--json"]).env("TMUX", "/tmp/tmux-0/default,1,0").finish()?;
    let rows: Vec<serde_json::Value> = serde_json::from_slice(&outcome.stdout)?;
    assert!(rows.iter().any(|row| row["check"] == "terminal" && row["health"] == "warning"), "{rows:#?}");
    Ok(())
}

#[test]
fn without_scopes_the_supervisor_knows_a_tree_by_its_filters() -> Result<()> {
    for scene in Scene::of_each_user()? {
        let text = "import socket, struct\n\
            names = {l.split()[-1][1:] for l in open('/proc/net/unix') if l.split()[-1].startswith('@stayexec-')}\n\
            print('sockets', len(names))\n\
            for name in names:\n    \
                s = socket.socket(socket.AF_UNIX); s.settimeout(20)\n    \
                try:\n        \
                    s.connect('\\0' + name)\n        \
                    try: s.send(struct.pack('<IBHI', 12, 0, 2, 5) + b'0.1.0')\n        \
                    except BrokenPipeError: pass\n        \
                    print('heard', s.recv(4096)[4:])\n    \
                except OSError as e:\n        print('refused', e.errno)\n";
        scene.file("agent.py", text)?;
        let run = behind(&scene, &["nolandlock"])?.tier("full");
        let outcome = run.command(["/usr/bin/python3", "agent.py"]).finish()?;
        outcome.expect_code(0);
        assert!(outcome.number("sockets") > 0, "{}", outcome.told());
        // The kernel lets it connect, and the supervisor refuses it by name.
        assert!(outcome.out().contains("inside a gated tree cannot reach the supervisor"), "{}", outcome.told());
        // With scopes not even that.
        let outcome = scene.full(["/usr/bin/python3", "agent.py"])?;
        assert!(!outcome.out().contains("heard"), "{}", outcome.told());
    }
    Ok(())
}
