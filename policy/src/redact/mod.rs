//! Secrets in an argument vector or a text become `[redacted]` before anything is stored or shown.
//!
//! Pure and idempotent; the number of arguments never changes. Whoever needs to compare commands does so before, with a
//! keyed digest of the raw bytes. What programs take secrets is data: `knowledge/secrets.toml`.

mod command;
mod names;
mod pairs;
mod rules;
mod tokens;
mod words;

pub(crate) use rules::checked;
use words::Token;

/// What stands in place of a secret.
pub const REDACTED: &str = "[redacted]";

/// Texts in words that are looked into, and how long one may be for that.
const MAX_LEVELS: usize = 3;
const MAX_INNER: usize = 64 << 10;

/// The argument vector without its secrets.
#[must_use]
pub fn argv(argv: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let words: Vec<String> = argv.iter().map(|arg| String::from_utf8_lossy(arg).into_owned()).collect();
    let command = command::hide(&words);
    let shown = words.iter().zip(command.hidden).map(|(word, hidden)| inner(&hidden.unwrap_or_else(|| word.clone()), 1));
    argv.iter()
        .zip(words.iter().zip(shown))
        .map(|(raw, (word, shown))| if *word == shown { raw.clone() } else { shown.into_bytes() })
        .collect()
}

/// A shell text (or any line) without its secrets.
#[must_use]
pub fn text(line: &str) -> String {
    commands(&forms(line), 0)
}

/// What a secret looks like, wherever it stands.
fn forms(text: &str) -> String {
    tokens::tokens(&pairs::pairs(&tokens::addresses(&tokens::blocks(text))))
}

/// One word, which may be a text of several.
fn inner(word: &str, level: usize) -> String {
    let word = pairs::files(&forms(word));
    if word.contains(char::is_whitespace) && level < MAX_LEVELS && word.len() <= MAX_INNER { commands(&word, level) } else { word }
}

/// Every command of a text, with what stands between the words kept.
fn commands(text: &str, level: usize) -> String {
    let tokens = words::tokens(text);
    let mut shown: Vec<Option<String>> = Vec::new();
    shown.resize_with(tokens.len(), || None);
    // The words of the command that ended last, with what they printed into a pipe.
    let mut printed: Vec<usize> = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let end = tokens[at..].iter().position(|token| matches!(token, Token::Gap(gap) if ends(gap))).map_or(tokens.len(), |end| at + end);
        let places: Vec<usize> = (at..end).filter(|&at| matches!(tokens[at], Token::Word(..))).collect();
        let fed = |place: usize| place > 0 && matches!(tokens[place - 1], Token::Gap(gap) if gap.contains("<<<"));
        let (inputs, places): (Vec<usize>, Vec<usize>) = places.into_iter().partition(|&place| fed(place));
        let plain: Vec<String> =
            places.iter().filter_map(|&at| if let Token::Word(_, plain) = &tokens[at] { Some(plain.clone()) } else { None }).collect();
        let command = command::hide(&plain);
        for (&place, (word, hidden)) in places.iter().zip(plain.iter().zip(command.hidden)) {
            let new = inner(&hidden.unwrap_or_else(|| word.clone()), level + 1);
            shown[place] = (new != *word).then_some(new);
        }
        let piped = at > 0 && matches!(tokens[at - 1], Token::Gap(gap) if gap.trim_start().starts_with('|') && !gap.contains("||"));
        if command.reads_secret {
            for &place in inputs.iter().chain(printed.iter().filter(|_| piped)) {
                shown[place] = Some(REDACTED.to_owned());
            }
        }
        let prints = plain.first().is_some_and(|name| matches!(name.as_str(), "echo" | "printf"));
        let said =
            |place: &usize| matches!(&tokens[*place], Token::Word(_, plain) if !plain.starts_with(['-', '%', '$']) && plain != REDACTED);
        printed = if prints { places.into_iter().skip(1).filter(said).collect() } else { Vec::new() };
        at = end + 1;
    }
    let mut out = String::with_capacity(text.len());
    for (token, shown) in tokens.iter().zip(shown) {
        match (token, shown) {
            (Token::Gap(raw) | Token::Word(raw, _), None) => out.push_str(raw),
            (Token::Gap(_), Some(new)) => out.push_str(&new),
            (Token::Word(raw, _), Some(new)) => quoted(raw, &new, &mut out),
        }
    }
    out
}

/// Between commands, not between a command and its file.
fn ends(gap: &str) -> bool {
    gap.contains([';', '|', '&', '\n', '(', ')']) && !gap.contains(['<', '>'])
}

/// A changed word in the quotes that it stood in.
fn quoted(raw: &str, new: &str, out: &mut String) {
    let quote = raw.chars().next().filter(|c| matches!(c, '\'' | '"') && raw.len() > 1 && raw.ends_with(*c));
    let quote = quote.or_else(|| new.contains(char::is_whitespace).then_some('"'));
    out.extend(quote);
    out.push_str(new);
    out.extend(quote);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_says_what_was_done() {
        for (line, shown) in [
            ("curl -u me:hunter2 x", "curl -u me:[redacted] x"),
            ("curl -H 'Authorization: Bearer abc def' https://u:p@h; ls", "curl -H 'Authorization: [redacted]' https://u:[redacted]@h; ls"),
            ("API_KEY=abc ./x --token abc", "API_KEY=[redacted] ./x --token [redacted]"),
            ("curl https://h/x?api_key=abc&y=1", "curl https://h/x?api_key=[redacted]&y=1"),
            ("echo pw | sudo -S ls", "echo [redacted] | sudo -S ls"),
            ("mysql -phunter2 db", "mysql -p[redacted] db"),
        ] {
            assert_eq!(text(line), shown);
        }
    }

    #[test]
    fn long_and_hostile_texts_are_answered() {
        for unit in ["'", "\"", "\\", "a=b ", "token=", "://a:b@", "-----BEGIN ", "\"token\":", "é", "sh -c '", ":", "AKIA"] {
            let shown = text(&unit.repeat(20_000));
            assert!(shown.len() < 2 << 20, "{unit}");
        }
    }
}
