//! Whose value is a secret: by the name of an option, a variable or a parameter.

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

pub(super) fn is_option(text: &str) -> bool {
    text.starts_with("--") || (text.starts_with('-') && text.len() == 2)
}

/// The option's value, in the next argument, is a secret.
pub(super) fn takes_secret(text: &str, program: &str) -> bool {
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

pub(super) fn is_secret_name(name: &str) -> bool {
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
