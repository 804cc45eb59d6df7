//! Shells and the builtins that run, hide or change what the text itself says.

use super::super::args::Arg;
use super::super::collected::Reach;
use super::super::judge::{Feed, Judge, Raise, Scope};
use super::super::payload::deeper;
use super::super::vet::{Finding, vet};
use super::{Call, options};
use crate::{CommandClass, Part, ReasonCode};

/// Names of the standard input.
pub(in super::super) const STANDARD_INPUT: &[&str] = &["-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"];

fn raise(out: &mut Part, code: ReasonCode, reason: &'static str) {
    out.raise(Finding::new(CommandClass::Write, code, reason));
}

/// `sh [options] -c TEXT`, `sh FILE`, `sh` with its text on the standard input.
pub(super) fn shell(judge: &Judge<'_>, call: &Call<'_>, scope: &Scope<'_>, out: &mut Part) -> bool {
    let vetted = vet(call.entry, call.args);
    for finding in &vetted.findings {
        out.raise_at(finding.clone(), call.entry.at);
    }
    for taken in vetted.taken.iter().filter(|taken| matches!(taken.option.as_str(), "-o" | "-O")) {
        options::named(&taken.value, true, out);
    }
    if !matches!(call.name, "sh" | "bash" | "dash" | "ash" | "zsh" | "ksh" | "mksh" | "rbash" | "ksh93" | "lksh" | "oksh" | "posh" | "yash")
    {
        raise(out, ReasonCode::Opaque, "a shell with another language");
    }
    let first = vetted.operands.first().map(|&at| &call.args[at]);
    // It reads and runs nothing, unless it is interactive; `+n` would have it run again.
    let checks = vetted.has("-n") && !vetted.has("-i") && !vetted.has("-s") && !vetted.has("--interactive") && vetted.findings.is_empty();
    if checks
        && matches!(call.name, "sh" | "bash" | "dash" | "ash" | "zsh" | "ksh" | "mksh")
        && let Some(script) = first
        && script.known > 0
        && !script.text.starts_with('+')
    {
        judge.collect_arg(call.name, script, Reach::File);
        return true;
    }
    if call.args.iter().any(|arg| arg.text.starts_with("--rcfile") || arg.text.starts_with("--init-file")) {
        judge.runs_by_name();
    }
    if vetted.has("-c") {
        let Some(text) = first else {
            raise(out, ReasonCode::DynamicCommand, "a shell without its text");
            return true;
        };
        // Its parameters are words of the text.
        vetted.operands.iter().skip(2).for_each(|&at| judge.collect_arg(call.name, &call.args[at], Reach::File));
        // The program that was started is this shell itself: its environment is the one that is known.
        let child = scope.vars.of_child();
        let vars = if scope.level == 0 { child.with_words_of(scope.vars) } else { child };
        let mut inner = Scope { feed: Feed::default(), vars: &vars, ..deeper(scope) };
        inner.feed.clone_from(&scope.feed);
        let child = judge.read_by(call.name, vetted.has("-i"), || {
            if text.is_open() { judge.text_arg(text, &inner) } else { judge.text_part(&text.text, Some(&vars), inner.level, &scope.feed) }
        });
        if child.class >= CommandClass::Network && text.is_open() {
            out.raise(Finding::new(CommandClass::Install, ReasonCode::DownloadRun, "a download that is run"));
        }
        out.add(child, judge.explain);
        out.code = if out.code == ReasonCode::Parts { ReasonCode::Payload } else { out.code };
        return true;
    }
    if vetted.info {
        return true;
    }
    if let Some(script) = first
        && !vetted.has("-s")
    {
        judge.collect_arg(call.name, script, Reach::File);
        judge.runs_by_name();
        raise(out, ReasonCode::InterpreterText, "a script that was not read");
        return true;
    }
    match &scope.feed.text {
        Some(text) => {
            if vetted.has("-i") {
                raise(out, ReasonCode::Opaque, "an interactive shell puts its history and its prompts into what it reads");
            }
            let inner = Feed { fed: true, ..Feed::default() };
            let child =
                judge.read_by(call.name, vetted.has("-i"), || judge.text_part(text, Some(&scope.vars.of_child()), scope.level + 1, &inner));
            out.add(child, judge.explain);
        }
        // Who approves that a download is run has approved what it starts, up to its class.
        None if scope.feed.download => {
            judge.runs_unseen();
            raise(out, ReasonCode::ShellInput, "a shell that takes its text from its input");
        }
        None => {
            judge.takes_commands();
            raise(out, ReasonCode::ShellInput, "a shell that takes its text from its input");
        }
    }
    true
}

/// The words, joined with blanks, are text.
pub(super) fn eval(judge: &Judge<'_>, call: &Call<'_>, scope: &Scope<'_>, out: &mut Part) -> bool {
    let skip = usize::from(call.args.first().and_then(Arg::full) == Some("--"));
    let child = judge.joined(&call.args[skip..], &deeper(scope));
    out.add(child, judge.explain);
    // What it defines is not followed.
    scope.functions.borrow_mut().clear();
    true
}

/// Files of the system that hold nothing but names with their values.
const SYSTEM_FACTS: &[&str] = &["/etc/os-release", "/usr/lib/os-release", "/etc/lsb-release"];

pub(super) fn source(judge: &Judge<'_>, call: &Call<'_>, scope: &Scope<'_>, out: &mut Part) -> bool {
    for arg in call.args {
        judge.collect_arg(call.name, arg, Reach::File);
    }
    scope.functions.borrow_mut().clear();
    let input = call.args.first().is_some_and(|arg| arg.is_open() || STANDARD_INPUT.contains(&arg.text.as_str()));
    match &scope.feed.text {
        Some(text) if input => {
            let child = judge.text_part(text, Some(scope.vars), scope.level + 1, &Feed::default());
            out.add(child, judge.explain);
        }
        None if input => judge.takes_commands(),
        _ => {}
    }
    if !(call.args.len() == 1
        && call.args[0].full().is_some_and(|path| judge.own_files.is_source(path, judge.home) || SYSTEM_FACTS.contains(&path)))
    {
        judge.runs_by_name();
        raise(out, ReasonCode::InterpreterText, "a script that was not read");
    }
    true
}

pub(super) fn trap(judge: &Judge<'_>, call: &Call<'_>, scope: &Scope<'_>, out: &mut Part) -> bool {
    let text = call.args.iter().find(|arg| !matches!(arg.full(), Some("--" | "-l" | "-p" | "-P")));
    if let Some(text) = text
        && !matches!(text.full(), Some("" | "-"))
    {
        let child = judge.text_arg(text, &deeper(scope));
        out.add(child, judge.explain);
    }
    true
}

/// An alias would change what later words mean.
pub(super) fn alias(call: &Call<'_>, out: &mut Part) -> bool {
    if call.args.iter().any(|arg| arg.is_open() || arg.text.contains('=')) {
        raise(out, ReasonCode::Opaque, "an alias changes what a name means");
    }
    true
}

impl Judge<'_> {
    /// This program runs text that it is given or reads: a shell, an interpreter, `eval`, `source`, or a wrapper of one.
    pub fn runs_text(&self, words: &[Arg]) -> bool {
        words.iter().filter_map(Arg::full).take(16).any(|word| {
            let name = super::super::program::base(word);
            self.knowledge
                .program(name)
                .and_then(|entry| entry.special.as_deref())
                .is_some_and(|kind| matches!(kind, "shell" | "interpreter" | "eval" | "source"))
        }) && words.first().and_then(Arg::full).is_some_and(|first| {
            let name = super::super::program::base(first);
            self.knowledge.program(name).is_none_or(|entry| entry.payload.is_some() || entry.special.is_some())
        })
    }
}
