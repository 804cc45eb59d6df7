//! The agent's own images: what a person started, what that starts of its own package, and itself again.
//!
//! Invariant: an image is the agent's by its file, which nobody in the run has changed, and by who started it; a name alone
//! makes none. Refuses to take a program that anybody may be, such as a shell, for the agent starting itself, and any start
//! whose options or variables may have the image load other code.

use super::packages::{is_plain, is_same, lies_low, package, path};
use super::snapshots::Snapshots;
use crate::config::{Own, Profile};
use crate::judge::facts;
use crate::judge::session::Session;
use stayexec_protocol::{Event, FileId, Process};
use std::collections::HashMap;

/// Most processes of each kind that are kept.
const MOST: usize = 1_024;

type Key = (u32, u64);

fn key(process: &Process) -> Key {
    (process.pid, process.start)
}

fn put<T>(into: &mut HashMap<Key, T>, process: &Process, value: T) {
    if into.len() >= MOST {
        into.clear();
    }
    into.insert(key(process), value);
}

/// What a process of the agent runs.
#[derive(Debug, Clone)]
pub(super) struct Image {
    pub(super) executable: FileId,
    pub(super) script: Option<FileId>,
    pub(super) profile: Option<&'static Profile>,
    /// Where its script lies, or itself.
    pub(super) path: Vec<u8>,
}

/// What is known of a run's agent.
#[derive(Debug, Default)]
pub struct Agents {
    pub(super) images: HashMap<Key, Image>,
    /// Starts of its own, with the entry that said so.
    pub(super) own: HashMap<Key, (&'static Profile, usize)>,
    /// Files that it sources.
    pub snapshots: Snapshots,
    pub(super) changed: bool,
}

impl Agents {
    /// Whose profile a process of the agent has.
    pub fn profile(&self, process: &Process) -> Option<&'static Profile> {
        self.images.get(&key(process))?.profile
    }

    /// Whether the agent starts its own image: itself, with the same script again, or a program of its package.
    pub fn starts_itself(&self, session: &Session, event: &Event) -> bool {
        let Some(starter) = event.agent.as_ref().and_then(|process| self.images.get(&key(process))) else { return false };
        let file = &event.executable;
        if !file.same_view || !file.linker_trusted || !is_plain(session, event) {
            return false;
        }
        let again = match (&starter.script, &event.script) {
            // The kernel chose the interpreter, by the script's own first line; or it is the one that ran it before.
            (Some(one), Some(other)) => {
                let ran = |image: &Image| image.executable == file.id && image.script.as_ref() == Some(one);
                *one == other.id && other.same_view && (!other.operand || self.images.values().any(ran) || chosen(session, event))
            }
            // A program that is known is one that anybody may start: its words say what it does.
            (None, None) => starter.executable == file.id && !facts::is_known(session, event),
            _ => false,
        };
        // The same package, by its place and not by what it is called; and not run by what never ran the agent.
        let packaged = || {
            let ran = |image: &Image| image.script.is_some() && image.executable == file.id;
            let interpreter = event.script.as_ref().is_none_or(|script| !script.operand || self.images.values().any(ran));
            let profile = package(event).filter(|profile| starter.profile.is_some_and(|own| own.name() == profile.name()));
            interpreter && profile.is_some_and(|profile| is_same(profile, &starter.path, path(event)))
        };
        again || (packaged() && untouched(event) && self.may_lie(session, event))
    }

    /// Whether an image is called as an agent's is, which a person has not named: whoever lets it run may let an agent run.
    pub fn may_be(event: &Event) -> bool {
        package(event).is_some()
    }

    /// Whether an image that a person has not named is an agent's once it is let run.
    pub fn arrives(&self, session: &Session, event: &Event) -> bool {
        let interpreter = || event.script.as_ref().is_none_or(|script| !script.operand) || facts::trusted(session, event);
        Self::may_be(event) && untouched(event) && self.may_lie(session, event) && is_plain(session, event) && interpreter()
    }

    /// A package in the workspace or in a folder for temporary files is what a repository brings along, unless the agent that
    /// a person has started lies there itself.
    fn may_lie(&self, session: &Session, event: &Event) -> bool {
        !lies_low(session, path(event)) || self.images.values().any(|image| lies_low(session, &image.path))
    }

    /// A process of the agent has this image from now on. Its profile.
    pub fn enter(&mut self, event: &Event) -> Option<&'static Profile> {
        let above = event.agent.as_ref().and_then(|process| self.profile(process));
        let profile = package(event).or(above);
        let script = event.script.as_ref().map(|script| script.id.clone());
        self.changed = true;
        put(
            &mut self.images,
            &event.process,
            Image { executable: event.executable.id.clone(), script, profile, path: path(event).to_vec() },
        );
        profile
    }

    /// A process runs something else from now on: the agent's own doing where `own` is its entry.
    pub fn leave(&mut self, event: &Event, own: Option<usize>) {
        let profile = event.agent.as_ref().and_then(|process| self.profile(process)).or_else(|| Some(self.nearest(event)?.0));
        self.changed |= self.images.remove(&key(&event.process)).is_some() | self.own.remove(&key(&event.process)).is_some();
        if let (Some(profile), Some(entry)) = (profile, own) {
            self.changed = true;
            put(&mut self.own, &event.process, (profile, entry));
        }
    }

    /// The start of the agent's own that makes this one: nothing else lies in between, or could have set its environment.
    fn nearest(&self, event: &Event) -> Option<&(&'static Profile, usize)> {
        std::iter::once(&event.process).chain(event.ancestry.first()).find_map(|process| self.own.get(&key(process)))
    }

    /// The same as the entry of its profile.
    pub fn above(&self, event: &Event) -> Option<(usize, &'static Own)> {
        let (profile, entry) = self.nearest(event)?;
        Some((*entry, profile.own.get(*entry)?))
    }

    /// The path of the program that the agent's own binary is where it is called by that program's name.
    pub fn called(&self, event: &Event) -> Option<Vec<u8>> {
        let file = &event.executable;
        let image = self.images.values().find(|image| image.script.is_none() && image.executable == file.id)?;
        let word = event.argv.first()?;
        let name = std::str::from_utf8(word.rsplit(|&byte| byte == b'/').next()?).ok()?;
        let known = image.profile?.names.iter().any(|known| known == name);
        let folder = file.path.iter().rposition(|&byte| byte == b'/').map(|at| &file.path[..=at])?;
        (known && untouched(event)).then(|| [folder, name.as_bytes()].concat())
    }
}

/// Whether `env` has become the interpreter of the script by whose first line it was started.
fn chosen(session: &Session, event: &Event) -> bool {
    event.agent.as_ref().is_some_and(|starter| key(starter) == key(&event.process)) && facts::trusted(session, event)
}

/// Nobody in the run has changed the file, or its script.
fn untouched(event: &Event) -> bool {
    let file = &event.executable;
    let script = event.script.as_ref().is_none_or(|script| script.unchanged && script.same_view);
    file.unchanged && file.same_view && file.linker_trusted && script
}
