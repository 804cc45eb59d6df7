//! What a secret looks like wherever it stands: well-known tokens, credentials in addresses, blocks of private keys.

use super::REDACTED;

/// Beginnings of well-known tokens.
const TOKENS: &[&str] = &[
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "ghr_",
    "github_pat_",
    "glpat-",
    "gldt-",
    "glrt-",
    "sk-",
    "sk_live_",
    "sk_test_",
    "rk_live_",
    "rk_test_",
    "pk_live_",
    "xoxb-",
    "xoxp-",
    "xoxa-",
    "xoxr-",
    "xoxs-",
    "xapp-",
    "AKIA",
    "ASIA",
    "AIza",
    "ya29.",
    "npm_",
    "pypi-",
    "dop_v1_",
    "hf_",
    "SG.",
    "eyJ",
    "shpat_",
    "sq0atp-",
    "dckr_pat_",
    "tskey-",
    "lin_api_",
    "pat-",
    "gsk_",
    "xai-",
    "r8_",
    "figd_",
    "AGE-SECRET-KEY-",
    "hvs.",
    "hvb.",
    "sha256~",
    "cio",
];

/// A shorter rest is a word.
const SHORTEST: usize = 12;

/// Well-known tokens, wherever a word begins.
pub(super) fn tokens(text: &str) -> String {
    let is_token = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/' | '+' | '=');
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut starts = true;
    while let Some(c) = rest.chars().next() {
        if starts {
            let found = TOKENS.iter().find(|prefix| rest.starts_with(**prefix)).map(|prefix| {
                let tail = &rest[prefix.len()..];
                (prefix.len(), tail.find(|c| !is_token(c)).unwrap_or(tail.len()))
            });
            if let Some((prefix, length)) = found
                && random(&rest[prefix..prefix + length])
            {
                out.push_str(REDACTED);
                rest = &rest[prefix + length..];
                starts = false;
                continue;
            }
            if let Some(length) = bot(rest) {
                out.push_str(REDACTED);
                rest = &rest[length..];
                continue;
            }
        }
        starts = !(c.is_ascii_alphanumeric() || matches!(c, '_' | '-')) || out.ends_with("/bo") && c == 't';
        out.push(c);
        rest = &rest[c.len_utf8()..];
    }
    hooks(out)
}

/// Long, and no word: with digits, or with letters of both cases.
fn random(tail: &str) -> bool {
    let digit = tail.bytes().any(|byte| byte.is_ascii_digit());
    let mixed = tail.bytes().any(|byte| byte.is_ascii_lowercase()) && tail.bytes().any(|byte| byte.is_ascii_uppercase());
    tail.len() >= SHORTEST && (digit || mixed)
}

/// `123456789:AA…`, a bot's token.
fn bot(rest: &str) -> Option<usize> {
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let tail = rest[digits..].strip_prefix(":AA").filter(|_| (8..=10).contains(&digits))?;
    let length = tail.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')).count();
    (length >= 20).then_some(digits + 3 + length)
}

/// Addresses to which anybody may post who knows them.
fn hooks(text: String) -> String {
    let mut text = text;
    for (place, keep) in [("hooks.slack.com/services/", 0), ("/api/webhooks/", 1)] {
        let Some(at) = text.find(place).map(|at| at + place.len()) else { continue };
        let end = text[at..].find(|c: char| c.is_whitespace() || matches!(c, '\'' | '"' | ')' | '`')).map_or(text.len(), |end| at + end);
        let from = if keep == 0 { Some(at) } else { text[at..end].find('/').map(|slash| at + slash + 1) };
        if let Some(from) = from.filter(|from| *from < end) {
            text.replace_range(from..end, REDACTED);
        }
    }
    text
}

/// `scheme://user:password@host`, everywhere in the text.
pub(super) fn addresses(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("://") {
        let (head, tail) = rest.split_at(at + 3);
        out.push_str(head);
        let end = tail
            .find(|c: char| c.is_whitespace() || matches!(c, '/' | '?' | '#' | '\'' | '"' | '`' | '<' | '>' | '|' | ';' | ')'))
            .unwrap_or(tail.len());
        rest = tail;
        let Some(mark) = tail[..end].rfind('@') else { continue };
        let (user, password) = tail[..mark].split_once(':').map_or((&tail[..mark], None), |(user, password)| (user, Some(password)));
        match password {
            Some(password) if !password.is_empty() && !password.starts_with('$') => {
                out.push_str(user);
                out.push(':');
                out.push_str(REDACTED);
            }
            None if user.len() >= 16 && !user.starts_with('$') => out.push_str(REDACTED),
            _ => out.push_str(&tail[..mark]),
        }
        rest = &tail[mark..];
    }
    out.push_str(rest);
    out
}

/// What stands between the lines that begin and end a private key.
pub(super) fn blocks(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("-----BEGIN ") {
        let title = rest[at + 11..].find("-----").map(|end| at + 11 + end + 5);
        let Some(begins) = title.filter(|end| rest[at..*end].contains("PRIVATE KEY")) else {
            out.push_str(&rest[..at + 11]);
            rest = &rest[at + 11..];
            continue;
        };
        let ends = rest[begins..].find("-----END ").map_or(rest.len(), |end| begins + end);
        out.push_str(&rest[..begins]);
        out.push_str(REDACTED);
        rest = &rest[ends..];
    }
    out.push_str(rest);
    out
}
