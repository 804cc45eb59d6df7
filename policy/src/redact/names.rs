//! Whose value is a secret: by the name of an option, a variable, a header or a parameter.

/// Words in names, without the marks between their parts, whose value is a secret.
const NAMES: &[&str] = &[
    "password",
    "passwd",
    "passphrase",
    "secret",
    "token",
    "apikey",
    "accesskey",
    "privatekey",
    "credential",
    "authkey",
    "bearer",
    "mysqlpwd",
    "sshpass",
];

/// Whole names, or last parts of one.
const PARTS: &[&str] = &["pass", "pwd", "auth", "_auth", "authtoken", "storepass", "keypass"];

/// Parts at the end, or in front, with which a name speaks about a secret and holds none.
const ABOUT: &[&str] = &[
    "file", "path", "name", "stdin", "type", "length", "len", "url", "uri", "endpoint", "ttl", "expiry", "expires", "count", "policy",
    "field", "env", "var", "regex", "prefix", "ring", "provider", "manager", "store", "cmd", "command",
];
const IN_FRONT: &[&str] = &["max", "min", "no", "num", "n", "skip", "use", "with", "has", "is", "show", "list"];

/// Headers whose value is a secret.
const HEADERS: &[&str] =
    &["authorization", "proxy-authorization", "cookie", "set-cookie", "x-amz-security-token", "ocp-apim-subscription-key", "dd-api-key"];

pub(super) fn is_header(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    HEADERS.contains(&name.as_str()) || ((name.contains('-') || name == "apikey") && is_secret_name(&name))
}

pub(super) fn is_secret_name(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    let parts: Vec<&str> = lower.split(['-', '_', '.', ':', '/']).filter(|part| !part.is_empty()).collect();
    let (Some(first), Some(last)) = (parts.first(), parts.last()) else { return false };
    if ABOUT.contains(last) || last.ends_with("tokens") || last.starts_with("tokeniz") || (parts.len() > 1 && IN_FRONT.contains(first)) {
        return false;
    }
    let joined = parts.concat();
    NAMES.iter().any(|word| joined.contains(word)) && !joined.contains("tokenize")
        || PARTS.contains(last)
        || PARTS.contains(&lower.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        for name in ["DB_PASSWORD", "api.key", "clientSecret", "_authToken", "//h/:_auth", "aws_secret_access_key", "PGPASSWORD", "db-pass"]
        {
            assert!(is_secret_name(name), "{name}");
        }
        for name in ["max-tokens", "PASSWORD_FILE", "tokenizer", "secret-name", "no-password", "KEY_COUNT", "author", "passes", ""] {
            assert!(!is_secret_name(name), "{name}");
        }
        assert!(is_header("X-Api-Key") && is_header("Private-Token") && !is_header("Accept") && !is_header("password"));
    }
}
