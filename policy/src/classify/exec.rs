//! One program start: the name of the resolved file, whether it can be believed, the environment it was given, the
//! script it will run, and then its arguments.

use std::cell::RefCell;

use super::args::Arg;
use super::judge::{Feed, Judge, Raise, Scope, part};
use super::program::base;
use super::vars::Vars;
use super::vet::Finding;
use crate::knowledge::Meaning;
use crate::{Assessment, CommandClass, Exec, Part, Places, ReasonCode, SecurityPolicy, Stdin};

/// Files that are several programs, told apart by `argv[0]`.
const MULTI_CALL: &[&str] = &["busybox", "toybox", "coreutils", "uutils", "sbase-box", "ubase-box", "crunch"];

pub(crate) fn exec(policy: &SecurityPolicy, start: &Exec<'_>, places: &Places<'_>, explain: bool) -> (Assessment, Part) {
    let judge = Judge { starts: true, ..Judge::new(policy, explain) };
    let part = self::judge(&judge, start, places);
    let deciding = part.deciding();
    let assessment = Assessment {
        class: part.class,
        code: deciding.code,
        reason: deciding.reason.clone(),
        entry: deciding.entry.clone(),
        trusted: start.file.trusted(places),
        text_seen: text_seen(&judge, start),
    };
    (assessment, part)
}

/// A shell that takes its text from its input, and an interpreter with text that was not looked into, are not seen.
fn text_seen(judge: &Judge<'_>, start: &Exec<'_>) -> bool {
    let name = String::from_utf8_lossy(start.file.name()).into_owned();
    match judge.knowledge.program(&name).and_then(|entry| entry.special.as_deref()) {
        Some("shell") => {
            let has_text = start.argv.iter().skip(1).any(|arg| arg.len() > 1 && arg[0] == b'-' && arg[1] != b'-' && arg.contains(&b'c'));
            has_text || start.script.is_some_and(|script| script.text.is_some())
        }
        Some("interpreter") => start.script.is_none_or(|script| script.text.is_some()) && start.argv.len() > 1,
        _ => true,
    }
}

pub(super) fn judge(judge: &Judge<'_>, start: &Exec<'_>, places: &Places<'_>) -> Part {
    let args: Vec<Arg> = start.argv.iter().map(|arg| Arg::closed(String::from_utf8_lossy(arg))).collect();
    let mut out = part(judge.text(&args));
    let name = String::from_utf8_lossy(start.file.name()).into_owned();
    let feed = Feed { fed: !matches!(start.stdin, Stdin::Null | Stdin::Terminal), ..Feed::default() };
    let (vars, functions) = (Vars::default(), RefCell::new(Vec::new()));
    let scope = Scope { vars: &vars, functions: &functions, level: 0, feed };
    let rest = args.get(1..).unwrap_or_default();
    let script = start.script.and_then(|script| shell_script(judge, &name, &script));
    judge.collect_command(&args);
    match script {
        Some(text) => {
            let child = judge.text_part(&text, None, 1, &Feed::default());
            out.add(child, judge.explain);
            if let Some(script) = start.script {
                judge.collect_path(&name, &String::from_utf8_lossy(script.path));
            }
        }
        None if start.script.is_some_and(|script| !script.interpreted_by_kernel) && judge.knowledge.program(&name).is_none() => {
            out.raise(Finding::new(CommandClass::Write, ReasonCode::InterpreterText, "a text that could not be read"));
        }
        None => program(judge, &name, &args, rest, &scope, &mut out),
    }
    environment(judge, start, &name, &scope, &mut out);
    if !start.file.trusted(places) {
        out.raise(Finding::new(CommandClass::Write, ReasonCode::UntrustedFile, untrusted(start, places)));
    }
    if judge.settings.workspace_only {
        outside(start, places, &mut out);
    }
    if out.reason.is_empty() {
        out.reason = "only reads".into();
    }
    out
}

fn program(judge: &Judge<'_>, name: &str, args: &[Arg], rest: &[Arg], scope: &Scope<'_>, out: &mut Part) {
    if MULTI_CALL.contains(&name)
        && let Some(called) = args.first().and_then(Arg::full).map(base)
        && called != name
    {
        judge.named(called, rest, scope, out);
        return;
    }
    judge.named(name, rest, scope, out);
}

/// The text of a shell script, when the image is a shell that will run it, or the text stands for itself.
fn shell_script(judge: &Judge<'_>, name: &str, script: &crate::Script<'_>) -> Option<String> {
    let is_shell = judge.knowledge.program(name).and_then(|entry| entry.special.as_deref()) == Some("shell");
    if !is_shell && script.interpreted_by_kernel {
        return None;
    }
    if !is_shell && judge.knowledge.program(name).is_some() {
        return None;
    }
    std::str::from_utf8(script.text?).ok().map(str::to_owned)
}

/// What the environment makes this program load, where it differs from the environment of the run.
fn environment(judge: &Judge<'_>, start: &Exec<'_>, name: &str, scope: &Scope<'_>, out: &mut Part) {
    let baseline: std::collections::HashSet<&[u8]> = start.baseline.iter().map(Vec::as_slice).collect();
    for entry in start.environment {
        if baseline.contains(entry.as_slice()) {
            continue;
        }
        let entry = String::from_utf8_lossy(entry);
        let (variable, value) = entry.split_once('=').unwrap_or((&entry, ""));
        match judge.knowledge.meaning(variable) {
            Meaning::Harmless | Meaning::Path => {}
            Meaning::LoadFor(programs)
                if !programs.iter().any(|program| program.as_ref() == name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.')) => {}
            Meaning::Load | Meaning::LoadFor(_) | Meaning::Command => {
                if let Some(finding) = judge.assignment(variable, &Arg::closed(value), scope) {
                    out.raise(finding);
                }
            }
        }
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

/// `workspace_only`: a read outside the workspace is a question.
fn outside(start: &Exec<'_>, places: &Places<'_>, out: &mut Part) {
    for arg in start.argv.iter().skip(1) {
        let text = String::from_utf8_lossy(arg);
        if !(text.starts_with('/') || text.starts_with('~') || text.split('/').any(|part| part == "..")) {
            continue;
        }
        let absolute = if text.starts_with('/') { text.into_owned() } else { format!("{}/{text}", String::from_utf8_lossy(start.cwd)) };
        let path = super::paths::lexical(&absolute);
        if !crate::exec::below(path.as_bytes(), places.workspace) && !super::paths::is_sink(&path) {
            out.raise(Finding::new(CommandClass::Write, ReasonCode::OutsideWorkspace, "reads outside the workspace"));
        }
    }
}
