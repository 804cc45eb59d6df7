//! A text to words and what stands between them, for redaction: quotes are followed, nothing is understood.

/// A piece of a text, in its order.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Token<'t> {
    /// Blanks, operators, comments' marks: as they stand.
    Gap(&'t str),
    /// A word as it stands, and without its quotes.
    Word(&'t str, String),
}

fn is_gap(c: char) -> bool {
    c.is_whitespace() || matches!(c, ';' | '|' | '&' | '<' | '>' | '(' | ')')
}

/// The tokens of a text.
pub(super) fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut out = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let (length, plain) = if is_gap(first) { (rest.find(|c| !is_gap(c)).unwrap_or(rest.len()), None) } else { word(rest) };
        let (raw, after) = rest.split_at(length);
        out.push(match plain {
            Some(plain) => Token::Word(raw, plain),
            None => Token::Gap(raw),
        });
        rest = after;
    }
    out
}

/// Length and plain text of the word that begins here. A quote without its end is a character.
fn word(text: &str) -> (usize, Option<String>) {
    let mut plain = String::new();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            c if is_gap(c) => return (at, Some(plain)),
            '\\' => {
                if let Some((_, next)) = chars.next() {
                    plain.push(next);
                }
            }
            '\'' | '"' => match closing(&text[at + 1..], c) {
                Some(end) => {
                    plain.push_str(&text[at + 1..at + 1 + end]);
                    while chars.offset() < at + end + 2 && chars.next().is_some() {}
                }
                None => plain.push(c),
            },
            c => plain.push(c),
        }
    }
    (text.len(), Some(plain))
}

fn closing(text: &str, quote: char) -> Option<usize> {
    let mut escaped = false;
    text.char_indices().find_map(|(at, c)| {
        let closes = c == quote && !escaped;
        escaped = c == '\\' && !escaped && quote == '"';
        closes.then_some(at)
    })
}
