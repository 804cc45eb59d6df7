//! Programs that came or were changed during the run, and of which a person has said that they are what they are called.
//!
//! The time of a change says when a file was written and not by whom, so an approved install does not have its own programs
//! believed. A person can: an approval that is remembered takes the file as it is then. Invariant: belief is in the very
//! file that was approved (identity and ctime; a script by its content besides) and lasts as long as the approval counts; it is shown
//! before it is saved. Refuses files of which anything but the change speaks against them, files whose times prove nothing,
//! and belief where it would make no difference.

use super::agent::Reading;
use super::facts;
use super::remembered::Remembered;
use super::session::Session;
use crate::clock::Nanos;
use serde::{Deserialize, Serialize};
use stayexec_protocol::{Event, FileId, Script};

/// A file as a person has approved it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Approved {
    path: Vec<u8>,
    id: [u64; 4],
    digest: Option<[u8; 32]>,
}

/// The files that an approval believes to be what they are called.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Belief {
    program: Option<Approved>,
    script: Option<Approved>,
}

impl Belief {
    /// What an approval of this event may believe besides; `None` where that would make no difference.
    pub fn of(session: &Session, event: &Event) -> Option<Self> {
        let changed = |script: &&Script| !script.unchanged;
        let script = event.script.as_ref().filter(changed);
        let belief = Self {
            program: Some(&event.executable).filter(|file| !file.unchanged).map(|file| Approved {
                path: file.path.clone(),
                id: numbers(&file.id),
                digest: None,
            }),
            script: script.map(|script| Approved { path: script.resolved.clone(), id: numbers(&script.id), digest: Some(script.digest) }),
        };
        let dated = event.executable.dated && script.is_none_or(|script| script.text.is_some());
        let believed = belief.applied(event.clone());
        let class = |event: &Event| facts::assess(session, event, &Reading::PLAIN).class;
        (dated && class(&believed) < class(event)).then_some(belief)
    }

    /// The event, with what is believed of its files.
    fn applied(&self, mut event: Event) -> Event {
        let file = &mut event.executable;
        file.unchanged |=
            file.dated && self.program.as_ref().is_some_and(|program| program.path == file.path && program.id == numbers(&file.id));
        if let Some(script) = &mut event.script {
            script.unchanged |= self.script.as_ref().is_some_and(|approved| {
                approved.path == script.resolved && approved.id == numbers(&script.id) && approved.digest == Some(script.digest)
            });
        }
        event
    }

    /// The files, for a person.
    pub fn shown(&self) -> String {
        let files = self.program.iter().chain(&self.script).map(|file| format!("`{}`", super::text::word(&file.path)));
        format!("{} as it is now is then believed to be what it is called", files.collect::<Vec<_>>().join(" with "))
    }
}

/// The event, with what the approvals that count now believe of its files.
pub fn believed(session: &Session, event: Event, now: Nanos) -> Event {
    let counts = |known: &&Remembered| known.counts(session.run, now);
    let beliefs = session.kept.remembered.iter().filter(counts).filter_map(|known| known.pattern.belief());
    beliefs.fold(event, |event, belief| belief.applied(event))
}

fn numbers(id: &FileId) -> [u64; 4] {
    [id.dev, id.ino, id.size, id.ctime.cast_unsigned()]
}

#[cfg(test)]
mod tests {
    use super::super::remembered::{Pattern, Scope};
    use super::super::session::testing::{event, session};
    use super::*;
    use stayexec_policy::CommandClass;
    use uuid::Uuid;

    type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

    fn changed(path: &str, words: &[&str]) -> Event {
        let mut event = event(path, words);
        event.executable.unchanged = false;
        event
    }

    fn approving(session: &mut Session, event: &Event, scope: Scope) -> Result<bool> {
        let pattern = Pattern::of(session, event, CommandClass::Write, [0; 32]).ok_or("nothing is remembered")?;
        let believes = pattern.belief().is_some();
        session.kept.remembered.push(Remembered { id: Uuid::nil(), pattern, scope, by: "me".into(), created: 0 });
        Ok(believes)
    }

    fn unchanged(session: &Session, event: &Event, now: Nanos) -> bool {
        believed(session, event.clone(), now).executable.unchanged
    }

    #[test]
    fn belief_is_in_the_file_that_was_approved_and_ends_with_its_approval() -> Result<()> {
        let (mut session, _messages) = session(|_| {})?;
        let rg = changed("/usr/bin/rg", &["rg", "x"]);
        assert!(!unchanged(&session, &rg, 0));
        assert!(approving(&mut session, &rg, Scope::Until(10))?);
        assert!(unchanged(&session, &changed("/usr/bin/rg", &["rg", "other"]), 0));
        assert!(!unchanged(&session, &rg, 10), "it was for some minutes");
        for different in [
            |event: &mut Event| event.executable.id.ctime += 1,
            |event: &mut Event| event.executable.id.ino += 1,
            |event: &mut Event| event.executable.id.dev += 1,
            |event: &mut Event| event.executable.id.size += 1,
            |event: &mut Event| event.executable.path = b"/usr/bin/grep".to_vec(),
            |event: &mut Event| event.executable.dated = false,
        ] {
            let mut other = rg.clone();
            different(&mut other);
            assert!(!unchanged(&session, &other, 0), "{other:?}");
        }
        Ok(())
    }

    #[test]
    fn only_the_change_may_speak_against_it() -> Result<()> {
        let (mut session, _messages) = session(|_| {})?;
        let scope = Scope::Workspace;
        for with in [
            |event: &mut Event| event.executable.path = b"/tmp/rg".to_vec(),
            |event: &mut Event| event.executable.path = b"/dev/shm/rg".to_vec(),
            |event: &mut Event| event.executable.chain_root_owned = false,
            |event: &mut Event| event.executable.same_view = false,
        ] {
            let mut event = changed("/opt/x/rg", &["rg", "x"]);
            with(&mut event);
            assert!(!approving(&mut session, &event, scope)?, "{event:?}");
        }
        // It would make no difference.
        assert!(!approving(&mut session, &changed("/usr/bin/touch", &["touch", "x"]), scope)?);
        assert!(!approving(&mut session, &changed("/usr/bin/frobnicate", &["frobnicate", "x"]), scope)?);
        Ok(())
    }

    #[test]
    fn a_script_is_believed_by_its_content() -> Result<()> {
        let (mut session, _messages) = session(|_| {})?;
        let script = |digest| Script {
            resolved: b"/usr/bin/npm".to_vec(),
            root_owned: true,
            chain_root_owned: true,
            same_view: true,
            digest: [digest; 32],
            text: Some(b"#!/usr/bin/env node\n".to_vec()),
            ..Script::unreadable(b"/usr/bin/npm".to_vec(), false)
        };
        let npm = |digest| Event { script: Some(script(digest)), ..event("/usr/bin/node", &["node", "/usr/bin/npm", "ls"]) };
        assert!(approving(&mut session, &npm(1), Scope::Workspace)?);
        let believes = |digest| believed(&session, npm(digest), 0).script.is_some_and(|script| script.unchanged);
        assert!(believes(1) && !believes(2));
        Ok(())
    }
}
