//! What `classify` and `check` print: the tree for people and for machines, and what of the configuration changes it.

use anyhow::{Context, Result};
use serde_json::Value;
use stayexec_tests::{Launch, Scene, Terminal};

const TEXT: &str = "ls -l | sort -o x; git status";

fn tree(scene: &Scene) -> Launch<'_> {
    scene.stayexec().words(["classify", "--explain", TEXT])
}

#[test]
fn the_tree_has_class_reason_and_entry_of_each_part() -> Result<()> {
    let scene = Scene::new()?;
    let outcome = tree(&scene).finish()?;
    outcome.expect_code(0).expect_quiet();
    let out = outcome.out();
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(lines[..2], ["write prompt: writes to a file", "  write: ls -l | sort -o x; git status: writes to a file"]);
    for (line, begins) in
        lines[2..].iter().zip(["    read: ls -l: only reads (files.toml:", "    write: sort -o x: writes to a file (text.toml:"])
    {
        assert!(line.starts_with(begins) && line.ends_with(')'), "{out}");
    }
    assert_eq!(lines.len(), 5, "{out}");
    Ok(())
}

/// Every key is there in every part, in this order.
fn keys(node: &Value) -> Result<()> {
    for key in ["text", "class", "code", "reason", "entry", "parts"] {
        assert!(node.get(key).is_some(), "{key}: {node}");
    }
    assert_eq!(node.as_object().context("an object")?.len(), 6, "{node}");
    node["parts"].as_array().context("a list")?.iter().try_for_each(keys)
}

#[test]
fn the_json_is_the_same_tree() -> Result<()> {
    let scene = Scene::new()?;
    for verb in ["classify", "check"] {
        let outcome = scene.stayexec().words([verb, "--explain", "--json", TEXT]).finish()?;
        let answer: Value = serde_json::from_slice(&outcome.stdout).with_context(|| outcome.told())?;
        assert!(outcome.out().starts_with("{\"class\":\"write\",\"decision\":\"prompt\",\"reason\":"), "{}", outcome.told());
        keys(&answer["parts"])?;
        let parts = answer["parts"]["parts"].as_array().context("a list")?;
        let told: Vec<_> = parts.iter().map(|part| (part["text"].as_str(), part["class"].as_str(), part["code"].as_str())).collect();
        assert_eq!(told[0], (Some("ls -l"), Some("read"), Some("known")));
        assert_eq!(told[1], (Some("sort -o x"), Some("write"), Some("redirection")));
        assert!(parts.iter().all(|part| part["entry"].as_str().is_some_and(|entry| entry.contains(".toml:"))), "{answer}");
        assert_eq!(answer["parts"]["entry"], Value::Null);
    }
    Ok(())
}

#[test]
fn colour_is_for_a_terminal_that_wants_it() -> Result<()> {
    let scene = Scene::new()?;
    let shown = |launch: Launch<'_>| -> Result<String> {
        let mut terminal = Terminal::start(launch)?;
        terminal.shows("git status: only reads")?;
        Ok(terminal.finish()?.out())
    };
    assert!(shown(tree(&scene))?.contains("\x1b[33mwrite\x1b[0m"));
    assert!(shown(tree(&scene).env("NO_COLOR", ""))?.contains("\x1b[32mread\x1b[0m"));
    assert!(!shown(tree(&scene).env("NO_COLOR", "1"))?.contains('\x1b'));
    let dumb = scene.stayexec().inside(["/usr/bin/env", "TERM=dumb"]).words(["classify", "--explain", TEXT]);
    assert!(!shown(dumb)?.contains('\x1b'));
    assert!(!tree(&scene).env("TERM", "xterm").finish()?.out().contains('\x1b'));
    Ok(())
}
