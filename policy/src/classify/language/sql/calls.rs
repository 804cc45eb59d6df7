//! Functions that a statement calls: words in front of a parenthesis.
//!
//! Invariant: one that is not listed is no read; what only declares names (`t(a, b)` behind `as` or `with`) calls nothing.

use crate::knowledge::Sql;

/// Every function of the statement is known. The text is in lower case and holds no strings.
pub(super) fn known(text: &str, known: &Sql) -> bool {
    let opens = text.match_indices('(').map(|(at, _)| at);
    let mut all = opens;
    all.all(|at| {
        let head = text[..at].trim_end();
        let start = head.rfind(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '$'))).map_or(0, |before| before + width(head, before));
        let name = &head[start..];
        name.is_empty() || known.is_call(name) || declares(&head[..start], &text[at..])
    })
}

fn width(text: &str, at: usize) -> usize {
    text[at..].chars().next().map_or(1, char::len_utf8)
}

/// `… as t(a, b)`, `f(…) t(a)`, and `with t(a) as (select …)`.
fn declares(before: &str, from: &str) -> bool {
    let before = before.trim_end();
    if before.ends_with(')') || before.ends_with(" as") || before.ends_with("\nas") {
        return true;
    }
    let listed = before.ends_with("with") || before.ends_with("recursive") || before.ends_with(',');
    let Some(end) = from.find(')').filter(|_| listed) else { return false };
    let mut rest = from[end + 1..].trim_start();
    for word in ["as", "not", "materialized"] {
        rest = rest.strip_prefix(word).unwrap_or(rest).trim_start();
    }
    let body = rest.strip_prefix('(').map(str::trim_start);
    body.is_some_and(|body| ["select", "values", "with", "table", "("].iter().any(|word| body.starts_with(word)))
}
