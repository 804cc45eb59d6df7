//! What builtins do to variables: those that set what they are told to, those that declare, and `eval`.
//!
//! Invariant: they are read with their words as these will be, as far as that is known; a name that only the run knows makes
//! every variable unknown.

use super::assigned::{collect, within_words};
use super::declared::declarer;
use super::{Value, Vars, args};
use crate::classify::args::Arg;
use crate::shell::Word;

/// Texts of `eval` that are read ahead.
const MAX_EVALS: usize = 8;
const MAX_EVAL_TEXT: usize = 16 << 10;

const SETTERS: &[&str] = &["read", "mapfile", "readarray", "getopts", "printf", "wait", "unset", "coproc"];
const DECLARERS: &[&str] = &["export", "declare", "typeset", "local", "readonly", "set"];

/// What builtins set, called as such or through `command` and `builtin`.
pub(super) fn builtin(words: &[Word], vars: &mut Vars) {
    let Some(first) = words.first().map(Word::literal) else { return };
    if first.is_some_and(|name| !sets(&name)) {
        return;
    }
    let mut given: Vec<(Arg, &Word)> = Vec::with_capacity(words.len());
    for word in words {
        let mut made = Vec::new();
        args::expand(word, vars, &mut made);
        given.extend(made.into_iter().map(|arg| (arg, word)));
    }
    let through = |(arg, _): &&(Arg, &Word)| arg.full().is_some_and(|text| matches!(text, "command" | "builtin") || text.starts_with('-'));
    let skipped = given.iter().take_while(through).count();
    // It only says what a name is.
    if given[..skipped].iter().any(|(arg, _)| matches!(arg.full(), Some("-v" | "-V"))) {
        return;
    }
    // A shell tells assignments from other words by the look of the command's name.
    let plain = skipped == 0 && words[0].bare().is_some();
    let Some(((name, _), given)) = given[skipped..].split_first() else { return };
    match name.full() {
        // Which builtin it is, if it is one, only the run knows.
        None => vars.lost |= skipped > 0 || !vars.heads(&words[0]),
        Some("eval") => {
            let texts: Option<Vec<&str>> = given.iter().map(|(arg, _)| arg.full()).collect();
            evaluated(texts.map(|texts| texts.join(" ")).as_deref(), vars);
        }
        Some("trap") => {
            let text = given.iter().find(|(arg, _)| arg.full() != Some("--"));
            text.iter().for_each(|(arg, _)| evaluated(arg.full(), vars));
        }
        Some("let") => given.iter().for_each(|(_, word)| vars.evaluated(word)),
        Some(name) if SETTERS.contains(&name) => setter(name, given, vars),
        Some(name) if DECLARERS.contains(&name) => declarer(name, plain, given, vars),
        Some(_) => {}
    }
}

/// It may set variables of this shell.
pub(super) fn sets(name: &str) -> bool {
    SETTERS.contains(&name) || DECLARERS.contains(&name) || matches!(name, "eval" | "trap" | "let" | "command" | "builtin")
}

/// The variable of `name`, `name[subscript]`, `name=value`, `name+=value`.
pub(super) fn base(text: &str) -> &str {
    text.split(['=', '[']).next().unwrap_or_default().trim_end_matches('+')
}

/// What stands between brackets behind a name is evaluated, and sets variables too.
pub(super) fn subscript(arg: &Arg, vars: &mut Vars) {
    if let Some((name, text)) = arg.text.split('=').next().and_then(|name| name.split_once('[')) {
        vars.is_array(name);
        vars.evaluated_text(text);
    }
}

/// Every word may be a name, alone or behind the letters of an option.
fn setter(command: &str, given: &[(Arg, &Word)], vars: &mut Vars) {
    vars.unnamed |= match command {
        "printf" => printf_unnamed(given),
        "getopts" => given.get(1).is_none_or(|(arg, _)| arg.is_open()) || given[0].0.shifts,
        "wait" => given.iter().any(|(arg, _)| arg.is_open() && (arg.risky || arg.outside)),
        "unset" => given.iter().any(|(arg, _)| arg.is_open() && !arg.head().contains('[')),
        _ => read_unnamed(command, given),
    };
    let named = match command {
        "printf" => &given[..given.len().min(2)],
        _ => given,
    };
    let line = if command == "read" { first_name(given) } else { None };
    // What flows in may hang on variables that are set further down.
    vars.copies |= command != "printf" && vars.input.is_some();
    for (at, (arg, _)) in named.iter().enumerate() {
        subscript(arg, vars);
        let text = base(arg.head());
        if !arg.text.contains('[') {
            vars.declared("", text);
        }
        if matches!(command, "read" | "mapfile" | "readarray") {
            vars.is_array(text);
        }
        // The last variable holds the rest of the line.
        let whole = at + 1 == named.len();
        // `mapfile` gives each element a whole line.
        let lines = matches!(command, "mapfile" | "readarray");
        let input = vars.input.as_ref().filter(|input| (lines || line == Some(at)) && !((lines || whole) && input.field));
        let value = input.map_or(Value::ANY, |input| input.value.clone());
        vars.set(text, value);
        if command == "unset" {
            vars.emptied(text);
            continue;
        }
        let attached = text.strip_prefix('-').unwrap_or_default();
        let behind = attached.char_indices().skip(1).take(8).map(|(at, _)| &attached[at..]);
        for name in behind {
            vars.set(name, Value::ANY);
            vars.unjudged(name);
        }
        if command != "printf" || given[0].0.head().starts_with("-v") {
            vars.unjudged(text);
        }
    }
    vars.set("REPLY", Value::ANY);
    vars.set("MAPFILE", Value::ANY);
}

/// Where `read` takes the name of the variable that a line begins in: what stands behind a blank may be anything.
fn first_name(given: &[(Arg, &Word)]) -> Option<usize> {
    let mut at = 0;
    loop {
        match given.get(at)?.0.full()? {
            "-r" => at += 1,
            "-d" | "-rd" => {
                given.get(at + 1)?.0.full()?;
                at += 2;
            }
            name if name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && !name.contains('[') => return Some(at),
            _ => return None,
        }
    }
}

/// The word in front may be `-v`, and what it names is not known.
fn printf_unnamed(given: &[(Arg, &Word)]) -> bool {
    let Some((first, _)) = given.first() else { return false };
    if first.shifts {
        return first.risky || first.outside || given[1..].iter().any(|(arg, _)| arg.head().starts_with("-v") || arg.is_open());
    }
    match first.full() {
        Some("-v") => given.get(1).is_some_and(|(arg, _)| arg.is_open()),
        Some(_) => false,
        // Text that is in no name and in no option: a format.
        None if first.text.contains(['%', '\\', ' ', ':', '\n']) => false,
        None => first.head().starts_with("-v") || ("-v".starts_with(first.head()) && (first.risky || first.outside)),
    }
}

/// A word that is known only when it runs stands where `read` and `mapfile` take the name of a variable, or may become one.
fn read_unnamed(command: &str, given: &[(Arg, &Word)]) -> bool {
    let takes = if command == "read" { "ptdnNiu" } else { "dnOsuCc" };
    let mut value = false;
    given.iter().any(|(arg, _)| {
        if std::mem::replace(&mut value, false) {
            return arg.shifts;
        }
        let letters = arg.head().strip_prefix('-').unwrap_or_default();
        let taker = letters.find(|letter| takes.contains(letter));
        if arg.is_open() {
            return arg.shifts || taker.is_none();
        }
        value = taker.is_some_and(|at| at + 1 == letters.len());
        false
    })
}

/// The text of `eval` sets variables of this very shell. Where it is known it is read; where not, anything may be set.
fn evaluated(text: Option<&str>, vars: &mut Vars) {
    vars.evals += 1;
    match text {
        Some(text) if vars.evals <= MAX_EVALS && text.len() <= MAX_EVAL_TEXT => {
            let script = crate::shell::parse_at(text, crate::shell::MAX_DEPTH / 2);
            vars.doubtful |= script.capped;
            vars.assigned(&script.assigned);
            let outer = std::mem::replace(&mut vars.heredocs, super::flow::of_words(&script.heredocs));
            collect(&script.commands, vars);
            within_words(&script.heredocs, vars);
            vars.heredocs = outer;
        }
        _ => {
            vars.doubtful = true;
            vars.lost = true;
        }
    }
}
