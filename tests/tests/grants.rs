//! What an approval covers: the text that was shown, and no more.

use anyhow::Result;
use stayexec_tests::{Input, Launch, Question, Scene, until};
use std::io::Write;
use std::time::Duration;

/// An agent that runs each of its arguments by `sh -c`, prints the statuses, and reads no text of its own.
const AGENT: &str =
    "import subprocess, sys\nfor text in sys.argv[1:]:\n    print('status', subprocess.call(['sh', '-c', text]), flush=True)\n";

fn agent<'s>(scene: &'s Scene, texts: &[&str]) -> Result<Launch<'s>> {
    scene.file("agent.py", AGENT)?;
    Ok(scene.run().tier("supervised").unconfined().command(["/usr/bin/python3", "agent.py"]).words(texts))
}

fn asked_after(scene: &Scene, first: &Question) -> Result<Question> {
    until("the next question", Duration::from_secs(20), || scene.pending().ok()?.into_iter().find(|q| q.audit_id != first.audit_id))
}

#[test]
fn one_approval_covers_what_the_text_starts() -> Result<()> {
    for scene in Scene::of_each_user()? {
        let running = agent(&scene, &["touch a; mkdir b; touch b/c"])?.start()?;
        let question = scene.asked_once()?;
        assert!(question.command.contains("touch a; mkdir b; touch b/c"), "{}", question.row);
        scene.answer(&question, &["approve"])?.expect_code(0);
        let outcome = running.finish()?;
        outcome.expect_line("status 0");
        scene.mark("b/c").expect_made();
        let covered = scene.history()?.into_iter().filter(|e| e.reason == "grant").count();
        assert_eq!(covered, 3);
    }
    Ok(())
}

#[test]
fn it_covers_nothing_above_its_class() -> Result<()> {
    for scene in Scene::of_each_user()? {
        let victim = scene.victim("victim")?;
        let inner = "#!/usr/bin/env python3\nimport subprocess\nsubprocess.call(['touch', 'a'])\nprint('inner', subprocess.call(['rm', '-rf', 'victim']), flush=True)\n";
        scene.program("inner", inner)?;
        let running = agent(&scene, &["touch before; ./inner"])?.start()?;
        let first = scene.asked_once()?;
        assert_eq!(first.class, "write", "{}", first.row);
        scene.answer(&first, &["approve"])?.expect_code(0);
        let second = asked_after(&scene, &first)?;
        assert_eq!((second.argv.join(" ").as_str(), second.class.as_str()), ("rm -rf victim", "destructive"), "{}", second.row);
        scene.mark("a").expect_made();
        scene.answer(&second, &["deny"])?.expect_code(0);
        running.finish()?.expect_line("inner 126");
        victim.expect_alive();
    }
    Ok(())
}

#[test]
fn a_script_of_an_approved_text_that_was_changed_while_it_was_asked_is_asked_again() -> Result<()> {
    for scene in Scene::of_each_user()? {
        scene.program("deploy.sh", "#!/bin/sh\ntouch shown\n")?;
        let running = agent(&scene, &["./deploy.sh", "sh deploy.sh"])?.start()?;
        let first = scene.asked_once()?;
        let changed = scene.program("deploy.sh", "#!/bin/sh\ntouch other\n")?;
        // A change in the very tick of the answer looks like the approved command's own.
        let changed = std::fs::metadata(changed)?.modified()?;
        until("the next tick", Duration::from_secs(5), || changed.elapsed().ok().filter(|age| *age > Duration::from_millis(30)))?;
        scene.answer(&first, &["approve"])?.expect_code(0);
        let second = asked_after(&scene, &first)?;
        assert!(second.argv.iter().any(|word| word.ends_with("deploy.sh")), "{}", second.row);
        scene.mark("other").expect_none();
        scene.answer(&second, &["deny"])?.expect_code(0);
        // What was not touched in between is covered.
        let third = until("the next question", Duration::from_secs(20), || {
            scene.pending().ok()?.into_iter().find(|q| q.audit_id != second.audit_id)
        })?;
        scene.answer(&third, &["approve"])?.expect_code(0);
        let outcome = running.finish()?;
        assert_eq!(outcome.out().lines().collect::<Vec<_>>(), ["status 126", "status 0"], "{}", outcome.told());
        scene.mark("other").expect_made();
        scene.mark("shown").expect_none();
    }
    Ok(())
}

/// Forks a child, becomes the text that is asked about, and has the child start a program afterwards.
const ELDER: &str = r#"
import os, sys
go, gone, stay, over = *os.pipe(), *os.pipe()
approved = os.fork()
if approved == 0:
    if os.fork() == 0:
        os.read(go, 1)
        os.execv('/usr/bin/touch', ['touch', 'late'])
    os.close(over)
    os.dup2(stay, 0)
    os.execv('/bin/bash', ['bash', '-c', 'touch ok; echo ready; read line; true'])
os.close(stay)
sys.stdin.readline()
os.write(gone, b'x')
sys.stdin.readline()
os.close(over)
os.waitpid(approved, 0)
print('over', flush=True)
"#;

#[test]
fn a_child_from_before_the_approved_image_is_asked_about() -> Result<()> {
    for scene in Scene::of_each_user()? {
        scene.file("agent.py", ELDER)?;
        let run = scene.run().tier("supervised").unconfined().command(["/usr/bin/python3", "agent.py"]).input(Input::Open);
        let mut running = run.start()?;
        let first = scene.asked_once()?;
        assert!(first.command.contains("touch ok"), "{}", first.row);
        scene.answer(&first, &["approve"])?.expect_code(0);
        running.says("ready")?;
        scene.mark("ok").expect_made();
        running.press()?;
        let second = asked_after(&scene, &first)?;
        assert_eq!(second.argv, ["touch", "late"], "{}", second.row);
        scene.answer(&second, &["deny"])?.expect_code(0);
        running.press()?;
        running.finish()?.expect_line("over");
        scene.mark("late").expect_none();
    }
    Ok(())
}

#[test]
fn it_ends_when_the_process_becomes_what_was_judged_before() -> Result<()> {
    // What is started twice is allowed by the tier, without a person: the second verdict could be the first again.
    let step = "/usr/bin/python3 -c \"import os; os.system('curl -s 127.0.0.1')\"";
    let texts = ["eval \"exec $X\"", "curl -s 127.0.0.1; eval \"exec $X\""];
    for scene in Scene::of_each_user()? {
        scene.file("agent.py", AGENT)?;
        let run = scene.run().tier("full").unconfined().env("X", step).command(["/usr/bin/python3", "agent.py"]).words(texts);
        let running = run.start()?;
        let warm = scene.asked_once()?;
        assert!(warm.command.contains("curl") && !warm.command.contains("eval"), "{}", warm.row);
        scene.answer(&warm, &["deny"])?.expect_code(0);
        let text = asked_after(&scene, &warm)?;
        assert!(text.command.contains("eval"), "{}", text.row);
        scene.answer(&text, &["approve"])?.expect_code(0);
        let after = asked_after(&scene, &text)?;
        assert!(after.command.contains("curl") && !after.command.contains("eval"), "{}", after.row);
        scene.answer(&after, &["deny"])?.expect_code(0);
        running.finish()?;
    }
    Ok(())
}

#[test]
fn it_ends_with_the_text() -> Result<()> {
    let scene = Scene::new()?;
    let running = agent(&scene, &["touch a; touch b", "touch c; touch d"])?.start()?;
    let first = scene.asked_once()?;
    scene.answer(&first, &["approve"])?.expect_code(0);
    let second = asked_after(&scene, &first)?;
    assert!(second.command.contains("touch c"), "{}", second.row);
    scene.mark("b").expect_made();
    scene.answer(&second, &["deny"])?.expect_code(0);
    running.finish()?.expect_line("status 126");
    scene.mark("c").expect_none();
    Ok(())
}

#[test]
fn a_daemon_that_left_its_parent_is_asked_anew() -> Result<()> {
    let scene = Scene::new()?;
    let daemon = scene.fixture("daemon")?;
    let fifo = scene.work().join("fifo");
    scene.ungated(["mkfifo".as_ref(), fifo.as_os_str()])?.expect_code(0);
    scene.file(
        "agent.py",
        "import subprocess, sys\nprint('status', subprocess.call(['sh', '-c', sys.argv[1]]), flush=True)\nsys.stdin.read()\n",
    )?;
    let text = format!("{daemon} fifo /usr/bin/touch late");
    let run = scene.run().tier("supervised").unconfined().command(["/usr/bin/python3", "agent.py", &text]).input(Input::Open);
    let running = run.start()?;
    let first = scene.asked_once()?;
    scene.answer(&first, &["approve"])?.expect_code(0);
    // The text may be asked about once more where the daemon's own start is not covered by it.
    running.says("status 0")?;
    std::fs::OpenOptions::new().write(true).open(&fifo)?.write_all(b"x")?;
    let second = asked_after(&scene, &first)?;
    assert_eq!(second.argv.last().map(String::as_str), Some("late"), "{}", second.row);
    scene.mark("late").expect_none();
    assert!(!second.row["ancestry"].to_string().contains("stayexec"), "nobody outside the tree: {}", second.row);
    scene.answer(&second, &["deny"])?.expect_code(0);
    running.finish()?;
    scene.mark("late").expect_none();
    Ok(())
}

#[test]
fn a_shell_that_reads_its_text_from_a_stream_gets_none() -> Result<()> {
    let scene = Scene::new()?;
    let text = "import subprocess\nprint('status', subprocess.run(['bash'], input='touch a\\n', text=True).returncode, flush=True)\n";
    scene.file("agent.py", text)?;
    let running = scene.run().tier("supervised").unconfined().command(["/usr/bin/python3", "agent.py"]).start()?;
    let first = scene.asked_once()?;
    assert_eq!(first.argv, ["bash"], "{}", first.row);
    scene.answer(&first, &["approve"])?.expect_code(0);
    let second = asked_after(&scene, &first)?;
    assert_eq!(second.argv, ["touch", "a"], "{}", second.row);
    scene.mark("a").expect_none();
    scene.answer(&second, &["approve"])?.expect_code(0);
    running.finish()?.expect_line("status 0");
    scene.mark("a").expect_made();
    Ok(())
}

#[test]
fn what_the_approved_process_becomes_is_covered_only_where_the_text_names_it() -> Result<()> {
    let scene = Scene::new()?;
    let running = agent(&scene, &["exec touch named"])?.start()?;
    let first = scene.asked_once()?;
    scene.answer(&first, &["approve"])?.expect_code(0);
    running.finish()?.expect_line("status 0");
    scene.mark("named").expect_made();
    Ok(())
}

#[test]
fn a_process_covers_nothing_that_it_may_not_have_made() -> Result<()> {
    for way in ["made-by-a-child", "taken-up"] {
        let scene = Scene::new()?;
        scene.file("sibling.py", include_str!("../fixtures/sibling.py"))?;
        let running = agent(&scene, &[&format!("/usr/bin/python3 sibling.py {way}; true")])?.start()?;
        scene.answer(&scene.asked_once()?, &["approve"])?.expect_code(0);
        // The child that may not be its maker's is asked about: the first of its kind was not.
        running.says("covered 0")?;
        let nephew = scene.asked_once()?;
        assert_eq!(nephew.argv, ["touch", "nephew"], "{way}");
        scene.mark("nephew").expect_none();
        scene.answer(&nephew, &["deny"])?.expect_code(0);
        running.finish()?.expect_line("nephew 126").expect_line("status 0");
        scene.mark("covered").expect_made();
    }
    Ok(())
}
