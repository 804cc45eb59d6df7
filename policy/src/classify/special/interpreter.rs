//! Interpreters of other languages: their text is not looked into, so they are Write, unless they only say their version.
//!
//! Knowledge about what they start can only raise: `python -m pip install`, `node /usr/bin/npm install`.

use super::super::collected::Reach;
use super::super::judge::{Judge, Raise, Scope, part};
use super::super::payload::deeper;
use super::super::program::base;
use super::super::vet::{Finding, vet};
use super::Call;
use crate::knowledge::Role;
use crate::{CommandClass, Part, ReasonCode};

/// Options with which an interpreter loads files by their names.
const LOADS: &[&str] = &["-m", "-M", "-r", "-I", "--require", "--import", "--loader", "--experimental-loader"];
/// Modules that take commands from the input.
const PROMPTS: &[&str] = &["code", "pdb", "asyncio", "sqlite3", "IPython", "idlelib", "bpython", "ptpython"];
/// Programs that are modules of the same name.
const TOOLS: &[&str] = &[
    "pip",
    "pytest",
    "coverage",
    "mypy",
    "black",
    "ruff",
    "flake8",
    "pylint",
    "isort",
    "tox",
    "build",
    "twine",
    "virtualenv",
    "autopep8",
    "yapf",
    "pycodestyle",
    "pyflakes",
];

pub(super) fn judge(judge: &Judge<'_>, call: &Call<'_>, scope: &Scope<'_>, out: &mut Part) -> bool {
    let vetted = vet(call.entry, call.args);
    let alone = vetted.operands.is_empty() && vetted.taken.is_empty();
    if vetted.info && alone && vetted.findings.is_empty() {
        return true;
    }
    let module = call.args.iter().position(|arg| arg.full() == Some("-m")).filter(|_| call.entry.subcommand("-m").is_none());
    let mut looks = false;
    if call.name.starts_with("py")
        && let Some(at) = module
        && let Some(name) = call.args.get(at + 1).and_then(|arg| arg.full())
    {
        looks = looks_only(judge, name, call, at, scope, out);
        if name == "http.server" {
            out.raise(Finding::new(CommandClass::Network, ReasonCode::Known, "serves files to other hosts"));
        }
    } else if let Some(&first) = vetted.operands.first() {
        let script = &call.args[first];
        judge.collect_arg(call.name, script, Reach::File);
        if let Some(path) = script.full() {
            let stem = base(path);
            let stem = stem.strip_suffix("-cli.js").or_else(|| stem.strip_suffix(".js")).unwrap_or(stem);
            started(judge, stem, call, first + 1, scope, out);
        }
    }
    // Without text and file, or with `-` for one, it reads its input.
    let file = vetted.operands.first().is_some_and(|&at| call.args[at].full() != Some("-"));
    if file {
        judge.runs_by_name();
    }
    let before = &call.args[..vetted.operands.first().copied().unwrap_or(call.args.len())];
    if before.iter().any(|arg| LOADS.iter().any(|option| arg.text.starts_with(option))) {
        judge.runs_by_name();
    }
    // A prompt behind its text, or a module that is one.
    let prompts = before.iter().any(|arg| arg.text.starts_with("-i") || arg.text.starts_with("--interactive"))
        || call.args.windows(2).any(|pair| pair[0].text == "-m" && PROMPTS.contains(&pair[1].text.as_str()));
    if prompts || (!file && scope.feed.text.is_none() && !vetted.taken.iter().any(|taken| taken.role == Role::Data)) {
        judge.takes_commands();
    }
    if judge.gathers() {
        let given = vetted.taken.iter().filter(|taken| taken.role == Role::Data).map(|taken| taken.value.text.as_str());
        given.chain(scope.feed.text.as_deref()).for_each(|text| judge.collect_text(call.name, text));
    }
    for taken in &vetted.taken {
        if taken.value.text.contains('/') && !matches!(taken.option.as_str(), "-c" | "-e" | "-m") {
            judge.collect_arg(call.name, &taken.value, Reach::File);
        }
    }
    if looks {
        return true;
    }
    out.raise_at(
        Finding::new(CommandClass::Write, ReasonCode::InterpreterText, "text of an interpreter that is not looked into"),
        call.entry.at,
    );
    true
}

/// A module that is known as such, or a program that is one: what it is there, it is here. A module may also lie in the
/// working directory, unless `-I` or `-P` says otherwise: of a text alone nothing is known about that directory, and the
/// start, which is judged again, asks.
fn looks_only(judge: &Judge<'_>, name: &str, call: &Call<'_>, at: usize, scope: &Scope<'_>, out: &mut Part) -> bool {
    let before = vet(call.entry, &call.args[..at]);
    let isolated = before.has("-I") || before.has("-P");
    let beside = judge.starts && scope.level == 0 && !isolated;
    let plain = before.findings.is_empty() && before.taken.is_empty() && before.operands.is_empty();
    let args = &call.args[at + 2..];
    let module = format!("python -m {name}");
    if judge.knowledge.program(&module).is_some() {
        let mut child = part(judge.text(&call.args[at + 1..]));
        judge.named(&module, args, &deeper(scope), &mut child);
        let looks = child.class == CommandClass::Read;
        out.add(child, judge.explain);
        return looks && plain && !beside;
    }
    let first = name.split('.').next().unwrap_or(name);
    started(judge, first, call, at + 2, scope, out);
    out.class == CommandClass::Read && plain && !beside && TOOLS.contains(&name) && judge.knowledge.program(name).is_some()
}

/// The program that a module or script is, when it has the name of one.
fn started(judge: &Judge<'_>, name: &str, call: &Call<'_>, from: usize, scope: &Scope<'_>, out: &mut Part) {
    if judge.knowledge.program(name).is_some() {
        let args = call.args.get(from..).unwrap_or_default();
        let mut child = part(judge.text(&call.args[from.saturating_sub(1).min(call.args.len())..]));
        judge.named(name, args, &deeper(scope), &mut child);
        out.add(child, judge.explain);
    }
}
