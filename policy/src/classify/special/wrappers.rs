//! Wrappers that a table cannot describe: they split text, append arguments, or are several programs in one.

use super::super::args::Arg;
use super::super::collected::Reach;
use super::super::judge::{Feed, Judge, Raise, Scope, part};
use super::super::payload::{deeper, replaced};
use super::super::program::base;
use super::super::vars::Flow;
use super::super::vet::{Finding, Vetted, vet};
use super::Call;
use crate::knowledge::Role;
use crate::{CommandClass, Part, ReasonCode};

pub(super) fn options(judge: &Judge<'_>, call: &Call<'_>, out: &mut Part) -> Vetted {
    let vetted = vet(call.entry, call.args);
    for finding in &vetted.findings {
        out.raise_at(finding.clone(), call.entry.at);
    }
    for taken in &vetted.taken {
        if taken.role == Role::Sink
            && let Some(finding) = super::super::paths::write(&taken.value)
        {
            out.raise(finding);
        }
    }
    judge.collect_options(call.entry, call.name, call.args, &vetted);
    for taken in &vetted.taken {
        if taken.role == Role::File || taken.value.text.contains(['/', '~']) {
            judge.collect_arg(call.name, &taken.value, Reach::File);
        }
    }
    vetted
}

/// `xargs [options] [command]`: words of its input are appended, or put where `-I` says.
pub(super) fn xargs(judge: &Judge<'_>, call: &Call<'_>, scope: &Scope<'_>, out: &mut Part) -> bool {
    let vetted = options(judge, call, out);
    if vetted.info {
        return true;
    }
    let mark = vetted.value(&["-I", "-i", "--replace"]).map(|value| value.text.clone());
    let mark = mark.or_else(|| (vetted.has("-i") || vetted.has("--replace")).then(|| "{}".to_owned()));
    let mark = mark.map(|mark| if mark.is_empty() { "{}".to_owned() } else { mark });
    let mut words: Vec<Arg> = vetted.operands.iter().map(|&at| call.args[at].clone()).collect();
    if words.is_empty() {
        return true;
    }
    if judge.gathers() && judge.reads_contents(&words) {
        scope.feed.walked.iter().flat_map(|roots| roots.iter()).for_each(|root| judge.collect_arg(call.name, root, Reach::Below));
        scope.feed.text.iter().flat_map(|text| text.split_whitespace()).for_each(|word| judge.collect_path(call.name, word));
    }
    // Split elsewhere than at blanks, names may hold an option.
    let own = vetted.value(&["-a", "--arg-file", "-d", "--delimiter"]).is_none_or(|value| value.full() == Some("\\n"));
    let tame = scope.feed.flow == Flow::Names && own;
    match mark {
        Some(mark) => {
            words = words.iter().map(|word| replaced_risky(word, &mark, !tame)).collect();
        }
        None => {
            let one = vetted.value(&["-n", "--max-args", "-L", "--max-lines"]).and_then(Arg::full) == Some("1");
            words.push(Arg { shifts: !one, ..Arg::open(!tame) });
        }
    }
    if judge.runs_text(&words) {
        judge.takes_commands();
    }
    let inner = Scope { feed: Feed::default(), ..deeper(scope) };
    let child = judge.external(&words, &inner);
    out.add(child, judge.explain);
    // A shell that is given words of the input as its text.
    if scope.feed.download && judge.runs_text(&words) {
        out.raise(Finding::new(CommandClass::Install, ReasonCode::DownloadRun, "a download that is run"));
    }
    true
}

fn replaced_risky(arg: &Arg, mark: &str, risky: bool) -> Arg {
    let mut new = replaced(arg, mark);
    if new.is_open() && !arg.is_open() {
        new.risky = risky && new.known == 0;
        new.free = new.risky;
    }
    new
}

/// `parallel [options] command {} ::: arguments`; without a command the arguments are the commands.
pub(super) fn parallel(judge: &Judge<'_>, call: &Call<'_>, scope: &Scope<'_>, out: &mut Part) -> bool {
    let vetted = options(judge, call, out);
    let words: Vec<Arg> = vetted.operands.iter().map(|&at| call.args[at].clone()).collect();
    let split = words.iter().position(|word| word.full().is_some_and(|text| text.starts_with(":::")));
    let command = &words[..split.unwrap_or(words.len())];
    let given: Vec<&Arg> = split.map_or(Vec::new(), |at| words[at..].iter().filter(|word| !word.text.starts_with(":::")).collect());
    let files = split.is_some_and(|at| words[at].text.starts_with("::::"));
    if words.iter().any(|word| word.text.contains("{=")) {
        out.raise(Finding::new(CommandClass::Write, ReasonCode::ProgramText, "a replacement that is a Perl program"));
    }
    // Several arguments to a job, from one source or more, or out of one.
    let sources = words.iter().filter(|word| word.text.starts_with(":::")).count();
    let joined = sources > 1
        || vetted.value(&["-n", "-N", "-L", "--max-args", "-C", "--colsep"]).is_some_and(|value| value.full() != Some("1"))
        || ["-X", "-m", "--xargs"].iter().any(|flag| vetted.has(flag));
    let inner = Scope { feed: Feed::default(), ..deeper(scope) };
    if command.is_empty() {
        if split.is_none() || files {
            if !vetted.info {
                out.raise(Finding::new(CommandClass::Write, ReasonCode::ShellInput, "commands from its input, or from a file"));
            }
            judge.takes_commands();
            return true;
        }
        for text in given {
            let child = judge.text_arg(text, &inner);
            out.add(child, judge.explain);
        }
        return true;
    }
    if split.is_none() || files || joined || given.len() > 64 {
        run(judge, command, &Arg { shifts: true, ..Arg::open(true) }, &inner, out);
        return true;
    }
    for value in given {
        run(judge, command, value, &inner, out);
    }
    true
}

/// One job: the value appended or put where `{}` stands, the whole given to a shell.
fn run(judge: &Judge<'_>, command: &[Arg], value: &Arg, scope: &Scope<'_>, out: &mut Part) {
    let marked = command.iter().any(|word| word.text.contains('{'));
    let mut words: Vec<Arg> = command
        .iter()
        .map(|word| match word.full() {
            Some(text) if text == "{}" || (value.shifts && text.starts_with('{')) => value.clone(),
            _ => replaced(word, "{"),
        })
        .collect();
    if !marked {
        words.push(value.clone());
    }
    let mut child = judge.external(&words, scope);
    // The words are joined and read by a shell once more.
    if command.iter().any(|word| word.text.contains(['$', '`', ';', '|', '&', '>', '<', '(', '\n'])) {
        let joined = judge.joined(&words, scope);
        child.add(joined, judge.explain);
    }
    if value.text.contains(['$', '`', ';', '|', '&', '>', '<', '(', '\n']) {
        child.raise(Finding::new(CommandClass::Write, ReasonCode::Opaque, "an argument that the shell may run"));
    }
    out.add(child, judge.explain);
}

/// `ld.so [options] PROGRAM [arguments]`: the file that is loaded is not the one that was judged.
pub(super) fn linker(judge: &Judge<'_>, call: &Call<'_>, scope: &Scope<'_>, out: &mut Part) -> bool {
    let vetted = options(judge, call, out);
    let words: Vec<Arg> = vetted.operands.iter().map(|&at| call.args[at].clone()).collect();
    if vetted.info || words.is_empty() {
        return true;
    }
    if vetted.has("--list") || vetted.has("--verify") {
        judge.collect_path(call.name, &words[0].text);
        return true;
    }
    let mut child = judge.external(&words, &deeper(scope));
    if let Some(word) = vetted.value(&["--argv0"]) {
        judge.renamed(&words, word, &deeper(scope), &mut child);
    }
    out.add(child, judge.explain);
    out.raise(Finding::new(CommandClass::Write, ReasonCode::UntrustedFile, "a program that the linker loads by hand"));
    true
}

/// Several programs in one file: the first operand names the one that runs.
pub(super) fn applet(judge: &Judge<'_>, call: &Call<'_>, scope: &Scope<'_>, out: &mut Part) -> bool {
    let vetted = options(judge, call, out);
    if vetted.info {
        return true;
    }
    let Some((&first, rest)) = vetted.operands.split_first() else { return true };
    let rest: Vec<Arg> = rest.iter().map(|&at| call.args[at].clone()).collect();
    let Some(name) = call.args[first].full() else {
        out.raise(Finding::new(CommandClass::Write, ReasonCode::DynamicCommand, "the applet is only known when it runs"));
        return true;
    };
    let mut child = part(judge.text(&call.args[first..]));
    judge.collect_command(&call.args[first..]);
    judge.named(base(name), &rest, &deeper(scope), &mut child);
    out.add(child, judge.explain);
    true
}
