//! The page on HTTP in docs: its lines work as written, and its pictures are there.

use anyhow::{Context, Result};
use stayexec_tests::{Client, Scene, cannot_run};
use std::path::{Path, PathBuf};

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs")
}

fn page() -> Result<String> {
    Ok(std::fs::read_to_string(docs().join("http.md"))?)
}

/// The first block of shell lines behind a heading.
fn block<'p>(page: &'p str, heading: &str) -> Result<&'p str> {
    let (_, rest) = page.split_once(heading).with_context(|| heading.to_owned())?;
    let (_, rest) = rest.split_once("```sh\n").context("a block")?;
    Ok(rest.split_once("```").context("its end")?.0)
}

#[test]
fn the_lines_list_and_approve() -> Result<()> {
    let scene = Scene::new()?;
    if scene.ungated(["sh", "-c", "command -v curl"])?.code() != 0 {
        cannot_run("curl is not installed");
        return Ok(());
    }
    let page = page()?;
    let lines = block(&page, "## Lines that work")?;
    assert!(lines.matches("curl ").count() >= 2, "{lines}");
    let running = scene.supervised("touch made; echo status $?")?;
    let question = scene.asked_once()?;
    // Only port and id are put in.
    let client = Client::open(&scene)?;
    let text = lines.replace(":8000", &format!(":{}", client.port)).replace("<audit_id>", &question.audit_id);
    let folder = scene.binary().parent().context("a folder")?.display().to_string();
    let outcome = scene.ungated_launch(["bash", "-e", "-c", &text]).env("PATH", format!("{folder}:/usr/bin:/bin")).finish()?;
    outcome.expect_code(0);
    let replies: Vec<serde_json::Value> =
        serde_json::Deserializer::from_str(&outcome.out()).into_iter().collect::<Result<_, _>>().with_context(|| outcome.told())?;
    assert_eq!(replies[0][0]["audit_id"], question.audit_id.as_str(), "{}", outcome.told());
    assert_eq!(replies[1]["decision"], "ApproveOnce", "{}", outcome.told());
    running.finish()?.expect_line("status 0");
    scene.mark("made").expect_made();
    Ok(())
}

#[test]
fn the_pictures_are_there() -> Result<()> {
    let page = page()?;
    for name in ["page.png", "phone.png"] {
        assert!(page.contains(&format!("({name})")), "{name} is not shown");
        assert!(std::fs::read(docs().join(name))?.starts_with(b"\x89PNG"), "{name}");
    }
    Ok(())
}
