//! What the commands of a text assign: `name=value`, loops, builtins that set variables, and texts that do so.
//!
//! Nothing here knows an order: a variable is what all its assignments together make of it.

use super::super::lines::Lines;
use super::builtins::builtin;
use super::flow::{self, Flow, Input};
use super::{Value, Vars, numbers};
use crate::shell::{Command, Compound, Kind, Piece, Redir, RedirKind, Simple, Word};
use crate::steps::step;

pub(super) fn collect(commands: &[Command], vars: &mut Vars) {
    for command in commands {
        step(1);
        match command {
            Command::Simple(simple) => simple_command(simple, vars),
            Command::Pipeline(stages) => pipeline(stages, vars),
            Command::Compound(compound) => compound_command(compound, vars),
            // Where it will be called nobody knows.
            Command::Function { name, body } => {
                vars.is_function(name);
                given(None, vars, |vars| within(body, vars));
            }
        }
    }
}

/// Commands that may not run, or run in a shell of their own: an array that they declare may be another one here.
fn within(commands: &[Command], vars: &mut Vars) {
    let certain = std::mem::replace(&mut vars.certain, false);
    collect(commands, vars);
    vars.certain = certain;
}

/// Substitutions in words that stand elsewhere: in here-documents.
pub(super) fn within_words(words: &[Word], vars: &mut Vars) {
    given(None, vars, |vars| words.iter().for_each(|word| inside(word, vars)));
}

/// Stages of a pipe: each reads what those in front of it print.
fn pipeline(stages: &[Command], vars: &mut Vars) {
    let (mut flow, mut lines) = (Flow::Anything, Lines::Anything);
    for (at, stage) in stages.iter().enumerate() {
        let input = if at == 0 { vars.input.clone() } else { Input::of(flow, lines == Lines::Numbers) };
        given(input, vars, |vars| within(std::slice::from_ref(stage), vars));
        flow = vars.flow_stage(stage, flow);
        lines = vars.stage_lines(lines, stage);
    }
}

fn given(input: Option<Input>, vars: &mut Vars, collects: impl FnOnce(&mut Vars)) {
    let outer = std::mem::replace(&mut vars.input, input);
    collects(vars);
    vars.input = outer;
}

/// What redirections make of the input: a command of `< <(…)` is followed, a text that stands there is read, anything else is any text.
fn redirected(redirs: &[Redir], vars: &Vars) -> Option<Option<Input>> {
    let mut inputs = redirs.iter().filter(|redir| redir.kind != RedirKind::Output);
    let first = inputs.next()?;
    if inputs.next().is_some() {
        return Some(None);
    }
    Some(match (&first.kind, first.target.pieces.as_slice()) {
        (RedirKind::Input, [Piece::Process { body }]) => Input::of(vars.flow(body), vars.counts(body)),
        (RedirKind::HereString, _) => Input::of(flow::of_word(&first.target), false),
        (RedirKind::Heredoc(slot), _) => Input::of(vars.heredoc(*slot), false),
        _ => None,
    })
}

fn compound_command(compound: &Compound, vars: &mut Vars) {
    for word in compound.words.iter().chain(compound.redirs.iter().map(|redir| &redir.target)) {
        inside(word, vars);
        vars.copies |= made_of_others(word);
    }
    if let Some(name) = &compound.variable {
        vars.gives(name, vars.listed(&compound.words).filter(|_| compound.kind == Kind::For));
        for word in &compound.words {
            let value = match vars.value(word) {
                // An unquoted list item is split and may match files.
                Value::Known(text) if text.contains(char::is_whitespace) && word.literal().is_none() => {
                    let number = text.split_whitespace().all(numbers::is_number);
                    Value::Open { risky: text.split_whitespace().any(|part| part.starts_with('-')), outside: false, number }
                }
                value => value,
            };
            if compound.conditional || !vars.certain || vars.made_of_unsure(word) {
                vars.unsure(name, &value, false);
            }
            vars.merge(name, value);
        }
        vars.unjudged(name);
        // `select` keeps what was typed.
        vars.set("REPLY", Value::ANY);
    }
    if compound.kind == Kind::Test {
        super::super::evaluate::expressions(&compound.words).for_each(|word| vars.evaluated(word));
    }
    let input = redirected(&compound.redirs, vars).unwrap_or_else(|| vars.input.clone());
    given(input, vars, |vars| match compound.kind {
        Kind::Brace if !compound.conditional => collect(&compound.body, vars),
        _ => within(&compound.body, vars),
    });
}

fn simple_command(simple: &Simple, vars: &mut Vars) {
    for word in &simple.words {
        inside(word, vars);
    }
    // What `declare -A` says of an array holds for the keys that stand there.
    let bare = simple.words.iter().filter_map(Word::bare).filter_map(|word| word.strip_prefix('-'));
    let options: String = if simple.arrays.is_empty() { String::new() } else { bare.collect() };
    for array in &simple.arrays {
        vars.declared(&options, &array.name);
    }
    for assign in simple.assigns.iter().chain(&simple.arrays) {
        inside(&assign.value, vars);
        for word in assign.subscript.iter().chain(&assign.keys) {
            vars.evaluated(word);
            inside(word, vars);
        }
        if assign.array || assign.subscript.is_some() {
            vars.is_array(&assign.name);
        }
        let mut value = vars.value(&assign.value);
        vars.copies |= made_of_others(&assign.value) || assign.items.iter().any(made_of_others);
        if assign.subscript.is_some() {
            // One element of several.
            let number = value.number();
            value = Value::Open { risky: true, outside: true, number };
        }
        if simple.conditional || !vars.certain || assign.appends || vars.made_of_unsure(&assign.value) {
            // It may hold what it held before.
            vars.unsure(&assign.name, &value, assign.appends);
        }
        if assign.array {
            let plain = simple.arrays.is_empty() || options.chars().all(|letter| matches!(letter, 'a' | 'r' | 'x' | 'g'));
            vars.gives_items(assign, vars.certain && !simple.conditional, plain);
        }
        // `+=`, arrays and elements: several values in one name.
        for item in &assign.items {
            inside(item, vars);
            let item = vars.value(item);
            vars.merge(&assign.name, Value::Open { risky: true, outside: true, number: item.number() });
            vars.merge(&assign.name, item);
        }
        let named = simple.words.first().and_then(Word::literal);
        if assign.name == "IFS" && named.is_some_and(|name| matches!(&*name, "read" | "mapfile" | "readarray")) {
            // It says how that one line is split.
        } else if assign.items.is_empty() && !(assign.array && assign.subscript.is_none()) {
            // In front of a command it holds for that command alone, whose words were expanded before.
            if !simple.words.is_empty() {
                vars.used(&assign.name);
            }
            vars.set(&assign.name, value);
        }
    }
    for redir in &simple.redirs {
        inside(&redir.target, vars);
    }
    vars.called(&simple.words);
    let certain = vars.certain;
    vars.certain &= !simple.conditional;
    let input = redirected(&simple.redirs, vars);
    // From here on the shell itself reads something else.
    vars.lost |= input.is_some() && vars.input.is_some() && simple.words.first().and_then(Word::literal).is_some_and(|name| name == "exec");
    // Split elsewhere, the first field is another one.
    let splits = simple.assigns.iter().any(|assign| assign.name == "IFS");
    let input = input.unwrap_or_else(|| vars.input.clone()).filter(|input| !(splits && input.field));
    given(input, vars, |vars| builtin(&simple.words, vars));
    vars.certain = certain;
}

pub(super) fn made_of_others(word: &Word) -> bool {
    word.pieces.iter().any(|piece| matches!(piece, Piece::Variable { .. }))
}

/// Assignments and programs inside substitutions.
fn inside(word: &Word, vars: &mut Vars) {
    for piece in &word.pieces {
        match piece {
            Piece::Command { body, .. } | Piece::Process { body } => within(body, vars),
            Piece::Variable { name, .. } | Piece::Keys { name, .. } => vars.used(name),
            Piece::Evaluated { word, .. } => {
                vars.evaluated(word);
                inside(word, vars);
            }
            _ => {}
        }
    }
}
