//! The supervised tier: a question is asked, a person answers, the image runs or ends.

use anyhow::Result;
use stayexec_tests::{Input, Launch, Scene};

/// A supervised run of a shell text.
fn supervised<'s>(scene: &'s Scene, text: &str) -> Launch<'s> {
    scene.run().tier("supervised").unconfined().command(["bash", "-c", text])
}

#[test]
fn a_question_has_its_names() -> Result<()> {
    for scene in Scene::of_each_user()? {
        let running = supervised(&scene, "touch a; echo status $?").start()?;
        let question = scene.asked_once()?;
        assert_eq!((question.command.as_str(), question.class.as_str()), ("touch a", "write"), "{}", question.row);
        assert_eq!(question.argv, ["touch", "a"]);
        for name in ["audit_id", "run", "agent", "command", "argv", "cwd", "file", "class", "reasons", "origin", "created", "deadline"] {
            assert!(question.row.get(name).is_some_and(|v| !v.is_null()), "{name}: {}", question.row);
        }
        assert!(question.row.get("always_rule").is_some(), "{}", question.row);
        assert_eq!(question.row["cwd"], scene.work().to_str().unwrap_or_default());
        scene.answer(&question, &["approve"])?.expect_code(0);
        running.finish()?.expect_code(0).expect_line("status 0");
        assert!(scene.pending()?.is_empty());
    }
    Ok(())
}

#[test]
fn an_approval_lets_exactly_one_run() -> Result<()> {
    for scene in Scene::of_each_user()? {
        let (a, b) = (scene.mark("a"), scene.mark("b"));
        let running = supervised(&scene, "touch a; echo first $?; touch b; echo second $?").start()?;
        let first = scene.asked_once()?;
        a.expect_none();
        scene.answer(&first, &["approve"])?.expect_code(0);
        running.says("first 0")?;
        a.expect_made();
        let second = scene.asked_once()?;
        assert_eq!(second.command, "touch b");
        assert_ne!(second.audit_id, first.audit_id);
        b.expect_none();
        scene.answer(&second, &["deny"])?.expect_code(0);
        running.finish()?.expect_code(0).expect_line("second 126");
        b.expect_none();
    }
    Ok(())
}

#[test]
fn a_denial_carries_its_note() -> Result<()> {
    for scene in Scene::of_each_user()? {
        let running = supervised(&scene, "touch a; echo status $?").start()?;
        let question = scene.asked_once()?;
        scene.answer(&question, &["deny", "--note", "use the build folder"])?.expect_code(0);
        let outcome = running.finish()?;
        outcome.expect_line("status 126");
        let [line] = &outcome.denials()[..] else { panic!("{}", outcome.told()) };
        assert_eq!(line, "stayexec: denied (write): touch a: use the build folder");
        scene.mark("a").expect_none();
    }
    Ok(())
}

#[test]
fn at_the_deadline_it_is_denied_as_expired() -> Result<()> {
    for scene in Scene::of_each_user()? {
        let run = scene.run().tier("supervised").unconfined().words(["--deadline", "1s"]);
        let running = run.command(["bash", "-c", "touch a; echo status $?"]).start()?;
        let question = scene.asked_once()?;
        let outcome = running.finish()?;
        outcome.expect_line("status 126");
        assert_eq!(outcome.denials().len(), 1, "{}", outcome.told());
        assert!(outcome.took.as_secs_f64() < 10.0, "{}", outcome.told());
        scene.mark("a").expect_none();
        scene.answer(&question, &["approve"])?.expect_code(6).expect_one_line();
        let history = scene.history()?;
        assert!(history.iter().any(|e| e.argv == ["touch", "a"] && e.decision == "deny" && e.reason == "expired"), "{history:#?}");
    }
    Ok(())
}

#[test]
fn an_answer_counts_once() -> Result<()> {
    let scene = Scene::new()?;
    let running = supervised(&scene, "touch a; echo status $?").start()?;
    let question = scene.asked_once()?;
    scene.answer(&question, &["approve"])?.expect_code(0);
    running.finish()?.expect_line("status 0");
    scene.answer(&question, &["approve"])?.expect_code(5).expect_one_line();
    scene.answer(&question, &["deny"])?.expect_code(5).expect_one_line();
    Ok(())
}

#[test]
fn an_id_may_be_cut_to_its_end() -> Result<()> {
    let scene = Scene::new()?;
    let running = supervised(&scene, "touch a; echo status $?").start()?;
    let mut question = scene.asked_once()?;
    question.audit_id = question.audit_id.split_off(question.audit_id.len() - 8);
    scene.answer(&question, &["approve"])?.expect_code(0);
    running.finish()?.expect_line("status 0");
    Ok(())
}

#[test]
fn what_observes_is_not_asked_about() -> Result<()> {
    let scene = Scene::new()?;
    let outcome = supervised(&scene, "ls / | grep -c . >/dev/null; cat /etc/hostname >/dev/null; pwd").finish()?;
    outcome.expect_code(0).expect_quiet();
    Ok(())
}

#[test]
fn nobody_to_ask_means_no() -> Result<()> {
    for scene in Scene::of_each_user()? {
        let run = scene.run().tier("supervised").origin("unattended").unconfined();
        let outcome = run.command(["bash", "-c", "touch a; echo status $?"]).finish()?;
        outcome.expect_line("status 126");
        assert!(outcome.took.as_secs() < 30);
        scene.mark("a").expect_none();
        let history = scene.history()?;
        assert!(history.iter().any(|e| e.argv == ["touch", "a"] && e.reason == "unattended"), "{history:#?}");
    }
    Ok(())
}

#[test]
fn several_questions_are_open_at_once_and_answered_in_any_order() -> Result<()> {
    let scene = Scene::new()?;
    let running = supervised(&scene, "for i in 1 2 3 4 5; do touch made-$i & done; wait; ls made-*").start()?;
    let questions = scene.asked(5)?;
    for question in questions.iter().rev() {
        let verb = if question.command.ends_with('3') { "deny" } else { "approve" };
        scene.answer(question, &[verb])?.expect_code(0);
    }
    let outcome = running.finish()?;
    let made: Vec<_> = outcome.out().lines().map(str::to_owned).collect();
    assert_eq!(made, ["made-1", "made-2", "made-4", "made-5"], "{}", outcome.told());
    Ok(())
}

#[test]
fn a_held_image_keeps_its_streams_and_its_input() -> Result<()> {
    let scene = Scene::new()?;
    let run = scene.run().tier("supervised").unconfined().command(["bash", "-c", "tee copy | tr a-z A-Z"]);
    let running = run.input(Input::Text(b"kept while it was held\n".to_vec())).start()?;
    let question = scene.asked_once()?;
    assert_eq!(question.command, "tee copy");
    scene.answer(&question, &["approve"])?.expect_code(0);
    assert_eq!(running.finish()?.out(), "KEPT WHILE IT WAS HELD\n");
    assert_eq!(std::fs::read_to_string(scene.work().join("copy"))?, "kept while it was held\n");
    Ok(())
}

#[test]
fn a_held_image_whose_arguments_a_peer_rewrites_does_not_run() -> Result<()> {
    for scene in Scene::of_each_user()? {
        let (rewrite, mark) = (scene.fixture("rewrite")?, scene.fixture("mark")?);
        let run = scene.run().tier("supervised").unconfined();
        let running = run.command([rewrite.as_str(), "harmless", "EVIL----", &mark, "harmless"]).start()?;
        running.says("rewritten 1")?;
        let question = scene.asked_once()?;
        scene.answer(&question, &["approve"])?;
        let outcome = running.finish()?;
        assert_ne!(outcome.number("status"), 0, "{}", outcome.told());
        scene.mark("EVIL----").expect_none();
        scene.mark("harmless").expect_none();
        let history = scene.history()?;
        assert!(history.iter().any(|e| e.decision == "deny" && e.reason == "changed"), "{history:#?}");
    }
    Ok(())
}
