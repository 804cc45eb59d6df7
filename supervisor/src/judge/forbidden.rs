//! What is refused whatever anybody says: credential stores, the judge's own files, configured paths and commands.
//!
//! Invariant: an operand is compared as the path that it leads to: `~`, `$HOME`, `.`, `..`, doubled slashes and
//! /proc/self/root are taken out first. Refuses to look at the file system: what a symbolic link leads to is not known
//! here.

use super::check::Input;
use super::session::Session;
use crate::config::Frozen;
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
    let names = [&event.executable.path, event.argv.first().unwrap_or(&event.executable.path)];
    let names = names.map(|path| name(path));
    let rest: Vec<&[u8]> = event.argv.iter().skip(1).map(Vec::as_slice).collect();
    look(&session.frozen, &names, &rest, &event.cwd)
}

/// Why a command that is only asked about is forbidden.
pub fn check_input(frozen: &Frozen, input: &Input) -> Option<String> {
    let cwd = frozen.places.workspace.bytes();
    match input {
        Input::Text(text) => look(frozen, &[b"sh"], &[b"-c", text.as_bytes()], cwd),
        Input::Words(words) => {
            let (first, rest) = words.split_first()?;
            let rest: Vec<&[u8]> = rest.iter().map(String::as_bytes).collect();
            look(frozen, &[name(first.as_bytes())], &rest, cwd)
        }
    }
}

/// Shells, whose text holds operands of other commands.
const SHELLS: [&[u8]; 5] = [b"sh", b"bash", b"dash", b"zsh", b"ksh"];

fn look(frozen: &Frozen, names: &[&[u8]], rest: &[&[u8]], cwd: &[u8]) -> Option<String> {
    if let Some(command) = frozen.forbidden_commands.iter().find(|command| leads(command, names, rest)) {
        return Some(format!("`{command}` is forbidden by the configuration"));
    }
    let home = frozen.places.home.bytes();
    let shell = names.iter().any(|name| SHELLS.contains(name));
    let plain = rest.iter().copied().filter(|word| !word.contains(&b' '));
    let inner = rest.iter().filter(|word| shell && word.contains(&b' '));
    let inner = inner.flat_map(|text| text.split(|byte| b" \t\n'\"`();|&<>=".contains(byte)));
    plain.chain(inner).flat_map(operands).find_map(|word| forbidden(frozen, &resolved(word, cwd, home)?))
}

fn forbidden(frozen: &Frozen, path: &[u8]) -> Option<String> {
    let home = frozen.places.home.bytes();
    let why = if STORES.iter().any(|store| below(path, &joined(home, store.as_bytes()))) {
        "it would open a credential store"
    } else if frozen.places.own.iter().any(|own| below(path, own.bytes())) {
        "it would open the gate's own files"
    } else if frozen.forbidden_paths.iter().any(|listed| below(path, listed.bytes())) {
        "it would open a path that the configuration forbids"
    } else {
        return None;
    };
    Some(why.to_owned())
}

/// The word itself, and what stands behind the first `=` of an option.
fn operands(word: &[u8]) -> impl Iterator<Item = &[u8]> {
    let value = word.iter().position(|&byte| byte == b'=').map(|at| &word[at + 1..]);
    std::iter::once(word).chain(value)
}

fn name(path: &[u8]) -> &[u8] {
    path.iter().rposition(|&byte| byte == b'/').map_or(path, |at| &path[at + 1..])
}

/// Whether a configured command leads these words.
fn leads(command: &str, names: &[&[u8]], rest: &[&[u8]]) -> bool {
    let mut wanted = command.split_whitespace().map(str::as_bytes);
    let Some(program) = wanted.next() else { return false };
    let rest = rest.iter().map(Some).chain(std::iter::repeat(None));
    names.contains(&program) && wanted.zip(rest).all(|(want, have)| have == Some(&want))
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
