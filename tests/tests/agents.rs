//! Agents: no question for what reads or is their own, one for a write, and it shows the model's command.
//!
//! `fixtures/agent.py` starts commands as each agent does; the real ones are run where `STAYEXEC_AGENTS` names a folder
//! with them.

use anyhow::{Context, Result};
use nix::sys::signal::Signal;
use stayexec_tests::{Entry, Input, Question, Running, Scene, let_the_clock_tick, until, within};
use std::time::Duration;

/// Where the package of each agent has its image.
const PACKAGES: [&str; 5] = [
    "node_modules/@anthropic-ai/claude-code/bin/claude.exe",
    "node_modules/@openai/codex/bin/codex.js",
    "node_modules/@google/gemini-cli/bundle/gemini.js",
    "node_modules/opencode-ai/bin/opencode.exe",
    "unknown/bin/agent",
];

const CLAUDE: &str = PACKAGES[0];
const GEMINI: &str = PACKAGES[2];
const OPENCODE: &str = PACKAGES[3];
const UNKNOWN: &str = PACKAGES[4];

struct Agent<'s> {
    scene: &'s Scene,
    running: Running<'s>,
    said: usize,
}

impl<'s> Agent<'s> {
    fn start(scene: &'s Scene, package: &str) -> Result<Self> {
        Self::start_with(scene, package, &[])
    }

    fn start_with(scene: &'s Scene, package: &str, words: &[&str]) -> Result<Self> {
        let image = scene.program(package, include_str!("../fixtures/agent.py"))?;
        let_the_clock_tick(&image)?;
        let run = scene.run().tier("supervised").unconfined().words(words).command([image]).input(Input::Open);
        Ok(Self { scene, running: run.start()?, said: 0 })
    }

    fn begin(&mut self, line: &str) -> Result<()> {
        self.running.types(line)
    }

    /// Waits for the end of what was begun, and gives its output.
    fn ends(&mut self) -> Result<String> {
        let from = self.said;
        let running = &self.running;
        let whole = until("the end of a command", Duration::from_secs(30), || {
            let out = running.out();
            let end = out.get(from..)?.find("status ")? + from;
            out[end..].find('\n').map(|length| out[..=end + length].to_owned())
        });
        let whole = whole.with_context(|| format!("pending: {:?}\n{}", self.scene.pending(), self.running.out()))?;
        self.said = whole.len();
        Ok(whole[from..].to_owned())
    }

    /// A line that nobody is asked about.
    fn quietly(&mut self, line: &str) -> Result<String> {
        self.begin(line)?;
        self.ends()
    }

    /// A line that one question is asked about, and what becomes of it with an answer.
    fn asked(&mut self, line: &str, answer: &[&str]) -> Result<(Question, String)> {
        self.begin(line)?;
        let question = self.scene.asked_once()?;
        self.scene.answer(&question, answer)?.expect_code(0);
        Ok((question, self.ends()?))
    }

    fn finish(mut self) -> Result<Vec<Entry>> {
        self.begin("end")?;
        self.running.finish()?.expect_code(0);
        self.scene.history()
    }
}

/// What was asked about.
fn held(history: &[Entry]) -> Vec<String> {
    let asked = history.iter().filter(|entry| entry.row["decision"] == "hold");
    asked.map(|entry| entry.command.clone()).collect()
}

#[test]
fn reads_are_quiet_and_each_write_is_one_question_with_the_models_command() -> Result<()> {
    for package in PACKAGES {
        let scene = Scene::ordinary()?;
        let mut agent = Agent::start(&scene, package)?;
        for read in ["ls -la", "pwd && ls | head -1", "find . -name '*.py'", "grep -c \"it's\" agent.txt || echo 'none'"] {
            agent.quietly(&format!("run {read}"))?;
        }
        let writes = ["touch made-1", "mkdir 'made 2' && echo hi", "echo 'it'\"'\"'s' > made-3", "cat < /dev/null > made-4"];
        for write in writes {
            let (question, said) = agent.asked(&format!("run {write}"), &["approve"])?;
            let shown = if package == UNKNOWN { question.command.contains("bash -c") } else { question.command == write };
            assert!(shown, "{package}: {:?}", question.command);
            assert_eq!(said.lines().last(), Some("status 0"), "{package}: {write}: {said}");
        }
        for made in ["made-1", "made 2", "made-3", "made-4"] {
            scene.mark(made).expect_made();
        }
        agent.quietly("run ls")?;
        assert_eq!(held(&agent.finish()?).len(), writes.len(), "{package}");
    }
    Ok(())
}

#[test]
fn a_denial_reaches_the_agent_with_its_reason() -> Result<()> {
    for package in PACKAGES {
        let scene = Scene::ordinary()?;
        let mut agent = Agent::start(&scene, package)?;
        let (_, said) = agent.asked("run touch made", &["deny", "--note", "use the build folder"])?;
        assert!(said.contains("stayexec: denied (write): ") && said.contains("touch made"), "{package}: {said}");
        assert!(said.contains(": use the build folder\n") && said.ends_with("status 126\n"), "{package}: {said}");
        scene.mark("made").expect_none();
        agent.finish()?;
    }
    Ok(())
}

#[test]
fn an_agent_starts_itself_and_does_its_own_work_unasked() -> Result<()> {
    for package in PACKAGES {
        let scene = Scene::ordinary()?;
        let mut agent = Agent::start(&scene, package)?;
        assert_eq!(agent.quietly("again --x y")?, "again --x y\nstatus 0\n", "{package}");
        let history = agent.finish()?;
        let own: Vec<_> = history.iter().filter(|entry| entry.reason == "own").collect();
        assert!(!own.is_empty() && held(&history).is_empty(), "{package}: {history:#?}");
    }
    Ok(())
}

fn shadow(scene: &Scene, words: &[&str]) -> String {
    let folder = scene.path("home").join(".local/share/opencode/snapshot/1f/2e");
    let words: Vec<String> = words.iter().map(|word| word.replace("DIR", &folder.display().to_string())).collect();
    serde_json::json!(words).to_string()
}

#[test]
fn what_a_profile_calls_its_own_is_nobody_elses() -> Result<()> {
    let scene = Scene::ordinary()?;
    let mut agent = Agent::start(&scene, OPENCODE)?;
    let own = shadow(&scene, &["git", "--git-dir", "DIR", "config", "core.autocrlf", "false"]);
    agent.quietly(&format!("own {own}"))?;
    // The same words of the model, of another folder, with another program's name in front, and with more words.
    let line =
        shadow(&scene, &["git", "--git-dir", "DIR", "config", "core.autocrlf", "false"]).replace(['[', ']', '"'], "").replace(',', " ");
    let (question, _) = agent.asked(&format!("run {line}"), &["deny"])?;
    assert_eq!(question.command, line);
    let elsewhere = serde_json::json!(["git", "--git-dir", scene.work().join(".git"), "config", "core.autocrlf", "false"]);
    agent.asked(&format!("own {elsewhere}"), &["deny"])?;
    agent.asked(&format!("own {}", shadow(&scene, &["git", "--git-dir", "DIR", "config", "core.autocrlf", "false", "x"])), &["deny"])?;
    // A shell of the model that becomes such a start.
    agent.asked(&format!("run exec {line}"), &["deny"])?;
    let history = agent.finish()?;
    assert_eq!(history.iter().filter(|e| e.reason == "own").count(), 1, "{history:#?}");
    Ok(())
}

#[test]
fn an_agents_own_line_is_nothing_in_the_mouth_of_its_model() -> Result<()> {
    let scene = Scene::ordinary()?;
    let mut agent = Agent::start(&scene, CLAUDE)?;
    agent.quietly("run ls")?;
    let (home, temp) = (scene.path("home"), scene.path("tmp"));
    let source = home.join(".claude/shell-snapshots/snapshot-bash-1796047-ab12cd.sh");
    let line = format!(
        "source {} 2>/dev/null || true && shopt -u extglob 2>/dev/null || true && eval 'ls' < /dev/null && pwd -P >| {}/claude-1-cwd",
        source.display(),
        temp.display()
    );
    let (question, _) = agent.asked(&format!("run bash -c {}", serde_json::json!(line)), &["deny"])?;
    assert!(question.command.starts_with("bash -c"), "{:?}", question.command);
    // The agent itself, with one word more than it ever says.
    for forged in
        [format!("{line}; touch evil"), line.replace("eval 'ls'", "eval 'ls' 'touch evil'"), line.replace("eval", "touch evil; eval")]
    {
        let (question, _) = agent.asked(&format!("shell {forged}"), &["deny"])?;
        assert!(question.command.contains("touch evil") && question.command.contains("source"), "{:?}", question.command);
    }
    scene.mark("evil").expect_none();
    agent.finish()?;
    Ok(())
}

#[test]
fn what_only_looks_like_the_agent_is_asked_about() -> Result<()> {
    let scene = Scene::ordinary()?;
    let planted = scene.program(&format!("repository/{GEMINI}"), "#!/bin/sh\n: > evil\n")?;
    let mut agent = Agent::start(&scene, GEMINI)?;
    let own = |words: &[&str]| format!("own {}", serde_json::json!(words));
    let image = scene.work().join(GEMINI).display().to_string();
    // Its own image again, and itself by another name, with an option in front, and beside a variable that loads code.
    agent.quietly("again --x y")?;
    agent.asked(&own(&[&planted.display().to_string()]), &["deny"])?;
    agent.asked(&own(&["python3", "-i", &image, "--again"]), &["deny"])?;
    agent.asked(&own(&["env", "PYTHONPATH=.", &image, "--again"]), &["deny"])?;
    scene.mark("evil").expect_none();
    agent.finish()?;
    Ok(())
}

#[test]
fn a_snapshot_that_a_command_has_changed_is_read() -> Result<()> {
    let scene = Scene::ordinary()?;
    let mut agent = Agent::start(&scene, CLAUDE)?;
    agent.quietly("run ls")?;
    let change = "echo ': > evil' >> ~/.claude/shell-snapshots/snapshot-bash-1796047-ab12cd.sh";
    agent.asked(&format!("run {change}"), &["approve"])?;
    let (question, _) = agent.asked("run ls", &["deny"])?;
    assert_eq!(question.command, "ls");
    assert!(question.row["reasons"].to_string().contains("which a command could have written"), "{}", question.row);
    scene.mark("evil").expect_none();
    agent.finish()?;
    Ok(())
}

#[test]
fn an_answer_for_a_command_is_none_beside_a_changed_snapshot() -> Result<()> {
    let scene = Scene::ordinary()?;
    let mut agent = Agent::start(&scene, CLAUDE)?;
    agent.quietly("run ls")?;
    agent.begin("start touch made")?;
    let question = scene.asked_once()?;
    agent.begin("stop")?;
    agent.ends()?;
    within("the question to be withdrawn", || scene.pending().is_ok_and(|pending| pending.is_empty()))?;
    scene.answer(&question, &["approve"])?.expect_code(0);
    agent.asked("run echo ': > evil' >> ~/.claude/shell-snapshots/snapshot-bash-1796047-ab12cd.sh", &["approve"])?;
    for _ in 0..2 {
        let (question, _) = agent.asked("run touch made", &["deny"])?;
        assert_eq!(question.command, "touch made");
    }
    for name in ["made", "evil"] {
        scene.mark(name).expect_none();
    }
    agent.finish()?;
    Ok(())
}

#[test]
fn beside_a_changed_snapshot_a_command_is_a_question_of_its_own() -> Result<()> {
    let scene = Scene::ordinary()?;
    let mut agent = Agent::start(&scene, CLAUDE)?;
    agent.quietly("run ls")?;
    agent.begin("start touch made")?;
    let first = scene.asked_once()?;
    let snapshot = scene.path("home").join(".claude/shell-snapshots/snapshot-bash-1796047-ab12cd.sh");
    std::fs::write(snapshot, ": > evil\n")?;
    agent.begin("run touch made")?;
    let second = until("another question", Duration::from_secs(30), || {
        scene.pending().ok()?.into_iter().find(|question| question.audit_id != first.audit_id)
    })?;
    scene.answer(&second, &["deny"])?.expect_code(0);
    scene.answer(&first, &["deny"])?.expect_code(0);
    assert!(agent.ends()?.contains("status 126"));
    for name in ["made", "evil"] {
        scene.mark(name).expect_none();
    }
    agent.finish()?;
    Ok(())
}

#[test]
fn an_answer_after_the_agent_gave_up_counts_once_for_the_same_command() -> Result<()> {
    for package in PACKAGES {
        let scene = Scene::ordinary()?;
        let mut agent = Agent::start(&scene, package)?;
        agent.begin("start touch made")?;
        let question = scene.asked_once()?;
        agent.begin("stop")?;
        agent.ends()?;
        within("the question to be withdrawn", || scene.pending().is_ok_and(|pending| pending.is_empty()))?;
        let abandoned = scene.abandoned()?;
        assert_eq!(abandoned.iter().map(|q| &q.audit_id).collect::<Vec<_>>(), [&question.audit_id], "{package}");
        let table = scene.stayexec().words(["pending"]).finish()?;
        assert!(table.out().contains("1 more can be answered"), "{}", table.told());
        scene.answer(&question, &["approve"])?.expect_code(0);
        scene.answer(&question, &["approve"])?.expect_code(5);
        scene.mark("made").expect_none();
        // Another command is another question.
        agent.asked("run touch other", &["deny"])?;
        agent.quietly("run touch made")?;
        scene.mark("made").expect_made();
        agent.asked("run touch made", &["deny"])?;
        assert_eq!(held(&agent.finish()?).len(), 3, "{package}");
    }
    Ok(())
}

#[test]
fn a_refusal_after_the_agent_gave_up_tells_it_why() -> Result<()> {
    let scene = Scene::ordinary()?;
    let mut agent = Agent::start(&scene, CLAUDE)?;
    agent.begin("start touch made")?;
    let question = scene.asked_once()?;
    agent.begin("stop")?;
    agent.ends()?;
    within("the question to be withdrawn", || scene.pending().is_ok_and(|pending| pending.is_empty()))?;
    scene.answer(&question, &["deny", "--note", "not today"])?.expect_code(0);
    let said = agent.quietly("run touch made")?;
    assert!(said.contains("stayexec: denied (write): touch made: not today"), "{said}");
    agent.finish()?;
    Ok(())
}

#[test]
fn the_next_supervisor_knows_the_agent() -> Result<()> {
    let scene = Scene::ordinary()?;
    let mut agent = Agent::start(&scene, CLAUDE)?;
    agent.quietly("run ls")?;
    let first = scene.supervisor()?;
    scene.signal(&first, Signal::SIGKILL);
    until("another supervisor", Duration::from_secs(30), || scene.supervisor().ok().filter(|p| p.pid != first.pid))?;
    agent.quietly("run ls -l")?;
    let (question, _) = agent.asked("run touch made", &["approve"])?;
    assert_eq!(question.command, "touch made");
    agent.finish()?;
    Ok(())
}

#[test]
fn held_in_the_call_the_same_is_asked() -> Result<()> {
    for package in PACKAGES {
        let scene = Scene::ordinary()?;
        let mut agent = Agent::start_with(&scene, package, &["--hold", "call"])?;
        agent.quietly("run ls -la")?;
        let (question, said) = agent.asked("run touch made", &["approve"])?;
        assert!(question.command == "touch made" || package == UNKNOWN, "{package}: {:?}", question.command);
        assert_eq!(said, "status 0\n", "{package}");
        scene.mark("made").expect_made();
        agent.quietly("run ls")?;
        agent.finish()?;
    }
    Ok(())
}
