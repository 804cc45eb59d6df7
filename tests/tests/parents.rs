//! Parents in the languages that agents are written in: what they start, and how it ends, is as without the gate.

use anyhow::{Context, Result};
use stayexec_tests::{Scene, alike, cannot_run};
use std::path::Path;

/// Prepares both scenes, and runs a command in each, gated and not.
fn same(name: &str, source: &str, prepare: &[&[&str]], command: &[&str]) -> Result<()> {
    let outcome = alike(|scene| {
        scene.file(name, source)?;
        prepare.iter().try_for_each(|words| scene.ungated(*words).map(|outcome| drop(outcome.expect_code(0).clone())))
    })?
    .run(command)?;
    // It went through to its end, with what each step is to print.
    outcome.expect_code(7);
    for line in ["out", "TYPED", "given", "/usr", "no-such-program", "16"] {
        assert!(outcome.out().contains(line), "{line}: {}", outcome.told());
    }
    Ok(())
}

/// Whether a tool is there.
fn has(tool: &str) -> Result<bool> {
    let found =
        Scene::new()?.ungated_launch(["sh", "-c", &format!("command -v {tool}")]).env("PATH", stayexec_tests::tools_path()).finish()?;
    if found.code() != 0 {
        cannot_run(&format!("{tool} is not installed"));
    }
    Ok(found.code() == 0)
}

#[test]
fn python() -> Result<()> {
    if !has("/usr/bin/python3")? {
        return Ok(());
    }
    same("spawn.py", include_str!("../fixtures/parents/spawn.py"), &[], &["/usr/bin/python3", "spawn.py"])
}

#[test]
fn node() -> Result<()> {
    if !has("node")? {
        return Ok(());
    }
    same("spawn.js", include_str!("../fixtures/parents/spawn.js"), &[], &["node", "spawn.js"])
}

#[test]
fn bun() -> Result<()> {
    if !has("bun")? {
        return Ok(());
    }
    same("spawn.js", include_str!("../fixtures/parents/spawn.js"), &[], &["bun", "spawn.js"])
}

#[test]
fn go() -> Result<()> {
    if !has("go")? {
        return Ok(());
    }
    let source = include_str!("../fixtures/parents/spawn.go");
    same("spawn.go", source, &[&["env", "CGO_ENABLED=0", "GOFLAGS=-mod=mod", "go", "build", "-o", "spawn", "spawn.go"]], &["./spawn"])
}

#[test]
fn rust() -> Result<()> {
    let cargo = std::env::var("CARGO").context("cargo runs the tests")?;
    let rustc = Path::new(&cargo).with_file_name("rustc").display().to_string();
    if !has(&rustc)? {
        return Ok(());
    }
    same(
        "spawn.rs",
        include_str!("../fixtures/parents/spawn.rs.in"),
        &[&[&rustc, "--edition=2024", "-o", "spawn", "spawn.rs"]],
        &["./spawn"],
    )
}
