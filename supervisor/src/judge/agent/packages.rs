//! Packages of agents: where their images lie, and how these are started.
//!
//! Invariant: two images are of one package by the folder that it was installed in, never by what they are called alone.
//! Refuses options in front of a script, and variables, that may have its interpreter load other code.

use crate::config::{Profile, ends_so};
use crate::judge::environment;
use crate::judge::session::Session;
use stayexec_protocol::Event;

/// Options of interpreters that load nothing, and those that do so with any number behind them.
const HARMLESS: [&str; 7] =
    ["--no-warnings", "--no-deprecation", "--enable-source-maps", "--expose-gc", "--disable-warning=DEP0040", "-B", "-u"];
const NUMBERED: [&str; 3] = ["--max-old-space-size=", "--max-semi-space-size=", "--stack-size="];

/// Where the script lies, or the image itself.
pub(super) fn path(event: &Event) -> &[u8] {
    event.script.as_ref().map_or(&event.executable.path, |script| &script.resolved)
}

/// The profile whose images are called so.
pub(super) fn package(event: &Event) -> Option<&'static Profile> {
    Profile::all().iter().find(|profile| profile.images.iter().any(|pattern| ends_so(path(event), pattern)))
}

/// Whether two images of a profile lie in one installation: in the same folder of packages, or the other in the one's own.
pub(super) fn is_same(profile: &Profile, one: &[u8], other: &[u8]) -> bool {
    let places = |path| profile.images.iter().filter_map(move |pattern| Some((root(path, pattern)?, pattern)));
    places(one).any(|(above, pattern)| {
        let within = |root: &[u8]| own_folder(pattern).is_some_and(|own| root.starts_with(&[above, own.as_bytes()].concat()));
        places(other).any(|(root, _)| root == above || within(root))
    })
}

/// What of the path is above what the pattern says of it, with its last slash.
fn root<'a>(path: &'a [u8], pattern: &str) -> Option<&'a [u8]> {
    let slash = |(at, byte): (usize, &u8)| (*byte == b'/').then_some(at);
    let at = path.iter().enumerate().rev().filter_map(slash).nth(pattern.matches('/').count())?;
    ends_so(path, pattern).then(|| &path[..=at])
}

/// The package's folder in that of all packages, with its last slash.
fn own_folder(pattern: &str) -> Option<&str> {
    let rest = pattern.strip_prefix("node_modules/")?;
    let scope = if rest.starts_with('@') { rest.find('/')? + 1 } else { 0 };
    let end = scope + rest[scope..].find('/')? + 1;
    let folder = &pattern[..pattern.len() - rest.len() + end];
    (!folder.contains('*')).then_some(folder)
}

/// Whether a path lies where a repository or a command puts files.
pub(super) fn lies_low(session: &Session, path: &[u8]) -> bool {
    let below = |folder: &[u8]| path.strip_prefix(folder).is_some_and(|rest| folder.ends_with(b"/") || rest.starts_with(b"/"));
    below(session.frozen.places.workspace.bytes()) || session.temp.iter().any(|folder| below(folder))
}

/// Whether nothing of the start but its file says what code it runs.
pub(super) fn is_plain(session: &Session, event: &Event) -> bool {
    let options = match event.script.as_ref().filter(|script| script.operand) {
        Some(script) => event.argv.iter().position(|word| *word == script.path).and_then(|at| event.argv.get(1..at)),
        // What the kernel puts in front of a script is the script's own first line.
        None => Some(&[][..]),
    };
    options.is_some_and(|words| words.iter().all(|word| is_harmless(word))) && environment::is_inert(session, event)
}

fn is_harmless(word: &[u8]) -> bool {
    let Ok(word) = std::str::from_utf8(word) else { return false };
    let number = |prefix: &&str| word.strip_prefix(prefix).is_some_and(|n| !n.is_empty() && n.bytes().all(|byte| byte.is_ascii_digit()));
    HARMLESS.contains(&word) || NUMBERED.iter().any(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_is_known_by_its_place() {
        let codex = Profile::started_as("codex");
        let same = |one: &str, other: &str| codex.is_some_and(|profile| is_same(profile, one.as_bytes(), other.as_bytes()));
        let script = "/usr/lib/node_modules/@openai/codex/bin/codex.js";
        for nested in ["node_modules/@openai/codex/", ""] {
            let binary = format!("/usr/lib/{nested}node_modules/@openai/codex-linux-x64/vendor/y/bin/codex");
            assert!(same(script, &binary) && same(&binary, &binary), "{binary}");
        }
        for other in
            ["/w/node_modules/@openai/codex/bin/codex.js", "/usr/lib/x/node_modules/@openai/codex/bin/codex.js", "/usr/lib/codex.js"]
        {
            assert!(!same(script, other) && !same("/usr/bin/other", other), "{other}");
        }
    }

    #[test]
    fn options_that_load_nothing_are_listed() {
        for word in ["--max-old-space-size=8192", "--no-warnings", "-u"] {
            assert!(is_harmless(word.as_bytes()), "{word}");
        }
        for word in ["--max-old-space-size=", "--max-old-space-size=x", "--require", "--import=x", "-i", "-c", "x", "", "--no-warnings=x"] {
            assert!(!is_harmless(word.as_bytes()), "{word}");
        }
    }
}
