//! Programs that are given a program of their own: awk, sed, database clients.

use super::super::args::Arg;
use super::super::collected::Reach;
use super::super::judge::{Feed, Judge, Raise, Scope, part};
use super::super::language;
use super::super::payload::deeper;
use super::super::vet::{Finding, Vetted, vet};
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

/// Options whose value is an awk program.
const PROGRAMS: &[&str] = &["-e", "--source"];

pub(super) fn awk(judge: &Judge<'_>, call: &Call<'_>, scope: &Scope<'_>, out: &mut Part) -> bool {
    let vetted = vet(call.entry, call.args);
    judge.vetted(call.entry, call.name, call.args, &vetted, scope, out);
    if vetted.info {
        return true;
    }
    // The program itself tells a string from a pattern: `/inet/` is none.
    let inline = usize::from(!vetted.taken.iter().any(|taken| PROGRAMS.contains(&taken.option.as_str())));
    let inet = |arg: &Arg| language::awk::connects(arg.text.as_bytes());
    let given = vetted.taken.iter().filter(|taken| !PROGRAMS.contains(&taken.option.as_str())).map(|taken| &taken.value);
    if vetted.operands.iter().skip(inline).map(|&at| &call.args[at]).chain(given).any(inet) {
        raise(out, CommandClass::Network, "awk opens a connection like a file");
    }
    for text in program(call, &vetted, PROGRAMS) {
        if judge.gathers() && opens(&text.text) {
            judge.collect_text(call.name, &text.text);
        }
        if usable(text) && text.text != super::super::args::UNKNOWN.to_string() {
            let program = language::awk::read(&text.text);
            raise(out, program.class, "an awk program that writes, runs something, or is not understood");
            for command in &program.commands {
                if command.contains(super::super::args::UNKNOWN) {
                    raise(out, CommandClass::Write, "an awk program that starts what only the run names");
                }
                let (vars, feed) = (scope.vars.of_child(), Feed { fed: true, ..Feed::default() });
                let child = judge.read_by("sh", false, || judge.text_part(command, Some(&vars), scope.level + 1, &feed));
                out.add(child, judge.explain);
            }
        } else {
            raise(out, CommandClass::Write, "an awk program that is only known when it runs");
        }
    }
    true
}

/// The texts that make up a program: the values of these options, or else the first operand.
fn program<'c>(call: &Call<'c>, vetted: &'c Vetted, options: &[&str]) -> Vec<&'c Arg> {
    let mut texts: Vec<&Arg> =
        vetted.taken.iter().filter(|taken| options.contains(&taken.option.as_str())).map(|taken| &taken.value).collect();
    if texts.is_empty() {
        texts.extend(vetted.operands.first().map(|&at| &call.args[at]));
    }
    texts
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
    let texts = program(call, &vetted, &["-e", "--expression"]);
    let option = |name: &str| vetted.has(name) || vetted.value(&[name]).is_some();
    if option("-i") || option("--in-place") {
        // Without an option for it the first word is the program.
        let files = vetted.operands.iter().skip(usize::from(!["-e", "--expression", "-f", "--file"].iter().any(|name| option(name))));
        files.filter_map(|&at| super::super::paths::changed(&call.args[at])).for_each(|finding| out.raise(finding));
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

/// Numbers, their operators, and what prints them. Nothing among these runs a command, a macro or a line that is read.
pub(super) fn dc(call: &Call<'_>, scope: &Scope<'_>, out: &mut Part) -> bool {
    const PLAIN: &str = "0123456789ABCDEF._+-*/%~|^kviopfdcrnzZ \t\n";
    let vetted = vet(call.entry, call.args);
    if vetted.info {
        return false;
    }
    let given: Vec<&str> = vetted.taken.iter().map(|taken| taken.value.text.as_str()).collect();
    let texts = if given.is_empty() { scope.feed.text.as_deref().into_iter().collect() } else { given };
    if texts.is_empty() || !texts.iter().all(|text| text.chars().all(|c| PLAIN.contains(c))) {
        raise(out, CommandClass::Write, "a program of dc that is more than numbers, or not known");
    }
    false
}

pub(super) fn sql(judge: &Judge<'_>, call: &Call<'_>, scope: &Scope<'_>, out: &mut Part) -> bool {
    let vetted = vet(call.entry, call.args);
    for finding in &vetted.findings {
        out.raise_at(finding.clone(), call.entry.at);
    }
    let alone = vetted.operands.is_empty() && vetted.taken.is_empty() && vetted.unlisted.is_empty();
    if vetted.info && (alone || call.entry.class == CommandClass::Read) {
        return true;
    }
    raise(out, call.entry.class, "a database client whose statements are not known for certain");
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
    let mut texts: Vec<Arg> =
        vetted.taken.iter().filter(|taken| taken.role == crate::knowledge::Role::Data).map(|taken| taken.value.clone()).collect();
    // What comes before the statements does not stand in their place.
    let only_before = vetted.taken.iter().all(|taken| taken.role != crate::knowledge::Role::Data || taken.option == "-cmd");
    if call.name.starts_with("sqlite") || call.name == "duckdb" {
        if let Some(&first) = vetted.operands.first() {
            judge.collect_arg(call.name, &call.args[first], Reach::File);
        }
        texts.extend(vetted.operands.iter().skip(1).map(|&at| call.args[at].clone()));
    }
    if texts.is_empty() && (vetted.has("-l") || vetted.has("--list")) {
        return true;
    }
    if texts.is_empty() || (only_before && vetted.operands.len() < 2) {
        match &scope.feed.text {
            Some(text) => texts.push(Arg::closed(&**text)),
            None => raise(out, CommandClass::Write, "a database client that takes its text from its input"),
        }
    }
    let client = language::sql::Client::of(call.name);
    let variables = vetted.value(&["-v", "--set", "--variable"]).is_some();
    for text in texts {
        if variables && text.text.replace("::", "").contains(':') {
            raise(out, CommandClass::Write, "SQL made of variables");
        }
        if text.free || text.known == 0 {
            raise(out, CommandClass::Write, "SQL that is only known when it runs");
        }
        let class = language::sql::classify(&text.text, client, judge.knowledge.sql());
        raise(out, class, "SQL that changes something, or is not understood");
        // A database that is a file changes with it.
        if class > CommandClass::Read && matches!(client, language::sql::Client::Sqlite | language::sql::Client::Duckdb) {
            let file = vetted.operands.first().and_then(|&at| super::super::paths::changed(&call.args[at]));
            file.into_iter().for_each(|finding| out.raise(finding));
        }
    }
    true
}

/// `at now <<< TEXT`: what it is fed is a text of a shell that runs later, and nobody judges it then.
pub(super) fn fed(judge: &Judge<'_>, scope: &Scope<'_>, out: &mut Part) -> bool {
    if let Some(text) = &scope.feed.text {
        let child = judge.text_part(text, Some(scope.vars), scope.level + 1, &Feed::default());
        out.add(child, judge.explain);
    }
    false
}

/// Without a command of its own it takes one from each line of its input.
pub(super) fn lines(judge: &Judge<'_>, call: &Call<'_>, scope: &Scope<'_>, out: &mut Part) -> bool {
    if let Some(text) = scope.feed.text.as_ref().filter(|_| vet(call.entry, call.args).operands.is_empty()) {
        let inner = Scope { feed: Feed::default(), ..deeper(scope) };
        for line in text.lines().filter(|_| judge.spend()) {
            let words: Vec<Arg> = line.split_whitespace().map(Arg::closed).collect();
            let mut child = part(judge.text(&words));
            judge.entry(call.entry, call.name, &words, &inner, &mut child);
            out.add(child, judge.explain);
        }
    }
    false
}
