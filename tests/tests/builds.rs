//! Real builds in the full tier end as they do without the gate, and the history lists every program.

use anyhow::{Context, Result};
use stayexec_tests::{Entry, Input, Launch, Outcome, Scene, cannot_run};
use std::collections::BTreeMap;
use std::path::Path;

const CONFIGURE_AND_MAKE: &str = "./configure && make && make check";

/// A C program with a configure script, made by autoconf.
fn c_program(scene: &Scene) -> Result<bool> {
    let files = [
        ("configure.ac", include_str!("../fixtures/program/configure.ac")),
        ("Makefile.in", include_str!("../fixtures/program/Makefile.in")),
        ("src/tally.c", include_str!("../fixtures/program/src/tally.c")),
        ("src/words.c", include_str!("../fixtures/program/src/words.c")),
        ("src/words.h", include_str!("../fixtures/program/src/words.h")),
    ];
    for (name, content) in files {
        scene.file(name, content)?;
    }
    let made = scene.ungated(["bash", "-c", "autoconf && autoheader"]);
    let made = made.is_ok_and(|o| o.code() == 0);
    if !made {
        cannot_run("autoconf is not installed");
    }
    Ok(made)
}

/// Program names, each with how often it was started.
type Programs = BTreeMap<String, usize>;

fn count(names: impl Iterator<Item = String>) -> Programs {
    names.fold(Programs::new(), |mut all, name| {
        *all.entry(name).or_default() += 1;
        all
    })
}

fn base(path: &str) -> String {
    Path::new(path).file_name().map_or_else(|| path.to_owned(), |n| n.to_string_lossy().into_owned())
}

/// What strace saw start, by argv[0], in an ungated run.
fn traced(scene: &Scene, script: &str) -> Result<Programs> {
    let log = scene.path("tmp/strace.log");
    let command = ["strace", "-f", "-qq", "-s", "256", "-e", "trace=execve,execveat", "-e", "status=successful", "-o"];
    let words = command.iter().map(|w| std::ffi::OsString::from(*w)).chain([log.clone().into(), "bash".into(), "-c".into(), script.into()]);
    scene.ungated(words)?.expect_code(0);
    let log = std::fs::read_to_string(log)?;
    let first_argument = |line: &str| line.split_once("[\"").and_then(|(_, rest)| rest.split_once('"')).map(|(word, _)| base(word));
    Ok(count(log.lines().filter(|l| l.contains("execve")).filter_map(first_argument)))
}

fn listed(history: &[Entry]) -> Programs {
    count(history.iter().filter_map(|e| e.argv.first()).map(|word| base(word)))
}

/// The output without what differs from run to run.
fn steady(outcome: &Outcome) -> String {
    outcome.out().replace(" (cached)", "")
}

#[test]
fn configure_and_make_end_as_without_the_gate() -> Result<()> {
    let (gated, ungated) = (Scene::new()?, Scene::new()?);
    if !c_program(&gated)? || !c_program(&ungated)? {
        return Ok(());
    }
    let expected = traced(&ungated, CONFIGURE_AND_MAKE)?;
    let plain = Scene::new()?;
    c_program(&plain)?;
    let without = plain.ungated(["bash", "-c", CONFIGURE_AND_MAKE])?;
    let with = gated.full(["bash", "-c", CONFIGURE_AND_MAKE])?;
    with.expect_code(0);
    without.expect_code(0);
    assert_eq!(steady(&with), steady(&without));
    assert_eq!(with.err(), without.err());
    for name in ["tally", "config.h", "Makefile"] {
        let read = |scene: &Scene| std::fs::read(scene.work().join(name)).with_context(|| name.to_owned());
        assert!(name == "tally" || read(&gated)? == read(&plain)?, "{name} differs");
        assert!(gated.work().join(name).exists());
    }
    let run = gated.stayexec().words(["run", "--tier", "full"]).command(["./tally"]).input(Input::Text(b"a b\n".to_vec())).finish()?;
    assert_eq!(run.out(), "lines 1 words 2\n");
    let history: Vec<Entry> = gated.history()?.into_iter().filter(|e| e.argv != ["./tally"] || e.reason != "launch").collect();
    assert!(history.iter().all(|e| e.decision == "allow"), "{history:#?}");
    assert_eq!(listed(&history), expected);
    Ok(())
}

/// cargo with the toolchain that runs the tests.
fn cargo(scene: &Scene) -> Option<(String, String)> {
    let cargo = std::env::var("CARGO").ok()?;
    let folder = Path::new(&cargo).parent()?.to_str()?.to_owned();
    let path = format!("{folder}:/usr/local/bin:/usr/bin:/bin");
    let reachable = scene.ungated([cargo.as_str(), "--version"]).is_ok_and(|o| o.code() == 0);
    reachable.then_some((cargo, path))
}

fn crate_in(scene: &Scene) -> Result<()> {
    scene.file("Cargo.toml", include_str!("../fixtures/crate/Cargo.toml.in"))?;
    scene.file("build.rs", include_str!("../fixtures/crate/build.rs"))?;
    scene.file("src/main.rs", include_str!("../fixtures/crate/src/main.rs")).map(drop)
}

#[test]
fn cargo_build_ends_as_without_the_gate() -> Result<()> {
    let scene = Scene::new()?;
    let Some((cargo, path)) = cargo(&scene) else {
        cannot_run("cargo was not named by CARGO, or cannot be started");
        return Ok(());
    };
    crate_in(&scene)?;
    let build = [cargo.as_str(), "build", "--offline", "--quiet"];
    let gated = |run: Launch<'_>| run.env("PATH", &path).limit(300).finish();
    gated(scene.run().tier("full").origin("unattended").command(build))?.expect_code(0).expect_quiet();
    let history = scene.history()?;
    for name in ["cargo", "rustc", "build-script-build", "uname", "cc"] {
        let started = |e: &Entry| e.argv.first().is_some_and(|w| base(w) == name || (name == "cc" && base(w).contains("gcc")));
        assert!(history.iter().any(started), "{name} is not in the history: {:#?}", listed(&history));
    }
    let tally = scene.work().join("target/debug/tally");
    let run = scene.run().tier("full").command([tally]).input(Input::Text(b"a b c".to_vec())).finish()?;
    assert_eq!(run.out(), "3 words on Linux\n");
    Ok(())
}
