//! A script file: the operand of a shell or interpreter that decides what runs.
//!
//! Invariant: the script is believed by its name only when its own file and the interpreter's are what they say, and when
//! the interpreter is given nothing else to load; what the options in front of it do always counts. Refuses to take a text
//! for the script of a call that does not name it.

use super::args::Arg;
use super::judge::{Feed, Judge, Raise, Scope, part};
use super::payload::deeper;
use super::program::base;
use super::special::{Call, env_words};
use super::vet::{Finding, vet};
use crate::knowledge::{Called, Entry, Payload, Role};
use crate::{CommandClass, Exec, Part, Places, ReasonCode, Script};

/// A call whose text is a file that stands among its operands.
pub(super) struct ScriptCall {
    pub path: Arg,
    /// The words behind the path.
    pub rest: Vec<Arg>,
    /// What the interpreter's options and its environment come to.
    pub findings: Vec<Finding>,
    /// A shell of this name reads it.
    pub shell: Option<String>,
}

/// The script of `name args…`, when a file decides what that runs. `env` is looked through where `through` says so.
pub(super) fn call(judge: &Judge<'_>, name: &str, args: &[Arg], through: bool, scope: &Scope<'_>) -> Option<ScriptCall> {
    let entry = judge.knowledge.program(name)?;
    match entry.special.as_deref()? {
        "env" if through => {
            let mut found = part(String::new());
            let words = env_words(judge, &Call { entry, name, args }, scope, &mut found);
            let (first, rest) = words.split_first()?;
            let program = first.full().filter(|program| !program.contains('/') || super::program::standard(program))?;
            let mut inner = call(judge, base(program), rest, false, scope)?;
            if found.class > CommandClass::Read {
                inner.findings.push(Finding::new(found.class, found.code, found.reason));
            }
            Some(inner)
        }
        kind @ ("shell" | "interpreter") => direct(entry, name, args, kind == "shell"),
        _ => None,
    }
}

/// The script of the command that a wrapper starts, whose words are the wrapper's last: `timeout 9 bash x.sh`.
pub(super) fn behind(judge: &Judge<'_>, name: &str, args: &[Arg], scope: &Scope<'_>) -> Option<ScriptCall> {
    let mut words: Vec<Arg> = std::iter::once(Arg::closed(name)).chain(args.iter().cloned()).collect();
    for _ in 0..super::judge::MAX_LEVELS {
        let entry = judge.knowledge.program(base(words.first()?.full()?))?;
        words = if entry.special.as_deref() == Some("env") {
            let mut found = part(String::new());
            env_words(judge, &Call { entry, name: "env", args: &words[1..] }, scope, &mut found)
        } else if entry.special.is_none() && entry.payload == Some(Payload::Argv) {
            let start = judge.payload_start(entry, &words[1..], &vet(entry, &words[1..]))?;
            words.split_off(start + 1)
        } else {
            return None;
        };
        let first = words.first()?.full()?;
        if first.contains('/') && !super::program::standard(first) {
            return None;
        }
        if let Some(found) = call(judge, base(first), &words[1..], false, scope) {
            return Some(found);
        }
    }
    None
}

fn direct(entry: &Entry, name: &str, args: &[Arg], shell: bool) -> Option<ScriptCall> {
    let vetted = vet(entry, args);
    let input = shell && (vetted.has("-c") || vetted.has("-s"));
    if input || vetted.info || vetted.taken.iter().any(|taken| taken.role == Role::Data) {
        return None;
    }
    let mut operands = vetted.operands.as_slice();
    // To a shell a lone dash ends the options.
    if shell && operands.first().is_some_and(|&at| args[at].full() == Some("-")) {
        operands = &operands[1..];
    }
    let &at = operands.first()?;
    args[at].full().filter(|path| !path.is_empty() && !path.starts_with('-'))?;
    Some(ScriptCall {
        path: args[at].clone(),
        rest: args[at + 1..].to_vec(),
        findings: vetted.findings,
        shell: shell.then(|| name.to_owned()),
    })
}

/// The operand that the caller should look at, as it was given: bytes of `argv`.
pub(super) fn wanted(start: &Exec<'_>, call: &ScriptCall) -> Option<Vec<u8>> {
    // A descriptor's name says nothing to others, and what lies there may be read only once.
    let path = call.path.full().filter(|path| !["/dev/", "/proc/"].iter().any(|dir| path.starts_with(dir)))?;
    let at = start.argv.len().checked_sub(call.rest.len() + 1)?;
    start.argv.get(at).filter(|word| word.as_slice() == path.as_bytes()).cloned()
}

/// The name of a script's file is that of a program, and the file is where programs are.
fn believed<'a>(judge: &Judge<'_>, script: &Script<'a>, places: &Places<'_>) -> Option<Called<'a>> {
    let file = script.file;
    if !file.trusted(places) {
        return None;
    }
    let name = base(std::str::from_utf8(file.path).ok()?);
    let called = judge.knowledge.called(name, std::str::from_utf8(script.path).ok().map(base));
    judge.knowledge.program(called.name)?;
    // `completions/ls` is no `ls`. An ending that the entry itself lists (`npm-cli.js`) is found elsewhere as well.
    // Nor is one that goes by the name of its link: which programs those are is known.
    let linked = called.name != name;
    (file.among_programs(places) || judge.knowledge.by_suffix(name) || linked).then_some(called)
}

/// The script that `start` runs, found among its own arguments, as the script of its class.
pub(super) fn judge(
    judge: &Judge<'_>,
    start: &Exec<'_>,
    script: &Script<'_>,
    call: &ScriptCall,
    places: &Places<'_>,
    scope: &Scope<'_>,
    out: &mut Part,
) -> bool {
    let name = believed(judge, script, places).filter(|_| start.file.trusted(places));
    let name = name.filter(|_| script.text.is_some() || !script.operand);
    for finding in &call.findings {
        out.raise(finding.clone());
    }
    judge.collect_path(base(&call.path.text), &call.path.text);
    let by_name = name.and_then(|called| {
        let mut child = named(judge, called.name, call, scope)?;
        judge.also_called(called, &call.rest, &deeper(scope), &mut child);
        Some(child)
    });
    let text = script.text.and_then(|text| std::str::from_utf8(text).ok());
    // Nothing is less than a read: there is no need to look.
    let looks = by_name.as_ref().is_none_or(|child| child.class > CommandClass::Read);
    let by_text = call.shell.as_ref().zip(text).filter(|_| looks);
    let by_text = by_text.map(|(shell, text)| judge.read_by(shell, false, || judge.text_part(text, Some(scope.vars), 1, &Feed::default())));
    let known = by_name.is_some();
    let child = match (by_name, by_text) {
        // What the file is said to do, and what can be seen of it: each is true, so the lower one holds.
        (Some(name), Some(text)) => {
            if text.class < name.class {
                text
            } else {
                name
            }
        }
        (Some(only), None) | (None, Some(only)) => only,
        (None, None) => {
            raising(judge, call, scope, out);
            out.raise(Finding::new(CommandClass::Write, ReasonCode::InterpreterText, "a script that is not looked into"));
            return false;
        }
    };
    out.add(child, judge.explain);
    known || script.text.is_some()
}

fn named(judge: &Judge<'_>, name: &str, call: &ScriptCall, scope: &Scope<'_>) -> Option<Part> {
    judge.knowledge.program(name)?;
    let words: Vec<Arg> = std::iter::once(Arg::closed(name)).chain(call.rest.iter().cloned()).collect();
    let mut child = part(judge.text(&words));
    judge.collect_command(&words);
    judge.named(name, &call.rest, &deeper(scope), &mut child);
    Some(child)
}

/// A script that is not believed to be what its name says may still be as bad as that.
fn raising(judge: &Judge<'_>, call: &ScriptCall, scope: &Scope<'_>, out: &mut Part) {
    let stem = base(&call.path.text);
    let stem = stem.strip_suffix("-cli.js").or_else(|| stem.strip_suffix(".js")).unwrap_or(stem);
    if call.shell.is_none()
        && let Some(child) = named(judge, stem, call, scope)
    {
        out.add(child, judge.explain);
    }
}
