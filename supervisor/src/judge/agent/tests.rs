//! Reading starts by profiles.

use super::*;
use crate::judge::following::Followed;
use crate::judge::judgement::{Judgement, judge};
use crate::judge::leads::{View, in_time};
use crate::judge::session::testing::{argv, event, session};
use crate::judge::{facts, session::Session};
use stayexec_policy::CommandClass;
use stayexec_protocol::{Decision, FileId, Process, Reason, Script};

pub(super) type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

const IMAGE: &str = "/opt/x/node_modules/@anthropic-ai/claude-code/bin/claude.exe";
const SNAPSHOT: &str = "/home/dev/.claude/shell-snapshots/snapshot-bash-1-ab.sh";

pub(super) struct Stage {
    pub(super) session: Session,
    pub(super) agent: Process,
}

pub(super) fn named(path: &str, words: &[&str], pid: u32) -> Event {
    let id = FileId { dev: 1, ino: path.len() as u64, size: 3, ctime: 4 };
    let base = event(path, words);
    let executable = stayexec_protocol::Executable { id, ..base.executable.clone() };
    Event { process: Process { pid, start: u64::from(pid), name: b"x".to_vec() }, executable, ..base }
}

impl Stage {
    /// A run whose agent is the launched image.
    pub(super) fn new(image: &str) -> Result<Self> {
        let (session, _messages) = session(|_| {})?;
        let launch = Event { launch: true, ..named(image, &["agent"], 100) };
        let mut stage = Self { session, agent: launch.process.clone() };
        let launched = stage.judge(&launch);
        assert!(launched.reason == Reason::Launch && launched.agent);
        Ok(stage)
    }

    pub(super) fn judge(&mut self, event: &Event) -> Judgement {
        let reading = read(&self.session, event);
        let operands = facts::operands(&self.session, event, &reading);
        let paths: Vec<_> = operands.opened.iter().map(|operand| operand.path.clone()).collect();
        let leads = in_time(&View::own(), &paths);
        judge(&mut self.session, &Followed { event: event.clone(), operands, leads, reading }, 1_000)
    }

    /// A start that the agent makes.
    pub(super) fn own(&self, path: &str, words: &[&str]) -> Event {
        Event { agent: Some(self.agent.clone()), ..named(path, words, 200) }
    }
}

fn snapshot(digest: u8, ctime: i64) -> Script {
    let path = SNAPSHOT.as_bytes().to_vec();
    let id = FileId { dev: 1, ino: 77, size: 3, ctime };
    let text = Some(b"ll () { ls -l \"$@\"; }\nalias la='ls -a'\n".to_vec());
    Script { resolved: path.clone(), digest: [digest; 32], same_view: true, id, text, ..Script::unreadable(path, true) }
}

fn wrapped(command: &str) -> String {
    let command = command.replace('\'', "'\"'\"'");
    format!(
        "source {SNAPSHOT} 2>/dev/null || true && shopt -u extglob || true && eval '{command}' < /dev/null && pwd -P >| /tmp/claude-1-cwd"
    )
}

#[test]
fn a_line_is_its_command_only_where_the_agent_says_it() -> Result<()> {
    let mut stage = Stage::new(IMAGE)?;
    let line = wrapped("touch 'a b'");
    let start = Event { script: Some(snapshot(1, 500)), ..stage.own("/usr/bin/bash", &["bash", "-c", &line]) };
    assert_eq!(read(&stage.session, &start).command(), Some(&b"touch 'a b'"[..]));
    let unread = Event { script: None, ..start.clone() };
    assert_eq!(facts::unread_script(&stage.session, &unread, &read(&stage.session, &unread)), Some(SNAPSHOT.into()));
    for (what, other) in [
        ("somebody else's", Event { agent: None, ..start.clone() }),
        ("another agent's", Event { agent: Some(Process { pid: 101, ..stage.agent.clone() }), ..start.clone() }),
        ("another shell's", Event { executable: named("/usr/bin/fish", &[], 1).executable, ..start.clone() }),
        ("in another root", Event { root: b"/srv".to_vec(), ..start.clone() }),
        ("a word more", Event { argv: argv(&["bash", "-c", &line, "x"]), ..start.clone() }),
        ("not only read", Event { argv: argv(&["bash", "-c", &line.replace("shopt", "touch x; shopt")]), ..start.clone() }),
    ] {
        assert_eq!(read(&stage.session, &other).layer, Layer::Plain, "{what}");
    }
    let judgement = stage.judge(&start);
    assert_eq!((judgement.decision, judgement.class), (Decision::Hold, CommandClass::Write));
    Ok(())
}

#[test]
fn a_profile_takes_nothing_from_the_class_of_a_command() -> Result<()> {
    let mut stage = Stage::new(IMAGE)?;
    for command in [
        "ls",
        "ls | wc -l",
        "find . -name '*.py'",
        "rm x",
        "rm -rf x",
        "curl x",
        "npm install",
        "echo hi > x",
        "x=1; $y",
        "cat <<E",
        "sudo ls",
        "ls; git push --force",
        "(",
        "ls '",
        "eval \"$x\"",
        "source ./x",
        "ls > /dev/null",
        "exit 3",
    ] {
        let plain = stage.judge(&Event { agent: None, ..stage.own("/usr/bin/bash", &["bash", "-c", command]) });
        let line = Event { script: Some(snapshot(1, 500)), ..stage.own("/usr/bin/bash", &["bash", "-c", &wrapped(command)]) };
        let judgement = stage.judge(&line);
        assert!(judgement.class >= plain.class, "{command}: {} < {}", judgement.class, plain.class);
        if plain.class == CommandClass::Read {
            assert_eq!(judgement.decision, Decision::Allow, "{command}");
        }
    }
    Ok(())
}

#[test]
fn a_snapshot_that_could_have_been_written_counts_as_what_it_says() -> Result<()> {
    let mut stage = Stage::new(IMAGE)?;
    let start =
        |digest, ctime| Event { script: Some(snapshot(digest, ctime)), ..stage.own("/usr/bin/bash", &["bash", "-c", &wrapped("ls")]) };
    let (first, changed) = (start(1, 500), start(2, 600));
    assert_eq!(stage.judge(&first).decision, Decision::Allow);
    assert_eq!(stage.judge(&changed).decision, Decision::Hold, "its text has an alias");
    assert_eq!(stage.judge(&first).decision, Decision::Allow);
    let missing = Event { script: Some(Script::unreadable(SNAPSHOT.into(), true)), ..first };
    assert_eq!(stage.judge(&missing).decision, Decision::Hold);
    Ok(())
}

#[test]
fn an_approval_is_not_of_a_line_beside_a_snapshot_that_could_have_been_written() -> Result<()> {
    use stayexec_policy::rule::Token;
    for approval in ["rule", "remembered", "grant"] {
        let mut stage = Stage::new(IMAGE)?;
        let start = |digest, ctime| {
            let line = wrapped("touch made");
            Event {
                script: Some(snapshot(digest, ctime)),
                ancestry: vec![stage.agent.clone()],
                ..stage.own("/usr/bin/bash", &["bash", "-c", &line])
            }
        };
        let (believed, poisoned) = (start(1, 500), start(2, 600));
        let first = stage.judge(&believed);
        assert!(first.decision == Decision::Hold && first.keeps && first.grant.is_some() && first.pattern.is_some());
        match approval {
            "rule" => {
                let pattern = ["touch", "made"].map(|word| Token::One(word.to_owned())).to_vec();
                let decision = stayexec_policy::GateDecision::Allow;
                let rule = crate::config::Rule { pattern, decision, message: None, examples: vec![], counter_examples: vec![] };
                stage.session.frozen.rules.push(crate::config::PlacedRule { rule, place: "x:1".into() });
            }
            "remembered" => {
                let pattern = first.pattern.ok_or("no pattern")?;
                let (id, scope) = (uuid::Uuid::nil(), crate::judge::remembered::Scope::Workspace);
                let known = crate::judge::remembered::Remembered { id, pattern, scope, by: String::new(), created: 0 };
                stage.session.kept.remembered.push(known);
            }
            _ => {
                let above = Event { process: stage.agent.clone(), ..believed.clone() };
                stage.session.grants.extend(crate::judge::grants::Grant::of(&above, CommandClass::Write, true));
            }
        }
        assert_eq!(stage.judge(&believed).decision, Decision::Allow, "{approval}");
        let asked = stage.judge(&poisoned);
        assert_eq!(asked.decision, Decision::Hold, "{approval}");
        assert!(!asked.keeps && asked.grant.is_none() && asked.pattern.is_none(), "{approval}");
        assert_eq!(stage.judge(&believed).decision, Decision::Allow, "{approval}");
    }
    Ok(())
}

#[test]
fn the_agents_binary_is_the_program_that_it_is_called_where_the_profile_says_so() -> Result<()> {
    let mut stage = Stage::new(IMAGE)?;
    let by_a_command = |words: &[&str]| named(IMAGE, words, 300);
    assert_eq!(stage.judge(&by_a_command(&["rg", "-n", "x"])).decision, Decision::Allow);
    assert_eq!(stage.judge(&by_a_command(&["rg", "--pre", "sh", "x"])).decision, Decision::Hold);
    assert_eq!(stage.judge(&by_a_command(&["ls"])).decision, Decision::Hold, "it is no ls");
    let loading = Event { environment: argv(&["BUN_OPTIONS=--preload x.js"]), ..by_a_command(&["rg", "x"]) };
    assert_eq!(stage.judge(&loading).decision, Decision::Hold);
    let mut changed = by_a_command(&["rg", "x"]);
    changed.executable.unchanged = false;
    assert_eq!(stage.judge(&changed).decision, Decision::Hold);
    let mut other = by_a_command(&["rg", "x"]);
    other.executable.id.ino += 1;
    assert_eq!(stage.judge(&other).decision, Decision::Hold, "another file of that path");
    Ok(())
}

#[test]
fn an_agent_that_a_command_starts_is_asked_about_and_grants_nothing() -> Result<()> {
    let mut stage = Stage::new("/usr/bin/bash")?;
    let arrived = stage.judge(&named(IMAGE, &["claude"], 300));
    assert_eq!((arrived.decision, arrived.agent), (Decision::Hold, true));
    assert!(arrived.grant.is_none() && !arrived.repeatable);
    let again = Event { agent: Some(stage.agent.clone()), ..named("/usr/bin/bash", &["bash", "-c", "rm x"], 301) };
    assert_eq!(stage.judge(&again).decision, Decision::Hold, "a shell that starts a shell is not starting itself");
    Ok(())
}

#[test]
fn its_own_doing_is_below_what_blocks() -> Result<()> {
    let mut stage = Stage::new("/opt/node_modules/opencode-ai/bin/opencode.exe")?;
    let folder = "/home/dev/.local/share/opencode/snapshot/1/2";
    let words = ["git", "--git-dir", folder, "config", "core.autocrlf", "false"];
    let own = stage.judge(&stage.own("/usr/bin/git", &words));
    assert_eq!((own.decision, own.reason, own.class), (Decision::Allow, Reason::Own, CommandClass::Write));
    assert!(own.grant.is_none() && !own.repeatable && !own.agent);
    stage.session.policy = stage.session.policy.clone().with_autonomy(stayexec_policy::Tier::ReadOnly);
    let own = stage.judge(&stage.own("/usr/bin/git", &words));
    assert_eq!((own.decision, own.reason), (Decision::Deny, Reason::Matrix));
    Ok(())
}

#[test]
fn what_its_own_doing_starts_is_its_own_by_the_entry_alone() -> Result<()> {
    let mut stage = Stage::new("/opt/node_modules/@openai/codex-linux-x64/vendor/y/bin/codex")?;
    let url = "https://github.com/openai/plugins.git";
    let mut start = stage.own("/usr/bin/git", &["git", "-c", "safe.bareRepository=explicit", "ls-remote", url, "HEAD"]);
    assert_eq!(stage.judge(&start).decision, Decision::Hold, "without the variable that goes with it");
    start.environment.push(b"GIT_DIR=/home/dev/.codex/.tmp/.staging/x-1/checkout".to_vec());
    assert_eq!(stage.judge(&start).reason, Reason::Own);
    let below = |words: &[&str]| Event { ancestry: vec![start.process.clone(), stage.agent.clone()], ..named("/usr/bin/git", words, 300) };
    let (same, other) = (below(&["git", "remote-https", url, url]), below(&["git", "remote-https", "https://x", "https://x"]));
    assert_eq!(stage.judge(&same).reason, Reason::Own);
    assert_eq!(stage.judge(&other).decision, Decision::Hold);
    let elsewhere = Event { ancestry: vec![stage.agent.clone()], ..same };
    assert_eq!(stage.judge(&elsewhere).decision, Decision::Hold);
    Ok(())
}
