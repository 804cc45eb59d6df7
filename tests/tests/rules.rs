//! Configured rules and programs, origins, and what the caller declares: they raise, and say which entry decided.

use anyhow::Result;
use stayexec_tests::{Launch, Scene};

fn touching<'s>(run: Launch<'s>) -> Launch<'s> {
    run.unconfined().command(["bash", "-c", "touch a; echo status $?"])
}

const RULE: &str = "[[rule]]\nmatch = [\"touch\", \"a\"]\ndecision = \"DECISION\"\nmessage = \"make it elsewhere\"\nexamples = [\"touch a\"]\ncounter_examples = [\"touch b\"]\n";

#[test]
fn a_rule_blocks_in_every_tier_and_says_its_message() -> Result<()> {
    let scene = Scene::new()?;
    scene.configure(&RULE.replace("DECISION", "block"))?;
    let outcome = touching(scene.run().tier("full").origin("unattended")).finish()?;
    outcome.expect_line("status 126");
    let [line] = &outcome.denials()[..] else { panic!("{}", outcome.told()) };
    assert!(line.contains("make it elsewhere"), "{line}");
    scene.mark("a").expect_none();
    assert!(scene.history()?.iter().any(|e| e.reason == "rule"));
    Ok(())
}

#[test]
fn a_rule_prompts_where_the_tier_allows() -> Result<()> {
    let scene = Scene::new()?;
    scene.configure(&RULE.replace("DECISION", "prompt"))?;
    let running = touching(scene.run().tier("full")).start()?;
    scene.answer(&scene.asked_once()?, &["approve"])?.expect_code(0);
    running.finish()?.expect_line("status 0");
    Ok(())
}

#[test]
fn a_rule_allows_what_the_tier_would_ask_about() -> Result<()> {
    let scene = Scene::new()?;
    scene.configure(&RULE.replace("DECISION", "allow"))?;
    touching(scene.run().tier("supervised")).finish()?.expect_line("status 0");
    scene.mark("a").expect_made();
    // The matrix' block is not lifted.
    std::fs::remove_file(scene.work().join("a"))?;
    touching(scene.run().tier("readonly").origin("unattended")).finish()?.expect_line("status 126");
    scene.mark("a").expect_none();
    Ok(())
}

#[test]
fn a_rule_whose_example_fails_is_an_error_with_its_line() -> Result<()> {
    let scene = Scene::new()?;
    scene.configure(&RULE.replace("DECISION", "block").replace("[\"touch b\"]", "[\"touch a\"]"))?;
    let outcome = touching(scene.run().tier("full")).finish()?;
    assert_ne!(outcome.code(), 0, "{}", outcome.told());
    let line = outcome.expect_one_line();
    assert!(line.contains("config.toml:"), "{line}");
    scene.mark("a").expect_none();
    Ok(())
}

#[test]
fn a_background_run_approves_what_is_not_flagged() -> Result<()> {
    let scene = Scene::new()?;
    touching(scene.run().tier("supervised").origin("background")).finish()?.expect_line("status 0");
    assert!(scene.history()?.iter().any(|e| e.argv == ["touch", "a"] && e.reason == "background"));
    scene.configure("[program.touch]\nrequire_approval_for_medium_risk = true\n")?;
    let running = touching(scene.run().tier("supervised").origin("background")).start()?;
    scene.answer(&scene.asked_once()?, &["deny"])?.expect_code(0);
    running.finish()?.expect_line("status 126");
    Ok(())
}

#[test]
fn ci_in_the_environment_changes_nothing() -> Result<()> {
    let scene = Scene::new()?;
    let running = touching(scene.run().tier("supervised")).env("CI", "true").start()?;
    scene.answer(&scene.asked_once()?, &["approve"])?.expect_code(0);
    running.finish()?.expect_line("status 0");
    Ok(())
}

#[test]
fn observing_records_and_refuses_nothing() -> Result<()> {
    let scene = Scene::new()?;
    let outcome = touching(scene.run().tier("readonly").words(["--observe"])).finish()?;
    outcome.expect_line("status 0");
    scene.mark("a").expect_made();
    assert!(scene.history()?.iter().any(|e| e.argv == ["touch", "a"] && e.reason == "observed"));
    Ok(())
}

#[test]
fn a_run_can_fail_for_a_denial() -> Result<()> {
    let scene = Scene::new()?;
    let gated = |text: &'static str| {
        scene.run().tier("readonly").origin("unattended").words(["--fail-on-denied"]).command(["bash", "-c", text]).finish()
    };
    assert_ne!(gated("touch a; true")?.code(), 0);
    gated("ls / >/dev/null")?.expect_code(0);
    Ok(())
}

#[test]
fn the_gate_can_be_switched_off_by_its_user_and_not_by_the_tree() -> Result<()> {
    let scene = Scene::new()?;
    let outcome = touching(scene.run().tier("supervised").origin("unattended")).env("STAYEXEC_APPROVAL_GATE", "0").finish()?;
    outcome.expect_line("status 0");
    assert!(outcome.err().starts_with("stayexec: "), "{}", outcome.told());
    assert!(scene.history()?.iter().any(|e| e.argv == ["touch", "a"] && e.reason == "gate-off"));
    // Blocks stay.
    let outcome = touching(scene.run().tier("readonly").origin("unattended")).env("STAYEXEC_APPROVAL_GATE", "0").finish()?;
    outcome.expect_line("status 126");
    let text = "export STAYEXEC_APPROVAL_GATE=0 OPENHUMAN_APPROVAL_GATE=0; touch b; echo status $?";
    let run = scene.run().tier("supervised").origin("unattended").unconfined().command(["bash", "-c", text]).finish()?;
    run.expect_line("status 126");
    scene.mark("b").expect_none();
    Ok(())
}

#[test]
fn a_declared_class_raises() -> Result<()> {
    let scene = Scene::new()?;
    let check = |words: &[&str]| scene.stayexec().words(["check"]).words(words).finish();
    check(&["ls"])?.expect_code(0);
    check(&["--declare", "destructive", "ls"])?.expect_code(3);
    check(&["--declare", "read", "rm -rf /tmp/x"])?.expect_code(3);
    Ok(())
}

#[test]
fn a_class_declared_in_the_environment_raises() -> Result<()> {
    let scene = Scene::new()?;
    let text = "STAYEXEC_DECLARED_CLASS=destructive ls / >/dev/null; echo status $?";
    let outcome = scene.run().tier("full").origin("unattended").unconfined().command(["bash", "-c", text]).finish()?;
    outcome.expect_line("status 126");
    Ok(())
}
