//! Which path is forbidden: the credential stores, the judge's own files, what the configuration names.

use std::path::{Path, PathBuf};

use super::Forbidding;
use crate::classify::Reach;
use crate::classify::args::UNKNOWN;

/// Credential stores below the home directory, component by component.
const STORES: &[&str] = &[
    ".ssh",
    ".gnupg",
    ".aws",
    ".azure",
    ".kube",
    ".netrc",
    ".git-credentials",
    ".pgpass",
    ".docker/config.json",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".config/gcloud",
    ".config/gh/hosts.yml",
    ".npmrc",
    ".pypirc",
    ".password-store",
    ".local/share/keyrings",
    ".config/git/credentials",
    ".my.cnf",
];

/// Files in a store that hold no secret and that everyone reads.
const HARMLESS: &[&str] = &[".ssh/known_hosts", ".ssh/config.d"];

/// Names of files that are found in stores and hardly anywhere else.
const KEYS: &[&str] = &["id_rsa", "id_ed25519", "id_ecdsa", "id_dsa", "id_ed25519_sk", "id_ecdsa_sk", "credentials", "secring.gpg"];

/// Why this path is forbidden, to a program that reaches it so.
pub(super) fn judge(path: &Path, reach: Reach, forbidding: &Forbidding, configured: &[PathBuf], home: &Path) -> Option<String> {
    if forbidding.own.iter().any(|own| path.starts_with(own)) {
        return Some("a file of the gate itself".into());
    }
    let hits = |place: &Path| match reach {
        Reach::Names => path.starts_with(place),
        Reach::File => may_lie_in(path, place),
        Reach::Below => may_lie_in(path, place) || place.starts_with(path),
    };
    if let Some(at) = configured.iter().position(|entry| hits(entry)) {
        return Some(format!("the configuration forbids {}", forbidding.paths[at]));
    }
    let is_key = path.extension().is_none_or(|extension| extension != "pub");
    let users = path.strip_prefix("/home").ok().and_then(|rest| rest.components().next()).map(|user| Path::new("/home").join(user));
    [Some(home), Some(Path::new("/root")), users.as_deref()].into_iter().flatten().filter(|_| is_key).find_map(|home| {
        if HARMLESS.iter().any(|file| path.starts_with(home.join(file))) {
            return None;
        }
        let store = STORES.iter().find(|store| hits(&home.join(store))).or_else(|| guessed(path, reach, home).then_some(&STORES[0]))?;
        let above = reach == Reach::Below && home.join(store).starts_with(path);
        Some(if above {
            format!("everything below {}, with the credential store ~/{store}", path.display())
        } else {
            format!("the credential store ~/{store}")
        })
    })
}

/// `~/*/id_rsa`: the directory may be any, but the name is that of a key.
fn guessed(path: &Path, reach: Reach, home: &Path) -> bool {
    let Ok(below) = path.strip_prefix(home) else { return false };
    let mut parts = below.components().map(|part| part.as_os_str().to_string_lossy());
    let Some(first) = parts.next() else { return false };
    reach != Reach::Names && first.chars().all(is_wild) && parts.next_back().is_some_and(|name| KEYS.contains(&&*name))
}

fn is_wild(c: char) -> bool {
    matches!(c, '*' | '?' | '[' | ']' | '{' | UNKNOWN)
}

/// The path lies in the store, or a pattern or an unknown part in it lets it do so: `~/.s*/id_rsa`.
fn may_lie_in(path: &Path, store: &Path) -> bool {
    let mut parts = path.components();
    store.components().all(|want| {
        let Some(part) = parts.next() else { return false };
        let (part, want) = (part.as_os_str().to_string_lossy(), want.as_os_str().to_string_lossy());
        part == want || (part.contains(is_wild) && !part.chars().all(is_wild) && !part.starts_with('*') && matches(&part, &want))
    })
}

/// `?` and `[…]` stand for one character, `*` and what is not known for any; a brace that was not expanded for the rest.
pub(crate) fn matches(pattern: &str, name: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let name: Vec<char> = name.chars().collect();
    // Where the last star stood, and how much of the name it has taken.
    let (mut at, mut taken, mut star) = (0, 0, None);
    loop {
        match pattern.get(at) {
            Some('{') => return true,
            Some('*' | &UNKNOWN) => {
                star = Some((at, taken));
                at += 1;
                continue;
            }
            Some('[') if taken < name.len() => {
                at += pattern[at..].iter().skip(2).position(|&c| c == ']').map_or(pattern.len() - at, |end| end + 3);
                taken += 1;
                continue;
            }
            Some(&c) if taken < name.len() && (c == '?' || c == name[taken]) => {
                at += 1;
                taken += 1;
                continue;
            }
            None if taken == name.len() => return true,
            _ => {}
        }
        match star {
            Some((place, first)) if first < name.len() => {
                star = Some((place, first + 1));
                (at, taken) = (place + 1, first + 1);
            }
            _ => return false,
        }
    }
}

/// Part of a name by which text is seen to speak of a store.
pub(crate) fn first_parts() -> impl Iterator<Item = &'static str> {
    STORES.iter().map(|store| store.split('/').next().unwrap_or(store)).filter(|part| !matches!(*part, ".config" | ".local" | ".cargo"))
}

/// A pattern of names that a file in a store may have.
pub(crate) fn may_name_a_key(pattern: &str) -> bool {
    let files = ["config", "config.json", "hosts.yml", "authorized_keys", "login.keyring"];
    let dotted = STORES.iter().filter(|store| !store.contains('/')).copied();
    let pattern = pattern.to_ascii_lowercase();
    KEYS.iter().copied().chain(files).chain(dotted).any(|name| matches(&pattern, name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns() {
        for (pattern, name, fits) in [
            (".s*", ".ssh", true),
            ("?ssh", ".ssh", true),
            ("[.]ssh", ".ssh", true),
            (".[a-z]sh", ".ssh", true),
            (".*h", ".ssh", true),
            (".c*", ".ssh", false),
            ("id_*", "id_rsa", true),
            ("*.rs", "id_rsa", false),
            ("", ".ssh", false),
            ("[", "x", true),
            (".ssh", ".ssh2", false),
        ] {
            assert_eq!(matches(pattern, name), fits, "{pattern} {name}");
        }
        assert!(may_name_a_key("ID_*") && may_name_a_key("*") && !may_name_a_key("*.md"));
    }
}
