//! What builtins do to variables: those that set what they are told to, those that declare, and `eval`.
//!
//! Invariant: a name that is only known when it runs makes every variable unknown.

use super::assigned::{collect, made_of_others};
use super::{Value, Vars, args, numbers};
use crate::shell::{Piece, Word};

/// Texts of `eval` that are read ahead.
const MAX_EVALS: usize = 8;
const MAX_EVAL_TEXT: usize = 16 << 10;

const SETTERS: &[&str] = &["read", "mapfile", "readarray", "getopts", "printf", "wait", "unset", "coproc"];
const DECLARERS: &[&str] = &["export", "declare", "typeset", "local", "readonly", "set"];

/// What builtins set, called as such or through `command` and `builtin`.
pub(super) fn builtin(words: &[Word], vars: &mut Vars, free: &dyn Fn(&str) -> bool) {
    let through = |word: &&Word| word.literal().is_some_and(|text| matches!(&*text, "command" | "builtin") || text.starts_with('-'));
    let skipped = words.iter().take_while(through).count();
    let Some((name, words)) = words[skipped..].split_first() else { return };
    let Some(name) = name.literal() else {
        // A name that is only known later may be that of such a builtin.
        vars.overflowed = true;
        return;
    };
    match &*name {
        "eval" | "trap" => evaluated(words, vars, free),
        "let" => words.iter().for_each(|word| vars.evaluated(word)),
        name if SETTERS.contains(&name) => setter(name, words, vars),
        name if DECLARERS.contains(&name) => declarer(name, words, vars),
        _ => {}
    }
}

/// Every word may be a name, alone or behind the letters of an option.
fn setter(name: &str, words: &[Word], vars: &mut Vars) {
    vars.lost |= names_unknown(name, words);
    for word in words {
        vars.overflowed |= word.bare().is_some_and(|text| text.contains(['{', '*', '?']));
        let Some(text) = word.literal() else { continue };
        let text = text.split(['=', '[']).next().unwrap_or_default();
        vars.declared("", text);
        vars.set(text, Value::ANY);
        let attached = text.strip_prefix('-').unwrap_or_default();
        attached.char_indices().skip(1).take(8).for_each(|(at, _)| vars.set(&attached[at..], Value::ANY));
    }
    vars.set("REPLY", Value::ANY);
    vars.set("MAPFILE", Value::ANY);
}

/// The name, or an option, is written out.
fn begins_with_name(word: &Word) -> bool {
    match word.pieces.as_slice() {
        [Piece::Text { text, quoted: false }] => !text.contains('{') || text.contains('='),
        [Piece::Text { .. }] => true,
        [Piece::Text { text, .. }, ..] => text.contains(['=', '[']) || text.starts_with('-'),
        _ => false,
    }
}

/// A word that is known only when it runs stands where this builtin takes the name of a variable, or may become one.
fn names_unknown(command: &str, words: &[Word]) -> bool {
    let takes = match command {
        "read" => "ptdnNiu",
        "mapfile" | "readarray" => "dnOsuCc",
        _ => "",
    };
    let names = match command {
        // Without `-v` in front none of them is a name.
        "printf" if words.first().is_some_and(|first| !may_begin_with(first, "-v")) => return false,
        "printf" => &words[..words.len().min(2)],
        "getopts" => words.get(1..2).unwrap_or_default(),
        "wait" if !words.iter().any(|word| may_begin_with(word, "-p")) => return false,
        _ => words,
    };
    if words.iter().any(|word| word.bare().is_some_and(|text| text.contains('{'))) {
        return true;
    }
    let mut value = false;
    names.iter().any(|word| {
        let one = word.pieces.iter().all(|piece| match piece {
            Piece::Text { .. } | Piece::Number => true,
            Piece::Variable { quoted, risky, .. } => *quoted && !risky,
            Piece::Command { quoted, .. } => *quoted,
            _ => false,
        });
        let is_value = std::mem::replace(&mut value, false) && one;
        let Some(text) = word.literal() else { return !is_value };
        value = !is_value
            && text
                .strip_prefix('-')
                .is_some_and(|letters| letters.find(|letter| takes.contains(letter)).is_some_and(|at| at + 1 == letters.len()));
        false
    })
}

/// The first letters are these, or are not known.
fn may_begin_with(word: &Word, head: &str) -> bool {
    // Text that is in no name and in no option: a format.
    let format = |piece: &Piece| matches!(piece, Piece::Text { text, quoted: true } if text.contains(['%', '\\', ' ', ':', '\n']));
    let one = |piece: &Piece| matches!(piece, Piece::Text { .. } | Piece::Variable { quoted: true, risky: false, .. });
    if word.pieces.iter().any(format) && word.pieces.iter().all(one) {
        return false;
    }
    match word.pieces.first() {
        Some(Piece::Text { text, quoted }) => {
            text.starts_with(head) || (head.starts_with(text.as_str()) && word.pieces.len() > 1) || (!quoted && text.starts_with('{'))
        }
        _ => true,
    }
}

fn declarer(command: &str, words: &[Word], vars: &mut Vars) {
    let bare = words.iter().filter_map(Word::bare).filter(|word| word.starts_with('-'));
    let options: String = bare.flat_map(|word| word[1..].chars()).collect();
    let mut array = false;
    for word in words {
        let arg = args::single(word, vars);
        vars.copies |= made_of_others(word);
        vars.lost |= command != "set" && !begins_with_name(word) || options.contains('n') && command != "export" && command != "readonly";
        let name = arg.head().split(['=', '+', '[']).next().unwrap_or_default();
        vars.overflowed |= name.contains('{');
        // `set -A name values`, in ksh and zsh.
        if command == "set" && array {
            vars.set(name, Value::ANY);
        }
        array |= matches!(arg.full(), Some("-A" | "+A"));
        if command != "set" && !arg.text.starts_with('-') {
            vars.declared(&options, name);
            if options.contains(['i', 'u', 'l', 'c']) {
                vars.set(name, Value::ANY);
            }
        }
        if let Some((name, value)) = arg.text.split_once('=') {
            let value = match arg.full() {
                Some(_) => Value::Known(value.to_owned()),
                None => Value::Open { risky: arg.risky || value.starts_with('-'), outside: arg.outside, number: numeric_value(word, vars) },
            };
            if name.ends_with('+') || !vars.certain || vars.made_of_unsure(word) {
                vars.unsure(name.trim_end_matches('+'), &value, name.ends_with('+'));
            }
            vars.set(name.trim_end_matches('+'), value);
        }
    }
}

/// The text of `eval` sets variables of this very shell. Where it is known it is read; where not, anything may be set.
fn evaluated(words: &[Word], vars: &mut Vars, free: &dyn Fn(&str) -> bool) {
    let words: Option<Vec<_>> = words.iter().map(Word::literal).collect();
    vars.evals += 1;
    match words.map(|words| words.join(" ")) {
        Some(text) if vars.evals <= MAX_EVALS && text.len() <= MAX_EVAL_TEXT => {
            let script = crate::shell::parse_at(&text, crate::shell::MAX_DEPTH / 2);
            vars.doubtful |= script.capped;
            collect(&script.commands, vars, free);
        }
        _ => vars.doubtful = true,
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
