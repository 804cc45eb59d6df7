//! Places where a shell evaluates text: `[[ ]]`, subscripts in names. What may be evaluated there says `numbers`.

use super::vars::Vars;
use super::vet::Finding;
use super::walk::opaque;
use crate::shell::{Piece, Word};

/// Text that the shell evaluates, and that may run when it does.
pub(crate) fn evaluated() -> Finding {
    opaque("a value that the shell evaluates and that may be more than a number", false)
}

const COMPARISONS: &[&str] = &["-eq", "-ne", "-lt", "-le", "-gt", "-ge"];

/// The words of `[[` that are evaluated: beside a comparison of numbers, and behind `-v`.
pub(crate) fn expressions(words: &[Word]) -> impl Iterator<Item = &Word> {
    let is = |at: usize, tests: &[&str]| words.get(at).and_then(Word::literal).is_some_and(|word| tests.contains(&&*word));
    let evaluated = move |at: usize| is(at + 1, COMPARISONS) || at > 0 && (is(at - 1, COMPARISONS) || is(at - 1, &["-v", "-R"]));
    words.iter().enumerate().filter(move |(at, _)| evaluated(*at)).map(|(_, word)| word)
}

/// `[[` evaluates the operands of its comparisons of numbers, and the subscript in a name behind `-v` or `-R`.
pub(crate) fn evaluates(words: &[Word], vars: &Vars) -> bool {
    // A quoted operator is none, and no command either: what it would be is no less.
    words.iter().enumerate().any(|(at, word)| match word.literal().as_deref() {
        Some("-v" | "-R") => words.get(at + 1).is_some_and(|name| name.literal().is_none_or(|name| name.contains('['))),
        Some(test) if COMPARISONS.contains(&test) => {
            let mut sides = at.checked_sub(1).and_then(|at| words.get(at)).into_iter().chain(words.get(at + 1));
            !sides.all(|side| vars.harmless_to_evaluate(side))
        }
        _ => false,
    })
}

/// An array subscript is evaluated, and text in it can run: `a[$(…)]` as data.
pub(crate) fn subscript(word: &Word) -> Option<Finding> {
    let text: String =
        word.pieces.iter().filter_map(|piece| if let Piece::Text { text, .. } = piece { Some(text.as_str()) } else { None }).collect();
    subscript_text(&text)
}

pub(crate) fn subscript_text(text: &str) -> Option<Finding> {
    (text.contains('[') && (text.contains("$(") || text.contains('`') || text.contains("${")))
        .then(|| opaque("text that runs when it is taken for a subscript", false))
}

/// Variables of the shell that take numbers: what they are given is evaluated.
pub(crate) fn takes_numbers(name: &str) -> bool {
    matches!(name, "RANDOM" | "SRANDOM" | "SECONDS" | "LINENO" | "HISTCMD" | "OPTIND" | "EPOCHSECONDS" | "BASHPID" | "BASH_SUBSHELL")
}
