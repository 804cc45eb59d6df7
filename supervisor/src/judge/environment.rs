//! How the environment of a start differs from that of the launch.
//!
//! Invariant: a variable that has programs load code, or that names a command, is told apart by its value; others do not
//! matter. What a program would be without them is what a person or a rule has approved. Refuses names that no shell could
//! set: functions travel in them.

use super::session::Session;
use hmac::{Hmac, Mac};
use sha2::Sha256;
use stayexec_policy::{CommandClass, SecurityPolicy, redact};
use stayexec_protocol::Event;
use std::cell::RefCell;
use std::collections::HashSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Most variables that a question names.
const NAMED: usize = 8;

/// What a person should know of the environment of a start: variables that can have it run something else.
pub fn shown(session: &Session, event: &Event) -> Vec<String> {
    let all: Vec<&Vec<u8>> = telling(session, event).collect();
    let line = |entry: &&Vec<u8>| {
        let entry = redact::text(&String::from_utf8_lossy(entry));
        format!("with {} in its environment, which can have it run other code", super::text::folded(entry.as_bytes()))
    };
    let more = all.len().saturating_sub(NAMED);
    let rest = (more > 0).then(|| format!("with {more} more such variables in its environment"));
    all.iter().take(NAMED).map(line).chain(rest).chain(path_inside(session, event)).collect()
}

/// A PATH that was set since the launch and leads among files that the tree writes.
fn path_inside(session: &Session, event: &Event) -> Option<String> {
    let entry = event.environment.iter().find(|entry| entry.starts_with(b"PATH="))?;
    let places = session.places();
    fn path(bytes: &[u8]) -> &Path {
        Path::new(OsStr::from_bytes(bytes))
    }
    // A run in `/` has everything in its workspace: that tells nothing.
    let workspace = Some(places.workspace).filter(|workspace| *workspace != b"/");
    let tops: Vec<&[u8]> = workspace.into_iter().chain(session.temp.iter().map(Vec::as_slice)).collect();
    let writable = |dir: &&[u8]| path(dir).is_relative() || tops.iter().any(|top| path(dir).starts_with(path(top)));
    let dirs = entry[b"PATH=".len()..].split(|&byte| byte == b':').filter(|dir| !session.launch_path.iter().any(|known| known == dir));
    let first = dirs.filter(|dir| writable(dir)).map(super::text::folded).next()?;
    (!session.baseline.contains(entry)).then(|| format!("with `{first}` in its PATH: names may lead to other programs there"))
}

/// Digest of the variables that were set since the launch and can have a program load code or start another command, and of
/// the PATH by which it finds what it starts.
pub fn digest(session: &Session, event: &Event) -> [u8; 32] {
    let path = event.environment.iter().filter(|entry| entry.starts_with(b"PATH=") && !session.baseline.contains(entry));
    let mut telling: Vec<&Vec<u8>> = telling(session, event).chain(path).collect();
    telling.sort();
    let mut hash = session.mac.clone();
    for entry in telling {
        hash.update(&(entry.len() as u64).to_le_bytes());
        hash.update(entry);
    }
    hash.finalize().into_bytes().into()
}

/// Digest where there are none.
pub fn unchanged(mac: &Hmac<Sha256>) -> [u8; 32] {
    mac.clone().finalize().into_bytes().into()
}

/// Whether there are none.
pub fn is_inert(session: &Session, event: &Event) -> bool {
    telling(session, event).next().is_none()
}

/// The program is not looked at: what it starts inherits the variables, and an approval covers that too.
fn telling<'a>(session: &'a Session, event: &'a Event) -> impl Iterator<Item = &'a Vec<u8>> {
    let before: HashSet<&[u8]> = session.baseline.iter().map(Vec::as_slice).collect();
    event.environment.iter().filter(move |entry| !before.contains(entry.as_slice()) && !session.harmless.knows(&session.policy, entry))
}

/// Most entries of which it is kept that they are harmless, and the longest.
const KEPT: usize = 2_048;
const LONGEST: usize = 256;

/// The same variables come with every start.
#[derive(Debug, Default)]
pub struct Harmless(RefCell<HashSet<Vec<u8>>>);

impl Harmless {
    fn knows(&self, policy: &SecurityPolicy, entry: &Vec<u8>) -> bool {
        if self.0.borrow().contains(entry) {
            return true;
        }
        let harmless = harmless(policy, entry);
        if harmless && entry.len() <= LONGEST {
            let mut known = self.0.borrow_mut();
            if known.len() >= KEPT {
                known.clear();
            }
            known.insert(entry.clone());
        }
        harmless
    }
}

fn harmless(policy: &SecurityPolicy, entry: &[u8]) -> bool {
    let Some((name, value)) = std::str::from_utf8(entry).ok().and_then(|entry| entry.split_once('=')) else { return false };
    let letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if name.is_empty() || !name.chars().all(letter) || name.starts_with(|c: char| c.is_ascii_digit()) {
        return false;
    }
    // Which file a name leads to is known: each start is judged by its file.
    name == "PATH" || policy.classify_command(&format!("{name}='{}' true", value.replace('\'', "'\\''"))) == CommandClass::Read
}

#[cfg(test)]
mod tests {
    use super::super::session::testing::{argv, event, session};
    use super::*;

    #[test]
    fn what_loads_code_or_names_a_command_is_not_inert() -> Result<(), Box<dyn std::error::Error>> {
        let (mut session, _messages) = session(|_| {})?;
        let inert = |session: &Session, entry: &str| {
            is_inert(session, &Event { environment: argv(&["PATH=/usr/bin:/bin", entry]), ..event("/usr/bin/git", &["git"]) })
        };
        for entry in ["A=b", "PWD=/x", "LANG=C", "PATH=/x:/bin", "PAGER=cat", "TEXT=it's $(rm x); rm y", "EMPTY=", "CI=1"] {
            assert!(inert(&session, entry), "{entry}");
        }
        for entry in [
            "GIT_SSH_COMMAND=sh -c x",
            "GIT_SSH_COMMAND='; true",
            "LD_PRELOAD=/tmp/x.so",
            "LD_LIBRARY_PATH=/tmp",
            "NODE_OPTIONS=--require x",
            "PYTHONPATH=/tmp",
            "BASH_ENV=x",
            "EDITOR=rm -rf x",
            "BASH_FUNC_ls%%=() { rm x; }",
            "1X=y",
            "NO_SIGN",
        ] {
            assert!(!inert(&session, entry), "{entry}");
        }
        session.baseline.push(b"LD_PRELOAD=/tmp/x.so".to_vec());
        assert!(inert(&session, "LD_PRELOAD=/tmp/x.so"), "it was there at the launch");
        let digest = |entry: &str| digest(&session, &Event { environment: argv(&[entry]), ..event("/usr/bin/git", &["git"]) });
        assert_eq!(digest("A=b"), unchanged(&session.mac));
        assert_ne!(digest("PAGER=sh x"), unchanged(&session.mac));
        assert_ne!(digest("PAGER=sh x"), digest("PAGER=sh y"));
        assert_ne!(digest("PATH=/home/dev/proj/evil:/bin"), unchanged(&session.mac), "names lead elsewhere");
        let shown = |entry: &str| shown(&session, &Event { environment: argv(&[entry]), ..event("/usr/bin/git", &["git"]) });
        assert!(shown("BASH_ENV=./x").iter().any(|line| line.contains("BASH_ENV=./x")));
        assert!(shown("PATH=evil:/usr/bin").iter().any(|line| line.contains("evil")));
        assert!(shown("PATH=/tmp/x:/usr/bin").iter().any(|line| line.contains("/tmp/x")));
        assert!(shown("A=b").is_empty() && shown("PATH=/opt/x:/usr/bin").is_empty());
        Ok(())
    }
}
