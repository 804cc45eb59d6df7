//! Answers beyond yes and no: for this run, for some minutes, always; and who wins.

use anyhow::{Context, Result};
use stayexec_tests::{Input, Launch, Scene, within};

fn supervised<'s>(scene: &'s Scene, text: &str) -> Launch<'s> {
    scene.run().tier("supervised").unconfined().command(["bash", "-c", text])
}

#[test]
fn identical_questions_are_one() -> Result<()> {
    let scene = Scene::new()?;
    let running = supervised(&scene, "for i in 1 2 3; do mkdir -p same & done; wait; echo status $?").start()?;
    within("three calls behind one question", || {
        let pending = scene.pending().unwrap_or_default();
        matches!(&pending[..], [one] if one.row["count"] == 3)
    })?;
    scene.answer(&scene.asked_once()?, &["approve"])?.expect_code(0);
    running.finish()?.expect_line("status 0");
    assert!(scene.pending()?.is_empty());
    let allowed = scene.history()?.into_iter().filter(|e| e.argv == ["mkdir", "-p", "same"]).count();
    assert_eq!(allowed, 3);
    Ok(())
}

#[test]
fn commands_that_differ_in_a_hidden_secret_are_two_questions() -> Result<()> {
    let scene = Scene::new()?;
    // The secrets come by a stream: no text of a command line holds them but curl's own.
    let text = "while read t; do curl -H \"Authorization: Bearer $t\" http://127.0.0.1:1/ </dev/null & done; wait";
    let running = supervised(&scene, text).input(Input::Text(b"first-secret-4711\nother-secret-4712\n".to_vec())).start()?;
    let questions = scene.asked(2)?;
    for question in &questions {
        let shown = question.row.to_string();
        assert!(!shown.contains("secret-471"), "{shown}");
        scene.answer(question, &["deny"])?.expect_code(0);
    }
    running.finish()?;
    let history = scene.stayexec().words(["history", "--json"]).finish()?;
    assert!(!history.out().contains("secret-471"), "{}", history.told());
    Ok(())
}

#[test]
fn of_two_approvers_one_wins() -> Result<()> {
    let scene = Scene::new()?;
    for round in 0..10 {
        let running = supervised(&scene, &format!("touch made-{round}; echo status $?")).start()?;
        let question = scene.asked_once()?;
        let both = [(), ()].map(|()| scene.stayexec().words(["approve", &question.audit_id]).start());
        let mut codes = Vec::new();
        for one in both {
            codes.push(one?.finish()?.code());
        }
        codes.sort_unstable();
        assert_eq!(codes, [0, 5]);
        running.finish()?.expect_line("status 0");
    }
    Ok(())
}

#[test]
fn for_this_run() -> Result<()> {
    let scene = Scene::new()?;
    let text = "touch a; touch a; touch a; echo status $?";
    let running = supervised(&scene, text).start()?;
    scene.answer(&scene.asked_once()?, &["approve", "--run"])?.expect_code(0);
    running.finish()?.expect_line("status 0");
    within("the approval to end with its run", || {
        scene.stayexec().words(["rules", "list", "--json"]).finish().is_ok_and(|o| o.out().trim() == "[]")
    })?;
    // The next run knows nothing of it.
    let running = supervised(&scene, "touch a; echo status $?").start()?;
    scene.answer(&scene.asked_once()?, &["deny"])?.expect_code(0);
    running.finish()?.expect_line("status 126");
    Ok(())
}

#[test]
fn a_file_of_the_tree_is_remembered_until_it_changes() -> Result<()> {
    let scene = Scene::new()?;
    let kind = std::process::Command::new("stat").args(["-f", "-c", "%T"]).arg(scene.work()).output()?.stdout;
    if kind.starts_with(b"tmpfs") {
        // There no time tells that a file was changed.
        let running = supervised(&scene, "cp /usr/bin/touch tool; ./tool a").start()?;
        scene.answer(&scene.asked_once()?, &["approve"])?.expect_code(0);
        scene.answer(&scene.asked_once()?, &["approve", "--run"])?.expect_code(125);
        scene.answer(&scene.asked_once()?, &["deny"])?.expect_code(0);
        running.finish()?;
        return Ok(());
    }
    let tool = "cp /usr/bin/touch tool; ./tool a; ./tool a; ./tool b; echo >> tool; ./tool a; echo status $?";
    let running = supervised(&scene, tool).start()?;
    for (command, verb) in [
        ("cp /usr/bin/touch tool", &["approve"][..]),
        ("./tool a", &["approve", "--run"]),
        ("./tool b", &["approve"]),
        ("./tool a", &["deny"]),
    ] {
        let question = scene.asked_once()?;
        assert_eq!(question.row["command"], command);
        scene.answer(&question, verb)?.expect_code(0);
    }
    running.finish()?.expect_line("status 126");
    Ok(())
}

#[test]
fn a_script_behind_a_wrapper_is_remembered_with_its_content() -> Result<()> {
    let scene = Scene::new()?;
    let script = scene.file("s.py", "open('made', 'w')\n")?;
    let ask = "timeout 9 python3 s.py; echo status $?";
    let running = supervised(&scene, ask).start()?;
    scene.answer(&scene.asked_once()?, &["approve", "--always"])?.expect_code(0);
    // What the wrapper starts is another start: an interpreter's script gives no grant.
    scene.answer(&scene.asked_once()?, &["approve", "--always"])?.expect_code(0);
    running.finish()?.expect_line("status 0");
    supervised(&scene, ask).finish()?.expect_line("status 0");
    std::fs::write(script, "open('evil', 'w')\n")?;
    let running = supervised(&scene, ask).start()?;
    scene.answer(&scene.asked_once()?, &["deny"])?.expect_code(0);
    running.finish()?.expect_line("status 126");
    scene.mark("evil").expect_none();
    Ok(())
}

#[test]
fn an_interpreter_is_remembered_with_its_text() -> Result<()> {
    let scene = Scene::new()?;
    let text = "python3 -c 'open(\"a\", \"w\")'; python3 -c 'open(\"a\", \"w\")'; python3 -c 'open(\"b\", \"w\")'; echo status $?";
    let running = supervised(&scene, text).start()?;
    scene.answer(&scene.asked_once()?, &["approve", "--for", "5m"])?.expect_code(0);
    let other = scene.asked_once()?;
    assert!(other.row["command"].as_str().is_some_and(|command| command.contains("\"b\"")), "{}", other.row);
    scene.answer(&other, &["deny"])?.expect_code(0);
    running.finish()?.expect_line("status 126");
    scene.mark("a").expect_made();
    Ok(())
}

#[test]
fn for_some_minutes() -> Result<()> {
    let scene = Scene::new()?;
    let running = supervised(&scene, "touch a; touch a; echo status $?").start()?;
    scene.answer(&scene.asked_once()?, &["approve", "--for", "10m"])?.expect_code(0);
    running.finish()?.expect_line("status 0");
    Ok(())
}

#[test]
fn always_is_remembered_in_the_workspace_and_can_be_taken_back() -> Result<()> {
    let scene = Scene::new()?;
    let running = supervised(&scene, "mkdir -p one; echo status $?").start()?;
    let question = scene.asked_once()?;
    assert!(question.row["always_rule"].is_string(), "{}", question.row);
    scene.answer(&question, &["approve", "--always"])?.expect_code(0);
    running.finish()?.expect_line("status 0");
    supervised(&scene, "mkdir -p one; echo status $?").finish()?.expect_line("status 0");
    let rules = scene.stayexec().words(["rules", "list", "--json"]).finish()?;
    let rules: serde_json::Value = serde_json::from_slice(&rules.expect_code(0).stdout)?;
    let [rule] = &rules.as_array().cloned().unwrap_or_default()[..] else { panic!("{rules}") };
    let id = rule["id"].as_str().map_or_else(|| rule["id"].to_string(), str::to_owned);
    scene.stayexec().words(["rules", "remove", &id]).finish()?.expect_code(0);
    let running = supervised(&scene, "mkdir -p one; echo status $?").start()?;
    scene.answer(&scene.asked_once()?, &["deny"])?.expect_code(0);
    running.finish()?.expect_line("status 126");
    Ok(())
}

#[test]
fn a_shell_alone_is_never_remembered() -> Result<()> {
    let scene = Scene::new()?;
    let text = "import subprocess\nsubprocess.run(['bash'], input='true\\n', text=True)\n";
    scene.file("agent.py", text)?;
    let running = scene.run().tier("supervised").unconfined().command(["/usr/bin/python3", "agent.py"]).start()?;
    let question = scene.asked_once()?;
    assert!(question.row["always_rule"].is_null(), "{}", question.row);
    assert_ne!(scene.answer(&question, &["approve", "--always"])?.code(), 0);
    scene.answer(&question, &["deny"])?.expect_code(0);
    running.finish()?;
    Ok(())
}

#[test]
fn later_keeps_the_question() -> Result<()> {
    let scene = Scene::new()?;
    let running = supervised(&scene, "touch a; echo status $?").start()?;
    let question = scene.asked_once()?;
    scene.answer(&question, &["later"])?.expect_code(0);
    let put_off = scene.asked_once()?;
    assert_eq!(put_off.audit_id, question.audit_id);
    let by = put_off.row["later"].as_str().unwrap_or_default();
    assert!(by.contains("cli"), "who, and through which face: {}", put_off.row);
    scene.mark("a").expect_none();
    scene.answer(&question, &["approve"])?.expect_code(0);
    running.finish()?.expect_line("status 0");
    Ok(())
}

#[test]
fn stop_ends_a_run() -> Result<()> {
    let scene = Scene::new()?;
    let running = supervised(&scene, "touch a; echo status $?").start()?;
    let question = scene.asked_once()?;
    let run = question.row["run"].as_str().unwrap_or_default().to_owned();
    scene.stayexec().words(["stop", &run]).finish()?.expect_code(0);
    assert_ne!(running.finish()?.code(), 0);
    scene.mark("a").expect_none();
    Ok(())
}

#[test]
fn stop_ends_what_does_not_listen() -> Result<()> {
    let scene = Scene::new()?;
    let text = "trap '' TERM HUP; (setsid sleep 1003 &); touch a; while :; do sleep 1004; done";
    let running = supervised(&scene, text).start()?;
    let question = scene.asked_once()?;
    within("the one that left", || scene.processes().iter().any(|process| process.line == "sleep 1003"))?;
    let run = question.row["run"].as_str().unwrap_or_default().to_owned();
    scene.stayexec().words(["stop", &run]).finish()?.expect_code(0);
    assert_eq!(running.finish()?.code(), 128 + 9);
    within("everything to end", || !scene.processes().iter().any(|process| process.line.starts_with("sleep 100")))?;
    Ok(())
}

#[test]
fn a_waiting_line_tells_the_agent() -> Result<()> {
    let scene = Scene::new()?;
    let running = supervised(&scene, "touch a; echo status $?").start()?;
    let question = scene.asked_once()?;
    within("the waiting line", || running.err().ends_with('\n'))?;
    assert_eq!(running.err().lines().count(), 1, "{}", running.err());
    // The line holds the command that answers it.
    let line = running.err();
    let (words, _) =
        line.strip_prefix("stayexec: waiting for an answer (stayexec ").and_then(|rest| rest.split_once(')')).context(line.clone())?;
    let (verb, id) = words.split_once(' ').context(line.clone())?;
    assert!(verb == "approve" && question.audit_id.ends_with(id) && line.contains("touch a"), "{line}");
    scene.stayexec().words([verb, id]).finish()?.expect_code(0);
    running.finish()?.expect_line("status 0");
    Ok(())
}
