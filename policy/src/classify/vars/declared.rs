//! Builtins that declare variables, with a value or without: `export`, `declare`, `local`.
//!
//! Invariant: what would be no assignment to the shell may make any variable unknown.

use super::assigned::made_of_others;
use super::builtins::{base, subscript};
use super::{Value, Vars, numbers};
use crate::classify::args::Arg;
use crate::shell::{Piece, Word};
use crate::steps::step;

/// `declare name=value` and its kin; `set`, which may set an array.
pub(super) fn declarer(command: &str, plain: bool, given: &[(Arg, &Word)], vars: &mut Vars) {
    let letters = |arg: &Arg| arg.full().and_then(|text| text.strip_prefix(['-', '+'])).unwrap_or_default().to_owned();
    let options: String = given.iter().map(|(arg, _)| letters(arg)).collect();
    let valued = given.iter().any(|(arg, _)| arg.text.contains('='));
    // It shows variables or functions of these names, and sets none.
    if command == "export" && options.contains('f')
        || !valued && !options.is_empty() && options.chars().all(|c| matches!(c, 'p' | 'f' | 'F'))
    {
        return;
    }
    let mut array = false;
    for (arg, word) in given {
        vars.copies |= made_of_others(word);
        let head = arg.head();
        let option = head.starts_with(['-', '+']);
        let reference = options.contains('n') && !matches!(command, "export" | "readonly" | "set");
        // Where it is no assignment to the shell its value is split, and makes more words.
        let splits = arg.shifts && !(plain && is_assignment(word));
        let written = head.contains(['=', '[']) && !option && !splits;
        vars.unnamed |= reference || arg.is_open() && !written && command != "set";
        // `set -A name values`, in ksh and zsh.
        if command == "set" {
            if array {
                vars.set(base(head), Value::ANY);
                vars.unjudged(base(head));
            }
            array |= matches!(arg.full(), Some("-A" | "+A"));
            continue;
        }
        if option {
            continue;
        }
        subscript(arg, vars);
        let name = base(head);
        vars.declared(&options, name);
        if options.contains(['i', 'u', 'l', 'c']) {
            let number = arg.text.contains('=') && !options.contains(['u', 'l', 'c']);
            vars.set(name, if number { Value::NUMBER } else { Value::ANY });
        }
        match arg.text.split_once('=') {
            Some((left, value)) => {
                let appends = left.ends_with('+');
                let value = match arg.full() {
                    _ if left.contains('[') => Value::ANY,
                    Some(_) => Value::Known(value.to_owned()),
                    None => open_value(arg, word, vars),
                };
                if appends || !vars.certain || vars.made_of_unsure(word) {
                    vars.unsure(name, &value, appends);
                }
                vars.set(name, value);
            }
            // In a function it is another variable of that name, without a value.
            None if matches!(command, "local" | "declare" | "typeset") => vars.emptied(name),
            None => {}
        }
    }
}

/// `name=…` with the name and the sign written out, and nothing of them quoted.
pub(super) fn is_assignment(word: &Word) -> bool {
    let Some(Piece::Text { text, quoted: false }) = word.pieces.first() else { return false };
    let rest = text.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_');
    rest.len() < text.len() && (rest.starts_with(['=', '[']) || rest.starts_with("+="))
}

/// What is not known of the value of `name=VALUE`. The value begins behind the sign, so it is judged as a word of its own:
/// of `c="$x"` a dash may be the first letter.
fn open_value(arg: &Arg, word: &Word, vars: &Vars) -> Value {
    let sign = word.pieces.iter().position(|piece| !matches!(piece, Piece::Text { text, .. } if !text.contains('=')));
    let Some((Piece::Text { text, quoted }, behind)) = sign.and_then(|at| word.pieces[at..].split_first()) else { return Value::ANY };
    step(word.pieces.len());
    let mut value = Word::default();
    match text.split_once('=') {
        Some((_, "")) | None => {}
        Some((_, text)) => value.push_text(text, *quoted),
    }
    value.pieces.extend_from_slice(behind);
    let number = numeric_value(word, vars);
    match vars.value(&value) {
        Value::Known(text) => Value::Open { risky: arg.risky || text.starts_with('-'), outside: arg.outside, number },
        Value::Open { risky, outside, .. } => Value::Open { risky: arg.risky || risky, outside: arg.outside || outside, number },
    }
}

/// `name=VALUE` as a word of its own: the value is a number.
fn numeric_value(word: &Word, vars: &Vars) -> bool {
    let rest = word.pieces.iter().enumerate().all(|(at, piece)| match piece {
        Piece::Text { text, .. } if at == 0 => text.split_once('=').is_some_and(|(_, value)| numbers::is_number(value)),
        _ => true,
    });
    rest && word.pieces[1..].iter().all(|piece| match piece {
        Piece::Text { text, .. } => numbers::is_number(text),
        piece => vars.number_piece(piece),
    })
}
