//! The session of the README, run as written.
//!
//! A block that begins with ```console holds commands behind `$ ` and what they print; `…` stands for any text in a line.

use anyhow::{Context, Result, ensure};
use stayexec_tests::{Scene, cannot_run, full};
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The commands of a session, as one shell script, and the lines that they print.
fn session(readme: &str) -> Result<(String, Vec<String>)> {
    let (_, rest) = readme.split_once("```console\n").context("the README has a console block")?;
    let (block, _) = rest.split_once("```").context("the block has an end")?;
    let (mut script, mut printed, mut goes_on) = (String::new(), Vec::new(), false);
    for line in block.lines() {
        let command = line.strip_prefix("$ ").or(goes_on.then_some(line));
        match command {
            Some(command) => {
                script.push_str(command);
                script.push('\n');
                goes_on = command.ends_with('\\');
            }
            None => printed.push(line.to_owned()),
        }
    }
    Ok((script, printed))
}

fn fits(line: &str, pattern: &str) -> bool {
    match pattern.split_once('…') {
        Some((head, tail)) => line.len() >= head.len() + tail.len() && line.starts_with(head) && line.ends_with(tail),
        None => line == pattern,
    }
}

#[test]
fn the_session_does_what_it_shows() -> Result<()> {
    let (script, expected) = session(&std::fs::read_to_string(root().join("README.md"))?)?;
    ensure!(script.contains("cargo run --release"), "the session builds and runs: {script}");
    let scene = Scene::new()?;
    // Only stayexec's own folders and the temporary one are moved: cargo needs those of whoever runs the tests.
    let folders = scene.environment().into_iter().filter(|(name, _)| name.starts_with("XDG_") || name == "TMPDIR");
    let output = Command::new("bash").args(["-e", "-c", &script]).current_dir(root()).envs(folders).env_remove("CARGO").output()?;
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    if err.contains("cargo: command not found") {
        cannot_run("no cargo in PATH");
        return Ok(());
    }
    let printed: Vec<&str> = out.lines().chain(err.lines().filter(|l| l.starts_with("stayexec: "))).collect();
    let missing: Vec<_> = expected.iter().filter(|pattern| !printed.iter().any(|line| fits(line, pattern))).collect();
    assert!(missing.is_empty() && output.status.success(), "{missing:#?} is missing\n--- stdout\n{out}\n--- stderr\n{err}");
    assert_eq!(printed.len(), expected.len(), "--- stdout\n{out}\n--- stderr\n{err}");
    Ok(())
}

/// The line that installs, with a folder of the test's own.
#[test]
fn the_line_that_installs_does_so() -> Result<()> {
    let readme = std::fs::read_to_string(root().join("README.md"))?;
    let line = readme.lines().find(|line| line.starts_with("cargo install")).context("the README says how to install")?;
    let line = line.split('#').next().unwrap_or_default().trim();
    let (_, path) = line.split_once("--path ").context("a path")?;
    assert!(std::fs::read_to_string(root().join(path).join("Cargo.toml"))?.contains("[[bin]]\nname = \"stayexec\""));
    if !full() {
        return Ok(());
    }
    let folder = tempfile::tempdir()?;
    let text = format!("{line} --quiet --root {}", folder.path().display());
    let output = Command::new("bash").args(["-c", &text]).current_dir(root()).env_remove("CARGO").output()?;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let version = Command::new(folder.path().join("bin/stayexec")).arg("--version").output()?;
    assert!(String::from_utf8_lossy(&version.stdout).starts_with("stayexec "), "{version:?}");
    Ok(())
}

#[test]
fn the_oldest_rust_is_said_once() -> Result<()> {
    let manifest = std::fs::read_to_string(root().join("Cargo.toml"))?;
    let (_, rest) = manifest.split_once("rust-version = \"").context("a rust-version")?;
    let (version, _) = rest.split_once('"').context("its end")?;
    assert!(std::fs::read_to_string(root().join("README.md"))?.contains(&format!("Rust {version} or later")));
    Ok(())
}

#[test]
fn every_page_is_in_the_table_and_every_link_leads_somewhere() -> Result<()> {
    let readme = std::fs::read_to_string(root().join("README.md"))?;
    for page in std::fs::read_dir(root().join("docs"))? {
        let name = page?.file_name().to_string_lossy().into_owned();
        assert!(!name.ends_with(".md") || readme.contains(&format!("](docs/{name})")), "{name} is not in the README");
    }
    for link in readme.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
        assert!(root().join(link).exists(), "{link} leads nowhere");
    }
    Ok(())
}

#[test]
fn the_guarantee_is_said_word_for_word() -> Result<()> {
    let readme = std::fs::read_to_string(root().join("README.md"))?;
    let words: Vec<&str> = readme.split_whitespace().filter(|w| *w != ">").collect();
    let guarantee = "no image started by execve or execveat in a gated tree runs one user-mode instruction unless its executable, full \
        argument vector, environment, cwd and root, as the kernel loaded them, have been judged, and the judgement was recorded. What \
        cannot be judged or recorded does not run.";
    assert!(words.join(" ").to_lowercase().contains(&guarantee.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()));
    Ok(())
}
