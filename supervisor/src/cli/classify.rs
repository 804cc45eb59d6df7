//! `classify` and `check`: what would be said to a command.
//!
//! Invariant: each input gets its answer, in order; a line that cannot be understood gets one that says where, and the
//! status at the end is 2. Refuses to read files: a command is judged by its words.

use super::arguments::Judging;
use super::{print, tree};
use crate::config::{self, Frozen, Overrides, Surroundings};
use crate::error::Failure;
use crate::exit_code;
use crate::judge::{self, Checked, Input, Known};
use serde::{Deserialize, Serialize};
use stayexec_policy::{CommandClass, GateDecision, SecurityPolicy};
use std::ffi::OsStr;
use std::io::{self, BufRead, Read, Write};
use std::os::unix::ffi::OsStrExt;

/// What counts besides the command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// The matrix of a tier.
    Tier,
    /// The configuration of the workspace.
    Workspace,
}

/// Who is asked.
enum Judge {
    Tier(Box<SecurityPolicy>),
    Workspace(Box<Frozen>, Box<SecurityPolicy>, Box<Known>),
}

#[derive(Serialize)]
struct Answer<'a> {
    class: CommandClass,
    decision: GateDecision,
    reason: &'a str,
}

impl<'a> Answer<'a> {
    fn of(checked: &'a Checked) -> Self {
        Self { class: checked.class, decision: checked.decision, reason: &checked.reason }
    }
}

/// Answers for the words, for standard input, or line by line.
pub fn run(arguments: &Judging, scope: Scope) -> Result<u8, Failure> {
    let judge = Judge::new(arguments, scope)?;
    if arguments.jsonl {
        return lines(&judge, arguments.declare);
    }
    let checked = judge.check(&input(arguments)?, arguments.declare);
    match (arguments.json, arguments.explain) {
        (true, false) => print::json(&Answer::of(&checked))?,
        (true, true) => print::json(&tree::answer(&checked))?,
        (false, explain) => {
            let colour = tree::coloured(&Surroundings::current()?);
            let class = tree::class(checked.class, colour);
            print::line(&format!("{class} {}: {}", checked.decision, judge::shown(&checked.reason)))?;
            if explain {
                print::text(&tree::lines(&checked.parts, colour))?;
            }
        }
    }
    Ok(match (scope, checked.decision) {
        (Scope::Tier, _) | (Scope::Workspace, GateDecision::Allow) => exit_code::OK,
        (Scope::Workspace, GateDecision::Block) => exit_code::BLOCKED,
        (Scope::Workspace, GateDecision::Prompt) => exit_code::PROMPT,
    })
}

impl Judge {
    fn new(arguments: &Judging, scope: Scope) -> Result<Self, Failure> {
        let overrides = Overrides { tier: arguments.tier, workspace: arguments.workspace.clone(), ..Overrides::default() };
        let around = Surroundings::current()?;
        if scope == Scope::Tier {
            let policy = config::policy(arguments.tier.unwrap_or_default(), &config::knowledge(&overrides, &around)?)?;
            return Ok(Self::Tier(Box::new(policy)));
        }
        let settings = config::load(&overrides, &around)?;
        let folder = super::context::workspace_state(&settings.directories, &settings.workspace);
        let path = around.variable("PATH").map(OsStr::as_bytes).unwrap_or_default();
        let known = Known::read(&settings.directories.state, &folder, path).map_err(Failure::Store)?;
        let frozen = Frozen::of(&settings, false, false);
        let policy = frozen.policy()?;
        Ok(Self::Workspace(Box::new(frozen), Box::new(policy), Box::new(known)))
    }

    fn check(&self, input: &Input, declared: Option<CommandClass>) -> Checked {
        let policy = match self {
            Self::Workspace(frozen, policy, known) => return judge::check(frozen, policy, known, input, declared),
            Self::Tier(policy) => policy,
        };
        let parts = match input {
            Input::Text(text) => policy.explain_command(text),
            Input::Words(words) => policy.explain_words(words),
        };
        let class = parts.class.max(declared.unwrap_or(CommandClass::Read));
        let reason = if class > parts.class { format!("declared {class} by the caller") } else { parts.deciding().reason.clone() };
        Checked { class, decision: policy.gate_decision(class), reason, parts }
    }
}

fn input(arguments: &Judging) -> Result<Input, Failure> {
    let words: Vec<String> = arguments.command.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    match <[String; 1]>::try_from(words) {
        Ok([text]) => Ok(Input::Text(text)),
        Err(words) if !words.is_empty() => Ok(Input::Words(words)),
        Err(_) => {
            let mut text = Vec::new();
            io::stdin().lock().read_to_end(&mut text).map_err(|cause| Failure::Step("read standard input", cause))?;
            let text = text.strip_suffix(b"\n").unwrap_or(&text);
            Ok(Input::Text(String::from_utf8_lossy(text).into_owned()))
        }
    }
}

/// One line of `--jsonl`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    command: Option<String>,
    argv: Option<Vec<String>>,
    declared: Option<String>,
}

impl Line {
    fn parse(line: &[u8]) -> Result<(Input, Option<CommandClass>), String> {
        let line: Self = serde_json::from_slice(line).map_err(|e| e.to_string())?;
        let declared = line.declared.map(|word| word.parse::<CommandClass>()).transpose().map_err(|e| e.to_string())?;
        match (line.command, line.argv) {
            (Some(text), None) => Ok((Input::Text(text), declared)),
            (None, Some(words)) if !words.is_empty() => Ok((Input::Words(words), declared)),
            _ => Err("give either command or a non-empty argv".into()),
        }
    }
}

fn lines(judge: &Judge, declare: Option<CommandClass>) -> Result<u8, Failure> {
    let mut status = exit_code::OK;
    let mut from = io::BufReader::with_capacity(64 << 10, io::stdin().lock());
    let mut out = io::BufWriter::new(io::stdout().lock());
    let mut line = Vec::new();
    for number in 1_usize.. {
        line.clear();
        if from.read_until(b'\n', &mut line).map_err(|cause| Failure::Step("read standard input", cause))? == 0 {
            break;
        }
        if line.trim_ascii().is_empty() {
            continue;
        }
        let answer = match Line::parse(&line) {
            Ok((input, declared)) => {
                let checked = judge.check(&input, declared.max(declare));
                serde_json::to_string(&Answer::of(&checked))
            }
            Err(message) => {
                status = exit_code::USAGE;
                serde_json::to_string(&serde_json::json!({ "error": format!("line {number}: {message}") }))
            }
        };
        let answer = answer.map_err(|e| Failure::Step("write JSON", e.into()))?;
        writeln!(out, "{answer}").map_err(written)?;
        // Whoever asks line by line waits for each answer; whoever sends many at once has more in the buffer.
        if from.buffer().is_empty() {
            out.flush().map_err(written)?;
        }
    }
    out.flush().map_err(written)?;
    Ok(status)
}

fn written(cause: io::Error) -> Failure {
    match cause.kind() {
        io::ErrorKind::BrokenPipe => Failure::Pipe,
        _ => Failure::Step("write to standard output", cause),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_say_what_is_wrong() {
        assert_eq!(Line::parse(b"{\"command\":\"ls\"}"), Ok((Input::Text("ls".into()), None)));
        let declared = Line::parse(b"{\"argv\":[\"ls\",\"-l\"],\"declared\":\"Network\"}");
        assert_eq!(declared, Ok((Input::Words(vec!["ls".into(), "-l".into()]), Some(CommandClass::Network))));
        for line in [
            &b"x"[..],
            b"{}",
            b"{\"argv\":[]}",
            b"{\"command\":\"a\",\"argv\":[\"a\"]}",
            b"{\"command\":1}",
            b"{\"command\":\"a\",\"declared\":\"x\"}",
            b"\xff",
        ] {
            assert!(Line::parse(line).is_err());
        }
    }
}
