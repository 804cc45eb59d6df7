//! Odd callers and odd programs: each is judged once, runs as without the gate, or is refused with a reason.

use anyhow::Result;
use nix::sys::signal::Signal;
use stayexec_tests::{Input, Scene, cannot_run, install, until, within};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

/// A caller that waits in its call while a timer of 10 ms strikes.
const TIMED: &str = "import os, signal, sys, time\n\
    strikes = [0]\n\
    def strike(*_): strikes[0] += 1\n\
    signal.signal(signal.SIGALRM, strike)\n\
    signal.siginterrupt(signal.SIGALRM, sys.argv[1] == 'interrupt')\n\
    signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)\n\
    begun = time.monotonic()\n\
    try: os.execv('./text', ['text'])\n\
    except OSError as e: print('errno', e.errno)\n\
    print('waited', int((time.monotonic() - begun) * 1000))\n";

#[test]
fn a_timer_that_strikes_while_a_call_waits_makes_it_no_second_call() -> Result<()> {
    for scene in Scene::of_each_user()? {
        scene.program("text", "touch made\n")?;
        scene.file("agent.py", TIMED)?;
        for mode in ["restart", "interrupt"] {
            let run = scene.run().tier("supervised").unconfined();
            let running = run.command(["/usr/bin/python3", "agent.py", mode]).start()?;
            let question = scene.asked_once()?;
            // A hundred strikes later it is still the same question.
            let begun = std::time::Instant::now();
            until("a second to pass", Duration::from_secs(5), || (begun.elapsed() > Duration::from_secs(1)).then_some(()))?;
            assert_eq!(scene.asked_once()?.audit_id, question.audit_id);
            scene.answer(&question, &["deny"])?.expect_code(0);
            let outcome = running.finish()?;
            assert_eq!(outcome.number("errno"), 1, "{}", outcome.told());
            assert!(outcome.number("waited") >= 1000, "{}", outcome.told());
            let history = scene.history()?;
            let run = history.last().map(|e| e.row["run"].clone()).unwrap_or_default();
            let calls: Vec<u64> = history.iter().filter(|e| e.row["run"] == run).filter_map(|e| e.row["call"].as_u64()).collect();
            assert_eq!(calls, [0, 1], "the launch and one more: {history:#?}");
        }
        scene.mark("made").expect_none();
    }
    Ok(())
}

#[test]
fn a_program_whose_file_was_removed_or_replaced() -> Result<()> {
    for scene in Scene::of_each_user()? {
        for replaced in [false, true] {
            let (launch, mark) = (scene.fixture("launch-static")?, scene.fixture("mark")?);
            let text = format!("exec 3<{launch}; echo open; read -r; /proc/self/fd/3 execve {mark} $1; echo status $?");
            let start = |tier: &str, name: &str| {
                let run = scene.run().tier(tier).origin("unattended").unconfined().input(Input::Open);
                run.command(["bash", "-c", &text, "bash", name]).start()
            };
            for (tier, code) in [("readonly", 126), ("full", 0)] {
                let made = scene.mark(&format!("made-{tier}-{replaced}"));
                scene.fixture("launch-static")?;
                let mut running = start(tier, made.text())?;
                running.says("open")?;
                if replaced {
                    install(Path::new("/usr/bin/false"), &scene.work().join("other"))?;
                    fs::rename(scene.work().join("other"), &launch)?;
                } else {
                    fs::remove_file(&launch)?;
                }
                running.press()?;
                let outcome = running.finish()?;
                outcome.expect_line(&format!("status {code}"));
                assert_eq!(outcome.denials().len(), usize::from(code != 0), "{}", outcome.told());
                assert_eq!(made.there(), code == 0, "{}", outcome.told());
            }
        }
    }
    Ok(())
}

#[test]
fn a_pipe_with_a_name_is_no_program_and_is_not_waited_for() -> Result<()> {
    for scene in Scene::of_each_user()? {
        let launch = scene.fixture("launch")?;
        scene.ungated(["mkfifo", "-m", "0755", "fifo"])?.expect_code(0);
        let outcome = scene.full([launch.as_str(), "execve", "./fifo"])?;
        assert_eq!(outcome.number("errno"), 13, "{}", outcome.told());
    }
    Ok(())
}

#[test]
fn a_program_that_its_user_may_start_and_not_read() -> Result<()> {
    for scene in Scene::of_each_user()? {
        if !nix::unistd::geteuid().is_root() {
            cannot_run("only root can make a program that another user cannot read");
            return Ok(());
        }
        let path = scene.path("bin/unreadable");
        install(Path::new("/usr/bin/true"), &path)?;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o711))?;
        let text = format!("{} x; echo status $?", path.display());
        let outcome = scene.full(["bash", "-c", &text])?;
        if scene.is_root() {
            outcome.expect_line("status 0");
        } else {
            // Nobody but root can look into it, so nobody can say what it is.
            assert!(!outcome.out().contains("status 0"), "{}", outcome.told());
            assert!(outcome.err().contains("stayexec: denied: "), "{}", outcome.told());
        }
    }
    Ok(())
}

#[test]
fn a_working_directory_that_a_peer_changes_while_the_image_is_held() -> Result<()> {
    for scene in Scene::of_each_user()? {
        // The two share their file system information, as threads do; the child is held, and its parent moves.
        let text = "import ctypes, os, platform, sys\n\
            libc = ctypes.CDLL(None, use_errno=True)\n\
            os.mkdir('a'); os.mkdir('b'); os.chdir('a')\n\
            CLONE_FS, SIGCHLD = 0x200, 17\n\
            pid = libc.syscall(56 if platform.machine() == 'x86_64' else 220, CLONE_FS | SIGCHLD, 0, 0, 0, 0)\n\
            if pid == 0: os.execv('/usr/bin/touch', ['touch', 'made'])\n\
            sys.stdin.readline()\n\
            if sys.argv[1] == 'move': os.chdir('../b')\n\
            print('moved', flush=True)\n\
            print('status', os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))\n";
        scene.file("agent.py", text)?;
        for (mode, moved) in [("move", true), ("stay", false)] {
            let run = scene.run().tier("supervised").unconfined().input(Input::Open);
            let mut running = run.command(["/usr/bin/python3", "agent.py", mode]).start()?;
            let question = scene.asked_once()?;
            running.press()?;
            running.says("moved")?;
            scene.answer(&question, &["approve"])?;
            let outcome = running.finish()?;
            assert_eq!(outcome.number("status") == 0, !moved, "{}", outcome.told());
            scene.mark("b/made").expect_none();
            assert_eq!(scene.mark("a/made").there(), !moved);
            scene.ungated(["rm", "-r", "a", "b"])?.expect_code(0);
        }
    }
    Ok(())
}

#[test]
fn programs_with_another_users_rights() -> Result<()> {
    for scene in Scene::of_each_user()? {
        if !["/usr/bin/sudo", "/usr/bin/su", "/usr/bin/ping"].iter().all(|p| Path::new(p).exists()) {
            cannot_run("sudo and ping are not installed");
            return Ok(());
        }
        let gated = |text: &str| scene.run().tier("full").origin("background").unconfined().command(["bash", "-c", text]).finish();
        let text = "sudo -n id -u; echo first $?; sudo -n id -u; echo second $?";
        let outcome = gated(text)?;
        let told = outcome.err().matches("gets no other user's rights in this run").count();
        if scene.is_root() {
            outcome.expect_line("0").expect_line("first 0").expect_line("second 0");
            assert_eq!(told, 0, "{}", outcome.told());
            let victim = scene.victim("victim")?;
            fs::set_permissions(scene.path("work/victim/inner"), fs::Permissions::from_mode(0o777))?;
            // What became another user is judged as ever.
            gated("su -s /bin/sh nobody -c 'id -u'")?.expect_line("65534");
            let refused = scene.readonly(["su", "-s", "/bin/sh", "nobody", "-c", "rm -rf victim/inner; echo status $?"])?;
            assert!(!refused.denials().is_empty(), "{}", refused.told());
            victim.expect_alive();
        } else {
            assert!(!outcome.out().contains("first 0"), "{}", outcome.told());
            assert_eq!(told, 1, "said once: {}", outcome.told());
        }
        let (gated, ungated) = (gated("ping -c 1 127.0.0.1 >/dev/null; echo status $?")?, scene.ungated(["ping", "-c", "1", "127.0.0.1"])?);
        if scene.is_root() {
            gated.expect_line(&format!("status {}", ungated.code()));
        }
    }
    Ok(())
}

#[test]
fn nothing_of_the_gate_keeps_its_callers_descriptors() -> Result<()> {
    for scene in Scene::of_each_user()? {
        scene.leaves_processes();
        let stayexec = scene.binary().display().to_string();
        // The reader at the other end of descriptor 3 waits for its end; a process that the agent leaves has closed its own.
        let pipeline = "{ \"$@\"; } 3>&1 >/dev/null 2>&1 | cat; echo over";
        let left = "sleep 1000 3>&- <&- >&- 2>&- & exit 0";
        let run = [stayexec.as_str(), "run", "--tier", "full", "--origin", "unattended", "--confine=off", "--", "bash", "-c", left];
        let outcome = scene.ungated_launch(["bash", "-c", pipeline, "bash"].iter().chain(&run)).limit(30).finish()?;
        outcome.expect_line("over");
        for sleeper in scene.processes().iter().filter(|p| p.line == "sleep 1000") {
            scene.signal(sleeper, Signal::SIGKILL);
        }
        within("the sleeper to end", || !scene.processes().iter().any(|p| p.line == "sleep 1000" && p.state != 'Z'))?;
    }
    Ok(())
}
