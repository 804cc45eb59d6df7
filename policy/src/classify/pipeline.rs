//! Pipes: what flows into a command decides what a shell or xargs behind the pipe would run.

use super::args::{self, Arg};
use super::judge::{Feed, Raise, Scope, part};
use super::vet::{Finding, vet};
use super::walk::Walk;
use crate::shell::{Command, Word};
use crate::{CommandClass, Part, ReasonCode, Shell};

pub(super) fn judge(walk: &Walk<'_, '_>, stages: &[Command], scope: &Scope<'_>, into: &mut Part) {
    let judge = walk.judge;
    let mut feed = scope.feed.clone();
    let mut download = false;
    let mut flow = scope.feed.flow;
    for stage in stages {
        if !judge.spend() {
            into.raise(super::walk::opaque("more commands than the classifier reads", true));
            return;
        }
        let functions = std::cell::RefCell::new(scope.known_functions());
        let inner = Scope { functions: &functions, feed: feed.clone(), ..scope.clone() };
        let mut part = part(String::new());
        walk.command(stage, &inner, false, &mut part);
        if download && runs_input(walk, stage) {
            part.raise(Finding::new(CommandClass::Install, ReasonCode::DownloadRun, "a download that is run"));
        }
        download |= part.class >= CommandClass::Network;
        flow = scope.vars.flow_stage(stage, flow);
        let said = walk.said_by(stage, &feed, scope);
        let walked = walked(walk, stage, scope).or(feed.walked);
        feed = Feed { text: printed(stage, scope).map(std::rc::Rc::from), fed: true, download, flow, said, walked };
        let raises = part.class > into.class;
        if raises && part.parts.is_empty() {
            into.raise(Finding::new(part.class, part.code, part.reason.clone()));
        }
        for child in part.parts {
            into.add(child, judge.explain);
        }
        if part.class > into.class {
            into.raise(Finding::new(part.class, part.code, part.reason));
        }
    }
    if judge.settings.shell == Shell::Strict {
        into.raise(Finding::new(CommandClass::Write, ReasonCode::Strict, "a pipe, in strict mode"));
    }
}

/// The directories of which a stage prints the names of files.
fn walked(walk: &Walk<'_, '_>, stage: &Command, scope: &Scope<'_>) -> Option<std::rc::Rc<Vec<Arg>>> {
    let Command::Simple(simple) = stage else { return None };
    let name = simple.words.first().and_then(Word::literal).filter(|_| walk.judge.gathers())?;
    let entry = walk.judge.knowledge.program(&name).filter(|_| matches!(&*name, "find" | "bfs" | "fd" | "fdfind"))?;
    let mut words = Vec::new();
    simple.words[1..].iter().for_each(|word| args::expand(word, scope.vars, &mut words));
    let roots = walk.judge.walked(entry, &name, &words, &vet(entry, &words));
    Some(std::rc::Rc::new(roots))
}

/// The text that `echo` or `printf` with known words would print: what flows into them they leave alone.
fn printed(stage: &Command, scope: &Scope<'_>) -> Option<String> {
    let Command::Simple(simple) = stage else { return None };
    let name = simple.words.first().and_then(Word::literal)?;
    if !simple.redirs.is_empty() || !matches!(&*name, "echo" | "printf") {
        return None;
    }
    let mut words = Vec::new();
    simple.words.iter().for_each(|word| args::expand(word, scope.vars, &mut words));
    let words: Vec<String> = words.iter().map(|word| word.full().map(str::to_owned)).collect::<Option<_>>()?;
    // Some shells' echo takes escapes.
    if words.first().is_some_and(|name| name == "echo") && words.iter().any(|word| word.contains('\\')) {
        return None;
    }
    match words.split_first() {
        Some((name, rest)) if name == "echo" => {
            Some(rest.iter().filter(|word| !matches!(word.as_str(), "-n" | "-e" | "-E")).cloned().collect::<Vec<_>>().join(" "))
        }
        Some((name, [format])) if name == "printf" => {
            let text = format.replace("\\n", "\n");
            // Any other escape may be a newline too.
            (!text.contains(['\\', '%'])).then_some(text)
        }
        Some((name, [format, rest @ ..])) if name == "printf" => {
            let plain = rest.iter().all(|text| !text.contains('\\'));
            match format.as_str() {
                "%s" => Some(rest.concat()),
                "%s\\n" => Some(rest.join("\n")),
                "%b" if plain => Some(rest.concat()),
                "%b\\n" if plain => Some(rest.join("\n")),
                _ => None,
            }
        }
        _ => None,
    }
}

/// A shell or interpreter, anywhere in this stage.
fn runs_input(walk: &Walk<'_, '_>, stage: &Command) -> bool {
    match stage {
        Command::Simple(simple) => {
            let words: Vec<_> = simple.words.iter().map(|word| super::args::single(word, &super::vars::Vars::default())).collect();
            walk.judge.runs_text(&words)
        }
        Command::Pipeline(stages) => stages.iter().any(|stage| runs_input(walk, stage)),
        Command::Compound(compound) => compound.body.iter().any(|stage| runs_input(walk, stage)),
        Command::Function { .. } => false,
    }
}
