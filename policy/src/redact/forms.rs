//! What a secret looks like: headers, tokens, credentials in addresses, `name=value`.

use super::REDACTED;
use super::names::is_secret_name;

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
    "eyJhbGci",
    "eyJ0eXAi",
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
    "-----BEGIN ",
];

/// Headers whose value is a secret.
pub(super) const HEADERS: &[&str] = &[
    "authorization",
    "proxy-authorization",
    "cookie",
    "set-cookie",
    "x-api-key",
    "x-auth-token",
    "x-access-token",
    "private-token",
    "x-gitlab-token",
    "x-amz-security-token",
];

/// `Authorization: …` as a whole argument.
pub(super) fn header(text: &str) -> Option<String> {
    let (name, _) = text.split_once(':')?;
    HEADERS.contains(&name.trim().to_ascii_lowercase().as_str()).then(|| format!("{name}: {REDACTED}"))
}

pub(super) fn single(text: &str, program: &str) -> String {
    if let Some(header) = header(text) {
        return header;
    }
    let dashes = text.len() - text.trim_start_matches('-').len();
    if let Some((name, value)) = text.split_once('=')
        && !value.is_empty()
        && is_secret_name(&name[dashes.min(name.len())..])
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'))
        && !value.starts_with(['$'])
    {
        return format!("{name}={REDACTED}");
    }
    if matches!(program, "mysql" | "mariadb" | "mysqldump" | "mysqladmin" | "sshpass") && text.starts_with("-p") && text.len() > 2 {
        return format!("-p{REDACTED}");
    }
    tokens(&url(text))
}

/// `scheme://user:password@host`.
fn url(text: &str) -> String {
    let Some(scheme) = text.find("://") else { return text.to_owned() };
    let rest = &text[scheme + 3..];
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let Some(at) = rest[..end].rfind('@') else { return query(text) };
    let user = rest[..at].split(':').next().unwrap_or_default();
    let hidden = match rest[..at].contains(':') {
        true => format!("{}://{user}:{REDACTED}{}", &text[..scheme], &rest[at..]),
        false if user.len() >= 16 => format!("{}://{REDACTED}{}", &text[..scheme], &rest[at..]),
        false => text.to_owned(),
    };
    query(&hidden)
}

/// `?token=…&key=…`.
fn query(text: &str) -> String {
    let Some((head, tail)) = text.split_once('?') else { return text.to_owned() };
    let pairs: Vec<String> = tail
        .split('&')
        .map(|pair| match pair.split_once('=') {
            Some((name, value))
                if !value.is_empty() && (is_secret_name(name) || matches!(name, "key" | "sig" | "signature" | "X-Amz-Signature")) =>
            {
                format!("{name}={REDACTED}")
            }
            _ => pair.to_owned(),
        })
        .collect();
    format!("{head}?{}", pairs.join("&"))
}

/// Well-known tokens, wherever they begin.
fn tokens(text: &str) -> String {
    let is_token = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/' | '+');
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    'outer: while !rest.is_empty() {
        let starts = out.chars().next_back().is_none_or(|c| !c.is_ascii_alphanumeric() && c != '_' && c != '-');
        if starts {
            for prefix in TOKENS {
                if let Some(tail) = rest.strip_prefix(prefix) {
                    let length = tail.find(|c| !is_token(c)).unwrap_or(tail.len());
                    if length >= 12 || *prefix == "-----BEGIN " {
                        out.push_str(REDACTED);
                        rest = if *prefix == "-----BEGIN " { "" } else { &tail[length..] };
                        continue 'outer;
                    }
                }
            }
        }
        let length = rest.chars().next().map_or(1, char::len_utf8);
        out.push_str(&rest[..length]);
        rest = &rest[length..];
    }
    out
}
