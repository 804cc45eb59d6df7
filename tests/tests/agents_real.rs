//! Real agents, unmodified, against a model that follows a script, in a network of their own without any way out.
//!
//! Runs in the long form, where `STAYEXEC_AGENTS` names a folder with a folder for each agent as npm and venv make them:
//! `codex/node_modules/.bin/codex`, `mini/bin/mini`.

use anyhow::{Context, Result, ensure};
use nix::sched::{CloneFlags, unshare};
use serde_json::{Value, json};
use stayexec_tests::{Launch, Question, Running, Scene, cannot_run, until};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

const READS: [&str; 10] = [
    "ls -la",
    "ls",
    "git status",
    "cat README.md",
    "grep -rn def src",
    "head -3 package.json",
    "find . -name '*.py'",
    "git log --oneline | head -3",
    "wc -l src/a.py && pwd",
    "cat package.json | grep \"name\" | head -1",
];

const WRITES: [&str; 5] = ["touch made-1", "mkdir made-2", "echo hi > made-3", "cp README.md made-4", "sed -i s/demo/other/ README.md"];

/// Where the agents are.
fn agents() -> Option<PathBuf> {
    let named = std::env::var_os("STAYEXEC_AGENTS").map(PathBuf::from);
    if named.is_none() {
        cannot_run("real agents take STAYEXEC_AGENTS=<folder of agents>");
    }
    named
}

/// A network with nothing but itself, for this thread and what it starts.
fn alone() -> bool {
    let apart = unshare(CloneFlags::CLONE_NEWNET).is_ok();
    let up = apart && Command::new("ip").args(["link", "set", "lo", "up"]).status().is_ok_and(|status| status.success());
    if !up {
        cannot_run("a network of its own takes root and ip(8)");
    }
    up
}

fn project(scene: &Scene) -> Result<()> {
    scene.file("src/a.py", "def f():\n    return 1\n")?;
    scene.file("README.md", "# demo\n")?;
    scene.file("package.json", "{\"name\": \"demo\"}\n")?;
    let git = |words: &[&str]| scene.ungated(["git", "-c", "user.name=a", "-c", "user.email=a@b"].iter().chain(words));
    for words in [&["init", "-q"][..], &["add", "-A"], &["commit", "-qm", "first"]] {
        git(words)?.expect_code(0);
    }
    Ok(())
}

/// The agent's own command line, with what it needs to find its model.
fn launch<'s>(scene: &'s Scene, agents: &Path, name: &str, port: &str) -> Result<Launch<'s>> {
    let url = format!("http://127.0.0.1:{port}");
    let binary = match name {
        "mini" => agents.join("mini/bin/mini"),
        _ => agents.join(name).join("node_modules/.bin").join(name),
    };
    ensure!(binary.exists(), "{} is not there", binary.display());
    let prompt = "Run the commands.";
    let home = |file: &str, text: String| scene.file(&format!("../home/{file}"), text).map(drop);
    let run = scene.run().tier("supervised").unconfined().limit(300).env("SHELL", "/bin/bash").env("TERM", "xterm").env("USER", "root");
    // What an agent keeps is where its profile says: these variables would move it.
    let run = run.without("XDG_DATA_HOME").without("XDG_CONFIG_HOME");
    let command = |words: &[&str]| [binary.as_os_str().to_owned()].into_iter().chain(words.iter().map(Into::into)).collect::<Vec<_>>();
    Ok(match name {
        "claude" => run
            .env("IS_SANDBOX", "1")
            .env("ANTHROPIC_BASE_URL", &url)
            .env("ANTHROPIC_API_KEY", "sk-ant-none")
            .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
            .command(command(&["-p", prompt, "--dangerously-skip-permissions"])),
        "codex" => {
            let provider =
                "model = \"m\"\nmodel_provider = \"own\"\ncheck_for_update_on_startup = false\n[model_providers.own]\nname = \"own\"\n";
            home(".codex/config.toml", format!("{provider}base_url = \"{url}/v1\"\nwire_api = \"responses\"\nenv_key = \"OWN_KEY\"\n"))?;
            run.env("OWN_KEY", "none").command(command(&["exec", "--dangerously-bypass-approvals-and-sandbox", prompt]))
        }
        "gemini" => {
            let off = json!({"usageStatisticsEnabled": false});
            let security = json!({"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": false}});
            home(
                ".gemini/settings.json",
                json!({"security": security, "general": {"enableAutoUpdate": false}, "privacy": off}).to_string(),
            )?;
            let run = run.env("GEMINI_API_KEY", "none").env("GOOGLE_GEMINI_BASE_URL", &url);
            run.command(command(&["-p", prompt, "--yolo", "-m", "gemini-2.5-pro"]))
        }
        "opencode" => {
            let model = json!({"name": "m", "tool_call": true, "limit": {"context": 200_000, "output": 8_000}});
            let options = json!({"baseURL": format!("{url}/v1"), "apiKey": "none"});
            let own = json!({"npm": "@ai-sdk/openai-compatible", "name": "own", "options": options, "models": {"m": model}});
            let whole = json!({"autoupdate": false, "share": "disabled", "model": "own/m", "small_model": "own/m", "permission": {"*": "allow"}, "provider": {"own": own}});
            home(".config/opencode/opencode.json", whole.to_string())?;
            let run = run.env("OPENCODE_DISABLE_AUTOUPDATE", "1").env("OPENCODE_DISABLE_LSP_DOWNLOAD", "1");
            let run = run.env("OPENCODE_DISABLE_MODELS_FETCH", "1").env("OPENCODE_DISABLE_DEFAULT_PLUGINS", "1");
            run.command(command(&["run", prompt]))
        }
        "pi" => {
            let cost = json!({"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0});
            let model = json!({"id": "m", "name": "m", "reasoning": false, "input": ["text"], "contextWindow": 200_000, "maxTokens": 8_000, "cost": cost});
            let own = json!({"baseUrl": format!("{url}/v1"), "api": "openai-completions", "apiKey": "none", "models": [model]});
            home(".pi/agent/models.json", json!({"providers": {"own": own}}).to_string())?;
            run.env("PI_OFFLINE", "1").command(command(&["--provider", "own", "--model", "m", "-p", prompt]))
        }
        "qwen" => {
            let security = json!({"auth": {"selectedType": "openai"}, "folderTrust": {"enabled": false}});
            let off = json!({"usageStatisticsEnabled": false});
            home(".qwen/settings.json", json!({"security": security, "general": {"disableAutoUpdate": true}, "privacy": off}).to_string())?;
            let run = run.env("OPENAI_API_KEY", "none").env("OPENAI_BASE_URL", format!("{url}/v1")).env("OPENAI_MODEL", "m");
            run.command(command(&["-p", prompt, "--yolo"]))
        }
        _ => {
            let run = run.env("OPENAI_API_KEY", "none").env("OPENAI_API_BASE", format!("{url}/v1")).env("MSWEA_CONFIGURED", "true");
            let run = run.env("MSWEA_COST_TRACKING", "ignore_errors").env("LITELLM_LOCAL_MODEL_COST_MAP", "True");
            run.command(command(&["-y", "--exit-immediately", "-m", "openai/m", "-t", prompt, "-o", "/dev/null"]))
        }
    })
}

/// What the model was told, in order.
fn told(log: &Path) -> Vec<String> {
    let lines = fs::read_to_string(log).unwrap_or_default();
    let rows = lines.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let longest = rows.filter_map(|row| row["results"].as_array().cloned()).max_by_key(Vec::len).unwrap_or_default();
    longest.iter().filter_map(|result| result.as_str().map(str::to_owned)).collect()
}

/// The script played, with each question denied: the questions, and what the model was told.
fn played(scene: &Scene, agents: &Path, name: &str) -> Result<(Vec<Question>, Vec<String>)> {
    project(scene)?;
    let end = (name == "mini").then_some("echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT");
    let lines: Vec<&str> = READS.into_iter().chain(WRITES).chain(end).collect();
    let script = scene.file("../tmp/script", lines.join("\n"))?;
    let (model, log) = (scene.file("../tmp/model.py", include_str!("../fixtures/model.py"))?, scene.path("tmp/log"));
    let model = scene.ungated_launch(["python3".as_ref(), model.as_os_str(), script.as_os_str(), log.as_os_str()]).limit(600).start()?;
    let port = until("the model", Duration::from_secs(20), || model.out().lines().next().map(str::to_owned))?;
    let mut running = Some(launch(scene, agents, name, port.trim())?.start()?);
    let mut seen: Vec<Question> = Vec::new();
    let ended = until("the agent to end", Duration::from_secs(300), || {
        for question in scene.pending().unwrap_or_default() {
            if seen.iter().all(|known| known.audit_id != question.audit_id) {
                let _ = scene.answer(&question, &["deny", "--note", "not in this folder"]);
                seen.push(question);
            }
        }
        running.as_mut().is_none_or(Running::has_ended).then_some(())
    });
    let outcome = running.take().context("started")?.finish()?;
    ended.with_context(|| outcome.told())?;
    drop(model);
    // An agent may leave something of its own behind.
    scene.leaves_processes();
    Ok((seen, told(&log)))
}

#[test]
#[ignore = "real agents, in the long form"]
fn reads_raise_no_question_and_each_write_one_that_shows_the_command() -> Result<()> {
    let Some(agents) = agents() else { return Ok(()) };
    if !alone() {
        return Ok(());
    }
    for name in ["claude", "codex", "gemini", "opencode", "mini"] {
        let scene = Scene::new()?;
        let (questions, told) = played(&scene, &agents, name)?;
        let shown: Vec<&str> = questions.iter().map(|question| question.command.as_str()).collect();
        println!("{name}: {shown:?}");
        assert_eq!(shown, WRITES, "{name}: {told:#?}");
        let results: BTreeSet<usize> = (0..told.len()).filter(|at| told[*at].contains("not in this folder")).collect();
        assert_eq!(results, (READS.len()..READS.len() + WRITES.len()).collect(), "{name}: {told:#?}");
        for write in WRITES {
            // In JSON a `>` may be written as its number.
            let line = format!("stayexec: denied (write): {}", write.split(" >").next().unwrap_or_default());
            assert!(told.iter().any(|result| result.contains(&line)), "{name}: {write}: {told:#?}");
        }
    }
    Ok(())
}

#[test]
#[ignore = "real agents, in the long form"]
fn agents_of_which_no_line_is_known_work_as_well() -> Result<()> {
    let Some(agents) = agents() else { return Ok(()) };
    if !alone() {
        return Ok(());
    }
    let there: Vec<&str> = ["pi", "qwen"].into_iter().filter(|name| agents.join(name).exists()).collect();
    if there.is_empty() {
        cannot_run("agents without a profile of their lines: neither pi nor qwen is there");
    }
    for name in there {
        let scene = Scene::new()?;
        let (questions, told) = played(&scene, &agents, name)?;
        let shown: Vec<&str> = questions.iter().map(|question| question.command.as_str()).collect();
        println!("{name}: {shown:?}");
        let own = questions.len().checked_sub(WRITES.len()).context(format!("{name}: {shown:?}"))?;
        assert!(own <= 3, "{name}: {shown:?}");
        for (question, write) in shown[own..].iter().zip(WRITES) {
            assert!(question.contains(write), "{name}: {shown:?}");
        }
        assert_eq!(told.iter().filter(|result| result.contains("not in this folder")).count(), WRITES.len(), "{name}: {told:#?}");
    }
    Ok(())
}
