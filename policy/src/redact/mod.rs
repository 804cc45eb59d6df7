//! Secrets in an argument vector become `[redacted]` before anything is stored or shown.
//!
//! Pure and idempotent; the number of arguments never changes. Whoever needs to compare commands does so before, with a
//! keyed digest of the raw bytes.

mod forms;
mod names;

use forms::{HEADERS, header, single};
use names::{is_option, takes_secret};

/// What stands in place of a secret.
pub const REDACTED: &str = "[redacted]";

/// The argument vector without its secrets.
#[must_use]
pub fn argv(argv: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let program = argv
        .first()
        .map(|name| String::from_utf8_lossy(name).rsplit('/').next().unwrap_or_default().to_ascii_lowercase())
        .unwrap_or_default();
    let mut out = Vec::with_capacity(argv.len());
    let mut secret_next = false;
    for (index, arg) in argv.iter().enumerate() {
        let text = String::from_utf8_lossy(arg);
        let hidden = if index > 0 && secret_next && !text.is_empty() && (!text.starts_with('-') || text.len() > 1 && !is_option(&text)) {
            REDACTED.to_owned()
        } else {
            word(&text, &program)
        };
        secret_next = index > 0 && takes_secret(&text, &program);
        out.push(if hidden == text { arg.clone() } else { hidden.into_bytes() });
    }
    out
}

/// A shell text (or any line) without its secrets.
#[must_use]
pub fn text(line: &str) -> String {
    words_of(line, "")
}

/// One argument, which may itself be a text of several words.
fn word(text: &str, program: &str) -> String {
    if text.contains([' ', '\n', '\t', ';', '|', '&']) {
        return words_of(text, program);
    }
    single(text, program)
}

/// Every word of a text, with the blanks between them kept.
fn words_of(text: &str, program: &str) -> String {
    if let Some(header) = header(text) {
        return header;
    }
    let mut out = String::with_capacity(text.len());
    let mut secret_next = false;
    let mut header_open: Option<char> = None;
    let mut command = program.to_owned();
    let mut first = program.is_empty();
    for piece in split_keep(text) {
        if piece.starts_with(|c: char| c.is_whitespace() || matches!(c, ';' | '|' | '&' | '(' | ')')) {
            first |= piece.contains([';', '|', '&', '(', '\n']);
            if header_open.is_none() || piece.contains('\n') {
                out.push_str(piece);
            }
            if piece.contains('\n') {
                header_open = None;
            }
            continue;
        }
        if let Some(quote) = header_open {
            // Inside the value of a secret header, up to its quote.
            if let Some(at) = piece.find(quote) {
                out.push_str(&piece[at..]);
                header_open = None;
            }
            continue;
        }
        let (open, bare, close) = unquoted(piece);
        if first {
            command = bare.rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
            first = bare.contains('=');
        }
        let lower = bare.to_ascii_lowercase();
        if let Some(name) = HEADERS.iter().find(|name| lower.strip_prefix(**name).is_some_and(|rest| rest.starts_with(':'))) {
            out.push_str(open);
            out.push_str(&bare[..=name.len()]);
            out.push(' ');
            out.push_str(REDACTED);
            match open.chars().next() {
                Some(quote) if close.is_empty() => header_open = Some(quote),
                _ => out.push_str(close),
            }
            continue;
        }
        if secret_next && bare != REDACTED && !bare.is_empty() && !is_option(bare) {
            out.push_str(open);
            out.push_str(REDACTED);
            out.push_str(close);
            secret_next = false;
            continue;
        }
        secret_next = takes_secret(bare, &command);
        out.push_str(open);
        out.push_str(&single(bare, &command));
        out.push_str(close);
    }
    out
}

/// Runs of separators and runs of anything else.
fn split_keep(text: &str) -> impl Iterator<Item = &str> {
    let is_gap = |c: char| c.is_whitespace() || matches!(c, ';' | '|' | '&' | '(' | ')');
    let mut rest = text;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let gap = is_gap(first);
        let end = rest.find(|c| is_gap(c) != gap).unwrap_or(rest.len());
        let (piece, after) = rest.split_at(end);
        rest = after;
        Some(piece)
    })
}

fn unquoted(piece: &str) -> (&str, &str, &str) {
    let open = piece.len() - piece.trim_start_matches(['\'', '"']).len();
    let bare = &piece[open..];
    let close = bare.len() - bare.trim_end_matches(['\'', '"']).len();
    (&piece[..open], &bare[..bare.len() - close], &bare[bare.len() - close..])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(words: &[&str]) -> String {
        let raw: Vec<Vec<u8>> = words.iter().map(|word| word.as_bytes().to_vec()).collect();
        let once = argv(&raw);
        assert_eq!(once.len(), raw.len());
        assert_eq!(argv(&once), once, "idempotent");
        once.iter().map(|word| String::from_utf8_lossy(word).into_owned()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn secrets_go() {
        assert_eq!(shown(&["curl", "-H", "Authorization: Bearer abc", "x"]), "curl -H Authorization: [redacted] x");
        assert_eq!(shown(&["curl", "-u", "me:pw", "x"]), "curl -u [redacted] x");
        assert_eq!(shown(&["psql", "--password=hunter2"]), "psql --password=[redacted]");
        assert_eq!(shown(&["x", "--api-key", "abc"]), "x --api-key [redacted]");
        assert_eq!(shown(&["git", "clone", "https://me:tok@h/x"]), "git clone https://me:[redacted]@h/x");
        assert_eq!(shown(&["env", "GITHUB_TOKEN=abc", "ls"]), "env GITHUB_TOKEN=[redacted] ls");
        assert_eq!(shown(&["echo", "ghp_0123456789abcdef0123"]), "echo [redacted]");
        assert_eq!(shown(&["mysql", "-phunter2", "db"]), "mysql -p[redacted] db");
        assert_eq!(
            shown(&["sh", "-c", "curl -H 'Authorization: Bearer abc def' https://u:p@h; ls"]),
            "sh -c curl -H 'Authorization: [redacted]' https://u:[redacted]@h; ls"
        );
        assert_eq!(shown(&["sh", "-c", "API_KEY=abc ./x --token abc"]), "sh -c API_KEY=[redacted] ./x --token [redacted]");
        assert_eq!(shown(&["curl", "https://h/x?api_key=abc&y=1"]), "curl https://h/x?api_key=[redacted]&y=1");
    }

    #[test]
    fn the_rest_stays() {
        for words in [
            &["git", "commit", "-m", "add password field"][..],
            &["ls", "-p", "x"],
            &["grep", "token", "x"],
            &["x", "--max-tokens", "5"],
            &["docker", "run", "-p", "80:80"],
        ] {
            assert_eq!(shown(words), words.join(" "));
        }
    }
}
