//! Builtins that set or name variables: what they are given may be evaluated, or be a variable that programs obey.

use super::super::args::Arg;
use super::super::evaluate::{evaluated, subscript_text, takes_numbers};
use super::super::judge::{Judge, Raise, Scope};
use super::super::numbers;
use super::super::payload::split_assignment;
use super::super::vet::Finding;
use super::Call;
use crate::shell::Disputed;
use crate::{CommandClass, Part, ReasonCode};

fn raise(out: &mut Part, code: ReasonCode, reason: &'static str) {
    out.raise(Finding::new(CommandClass::Write, code, reason));
}

/// `export NAME=value` and its kin.
pub(super) fn declare(judge: &Judge<'_>, call: &Call<'_>, scope: &Scope<'_>, out: &mut Part) -> bool {
    let flags =
        |letter| call.args.iter().any(|arg| arg.head().starts_with('-') && !arg.head().starts_with("--") && arg.head().contains(letter));
    for arg in call.args {
        if let Some(found) = subscript_text(&arg.text) {
            out.raise(found);
        }
        if arg.text.starts_with('-') && arg.text.contains('n') && matches!(call.name, "declare" | "typeset" | "local") {
            raise(out, ReasonCode::Opaque, "a name that stands for another variable");
        }
        let bracketed = arg.text.split('=').next().is_some_and(|name| name.contains('['));
        if bracketed && !is_harmless_name(arg, scope, flags('A')) {
            out.raise(evaluated());
        }
        match split_assignment(arg) {
            Some((name, value)) => {
                let name = name.trim_end_matches('+');
                judge.valued(&value);
                let array = flags('a') || flags('A') || scope.vars.array(name);
                if array && value.full().is_none_or(|text| text.starts_with('(')) && (value.known == 0 || value.text.starts_with('(')) {
                    out.raise(evaluated());
                }
                if takes_numbers(name) && !value.full().is_some_and(numbers::is_number) {
                    out.raise(evaluated());
                }
                if scope.vars.integer(name) && !scope.vars.is_number(name) {
                    out.raise(evaluated());
                }
                if let Some(found) = judge.assignment(name, &value, scope) {
                    out.raise(found);
                }
            }
            None if scope.vars.integer(&arg.text) && !scope.vars.is_number(&arg.text) => out.raise(evaluated()),
            None => {}
        }
    }
    true
}

/// The name of a variable, with a subscript that runs nothing when it is evaluated. A builtin expands it once more, also the
/// key of an associative array.
fn is_harmless_name(arg: &Arg, scope: &Scope<'_>, keyed: bool) -> bool {
    let name = arg.text.split('=').next().unwrap_or_default();
    let Some((array, subscript)) = name.split_once('[') else { return true };
    let closed = name.len() <= arg.known && !subscript.contains(['$', '`', '\\']);
    let key = keyed || scope.vars.associative(array);
    closed && (key || matches!(subscript, "@]" | "*]") || numbers::names(subscript).all(|name| scope.vars.is_number(name.text)))
}

/// Names of variables may carry a subscript, which is evaluated.
pub(super) fn subscripts(judge: &Judge<'_>, call: &Call<'_>, scope: &Scope<'_>, out: &mut Part) -> bool {
    let names = match call.name {
        "test" | "[" => call.args.iter().any(|arg| arg.full() == Some("-v")),
        _ => false,
    };
    if names && call.args.iter().any(|arg| arg.is_open() && arg.text != "[" && arg.text != "]") {
        out.raise(evaluated());
    }
    if names && call.args.iter().any(|arg| arg.text.contains('[') && arg.text != "[" && !is_harmless_name(arg, scope, false)) {
        out.raise(evaluated());
    }
    let compares = |arg: &Arg| matches!(arg.full(), Some("-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge"));
    let counts = matches!(call.name, "exit" | "return" | "break" | "continue" | "shift");
    let compared = matches!(call.name, "test" | "[") && call.args.iter().any(compares);
    if (counts || compared) && call.args.iter().any(|arg| arg.is_open() && arg.text != "[" && !arg.number) {
        judge.dispute(Disputed { evaluated: true, ..Disputed::default() });
    }
    for arg in call.args {
        if let Some(found) = subscript_text(&arg.text) {
            out.raise(found);
        }
    }
    false
}

/// `unset NAME…`.
pub(super) fn unset(judge: &Judge<'_>, call: &Call<'_>, scope: &Scope<'_>, out: &mut Part) -> bool {
    scope.functions.borrow_mut().clear();
    subscripts(judge, call, scope, out);
    if call.args.iter().any(|arg| (arg.is_open() && arg.known == 0) || !is_harmless_name(arg, scope, false)) {
        out.raise(evaluated());
    }
    true
}

/// A format that holds `%n`, or a sign that may become one: a variable is set to the number of what was printed.
fn counts_into_a_variable(format: &str) -> bool {
    let conversion = |rest: &str| rest.trim_start_matches(|c: char| c.is_ascii_digit() || "-+ #'*.$hlLqjzt".contains(c)).starts_with('n');
    let escaped = ["\\45", "\\045", "\\x25", "\\u25", "\\u0025", "\\U"].iter().any(|sign| format.contains(sign));
    escaped || format.replace("%%", "").split('%').skip(1).any(conversion)
}

/// `read NAME`, `printf -v NAME`. Which variables that are, `vars` knows.
pub(super) fn setter(judge: &Judge<'_>, call: &Call<'_>, scope: &Scope<'_>, out: &mut Part) -> bool {
    subscripts(judge, call, scope, out);
    let printf = call.name == "printf";
    // A format that is not known may count as well, into what programs obey.
    let obeyed = |arg: &Arg| arg.full().is_some_and(|name| judge.knowledge.meaning(name) != crate::knowledge::Meaning::Harmless);
    let unknown = |at: usize| call.args.get(at).is_some_and(|format| format.known == 0 && format.is_open());
    let counts = unknown(0) && call.args[1..].iter().any(obeyed);
    if printf && (counts || call.args.iter().take(2).any(|format| counts_into_a_variable(&format.text))) {
        out.raise(Finding::new(CommandClass::Write, ReasonCode::Operand, "printf with %n sets a variable"));
    }
    let sets = !printf || call.args.first().is_some_and(|arg| arg.text.starts_with("-v"));
    if printf && sets {
        call.args.iter().for_each(|arg| judge.valued(arg));
    }
    let names = || call.args.iter().take(if printf { 2 } else { usize::MAX });
    // A prompt is no name.
    let prompts = |arg: &Arg| call.name == "read" && arg.text.contains(char::is_whitespace);
    if sets && names().any(|arg| arg.text.contains('[') && !prompts(arg) && !is_harmless_name(arg, scope, false)) {
        out.raise(evaluated());
    }
    if sets && names().any(|arg| scope.vars.integer(&arg.text) || takes_numbers(arg.text.trim_start_matches("-v"))) {
        out.raise(evaluated());
    }
    if printf
        && call.args.first().is_some_and(|format| format.text.contains('%'))
        && call.args[1..].iter().any(|arg| arg.is_open() && !arg.number)
    {
        let format = &call.args[0].text;
        if !format.replace("%s", "").replace("%b", "").replace("%q", "").replace("%%", "").contains('%') {
            return false;
        }
        judge.dispute(Disputed { evaluated: true, ..Disputed::default() });
    }
    false
}
