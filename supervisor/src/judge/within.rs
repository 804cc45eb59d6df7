//! Runs inside a run: what they declare tightens, for their processes and all that come from them.
//!
//! Invariant: of the tiers of a run, and of every run inside it that a start belongs to, the strictest decision holds.
//! Refuses to loosen: a declared tier that allows more than the run's own changes nothing. A start belongs to an inner run
//! by its environment or by an ancestor that did; who leaves both behind has the outer run's tier again.

use super::session::Session;
use crate::warden::nested::{TIER, WITHIN};
use stayexec_policy::{CommandClass, GateDecision, Tier};
use stayexec_protocol::Event;
use std::collections::HashMap;

/// Most processes of inner runs that are kept; beyond, the run's own tier becomes the strictest.
const BOUND: usize = 4_096;

/// Processes that belong to inner runs, and their tiers.
#[derive(Debug, Default)]
pub struct Inner {
    tiers: HashMap<(u32, u64), Tier>,
    full: bool,
}

impl Inner {
    /// Whether any start of this run was ever tightened: what was judged before may not be repeated then.
    pub fn is_any(&self) -> bool {
        self.full || !self.tiers.is_empty()
    }

    /// Takes in what a start declares, and gives the tier that it belongs to. `true` where it is the first of its run.
    pub fn enter(&mut self, event: &Event) -> (Option<Tier>, bool) {
        let first = !self.is_any();
        let declared = event.environment.iter().filter_map(|entry| entry.strip_prefix(TIER.as_bytes())?.strip_prefix(b"="));
        // A word that names no tier may mean the strictest.
        let tier = |word: &[u8]| std::str::from_utf8(word).ok().and_then(|word| word.parse().ok()).unwrap_or(Tier::ReadOnly);
        let processes = std::iter::once(&event.process).chain(&event.ancestry);
        let known = processes.filter_map(|process| self.tiers.get(&(process.pid, process.start)).copied());
        let Some(tier) = declared.map(tier).chain(known).chain(self.full.then_some(Tier::ReadOnly)).min_by_key(|tier| *tier as u8) else {
            return (None, false);
        };
        self.full |= self.tiers.len() >= BOUND;
        self.tiers.insert((event.process.pid, event.process.start), tier);
        (Some(tier), first)
    }
}

/// What the run's tier, and an inner one, say to a class.
pub fn decision(session: &Session, class: CommandClass, inner: Option<Tier>) -> GateDecision {
    let own = session.policy.gate_decision(class);
    let Some(tier) = inner else { return own };
    let declared = session.frozen.matrix().map_or(GateDecision::Block, |matrix| matrix.decision(tier, class));
    if declared as u8 > own as u8 { declared } else { own }
}

/// The stricter of the run's tier and an inner one.
pub fn strictest(session: &Session, inner: Option<Tier>) -> Tier {
    let own = session.policy.autonomy();
    inner.map_or(own, |tier| if (tier as u8) < own as u8 { tier } else { own })
}

/// Whether a start only asks whether there is a gate.
pub fn asks(event: &Event) -> bool {
    matches!(&event.argv[..], [name, verb] if name == b"stayexec" && verb == WITHIN.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::super::session::testing::{argv, event, session};
    use super::*;
    use stayexec_protocol::Process;

    #[test]
    fn the_strictest_tier_holds_for_the_process_and_its_children() -> Result<(), Box<dyn std::error::Error>> {
        let (session, _messages) = session(|frozen| frozen.tier = Tier::Supervised)?;
        let mut inner = Inner::default();
        assert_eq!(inner.enter(&event("/bin/ls", &["ls"])), (None, false));
        let declares = Event { environment: argv(&["STAYEXEC_TIER_WITHIN=readonly"]), ..event("/bin/sh", &["sh"]) };
        assert_eq!(inner.enter(&declares), (Some(Tier::ReadOnly), true));
        let process = Process { pid: 77, start: 9, name: vec![] };
        let child = Event { process, ancestry: vec![declares.process.clone()], ..event("/bin/rm", &["rm"]) };
        assert_eq!(inner.enter(&child), (Some(Tier::ReadOnly), false));
        assert_eq!(decision(&session, CommandClass::Write, Some(Tier::ReadOnly)), GateDecision::Block);
        assert_eq!(decision(&session, CommandClass::Write, Some(Tier::Full)), GateDecision::Prompt);
        assert_eq!(decision(&session, CommandClass::Write, None), GateDecision::Prompt);
        Ok(())
    }

    #[test]
    fn an_inner_run_inside_an_inner_run_and_a_word_that_is_none() {
        let declares = |word: &str, pid| Event {
            environment: argv(&[&format!("STAYEXEC_TIER_WITHIN={word}")]),
            process: Process { pid, start: 1, name: vec![] },
            ancestry: vec![Process { pid: 1, start: 1, name: vec![] }],
            ..event("/bin/sh", &["sh"])
        };
        let mut inner = Inner::default();
        assert_eq!(inner.enter(&declares("supervised", 1)).0, Some(Tier::Supervised));
        assert_eq!(inner.enter(&declares("full", 2)).0, Some(Tier::Supervised));
        assert_eq!(inner.enter(&declares("loose", 3)).0, Some(Tier::ReadOnly));
    }
}
