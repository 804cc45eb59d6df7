//! What is refused whatever anybody says: credential stores, the judge's own files, configured paths and commands.
//!
//! Invariant: an operand is compared as the path that it leads to: `~`, `$HOME`, `.`, `..`, doubled slashes and
//! /proc/self/root are taken out first. Refuses to look at the file system: what a symbolic link leads to is not known
//! here.

use super::session::Session;
use stayexec_protocol::Event;
use std::borrow::Cow;

/// Credential stores, below the home folder.
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
];

/// Why an event is forbidden; `None` where it is not.
pub fn check(session: &Session, event: &Event) -> Option<String> {
    let frozen = &session.frozen;
    let words = || event.argv.iter().map(Vec::as_slice);
    for command in &frozen.forbidden_commands {
        if leads(command, event) {
            return Some(format!("`{command}` is forbidden by the configuration"));
        }
    }
    let home = frozen.places.home.bytes();
    let forbidden = |path: &[u8]| -> Option<&'static str> {
        if STORES.iter().any(|store| below(path, &joined(home, store.as_bytes()))) {
            return Some("it would open a credential store");
        }
        if frozen.places.own.iter().any(|own| below(path, own.bytes())) {
            return Some("it would open the gate's own files");
        }
        frozen
            .forbidden_paths
            .iter()
            .any(|path_| below(path, path_.bytes()))
            .then_some("it would open a path that the configuration forbids")
    };
    let inner = event
        .argv
        .iter()
        .skip(1)
        .filter(|word| word.contains(&b' '))
        .flat_map(|text| text.split(|byte| b" \t\n'\"`();|&<>=".contains(byte)));
    let is_shell = [&b"sh"[..], b"bash", b"dash", b"zsh", b"ksh"].contains(&name(&event.executable.path));
    let inner = inner.filter(move |_| is_shell);
    words().skip(1).filter(|word| !word.contains(&b' ')).chain(inner).flat_map(operands).find_map(|word| {
        let path = resolved(word, &event.cwd, home)?;
        forbidden(&path).map(str::to_owned)
    })
}

/// The word itself, and what stands behind the first `=` of an option.
fn operands(word: &[u8]) -> impl Iterator<Item = &[u8]> {
    let value = word.iter().position(|&byte| byte == b'=').map(|at| &word[at + 1..]);
    std::iter::once(word).chain(value)
}

fn name(path: &[u8]) -> &[u8] {
    path.iter().rposition(|&byte| byte == b'/').map_or(path, |at| &path[at + 1..])
}

/// Whether the event's leading words are those of a configured command; its first word is the name of the file.
fn leads(command: &str, event: &Event) -> bool {
    let mut wanted = command.split_whitespace().map(str::as_bytes);
    let Some(program) = wanted.next() else { return false };
    let called = event.argv.first().map_or(&b""[..], |word| name(word));
    let named = program == name(&event.executable.path) || program == called || program == event.executable.path;
    named
        && wanted
            .zip(event.argv.iter().skip(1).map(Some).chain(std::iter::repeat(None)))
            .all(|(want, have)| have.is_some_and(|have| have == want))
}

fn joined(dir: &[u8], rest: &[u8]) -> Vec<u8> {
    [dir.strip_suffix(b"/").unwrap_or(dir), b"/", rest].concat()
}

fn below(path: &[u8], dir: &[u8]) -> bool {
    path.strip_prefix(dir).is_some_and(|rest| rest.is_empty() || rest[0] == b'/')
}

/// An absolute path without detours; `None` for a word that names none.
fn resolved(word: &[u8], cwd: &[u8], home: &[u8]) -> Option<Vec<u8>> {
    let at_home = [&b"~"[..], b"$HOME", b"${HOME}"].iter().find_map(|prefix| {
        word.strip_prefix(*prefix)
            .filter(|rest| rest.is_empty() || rest[0] == b'/')
            .map(|rest| joined(home, rest.strip_prefix(b"/").unwrap_or(rest)))
    });
    let path: Cow<'_, [u8]> = match at_home {
        Some(path) => Cow::Owned(path),
        None if word.starts_with(b"/") => Cow::Borrowed(word),
        None if word.is_empty() || word.starts_with(b"-") => return None,
        None => Cow::Owned(joined(cwd, word)),
    };
    let mut parts: Vec<&[u8]> = Vec::new();
    for part in path.split(|&byte| byte == b'/') {
        match part {
            b"" | b"." => {}
            b".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
        if let [b"proc", _, b"root"] = parts[..] {
            parts.clear();
        }
    }
    Some(parts.iter().flat_map(|part| [&b"/"[..], part].concat()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn detours_lead_to_the_same_path() {
        let at =
            |word: &str| resolved(word.as_bytes(), b"/home/dev/proj", b"/home/dev").map(|path| String::from_utf8_lossy(&path).into_owned());
        for word in [
            "~/.ssh/id",
            "$HOME/.ssh/id",
            "${HOME}//.ssh/./id",
            "../.ssh/id",
            "/proc/self/root/home/dev/.ssh/id",
            "/proc/12/root/proc/1/root/home/dev/x/../.ssh/id",
        ] {
            assert_eq!(at(word).as_deref(), Some("/home/dev/.ssh/id"), "{word}");
        }
        assert_eq!(at("-rf"), None);
        assert_eq!(at("~other/x").as_deref(), Some("/home/dev/proj/~other/x"));
    }
}
