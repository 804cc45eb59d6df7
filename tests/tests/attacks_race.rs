//! Races against the judgement: the arguments change while it is under way, or several threads exec at once.

use anyhow::Result;
use stayexec_tests::{Outcome, Scene, rounds};
use std::os::unix::fs::symlink;

/// `g` is harmless, `e` leaves a mark; OUT is sorted in place by `sort -o`, to nothing.
fn prepare(scene: &Scene) -> Result<String> {
    symlink("/usr/bin/true", scene.work().join("g"))?;
    symlink(scene.fixture("mark")?, scene.work().join("e"))?;
    for (folder, program) in [("a", "/usr/bin/true".to_owned()), ("b", scene.fixture("mark")?)] {
        scene.file(&format!("{folder}/made"), "")?;
        symlink(program, scene.work().join(folder).join("p"))?;
    }
    scene.file("OUT", "kept\n")?;
    scene.fixture("flip")
}

#[track_caller]
fn expect_untouched(scene: &Scene, outcome: &Outcome) {
    assert_eq!(std::fs::read_to_string(scene.work().join("OUT")).unwrap_or_default(), "kept\n", "sort -o ran: {}", outcome.told());
    assert!(!scene.work().join("marker").exists(), "the forbidden program ran: {}", outcome.told());
}

fn race(actor: &str) -> Result<()> {
    for scene in Scene::of_each_user()? {
        let flip = prepare(&scene)?;
        let count = rounds(100, 1000);
        let run = scene.run().tier("readonly").origin("unattended").unconfined().limit(300);
        let outcome = run.command([flip.as_str(), actor, &count.to_string()]).finish()?;
        expect_untouched(&scene, &outcome);
        outcome.expect_code(0);
        let [allowed, refused, killed, other] = ["allowed", "refused", "killed", "other"].map(|word| outcome.number(word));
        println!("{actor}: allowed {allowed} refused {refused} killed {killed}");
        assert_eq!(allowed + refused + killed + other, i64::from(count));
        assert!(allowed > 0 && refused + killed > 0, "no race took place: {}", outcome.told());
        assert_eq!(other, 0, "{}", outcome.told());
        // The same race without a gate is one that the forbidden program wins.
        let ungated = scene.ungated([flip.as_str(), actor, "100"])?;
        let sorted = std::fs::read_to_string(scene.work().join("OUT"))?.is_empty();
        assert!(sorted || scene.work().join("marker").exists(), "{}", ungated.told());
    }
    Ok(())
}

#[test]
fn a_sibling_thread_flips_the_path() -> Result<()> {
    race("path")
}

#[test]
fn another_process_flips_the_path_in_shared_memory() -> Result<()> {
    race("shared")
}

#[test]
fn a_thread_that_is_not_the_leader_execs_and_the_leader_flips() -> Result<()> {
    race("other")
}

#[test]
fn a_sibling_thread_flips_an_argument() -> Result<()> {
    race("word")
}

#[test]
fn a_process_that_shares_the_working_directory_changes_it() -> Result<()> {
    race("cwd")
}

#[test]
fn eight_threads_that_exec_at_once() -> Result<()> {
    for scene in Scene::of_each_user()? {
        let made = scene.mark("made");
        let (crowd, mark) = (scene.fixture("crowd")?, scene.fixture("mark")?);
        let count = rounds(100, 1000);
        let run = scene.run().tier("readonly").origin("unattended").unconfined().limit(600);
        let outcome = run.command([crowd.as_str(), &count.to_string(), "8", "/usr/bin/true", &mark, made.text()]).finish()?;
        made.expect_none();
        outcome.expect_code(0);
        let [allowed, refused] = ["allowed", "refused"].map(|word| outcome.number(word));
        assert_eq!((allowed + refused, outcome.number("other")), (i64::from(count), 0), "{}", outcome.told());
        assert!(allowed > 0, "{}", outcome.told());
    }
    Ok(())
}

#[test]
fn eight_threads_that_exec_refused_programs_at_once() -> Result<()> {
    let scene = Scene::new()?;
    let made = scene.mark("made");
    let (crowd, mark) = (scene.fixture("crowd")?, scene.fixture("mark")?);
    let count = rounds(30, 1000);
    let run = scene.run().tier("readonly").origin("unattended").unconfined().limit(600);
    let outcome = run.command([crowd.as_str(), &count.to_string(), "8", &mark, &mark, made.text()]).finish()?;
    made.expect_none();
    assert_eq!(outcome.number("refused"), i64::from(count), "{}", outcome.told());
    Ok(())
}
