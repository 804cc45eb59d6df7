//! Whose start it is: the model's command, a line that the agent wraps it in, or the agent's own doing.
//!
//! One event is read once, before it is judged. Invariant: only a start that the warden traces to the agent's own image,
//! with nothing executed in between, is read by that agent's profile; and a reading takes nothing from the class of the
//! model's command. Refuses lines that agree with no template to the byte: they are judged whole, like anybody's.

mod images;
mod kept;
mod lines;
mod packages;
mod snapshots;

pub use images::Agents;

use super::environment;
use super::following::Followed;
use super::judgement::Judgement;
use super::session::Session;
use crate::clock::Nanos;
use crate::config::{Around, Require, find_holes};
use stayexec_policy::CommandClass;
use stayexec_protocol::{Decision, Event, Reason, Stage};

/// What a start is to its agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Layer {
    /// Nothing that a profile knows: it is judged as it is.
    Plain,
    /// The agent's own image again.
    Image,
    /// What the agent does by itself, as its profile says; the number of the entry.
    Own(usize),
    /// A line around the model's command: the same start without it.
    Command(Box<Event>),
}

/// A start as its agent's profile reads it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    /// What it is.
    pub layer: Layer,
    /// A file of the agent's own that the line sources.
    pub source: Option<Vec<u8>>,
    /// Files of its own that the line writes.
    pub sinks: Vec<Vec<u8>>,
    /// The line with no command in it, and without the start-up files of the person's shell.
    pub rest: Option<Box<Event>>,
    /// Variables that only number the agent's lines.
    pub counters: &'static [String],
    /// The path of the program that the agent's image is here.
    pub called: Option<Vec<u8>>,
}

impl Reading {
    /// A start of which no profile says anything.
    pub const PLAIN: Self = Self { layer: Layer::Plain, source: None, sinks: Vec::new(), rest: None, counters: &[], called: None };

    /// What a person is told of: the model's command, or the start itself.
    pub fn told<'a>(&'a self, event: &'a Event) -> &'a Event {
        match &self.layer {
            Layer::Command(command) => command,
            _ => event,
        }
    }

    /// A line that the agent has a shell run for itself.
    pub fn is_own_line(&self) -> bool {
        self.layer == Layer::Plain && self.rest.is_some()
    }

    /// The text of the model's command.
    pub fn command(&self) -> Option<&[u8]> {
        match &self.layer {
            Layer::Command(command) => command.argv.last().map(Vec::as_slice),
            _ => None,
        }
    }
}

/// Reads a start by the profile of the agent that it belongs to.
pub fn read(session: &Session, event: &Event) -> Reading {
    if event.stage == Stage::Text || event.root != b"/" {
        return Reading::PLAIN;
    }
    if session.agents.starts_itself(session, event) {
        return Reading { layer: Layer::Image, ..Reading::PLAIN };
    }
    if let Some(entry) = own(session, event) {
        return Reading { layer: Layer::Own(entry), ..Reading::PLAIN };
    }
    let starter = event.agent.as_ref().and_then(|process| session.agents.profile(process));
    if let Some(reading) = starter.and_then(|profile| lines::read(session, profile, event)) {
        return reading;
    }
    // What its environment has the binary load is not what the program of that name would load.
    let called = session.agents.called(event).filter(|_| environment::is_inert(session, event));
    Reading { called, ..Reading::PLAIN }
}

/// Whether a start is a command line that an agent, known or not, has a shell run: what it ends when its patience does.
pub fn is_line(session: &Session, event: &Event) -> bool {
    let shell = || believed_name(session, event).is_some_and(|name| lines::SHELLS.contains(&name.as_str()));
    event.agent.is_some() && event.argv.len() > 2 && shell()
}

/// What the process is to the agent from now on, and what can be believed of the agent's files after it.
pub fn note(session: &mut Session, followed: &Followed, judgement: &Judgement, now: Nanos) {
    let Followed { event, reading, .. } = followed;
    // Only what becomes the process counts: an image, or a call of which nothing more is seen.
    let becomes = event.stage == Stage::Loaded || event.stage == Stage::Called && session.frozen.require == Require::Seccomp;
    if !becomes {
        return;
    }
    if judgement.reason == Reason::Launch {
        session.agents.snapshots.begin();
    }
    match reading.layer {
        _ if judgement.decision == Decision::Deny => session.agents.leave(event, None),
        _ if judgement.agent => {
            // What it sets for all that it starts counts as if the person had set it.
            let sets = session.agents.enter(event).map(|profile| profile.environment.as_slice()).unwrap_or_default();
            let new: Vec<Vec<u8>> = sets.iter().map(|entry| entry.clone().into_bytes()).filter(|e| !session.baseline.contains(e)).collect();
            session.baseline.extend(new);
        }
        Layer::Own(entry) => session.agents.leave(event, Some(entry)),
        _ => session.agents.leave(event, None),
    }
    if let (Some(_), Some(file)) = (&reading.source, &event.script) {
        session.agents.snapshots.keep(file);
    }
    let own = matches!(judgement.reason, Reason::Launch | Reason::Own);
    if judgement.decision == Decision::Allow && judgement.class > CommandClass::Read && !own {
        session.agents.snapshots.something_writes(now);
    }
}

/// The entry of the profile for what the agent does by itself, or for what that starts.
fn own(session: &Session, event: &Event) -> Option<usize> {
    let name = believed_name(session, event)?;
    let words = words(event)?;
    let fits = |argv| find_holes(argv, words, session.around()).is_some();
    if let Some(profile) = event.agent.as_ref().and_then(|process| session.agents.profile(process)) {
        let is = |template: &crate::config::Template, entry: &[u8]| {
            std::str::from_utf8(entry).is_ok_and(|entry| template.find(entry, session.around()).is_some())
        };
        return profile.own.iter().position(|own| {
            let given = own.environment.iter().all(|template| event.environment.iter().any(|entry| is(template, entry)));
            let named = |entry: &[u8]| own.environment.iter().any(|template| is(template, entry));
            own.program == name && given && fits(&own.argv) && loads_nothing_but(session, event, named)
        });
    }
    let (number, entry) = session.agents.above(event)?;
    // What made it is the agent's own, and has set no other variables than it always does.
    let set = |word: &[u8]| {
        let name = word.split(|&byte| byte == b'=').next().unwrap_or_default();
        entry.sets.iter().any(|known| known.as_bytes() == name)
    };
    let is_below = entry.below.iter().any(|below| below.program == name && fits(&below.argv));
    (is_below && loads_nothing_but(session, event, set)).then_some(number)
}

/// Whether no variable but these has the program load code or start another command.
fn loads_nothing_but(session: &Session, event: &Event, known: impl Fn(&[u8]) -> bool) -> bool {
    let environment = event.environment.iter().filter(|entry| !known(entry)).cloned().collect();
    environment::is_inert(session, &Event { environment, ..event.clone() })
}

/// The words behind the program's own.
fn words(event: &Event) -> Option<&[Vec<u8>]> {
    match event.script.as_ref().filter(|script| !script.operand) {
        // The kernel puts the interpreter, its argument and the script's path before the caller's words.
        Some(script) => event.argv.iter().position(|word| *word == script.path).and_then(|at| event.argv.get(at + 1..)),
        None => event.argv.get(1..),
    }
}

/// The name of the program, where that is what it says.
fn believed_name(session: &Session, event: &Event) -> Option<String> {
    let name = super::facts::believed_name(session, event)?;
    String::from_utf8(name).ok()
}

impl Session {
    /// Where the paths of templates lie.
    fn around(&self) -> Around<'_> {
        let home = std::str::from_utf8(self.frozen.places.home.bytes()).unwrap_or_default();
        Around { home, temp: &self.temp }
    }
}

#[cfg(test)]
mod own_tests;
#[cfg(test)]
mod tests;
