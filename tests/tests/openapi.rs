//! The OpenAPI document, held against the server by schemathesis: every answer is one that the document names, whatever is
//! asked, and what fits the document is taken.

use anyhow::Result;
use stayexec_tests::{Client, Scene, cannot_run, rounds};
use std::process::{Command, Stdio};

#[test]
fn the_document_says_what_the_server_does() -> Result<()> {
    let version = Command::new("schemathesis").arg("--version").stdin(Stdio::null()).output();
    if !version.is_ok_and(|output| output.status.success()) {
        cannot_run("schemathesis is not in PATH; pip installs it");
        return Ok(());
    }
    let scene = Scene::new()?;
    let running = scene.supervised("touch a; echo status $?")?;
    let question = scene.asked_once()?;
    let client = Client::open(&scene)?;
    let address = format!("http://127.0.0.1:{}/openapi.json", client.port);
    let token = format!("Authorization: Bearer {}", client.token);
    let examples = rounds(10, 200).to_string();
    // The stream of events never ends.
    let words = ["run", &address, "-H", &token, "--max-examples", &examples, "--exclude-path", "/events", "--seed", "1", "--no-color"];
    let folder = tempfile::tempdir()?;
    let output = Command::new("schemathesis").args(words).current_dir(folder.path()).env("HOME", folder.path()).output()?;
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && told.contains("9 selected"), "{told}");
    assert_eq!(scene.pending()?.len(), 1, "nothing was decided");
    scene.answer(&question, &["approve"])?.expect_code(0);
    running.finish()?.expect_line("status 0");
    Ok(())
}
