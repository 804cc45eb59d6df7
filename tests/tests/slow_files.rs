//! File systems that the tree serves itself, and does not answer for: its own calls wait, nobody else's, and not for ever.

use anyhow::Result;
use stayexec_tests::{Launch, Scene, cannot_run};
use std::time::Duration;

/// Mounts end with the namespace that everything of the run is in.
const PRIVATE: [&str; 2] = ["unshare", "-m"];
const EPERM: i64 = 1;

/// A root's scene with an empty folder to mount on, where there can be one.
fn scene(device: &str) -> Result<Option<Scene>> {
    let scene = Scene::new()?;
    if !scene.is_root() || !std::path::Path::new(device).exists() {
        cannot_run(&format!("only root can serve a file system, with {device}"));
        return Ok(None);
    }
    std::fs::create_dir(scene.work().join("mounted"))?;
    Ok(Some(scene))
}

fn served<'s>(scene: &'s Scene, tier: &str, words: &[&str]) -> Result<Launch<'s>> {
    let (slowfs, mark) = (scene.fixture("slowfs")?, scene.fixture("mark")?);
    let run = scene.run().tier(tier).origin("unattended").unconfined().inside(PRIVATE);
    Ok(run.command([&[slowfs.as_str(), "mounted", &mark], words].concat()))
}

#[test]
fn a_program_that_is_served_whole_is_judged_as_any_other() -> Result<()> {
    let Some(scene) = scene("/dev/fuse")? else { return Ok(()) };
    let made = scene.mark("made");
    let words = ["start", "whole", made.text()];
    let refused = served(&scene, "readonly", &words)?.finish()?;
    refused.expect_line("others 0");
    assert_eq!(refused.denials().len(), 1, "{}", refused.told());
    assert!(matches!(refused.number("status"), 126 | 137), "{}", refused.told());
    made.expect_none();
    served(&scene, "full", &words)?.finish()?.expect_line("others 0").expect_line("status 0");
    made.expect_made();
    Ok(())
}

#[test]
fn a_refused_program_whose_code_never_comes_is_killed_at_once() -> Result<()> {
    let Some(scene) = scene("/dev/fuse")? else { return Ok(()) };
    let made = scene.mark("made");
    let refused = served(&scene, "readonly", &["start", "entry", made.text()])?.finish()?;
    refused.expect_line("others 0").expect_line("status 137");
    assert_eq!(refused.denials().len(), 1, "{}", refused.told());
    assert!(refused.took < Duration::from_secs(8), "{}", refused.told());
    made.expect_none();
    Ok(())
}

#[test]
fn a_program_that_never_comes_is_refused_and_others_run_meanwhile() -> Result<()> {
    let Some(scene) = scene("/dev/fuse")? else { return Ok(()) };
    let refused = served(&scene, "full", &["start", "never"])?.start()?;
    refused.says("others 0")?;
    assert!(!refused.out().contains("errno"), "{}", refused.out());
    let refused = refused.finish()?;
    assert_eq!(refused.number("errno"), EPERM, "{}", refused.told());
    assert!(refused.err().contains("its file system does not answer"), "{}", refused.told());
    Ok(())
}

#[test]
fn a_call_whose_words_never_come_ends_the_run() -> Result<()> {
    let Some(scene) = scene("/dev/fuse")? else { return Ok(()) };
    let outcome = served(&scene, "full", &["path"])?.finish()?;
    outcome.expect_line("calling").expect_code(125);
    assert!(outcome.err().contains("keeps the gate from reading"), "{}", outcome.told());
    assert!(outcome.took < Duration::from_secs(60), "{}", outcome.told());
    Ok(())
}

#[test]
fn an_automount_point_that_nobody_serves() -> Result<()> {
    let Some(scene) = scene("/dev/autofs")? else { return Ok(()) };
    scene.file("agent.py", include_str!("../fixtures/autofs.py"))?;
    let run = scene.run().tier("full").origin("unattended").unconfined().inside(PRIVATE);
    let running = run.command(["/usr/bin/python3", "agent.py", "mounted"]).start()?;
    running.says("others 0")?;
    let outcome = running.finish()?;
    assert_eq!(outcome.number("errno"), EPERM, "{}", outcome.told());
    assert!(outcome.err().contains("its file system does not answer"), "{}", outcome.told());
    Ok(())
}
