//! From inside the tree: no answer, no second gate that loosens, no way to the judge.

use anyhow::Result;
use stayexec_tests::{Input, Launch, Scene};

/// An agent that holds a command by itself and then tries to answer, by the scene's own stayexec.
fn agent<'s>(scene: &'s Scene, text: &str) -> Launch<'s> {
    scene.run().tier("supervised").unconfined().input(Input::Open).command(["bash", "-c", text])
}

#[test]
fn the_tree_cannot_answer_its_own_questions() -> Result<()> {
    for scene in Scene::of_each_user()? {
        let stayexec = scene.binary().display().to_string();
        let text = format!("touch a & read id; {stayexec} approve $id; echo answered $?; wait; echo over");
        let mut running = agent(&scene, &text).start()?;
        let question = scene.asked_once()?;
        running.types(&question.audit_id)?;
        // The attempt is a program like others: a person may even let it run.
        for asked in scene.asked(2).unwrap_or_default() {
            if asked.audit_id != question.audit_id {
                scene.answer(&asked, &["approve"])?.expect_code(0);
            }
        }
        running.says("answered")?;
        assert!(!running.out().contains("answered 0"), "{} {}", running.out(), running.err());
        scene.mark("a").expect_none();
        scene.answer(&question, &["deny"])?.expect_code(0);
        running.finish()?.expect_line("over");
        scene.mark("a").expect_none();
    }
    Ok(())
}

#[test]
fn a_process_of_another_run_answers_no_question() -> Result<()> {
    for scene in Scene::of_each_user()? {
        let asking = scene.run().tier("supervised").unconfined().command(["bash", "-c", "touch a; echo status $?"]).start()?;
        let question = scene.asked_once()?;
        let stayexec = scene.binary().display().to_string();
        for words in [&["approve", &question.audit_id][..], &["deny", &question.audit_id], &["pending"], &["stop", "all"]] {
            // The person's own launch of this very program: nobody judges it, and the kernel refuses it the socket.
            let outcome = scene.full([&[stayexec.as_str()], words].concat())?;
            assert_ne!(outcome.code(), 0, "{words:?}: {}", outcome.told());
            assert!(outcome.stdout.is_empty(), "{words:?}: {}", outcome.told());
        }
        assert_eq!(scene.asked_once()?.audit_id, question.audit_id);
        scene.mark("a").expect_none();
        scene.answer(&question, &["approve"])?.expect_code(0);
        asking.finish()?.expect_line("status 0");
    }
    Ok(())
}

#[test]
fn the_control_socket_is_out_of_reach() -> Result<()> {
    for scene in Scene::of_each_user()? {
        // A launched program is not judged by its class, so that this tries the socket itself.
        let text = "import socket, sys\n\
            names = [l.split()[-1][1:] for l in open('/proc/net/unix') if l.split()[-1].startswith('@stayexec-')]\n\
            print('sockets', len(set(names)))\n\
            for name in set(names):\n    \
                s = socket.socket(socket.AF_UNIX)\n    \
                try:\n        s.connect('\\0' + name)\n        print('CONNECTED')\n    \
                except OSError as e:\n        print(e.errno)\n";
        scene.file("agent.py", text)?;
        let outcome = scene.full(["/usr/bin/python3", "agent.py"])?;
        outcome.expect_code(0);
        assert!(outcome.number("sockets") > 0, "{}", outcome.told());
        assert!(!outcome.out().contains("CONNECTED"), "{}", outcome.told());
    }
    Ok(())
}

#[test]
fn a_gate_in_a_gate_loosens_nothing() -> Result<()> {
    for scene in Scene::of_each_user()? {
        let victim = scene.victim("victim")?;
        let stayexec = scene.binary().display().to_string();
        let inner = [stayexec.as_str(), "run", "--tier", "full", "--", "bash", "-c", "rm -rf victim; echo status $?"];
        let outcome = scene.readonly(inner)?;
        victim.expect_alive();
        assert!(outcome.code() != 0 || outcome.out() == "status 126\n", "{}", outcome.told());
        let text = format!("{stayexec} run --tier full -- rm -rf victim; echo status $?");
        let outcome = scene.readonly(["bash", "-c", &text])?;
        victim.expect_alive();
        assert!(!outcome.out().contains("status 0"), "{}", outcome.told());
    }
    Ok(())
}

/// Has an agent that was launched for something else run each of `lines`; each must be refused.
fn refused(scene: &Scene, lines: &[String]) -> Result<()> {
    let text = "import subprocess, sys\nfor line in sys.stdin:\n    print('status', subprocess.call(['bash', '-c', line]), flush=True)\n";
    scene.file("agent.py", text)?;
    let run = scene.run().tier("full").origin("unattended").unconfined().command(["/usr/bin/python3", "agent.py"]);
    let outcome = run.input(Input::Text(lines.join("\n").into())).finish()?;
    assert_eq!(outcome.out(), "status 126\n".repeat(lines.len()), "{lines:#?}: {}", outcome.told());
    // Not even a person's own launch opens them.
    for line in lines {
        scene.full(["bash", "-c", line])?.expect_code(126);
    }
    Ok(())
}

#[test]
fn the_judges_files_are_forbidden() -> Result<()> {
    for scene in Scene::of_each_user()? {
        scene.configure("")?;
        scene.full(["true"])?.expect_code(0);
        for folder in ["state/stayexec", "config/stayexec", "run/stayexec"] {
            let path = scene.path(folder).display().to_string();
            refused(&scene, &[format!("touch {path}/planted"), format!("cp /etc/hostname {path}/planted"), format!("rm -f {path}/*")])?;
            assert!(!scene.path(folder).join("planted").exists());
        }
    }
    Ok(())
}

#[test]
fn credential_stores_are_forbidden_in_every_tier() -> Result<()> {
    for scene in Scene::of_each_user()? {
        scene.file("../home/.ssh/id_ed25519", "secret\n")?;
        scene.file("../home/.netrc", "secret\n")?;
        std::os::unix::fs::symlink(scene.path("home/.ssh"), scene.work().join("harmless"))?;
        let ways = [
            "cat ~/.ssh/id_ed25519",
            "cat harmless/id_ed25519",
            "cat ../home/.netrc",
            "cat /proc/self/root$HOME/.netrc",
            "cp ~/.netrc here",
        ];
        refused(&scene, &ways.map(str::to_owned))?;
        // Named where nothing is opened, they are text.
        let outcome = scene.full(["bash", "-c", "echo x >log; grep -c '~/.ssh/id_ed25519' log; echo status $?"])?;
        assert_eq!(outcome.out(), "0\nstatus 1\n", "{}", outcome.told());
    }
    Ok(())
}
