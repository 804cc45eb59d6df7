//! Secrets in an argument vector become `[redacted]` before anything is stored or shown.
//!
//! Pure and idempotent; the number of arguments never changes. Whoever needs to compare commands does so before, with a
//! keyed digest of the raw bytes.

/// What stands in place of a secret.
pub const REDACTED: &str = "[redacted]";

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

/// Words in names of options and variables whose value is a secret.
const NAMES: &[&str] = &[
    "password",
    "passwd",
    "passphrase",
    "secret",
    "token",
    "apikey",
    "api-key",
    "api_key",
    "access-key",
    "access_key",
    "private-key",
    "private_key",
    "credential",
    "auth-key",
    "auth_key",
    "pgpassword",
    "mysql_pwd",
    "client-secret",
    "bearer",
];

/// Headers whose value is a secret.
const HEADERS: &[&str] = &[
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

fn is_option(text: &str) -> bool {
    text.starts_with("--") || (text.starts_with('-') && text.len() == 2)
}

/// The option's value, in the next argument, is a secret.
fn takes_secret(text: &str, program: &str) -> bool {
    if !text.starts_with('-') || text.contains('=') {
        return false;
    }
    let name = text.trim_start_matches('-').to_ascii_lowercase();
    match (program, text) {
        ("curl", "-u" | "--user" | "-U" | "--proxy-user" | "--oauth2-bearer" | "--pass") => true,
        ("sshpass" | "docker" | "podman" | "mongo" | "mongosh" | "mongodump" | "smbclient" | "ldapsearch", "-p" | "-w") => {
            program != "docker" && program != "podman"
        }
        ("redis-cli", "-a") => true,
        ("wget" | "http" | "https", "--password" | "--http-password" | "-a" | "--auth") => true,
        _ => text.starts_with("--") && is_secret_name(&name),
    }
}

fn is_secret_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    // A file, a count or a switch about secrets is none.
    let about = [
        "-file",
        "_file",
        "-stdin",
        "_path",
        "-path",
        "max-tokens",
        "max_tokens",
        "tokenizer",
        "-length",
        "no-password",
        "token-type",
        "-name",
        "_name",
    ];
    NAMES.iter().any(|word| name.contains(word)) && !about.iter().any(|word| name.contains(word))
        || matches!(name.as_str(), "pass" | "pwd" | "auth")
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

/// `Authorization: …` as a whole argument.
fn header(text: &str) -> Option<String> {
    let (name, _) = text.split_once(':')?;
    HEADERS.contains(&name.trim().to_ascii_lowercase().as_str()).then(|| format!("{name}: {REDACTED}"))
}

fn single(text: &str, program: &str) -> String {
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
