//! `name=value`, `"name": "value"` and headers: the value goes where the name says that it is a secret.
//!
//! A value that only names a variable (`$TOKEN`) is none, and stays readable.

use super::REDACTED;
use super::names::{is_header, is_secret_name};

/// Every pair in the text.
pub(super) fn pairs(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    while let Some(at) = text[from..].find(['=', ':', '%']).map(|at| from + at) {
        let value = match text.as_bytes()[at] {
            b'=' => equals(text, at),
            b':' => colon(text, at),
            _ => None,
        };
        match value.filter(|(start, end)| hides(&text[*start..*end])) {
            Some((start, end)) => {
                out.push_str(&text[from..start]);
                out.push_str(REDACTED);
                from = end;
            }
            None => {
                out.push_str(&text[from..=at]);
                from = at + 1;
            }
        }
    }
    out.push_str(&text[from..]);
    out
}

fn hides(value: &str) -> bool {
    let bare = value.trim_start_matches(['"', '\'', '\\', ' ']);
    let word = bare.split_once(' ').filter(|(scheme, _)| matches!(scheme.to_ascii_lowercase().as_str(), "bearer" | "basic" | "token"));
    let secret = word.map_or(bare, |(_, secret)| secret.trim_start());
    // A pattern that looks for a secret is none.
    let pattern = secret.starts_with(".*") || secret.starts_with("[^") || secret.starts_with(".+");
    !secret.is_empty() && !pattern && !is_variable(secret) && !secret.starts_with("[redacted]") && secret != "="
}

/// `$NAME`, `${…}`, `$(…)`: what it is only shows when it runs.
pub(super) fn is_variable(value: &str) -> bool {
    value == "$"
        || value.starts_with('`')
        || value.strip_prefix('$').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '_' | '{' | '(')))
}

/// The name that ends at `at`: letters, digits and the marks between parts.
fn name_before(text: &str, at: usize) -> &str {
    let start = text[..at]
        .rfind(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.')))
        .map_or(0, |before| before + text[before..].chars().next().map_or(1, char::len_utf8));
    text[start..at].trim_start_matches('-')
}

fn equals(text: &str, at: usize) -> Option<(usize, usize)> {
    let rest = &text[at + 1..];
    let spaced = text[..at].ends_with(' ') && rest.trim_start().starts_with(['"', '\'']);
    let name = name_before(text, if spaced { text[..at].trim_end().len() } else { at });
    let query = text[..at - name.len().min(at)].ends_with(['?', '&']);
    let signed = query && matches!(name, "key" | "sig" | "signature" | "X-Amz-Signature" | "X-Amz-Credential" | "code");
    if rest.starts_with('=') || !(is_secret_name(name) || signed) {
        return None;
    }
    let start = at + 1 + if spaced { rest.len() - rest.trim_start().len() } else { 0 };
    let whole = text[..at].bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'));
    Some(value(text, start, whole && !text.contains('\n')))
}

/// From `start` up to the quote that closes it, or to what ends a word; `whole`: the text is nothing but this pair.
fn value(text: &str, start: usize, whole: bool) -> (usize, usize) {
    let rest = &text[start..];
    let quote = ["\\\"", "\\'", "\"", "'"].into_iter().find(|quote| rest.starts_with(quote));
    match quote {
        Some(quote) => {
            let inside = start + quote.len();
            let end = text[inside..].find(quote).map_or(text.len(), |end| inside + end);
            (inside, end)
        }
        None if whole && !rest.contains(['\'', '"', ';', '|', '&', '<', '>', '=']) && !rest.contains(" -") => {
            let end =
                if rest.trim_start_matches("[redacted]").starts_with(' ') { rest.find(' ').unwrap_or(rest.len()) } else { rest.len() };
            (start, start + end)
        }
        None => {
            let end =
                rest.find(|c: char| c.is_whitespace() || matches!(c, '&' | ';' | ',' | '\'' | '"' | '`' | ')' | '|' | '<' | '>' | '}'));
            (start, end.map_or(text.len(), |end| start + end))
        }
    }
}

fn colon(text: &str, at: usize) -> Option<(usize, usize)> {
    let rest = &text[at + 1..];
    if rest.starts_with("//") {
        return None;
    }
    let blanks = rest.len() - rest.trim_start_matches(' ').len();
    let before = &text[..at];
    // `"name": "value"`, `'name': 'value'`.
    if let Some(quote) = before.chars().next_back().filter(|c| matches!(c, '"' | '\'')) {
        let name = name_before(text, before.trim_end_matches(['"', '\'', '\\']).len());
        let opens = text[at + 1 + blanks..].trim_start_matches('\\').starts_with(quote);
        return (opens && is_secret_name(name)).then(|| value(text, at + 1 + blanks, false));
    }
    let name = name_before(text, at);
    let before = &text[..at - name.len()];
    // `-HName: value` in one word.
    let glued = name.strip_prefix('H').filter(|name| before.ends_with('-') && is_header(name));
    let name = glued.unwrap_or(name);
    let before = if glued.is_some() { before.trim_end_matches('-') } else { before };
    if is_header(name) {
        let end = match before.chars().next_back() {
            Some(quote @ ('\'' | '"')) => rest.find(quote),
            None => None,
            _ if blanks > 0 => rest.find(['\n', '\'', '"']),
            _ => rest.find(|c: char| c.is_whitespace() || matches!(c, '\'' | '"')),
        };
        return Some((at + 1 + blanks, end.map_or(text.len(), |end| at + 1 + end)));
    }
    // `name: value` as a line of its own.
    let line = &rest[..rest.find('\n').unwrap_or(rest.len())];
    let lone = before.rsplit('\n').next().is_some_and(|head| head.bytes().all(|byte| matches!(byte, b' ' | b'-' | b'\t')));
    let single = !line.trim().is_empty() && (!line.trim().contains(' ') || line.trim().starts_with(['"', '\'']));
    (blanks > 0 && lone && single && text.contains('\n') && is_secret_name(name)).then(|| value(text, at + 1 + blanks, false))
}

/// `machine h login me password X`, `h:5432:db:me:X`: lines of `.netrc` and `.pgpass`.
pub(super) fn files(text: &str) -> String {
    if text.contains("machine ")
        && let Some(at) = text.find(" password ").map(|at| at + 10)
    {
        let end = text[at..].find(|c: char| c.is_whitespace() || matches!(c, '\\' | '\'' | '"')).map_or(text.len(), |end| at + end);
        return format!("{}{REDACTED}{}", &text[..at], &text[end..]);
    }
    let parts: Vec<&str> = text.trim().split(':').collect();
    let port = |part: &str| part == "*" || (!part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()));
    match parts[..] {
        [host, number, base, user, _]
            if port(number) && ![host, base, user].iter().any(|part| part.is_empty() || part.contains(['/', ' '])) =>
        {
            format!("{host}:{number}:{base}:{user}:{REDACTED}")
        }
        _ => text.to_owned(),
    }
}
