//! The lines that an agent has a shell run: around the model's command, or for itself.
//!
//! Invariant: a line is taken apart only where the shell is what its name says, and where the line without the command in
//! it does nothing but read and touch the agent's own files: what is not shown to a person changes nothing.

use super::{Layer, Reading, believed_name, words};
use crate::config::{Profile, find_holes};
use crate::judge::facts;
use crate::judge::session::Session;
use stayexec_policy::CommandClass;
use stayexec_protocol::Event;

/// Shells that read `-c TEXT` as the parser does.
pub(super) const SHELLS: [&str; 3] = ["bash", "dash", "sh"];

/// Reads a start by the lines of a profile; `None` where none fits.
pub fn read(session: &Session, profile: &'static Profile, event: &Event) -> Option<Reading> {
    let shell = believed_name(session, event)?;
    if !SHELLS.contains(&shell.as_str()) {
        return None;
    }
    let around = session.around();
    profile.lines.iter().find_map(|line| {
        let (found, rest) = find_holes(&line.argv, words(event)?, around)?;
        let bytes = |path: &String| path.clone().into_bytes();
        let first = event.argv.first().cloned().unwrap_or_default();
        // What the line sources is no script of the command.
        let of = |argv| Box::new(Event { argv, script: None, ..event.clone() });
        let told = found.command.map(|command| of(vec![first.clone(), b"-c".to_vec(), command.into_bytes()]));
        let reading = Reading {
            layer: told.map_or(Layer::Plain, Layer::Command),
            source: found.sources.first().map(bytes),
            sinks: found.sinks.iter().map(bytes).collect(),
            rest: Some(of([first].into_iter().chain(rest.into_iter().map(String::into_bytes)).collect())),
            counters: &profile.counters,
            called: None,
        };
        let quiet = reading.layer == Layer::Plain || facts::around(session, &reading) == Some(CommandClass::Read);
        (quiet && found.sources.len() < 2).then_some(reading)
    })
}
