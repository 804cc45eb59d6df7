//! Programs that are given a program of their own: awk, sed, database clients.

use super::super::args::Arg;
use super::super::gather::Reach;
use super::super::judge::{Judge, Raise, Scope};
use super::super::language;
use super::super::vet::{Finding, vet};
use super::Call;
use crate::{CommandClass, Part, ReasonCode};

fn raise(out: &mut Part, class: CommandClass, reason: &'static str) {
    if class > CommandClass::Read {
        out.raise(Finding::new(class, ReasonCode::ProgramText, reason));
    }
}

/// A program text of which a part may be anything is not looked into.
fn usable(text: &Arg) -> bool {
    !text.free
}

pub(super) fn awk(judge: &Judge<'_>, call: &Call<'_>, scope: &Scope<'_>, out: &mut Part) -> bool {
    let vetted = vet(call.entry, call.args);
    judge.vetted(call.entry, call.name, call.args, &vetted, scope, out);
    if vetted.info {
        return true;
    }
    let text = vetted.value(&["-e", "--source"]).or_else(|| vetted.operands.first().map(|&at| &call.args[at]));
    match text {
        Some(text) if judge.gathers() && opens(&text.text) => judge.collect_text(call.name, &text.text),
        _ => {}
    }
    match text {
        Some(text) if usable(text) && text.text != super::super::args::UNKNOWN.to_string() => {
            raise(out, language::awk::classify(&text.text), "an awk program that writes, runs something, or is not understood");
        }
        Some(_) => raise(out, CommandClass::Write, "an awk program that is only known when it runs"),
        None => {}
    }
    true
}

/// An awk program that opens what it names.
fn opens(program: &str) -> bool {
    program.contains("getline") || program.contains("ARGV")
}

pub(super) fn sed(judge: &Judge<'_>, call: &Call<'_>, scope: &Scope<'_>, out: &mut Part) -> bool {
    let vetted = vet(call.entry, call.args);
    judge.vetted(call.entry, call.name, call.args, &vetted, scope, out);
    if vetted.info {
        return true;
    }
    let mut texts: Vec<&Arg> = vetted
        .taken
        .iter()
        .filter(|taken| matches!(taken.option.as_str(), "-e") || "--expression".starts_with(&taken.option))
        .map(|taken| &taken.value)
        .collect();
    if texts.is_empty() {
        texts.extend(vetted.operands.first().map(|&at| &call.args[at]));
    }
    let whole = texts.iter().map(|text| text.text.as_str()).collect::<Vec<_>>().join("\n");
    let unknown = texts.iter().any(|text| !usable(text) || text.text.chars().all(|c| c == super::super::args::UNKNOWN));
    if unknown {
        raise(out, CommandClass::Write, "a sed program that is only known when it runs");
    }
    raise(out, language::sed::classify(&whole), "a sed program that writes, runs something, or is not understood");
    if judge.gathers() {
        language::sed::files(&whole).iter().for_each(|file| judge.collect_path(call.name, file));
    }
    true
}

pub(super) fn sql(judge: &Judge<'_>, call: &Call<'_>, scope: &Scope<'_>, out: &mut Part) -> bool {
    let vetted = vet(call.entry, call.args);
    for finding in &vetted.findings {
        out.raise_at(finding.clone(), call.entry.at);
    }
    if vetted.info || vetted.has("-l") || vetted.has("--list") {
        return true;
    }
    for taken in &vetted.taken {
        if taken.role == crate::knowledge::Role::Sink
            && let Some(finding) = super::super::paths::write(&taken.value)
        {
            out.raise(finding);
        }
        if taken.role == crate::knowledge::Role::File {
            judge.collect_arg(call.name, &taken.value, Reach::File);
        }
    }
    let is_text = |option: &str| matches!(option, "-c" | "-e" | "-q" | "-Q" | "-cmd" | "--query" | "--command" | "--execute" | "--eval");
    let mut texts: Vec<Arg> = vetted.taken.iter().filter(|taken| is_text(&taken.option)).map(|taken| taken.value.clone()).collect();
    if call.name.starts_with("sqlite") || call.name == "duckdb" {
        if let Some(&first) = vetted.operands.first() {
            judge.collect_arg(call.name, &call.args[first], Reach::File);
        }
        texts.extend(vetted.operands.iter().skip(1).map(|&at| call.args[at].clone()));
    }
    if texts.is_empty() {
        match &scope.feed.text {
            Some(text) => texts.push(Arg::closed(&**text)),
            None => raise(out, CommandClass::Write, "a database client that takes its text from its input"),
        }
    }
    for text in texts {
        if text.free || text.known == 0 {
            raise(out, CommandClass::Write, "SQL that is only known when it runs");
        }
        raise(out, language::sql::classify(&text.text), "SQL that changes something, or is not understood");
    }
    true
}
