//! One program start: the name of the resolved file, whether it can be believed, the environment it was given, the
//! script it will run, and then its arguments.
//!
//! Invariant: only facts of the files that were loaded or looked at lower a judgement; a name in `argv` tells a file of
//! several programs which one it is, and otherwise only raises.

use std::cell::RefCell;

use super::args::Arg;
use super::judge::{Feed, Judge, Raise, Scope, part};
use super::program::base;
use super::script;
use super::vars::Vars;
use super::vet::Finding;
use crate::forbidden::Operands;
use crate::knowledge::Meaning;
use crate::{Assessment, CommandClass, Exec, Part, Places, ReasonCode, Script, SecurityPolicy, Stdin};

pub(crate) fn exec(policy: &SecurityPolicy, start: &Exec<'_>, places: &Places<'_>, explain: bool) -> (Assessment, Part) {
    let judge = Judge { starts: true, own_files: places.own_files, home: places.home, ..Judge::new(policy, explain) };
    let Outcome { mut part, text_seen, wants } = self::judge(&judge, start, places);
    if policy.settings().workspace_only {
        outside(policy, start, places, &mut part);
    }
    let part = super::closed(policy, part);
    let deciding = part.deciding();
    let trusted = start.file.trusted(places);
    let entry = judge.knowledge.program(&String::from_utf8_lossy(start.file.name()));
    let assessment = Assessment {
        class: part.class,
        code: deciding.code,
        reason: deciding.reason.clone(),
        entry: deciding.entry.clone(),
        trusted,
        text_seen,
        self_contained: !judge.by_name.get(),
        wants,
        ignores_hangup: trusted && entry.is_some_and(|entry| entry.ignores_hangup),
    };
    (assessment, part)
}

pub(super) struct Outcome {
    part: Part,
    text_seen: bool,
    wants: Option<Vec<u8>>,
}

pub(super) fn judge(judge: &Judge<'_>, start: &Exec<'_>, places: &Places<'_>) -> Outcome {
    let args: Vec<Arg> = start.argv.iter().map(|arg| Arg::closed(String::from_utf8_lossy(arg))).collect();
    let mut out = part(judge.text(&args));
    let file_name = String::from_utf8_lossy(start.file.name()).into_owned();
    let called = judge.knowledge.called(&file_name, args.first().and_then(Arg::full).map(base));
    let name = called.name;
    let feed = Feed { fed: !matches!(start.stdin, Stdin::Null | Stdin::Terminal), ..Feed::default() };
    let (vars, functions) = (Vars::of_environment(start.environment), RefCell::new(Vec::new()));
    let scope = Scope { vars: &vars, functions: &functions, level: 0, feed };
    let rest = args.get(1..).unwrap_or_default();
    let kernel = start.script.is_some_and(|script| script.interpreted_by_kernel);
    let file = script::call(judge, name, rest, kernel, &scope);
    let behind = if file.is_none() { script::behind(judge, name, rest, &scope) } else { None };
    let is_of = |call: &script::ScriptCall, script: &Script<'_>| call.path.full().is_some_and(|path| path.as_bytes() == script.path);
    judge.collect_command(&args);
    let mut wants = None;
    let text_seen = match (start.script, &file) {
        (Some(script), Some(call)) if is_of(call, &script) => script::judge(judge, start, &script, call, places, &scope, &mut out),
        (Some(script), None) if script.operand && behind.as_ref().is_some_and(|call| is_of(call, &script)) => {
            // The wrapper counts with its unread script, whose text can only raise.
            judge.named(name, rest, &scope, &mut out);
            let call = behind.as_ref();
            let seen = call.is_some_and(|call| script::judge(judge, start, &script, call, places, &scope, &mut out));
            seen && judge.text_seen()
        }
        (Some(script), _) if !script.interpreted_by_kernel && judge.knowledge.program(name).is_none() => {
            match script.text.and_then(|text| std::str::from_utf8(text).ok()) {
                Some(text) => {
                    let child = judge.text_part(text, Some(&vars), 1, &Feed::default());
                    out.add(child, judge.explain);
                    judge.collect_path(name, &String::from_utf8_lossy(script.path));
                }
                None => out.raise(Finding::new(CommandClass::Write, ReasonCode::InterpreterText, "a text that could not be read")),
            }
            script.text.is_some()
        }
        _ => {
            judge.named(name, rest, &scope, &mut out);
            if let Some(call) = file.as_ref().or(behind.as_ref()) {
                wants = start.script.is_none().then(|| script::wanted(start, call)).flatten();
            }
            file.is_none() && behind.is_none() && judge.text_seen()
        }
    };
    judge.also_called(called, rest, &scope, &mut out);
    for name in std::iter::once(name).chain(called.besides) {
        environment(judge, start, places, name, &scope, &mut out);
    }
    if !start.file.trusted(places) {
        out.raise(Finding::new(CommandClass::Write, ReasonCode::UntrustedFile, untrusted(start, places)));
    }
    if out.reason.is_empty() {
        out.reason = "only reads".into();
    }
    Outcome { part: out, text_seen, wants }
}

/// What the environment makes this program load, where it differs from the environment of the run.
fn environment(judge: &Judge<'_>, start: &Exec<'_>, places: &Places<'_>, name: &str, scope: &Scope<'_>, out: &mut Part) {
    let baseline: std::collections::HashSet<&[u8]> = start.baseline.iter().map(Vec::as_slice).collect();
    for entry in start.environment {
        if baseline.contains(entry.as_slice()) {
            continue;
        }
        let entry = String::from_utf8_lossy(entry);
        let (variable, value) = entry.split_once('=').unwrap_or((&entry, ""));
        match judge.knowledge.meaning(variable) {
            Meaning::Harmless | Meaning::Path => {}
            Meaning::LoadFor(programs) | Meaning::CommandFor(programs)
                if !programs.iter().any(|program| program.as_ref() == name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.')) => {}
            Meaning::Load | Meaning::LoadFor(_) | Meaning::Command | Meaning::CommandFor(_) => {
                if own_setting(start, places, variable, value) {
                    continue;
                }
                if let Some(finding) = judge.assignment(variable, &Arg::closed(value), scope) {
                    out.raise(finding);
                }
            }
        }
    }
}

/// Nothing but the libraries beside the program itself, `../lib` of where it lies: a toolchain that is believed brings them.
fn own_libraries(start: &Exec<'_>, places: &Places<'_>, value: &str) -> bool {
    let home = std::str::from_utf8(start.file.path).ok().and_then(|path| path.rsplit_once("/bin/")).map(|(home, _)| home);
    let own = |dir: &str| home.is_some_and(|home| dir.strip_prefix(home) == Some("/lib"));
    start.file.trusted(places) && value.split(':').all(own)
}

/// What a launcher of toolchains sets for the program that it starts, and nothing else: the toolchain's libraries, and the
/// folders that would be taken anyway.
fn own_setting(start: &Exec<'_>, places: &Places<'_>, variable: &str, value: &str) -> bool {
    let default = |folder: &str| value.strip_suffix(folder).is_some_and(|home| !home.is_empty() && home.as_bytes() == places.home);
    let configured = |file: &str| {
        let folder = || value.strip_suffix(file).map(|folder| format!("XDG_CONFIG_HOME={folder}"));
        folder().is_some_and(|entry| start.baseline.iter().any(|known| *known == entry.as_bytes()))
    };
    match variable {
        "LD_LIBRARY_PATH" => own_libraries(start, places, value),
        "CARGO_HOME" => default("/.cargo"),
        "RUSTUP_HOME" => default("/.rustup"),
        "GOENV" => default("/.config/go/env") || configured("/go/env"),
        _ => false,
    }
}

/// Which fact keeps the name from being believed.
fn untrusted(start: &Exec<'_>, places: &Places<'_>) -> String {
    let file = start.file;
    let path = crate::display::bytes(file.path);
    let why = if !file.unchanged {
        "was changed during the run"
    } else if !file.same_view {
        "is not the file that this path names outside"
    } else if !file.linker_trusted {
        "is loaded by a linker that is not trusted"
    } else if crate::exec::below(file.path, places.workspace) || places.temp.iter().any(|dir| crate::exec::below(file.path, dir)) {
        "lies in the workspace or among temporary files"
    } else {
        "is in no directory that is trusted"
    };
    format!("{path} {why}")
}

/// `workspace_only`: what reads outside the workspace, or works there, is a question.
fn outside(policy: &SecurityPolicy, start: &Exec<'_>, places: &Places<'_>, out: &mut Part) {
    let why = if !crate::exec::below(start.cwd, places.workspace) {
        "works outside the workspace".to_owned()
    } else if let Some(operand) = Operands::of_exec(policy, start, places).outside_of_exec(start, places) {
        format!("reads {} outside the workspace", crate::display::word(&operand.word.replace(super::args::UNKNOWN, "…")))
    } else {
        return;
    };
    out.raise(Finding::new(CommandClass::Write, ReasonCode::OutsideWorkspace, why));
}
