//! Remembered approvals: AlwaysApprove, for this run, for some minutes.
//!
//! Invariant: what is remembered is shown in full before it is saved, and it never covers a class above the approved one.
//! Refuses shells, interpreters, wrappers and multi-call binaries alone, and, for Network and above and for files that are
//! not what their names say, anything but the exact argument vector; such a file has to be the approved one still.

use super::belief::Belief;
use super::session::Session;
use super::{environment, facts};
use crate::clock::Nanos;
use hmac::{Hmac, Mac};
use serde::{Deserialize, Serialize};
use sha2::Sha256;
use stayexec_policy::remember::Shape;
use stayexec_policy::{CommandClass, redact};
use stayexec_protocol::{Event, FileId};
use uuid::Uuid;

/// For how long an approval counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// In this workspace, until removed.
    Workspace,
    /// In this run.
    Run(Uuid),
    /// In this workspace, up to this time.
    Until(Nanos),
}

/// What is remembered of a command. Its words are kept as a digest: they may hold secrets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pattern {
    /// Keyed digest of the program and the words that count.
    words: [u8; 32],
    script: Option<[u8; 32]>,
    /// Digest of what in the environment may make a program load code, where it differs from that of the launch.
    environment: [u8; 32],
    class: CommandClass,
    shown: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    belief: Option<Belief>,
}

/// A remembered approval.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Remembered {
    /// Its id.
    pub id: Uuid,
    /// What it covers.
    pub pattern: Pattern,
    /// For how long.
    pub scope: Scope,
    /// Who approved, through which face.
    pub by: String,
    /// When.
    pub created: Nanos,
}

impl Pattern {
    /// What an approval of this event can remember; `None`: nothing.
    pub fn of(session: &Session, event: &Event, class: CommandClass, environment: [u8; 32]) -> Option<Self> {
        let words = words(session, event, class)?;
        let (script, shown) = match &event.script {
            Some(script) => {
                let line = super::text::line(&redact::argv(&event.argv));
                (Some(script.digest), format!("exactly `{line}`, up to {class}, while the script stays as it is"))
            }
            None => (None, facts::shape(session, event, class)?.describe()),
        };
        let belief = Belief::of(session, event);
        let shown = belief.iter().fold(shown, |shown, belief| format!("{shown}; {}", belief.shown()));
        Some(Self { words, script, environment, class, shown, belief })
    }

    /// Whether it covers a start of this class.
    pub fn covers(&self, session: &Session, event: &Event, class: CommandClass, environment: &[u8; 32]) -> bool {
        let script = event.script.as_ref().map(|script| script.digest);
        let same = |event: &Event| words(session, event, self.class) == Some(self.words);
        class <= self.class && self.script == script && self.environment == *environment && (same(event) || same(&unbelieved(event)))
    }

    /// The files that it takes to be what they are called.
    pub fn belief(&self) -> Option<&Belief> {
        self.belief.as_ref()
    }

    /// Whether it covers a command of this class that is only asked about, in the environment of a launch. `shape` says
    /// what of it could be remembered up to a class.
    pub fn covers_shape(&self, mac: &Hmac<Sha256>, class: CommandClass, shape: impl Fn(CommandClass) -> Option<Shape>) -> bool {
        class <= self.class
            && self.script.is_none()
            && self.environment == environment::unchanged(mac)
            && shape(self.class).and_then(|shape| shape_digest(mac, &shape)) == Some(self.words)
    }

    /// The pattern as it is shown before it is saved.
    pub fn shown(&self) -> String {
        self.shown.clone()
    }
}

/// The event as it was before its file was believed: what was approved of that very file stays approved.
fn unbelieved(event: &Event) -> Event {
    let mut event = event.clone();
    event.executable.unchanged = false;
    event
}

/// Keyed digest of what counts: of a script that was read every word, elsewhere what the policy says; and of a file that is
/// not what its name says, its identity.
fn words(session: &Session, event: &Event, class: CommandClass) -> Option<[u8; 32]> {
    let mut mac = session.mac.clone();
    let same_file = match &event.script {
        Some(script) => {
            script.text.as_ref()?;
            for word in std::iter::once(&event.executable.path).chain(&event.argv) {
                mac.update(&(word.len() as u64).to_le_bytes());
                mac.update(word);
            }
            !facts::trusted(session, event)
        }
        None => {
            let shape = facts::shape(session, event, class)?;
            mac.update(&serde_json::to_vec(&shape).ok()?);
            shape.same_file
        }
    };
    if same_file && !event.executable.dated {
        return None;
    }
    if same_file {
        let FileId { dev, ino, size, ctime } = event.executable.id;
        for number in [dev, ino, size, ctime.cast_unsigned()] {
            mac.update(&number.to_le_bytes());
        }
    }
    Some(mac.finalize().into_bytes().into())
}

/// Keyed digest of a shape that no file belongs to.
fn shape_digest(mac: &Hmac<Sha256>, shape: &Shape) -> Option<[u8; 32]> {
    Some(mac.clone().chain_update(serde_json::to_vec(shape).ok()?).finalize().into_bytes().into())
}

impl Remembered {
    /// How a person knows it.
    pub fn name(&self) -> String {
        format!("approval of {}", self.pattern.shown)
    }

    /// Whether it counts in this run at this time.
    pub fn counts(&self, run: Uuid, now: Nanos) -> bool {
        match self.scope {
            Scope::Workspace => true,
            Scope::Run(of) => of == run,
            Scope::Until(end) => now < end,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::session::testing::{event, session};
    use super::*;
    use stayexec_protocol::Script;

    type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

    fn covered(one: &Event, other: &Event, class: CommandClass, environment: [u8; 32]) -> Result<Option<bool>> {
        let (session, _messages) = session(|_| {})?;
        let pattern = Pattern::of(&session, one, class, [0; 32]);
        Ok(pattern.map(|pattern| pattern.covers(&session, other, class, &environment)))
    }

    #[test]
    fn what_the_policy_calls_the_same_is_covered_in_the_same_environment() -> Result<()> {
        let add = |words: &[&str]| event("/usr/bin/git", words);
        let write = CommandClass::Write;
        assert_eq!(covered(&add(&["git", "add", "x"]), &add(&["git", "add", "y"]), write, [0; 32])?, Some(true));
        assert_eq!(covered(&add(&["git", "add", "x"]), &add(&["git", "add", "y"]), write, [1; 32])?, Some(false));
        assert_eq!(covered(&add(&["git", "add", "x"]), &add(&["git", "add", "-f", "y"]), write, [0; 32])?, Some(false));
        assert_eq!(covered(&event("/bin/bash", &["bash"]), &event("/bin/bash", &["bash"]), write, [0; 32])?, None);
        Ok(())
    }

    #[test]
    fn a_script_is_remembered_with_its_content() -> Result<()> {
        let unread = Script::unreadable(b"/usr/bin/npm".to_vec(), false);
        let script = |digest| Script { digest: [digest; 32], text: Some(vec![]), ..unread.clone() };
        let start = |digest, words: &[&str]| Event { script: Some(script(digest)), ..event("/usr/bin/node", words) };
        let ci = ["node", "/usr/bin/npm", "ci"];
        let install = CommandClass::Install;
        assert_eq!(covered(&start(1, &ci), &start(1, &ci), install, [0; 32])?, Some(true));
        assert_eq!(covered(&start(1, &ci), &start(2, &ci), install, [0; 32])?, Some(false));
        assert_eq!(covered(&start(1, &ci), &start(1, &["node", "/usr/bin/npm", "x"]), install, [0; 32])?, Some(false));
        assert_eq!(covered(&start(1, &ci), &event("/usr/bin/node", &ci), install, [0; 32])?, Some(false));
        Ok(())
    }

    #[test]
    fn a_file_of_the_tree_has_to_be_the_same_file() -> Result<()> {
        let tool = |ctime| {
            let mut event = event("/tmp/tool", &["tool", "x"]);
            event.executable.id.ctime = ctime;
            event
        };
        let write = CommandClass::Write;
        assert_eq!(covered(&tool(1), &tool(1), write, [0; 32])?, Some(true));
        assert_eq!(covered(&tool(1), &tool(2), write, [0; 32])?, Some(false));
        let memory = |dated| {
            let mut event = tool(1);
            event.executable.dated = dated;
            event
        };
        assert_eq!(covered(&memory(false), &memory(false), write, [0; 32])?, None);
        assert_eq!(covered(&memory(true), &memory(false), write, [0; 32])?, Some(false));
        let script = Script { text: Some(vec![]), ..Script::unreadable(b"/w/x".to_vec(), false) };
        let run = |ctime| Event { script: Some(script.clone()), ..tool(ctime) };
        assert_eq!(covered(&run(1), &run(1), write, [0; 32])?, Some(true));
        assert_eq!(covered(&run(1), &run(2), write, [0; 32])?, Some(false));
        Ok(())
    }

    #[test]
    fn what_was_approved_of_a_file_stays_when_the_file_is_believed() -> Result<()> {
        let tool = |unchanged, words: &[&str]| {
            let mut event = event("/usr/bin/frobnicate", words);
            event.executable.unchanged = unchanged;
            event
        };
        let write = CommandClass::Write;
        let x = ["frobnicate", "x"];
        assert_eq!(covered(&tool(false, &x), &tool(true, &x), write, [0; 32])?, Some(true));
        assert_eq!(covered(&tool(false, &x), &tool(true, &["frobnicate", "y"]), write, [0; 32])?, Some(false));
        assert_eq!(covered(&tool(true, &x), &tool(false, &x), write, [0; 32])?, Some(false), "another file, or a changed one");
        let mut other = tool(true, &x);
        other.executable.id.ctime += 1;
        assert_eq!(covered(&tool(false, &x), &other, write, [0; 32])?, Some(false));
        Ok(())
    }

    #[test]
    fn secrets_are_in_no_pattern() -> Result<()> {
        let (session, _messages) = session(|_| {})?;
        let curl = event("/usr/bin/curl", &["curl", "--oauth2-bearer", "ghp_verysecretverysecretverysecretvery", "h"]);
        let pattern = Pattern::of(&session, &curl, CommandClass::Network, [0; 32]);
        assert!(pattern.is_some());
        assert!(!serde_json::to_string(&pattern)?.contains("verysecret"));
        Ok(())
    }
}
