//! What is the agent's own: by its installation, without options or variables that load code.

use super::tests::{Result, Stage, named};
use crate::judge::session::testing::argv;
use stayexec_protocol::{Decision, Event, FileId, Process, Reason, Script};

const GEMINI: &str = "/opt/g/node_modules/@google/gemini-cli/bundle/gemini.js";

fn script_at(path: &str, ino: u64) -> Script {
    let id = FileId { dev: 1, ino, size: 3, ctime: 4 };
    Script { resolved: path.into(), id, same_view: true, unchanged: true, ..Script::unreadable(path.into(), true) }
}

/// A run of `node SCRIPT`.
fn of_node(script: &Script) -> Result<Stage> {
    let mut stage = Stage::new("/usr/bin/other")?;
    let launch = Event { launch: true, script: Some(script.clone()), ..named("/usr/bin/node", &["node", "x"], 100) };
    stage.session.launch = Default::default();
    stage.session.frozen.places.workspace = std::path::Path::new("/home/dev/proj").into();
    assert!(stage.judge(&launch).agent);
    Ok(stage)
}

/// A start of node that this makes.
fn start(script: &Script, words: &[&str]) -> Event {
    let words = [&["node"], words].concat();
    let agent = named("/usr/bin/node", &[], 100).process;
    Event { agent: Some(agent), script: Some(script.clone()), ..named("/usr/bin/node", &words, 200) }
}

#[test]
fn another_package_of_the_same_name_is_not_the_agent() -> Result<()> {
    let real = script_at(GEMINI, 50);
    let mut stage = of_node(&real)?;
    assert_eq!(stage.judge(&start(&real, &[GEMINI])).reason, Reason::Own);
    let planted = "/home/dev/proj/node_modules/@google/gemini-cli/bundle/gemini.js";
    for path in [planted, &planted.replace("/home/dev/proj", "/tmp"), &planted.replace("/home/dev/proj", "/opt/h")] {
        let judgement = stage.judge(&start(&script_at(path, 51), &[path]));
        assert_eq!(judgement.decision, Decision::Hold, "{path}");
        assert!(judgement.grant.is_none() && judgement.agent == path.starts_with("/opt/h/"), "{path}: an approval is for this start alone");
    }
    // The same file again needs no place; a program of the same package that the agent's interpreter runs needs no same file.
    assert_eq!(stage.judge(&start(&script_at(GEMINI, 52), &[GEMINI])).reason, Reason::Own);
    let other = Event { executable: named("/usr/bin/python3", &[], 1).executable, ..start(&script_at(GEMINI, 52), &[GEMINI]) };
    assert_eq!(stage.judge(&other).decision, Decision::Hold, "what never ran the agent");
    // A person has started it from the workspace.
    let low = script_at(planted, 53);
    let mut stage = of_node(&low)?;
    assert_eq!(stage.judge(&start(&low, &[planted])).reason, Reason::Own);
    Ok(())
}

#[test]
fn options_and_variables_that_load_code_make_no_agent() -> Result<()> {
    for path in [GEMINI, "/opt/unknown/agent.js"] {
        let real = script_at(path, 50);
        let mut stage = of_node(&real)?;
        assert_eq!(stage.judge(&start(&real, &["--max-old-space-size=4096", "--no-warnings", path, "-p"])).reason, Reason::Own);
        for words in [&["--require", "./evil.js", path][..], &["--import=./evil.js", path], &["-i", path], &["--inspect", path]] {
            let judgement = stage.judge(&start(&real, words));
            assert!(judgement.reason != Reason::Own && !judgement.agent, "{words:?}");
        }
        let given = |entry: &str| Event { environment: argv(&["PATH=/usr/bin:/bin", entry]), ..start(&real, &[path]) };
        assert_eq!(stage.judge(&given("GEMINI_CLI_NO_RELAUNCH=true")).reason, Reason::Own);
        for entry in ["NODE_OPTIONS=--require ./evil.js", "LD_PRELOAD=/tmp/x.so", "PYTHONPATH=/tmp", "BASH_ENV=x"] {
            let judgement = stage.judge(&given(entry));
            assert!(judgement.reason != Reason::Own && !judgement.agent, "{entry}");
            // Nor is it one once somebody has approved it.
            let arrived = stage.judge(&Event { agent: None, ..given(entry) });
            assert!(arrived.reason != Reason::Own && !arrived.agent && (path != GEMINI || arrived.grant.is_none()), "{entry}");
        }
        let arrived = stage.judge(&Event { agent: None, ..start(&real, &[path]) });
        assert_eq!((arrived.decision, arrived.agent), (Decision::Hold, path == GEMINI));
    }
    Ok(())
}

#[test]
fn variables_that_load_code_are_not_its_own_doing() -> Result<()> {
    let mut stage = Stage::new("/opt/node_modules/opencode-ai/bin/opencode.exe")?;
    let folder = "GIT_DIR=/home/dev/.local/share/opencode/snapshot/1/2";
    let init =
        |more: &str| Event { environment: argv(&["PATH=/usr/bin:/bin", folder, more]), ..stage.own("/usr/bin/git", &["git", "init"]) };
    let gc = ["git", "--git-dir", "/home/dev/.local/share/opencode/snapshot/1/2", "--work-tree", "/home/dev/proj", "gc", "--prune=now"];
    let (plain, loading) = (init("A=b"), init("GIT_SSH_COMMAND=x"));
    let (gc, agent) = (stage.own("/usr/bin/git", &gc), stage.agent.clone());
    assert_eq!(stage.judge(&plain).reason, Reason::Own);
    assert_ne!(stage.judge(&loading).reason, Reason::Own);
    assert_eq!(stage.judge(&gc).reason, Reason::Own);
    let below = |ancestry: &[&Process], pid, words: &[&str], entry: &str| Event {
        ancestry: ancestry.iter().map(|process| (*process).clone()).collect(),
        environment: argv(&[entry]),
        ..named("/usr/bin/git", words, pid)
    };
    let repack = below(&[&gc.process, &agent], 300, &["git", "repack", "-d"], "GIT_DIR=/x");
    assert_eq!(stage.judge(&repack).reason, Reason::Own);
    let pack = |ancestry: &[&Process], entry| below(ancestry, 301, &["git", "pack-objects", "x"], entry);
    assert_eq!(stage.judge(&pack(&[&repack.process, &gc.process, &agent], "A=b")).reason, Reason::Own);
    assert_ne!(stage.judge(&pack(&[&repack.process, &gc.process, &agent], "LD_PRELOAD=/tmp/x.so")).reason, Reason::Own);
    let between = Process { pid: 302, start: 302, name: b"sh".to_vec() };
    assert_ne!(stage.judge(&pack(&[&between, &gc.process, &agent], "A=b")).reason, Reason::Own);
    Ok(())
}
