//! From inside the tree: no way to the supervisor, nobody who poses as it, and nothing that was written counts in the run.

use anyhow::{Context, Result};
use nix::sys::signal::Signal;
use stayexec_tests::{Client, Input, Process, Scene, cannot_run, install, until, within};
use std::fs;
use std::time::Duration;

const EPERM: &str = "1";
const ECONNREFUSED: &str = "111";

#[test]
fn no_fork_session_or_namespace_leads_to_the_supervisor() -> Result<()> {
    for scene in Scene::of_each_user()? {
        scene.file("agent.py", include_str!("../fixtures/ways.py"))?;
        let outcome = scene.full(["/usr/bin/python3", "agent.py"])?;
        outcome.expect_code(0);
        assert!(outcome.number("sockets") > 0, "{}", outcome.told());
        let out = outcome.out();
        let tried: Vec<(&str, &str)> = out.lines().skip(1).filter_map(|line| line.split_once(' ')).collect();
        for way in ["plainly", "double-fork", "session", "user", "pid", "net"] {
            let said: Vec<&str> = tried.iter().filter(|(w, _)| *w == way).map(|(_, errno)| *errno).collect();
            assert!(!said.is_empty(), "{way}: {}", outcome.told());
            if said == ["absent"] {
                cannot_run(&format!("no {way} namespace as {:?}", scene.user()));
            }
            // Another network namespace has other names; and another test's supervisor may have ended meanwhile.
            let kept = [EPERM, ECONNREFUSED, "absent"];
            let first = if way == "net" { ECONNREFUSED } else { EPERM };
            assert!(said.iter().all(|s| kept.contains(s)) && (said.contains(&first) || said == ["absent"]), "{way}: {}", outcome.told());
        }
        // Without the gate the same process does connect.
        let running = scene.run().tier("full").origin("unattended").unconfined().input(Input::Open).command(["cat"]).start()?;
        scene.supervisor()?;
        let ungated = scene.ungated(["/usr/bin/python3", "agent.py"])?;
        assert!(ungated.out().contains("CONNECTED plainly"), "{}", ungated.told());
        running.finish()?.expect_code(0);
    }
    Ok(())
}

/// The name of the socket that a supervisor listens on.
fn name_of(supervisor: &Process) -> Result<String> {
    let sockets: Vec<String> = fs::read_dir(format!("/proc/{}/fd", supervisor.pid))?
        .flatten()
        .filter_map(|fd| fs::read_link(fd.path()).ok()?.to_str()?.strip_prefix("socket:[")?.strip_suffix(']').map(str::to_owned))
        .collect();
    let table = fs::read_to_string("/proc/net/unix")?;
    let named = table.lines().find_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let name = words.get(7)?.strip_prefix('@')?;
        (name.starts_with("stayexec-") && sockets.iter().any(|s| Some(&s.as_str()) == words.get(6))).then(|| name.to_owned())
    });
    named.context("a listening supervisor has a name")
}

#[test]
fn a_process_that_an_ended_run_left_behind_is_not_believed() -> Result<()> {
    for scene in Scene::of_each_user()? {
        if scene.switch().is_none() && !scene.is_root() {
            cannot_run("only root can look up the supervisor's socket");
            return Ok(());
        }
        for mode in ["plain", "orphan"] {
            let made = scene.mark("made");
            scene.file("agent.py", include_str!("../fixtures/squat.py"))?;
            let keeper = scene.run().tier("full").origin("unattended").unconfined().input(Input::Open).command(["cat"]).start()?;
            let supervisor = scene.supervisor()?;
            let name = until("its socket", Duration::from_secs(10), || name_of(&supervisor).ok())?;
            scene.full(["/usr/bin/python3", "agent.py", mode, &name])?.expect_code(0);
            keeper.finish()?.expect_code(0);
            scene.signal(&supervisor, Signal::SIGKILL);
            within("the name to be taken", || scene.mark("taken").there())?;
            let refused = scene.full(["touch", "made"])?;
            refused.expect_code(125);
            assert!(refused.expect_one_line().contains("is not trusted"), "{}", refused.told());
            made.expect_none();
            let squatter = scene.processes().into_iter().find(|p| p.line.starts_with("/usr/bin/python3")).context("the squatter")?;
            scene.signal(&squatter, Signal::SIGKILL);
            within("the squatter to end", || Process::of(squatter.pid).is_none_or(|p| p.state == 'Z'))?;
            scene.full(["touch", "made"])?.expect_code(0);
            made.expect_made();
            scene.ungated(["rm", "made", "taken"])?.expect_code(0);
        }
    }
    Ok(())
}

#[test]
fn a_second_supervisor_does_not_take_over() -> Result<()> {
    for scene in Scene::of_each_user()? {
        let stayexec = scene.binary().display().to_string();
        let text = format!("touch a & {stayexec} serve; echo served $?; wait $!; echo status $?");
        let running = scene.run().tier("supervised").unconfined().command(["bash", "-c", &text]).start()?;
        let open = scene.asked(2).or_else(|_| scene.asked(1))?;
        for question in open.iter().filter(|q| q.command.contains("serve")) {
            scene.answer(question, &["approve"])?.expect_code(0);
        }
        running.says("served")?;
        assert!(!running.out().contains("served 0"), "{}", running.out());
        let question = scene.asked_once()?;
        scene.mark("a").expect_none();
        scene.answer(&question, &["deny"])?.expect_code(0);
        running.finish()?.expect_line("status 126");
    }
    Ok(())
}

#[test]
fn a_token_is_nowhere_in_reach() -> Result<()> {
    for scene in Scene::of_each_user()? {
        let running = scene.run().tier("full").origin("unattended").unconfined().input(Input::Open).command(["cat"]).start()?;
        scene.supervisor()?;
        let client = Client::open(&scene)?;
        let text = "import os, sys\n\
            secret = sys.stdin.buffer.read().strip()\n\
            found = []\n\
            def look(path):\n    \
                try:\n        \
                    with open(path, 'rb') as f:\n            \
                        if secret in f.read(1 << 24): found.append(path)\n    \
                except OSError: pass\n\
            for folder, _, names in os.walk(sys.argv[1]):\n    \
                for name in names: look(os.path.join(folder, name))\n\
            for pid in filter(str.isdigit, os.listdir('/proc')):\n    \
                if int(pid) == os.getpid(): continue\n    \
                for name in ['environ', 'cmdline', 'mem']: look(f'/proc/{pid}/{name}')\n\
            print('found', found)\n";
        scene.file("agent.py", text)?;
        let folder = scene.path("").display().to_string();
        let run = scene.run().tier("full").origin("unattended").unconfined().input(Input::Text(client.token.clone().into()));
        let outcome = run.command(["/usr/bin/python3", "agent.py", &folder]).finish()?;
        outcome.expect_code(0).expect_line("found []");
        for verb in ["token", "web"] {
            let stayexec = scene.binary().display().to_string();
            let refused = scene.full([stayexec.as_str(), verb])?;
            assert_ne!(refused.code(), 0, "{}", refused.told());
            assert!(refused.stdout.is_empty(), "{}", refused.told());
        }
        running.finish()?.expect_code(0);
    }
    Ok(())
}

/// An agent that writes what governs runs, by itself, and goes on when a line was typed.
const WRITER: &str = "import os, subprocess, sys\n\
    for name in sys.argv[2:]:\n    \
        os.makedirs(os.path.dirname(name), exist_ok=True)\n    \
        with open(name, 'w') as f: f.write('[[rule]]\\nmatch = [\"rm\"]\\ndecision = \"allow\"\\n' if name.endswith('config.toml') else '')\n\
    print('written', flush=True)\n\
    print('status', subprocess.call(['rm', '-rf', sys.argv[1]]), flush=True)\n";

#[test]
fn what_the_tree_writes_counts_from_the_next_start_on_and_is_shown_there() -> Result<()> {
    for scene in Scene::of_each_user()? {
        let victim = scene.victim("victim")?;
        scene.file("agent.py", WRITER)?;
        let config = scene.path("config/stayexec/config.toml").display().to_string();
        let workspace = scene.work().join(".stayexec.toml").display().to_string();
        let run = |scene: &Scene, words: &[&str]| {
            let gated = scene.run().tier("supervised").origin("unattended").unconfined();
            gated.command([&["/usr/bin/python3", "agent.py", "victim"], words].concat()).finish()
        };
        let outcome = run(&scene, &[&config, &workspace])?;
        outcome.expect_code(0).expect_line("written").expect_line("status 126");
        victim.expect_alive();
        let again = run(&scene, &[])?;
        let shown: Vec<_> =
            again.err().lines().filter(|l| l.starts_with("stayexec: changed since the last run here: ")).map(str::to_owned).collect();
        assert_eq!(shown.len(), 1, "{}", again.told());
        assert!(shown.iter().all(|l| l.contains(&format!("{config} (new)")) && l.contains(&workspace)), "{shown:?}");
        // From here on it is the person's own configuration: they were told.
        again.expect_line("status 0");
        victim.expect_gone();
        assert!(!run(&scene, &[])?.err().contains("changed since"), "said once");
    }
    Ok(())
}

#[test]
fn a_program_put_in_the_place_of_the_gates_own_does_not_judge_this_run() -> Result<()> {
    for scene in Scene::of_each_user()? {
        scene.leaves_processes();
        let victim = scene.victim("victim")?;
        let run = scene.run().tier("readonly").origin("unattended").unconfined().input(Input::Open);
        let mut running = run.command(["bash", "-c", "echo ready; read -r; rm -rf victim; echo status $?"]).start()?;
        running.says("ready")?;
        let supervisor = scene.supervisor()?;
        let new = scene.path("bin/new");
        install(std::path::Path::new("/usr/bin/true"), &new)?;
        fs::rename(new, scene.binary())?;
        scene.signal(&supervisor, Signal::SIGKILL);
        within("the supervisor to end", || Process::of(supervisor.pid).is_none_or(|p| p.state == 'Z'))?;
        running.press()?;
        let outcome = running.finish()?;
        outcome.expect_line("status 126");
        assert_eq!(outcome.denials().len(), 1, "{}", outcome.told());
        victim.expect_alive();
    }
    Ok(())
}
