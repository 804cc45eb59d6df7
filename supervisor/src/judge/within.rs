//! Runs inside a run: what they declare tightens, for their processes and all that come from them.
//!
//! A start belongs to an inner run by its environment, by an ancestor that did, or, whose ancestors have ended and whose
//! environment is another, by the filter that each inner run adds (`warden/nested.rs`). Invariant: of the tiers of a run, and
//! of every run inside it that a start can belong to, the strictest decision holds. Refuses to loosen: a declared tier that
//! allows more than the run's own changes nothing.

use super::session::Session;
use crate::warden::nested::{TIER, WITHIN};
use serde::{Deserialize, Serialize};
use stayexec_policy::{CommandClass, GateDecision, Tier};
use stayexec_protocol::Event;
use std::collections::{BTreeMap, HashMap};

/// Most processes of inner runs that are kept; beyond, the run's own tier becomes the strictest.
const BOUND: usize = 4_096;
/// Most numbers of filters that are told apart; beyond, one stands for those above it.
const FLOORS: usize = 64;

/// A process that belongs to an inner run.
#[derive(Debug, Clone, Copy)]
struct Member {
    tier: Tier,
    /// How many filters it had when it became known.
    filters: u32,
}

/// Processes that belong to inner runs, and their tiers.
#[derive(Debug, Default)]
pub struct Inner {
    members: HashMap<(u32, u64), Member>,
    full: bool,
}

/// With how many filters inner runs began, and the strictest tier of each number.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Floors(BTreeMap<u32, Tier>);

impl Floors {
    /// The strictest tier of the inner runs that a process with `filters` can come from, where it comes from none that began
    /// with `since` or fewer but those that are known.
    fn under(&self, since: u32, filters: u32) -> Option<Tier> {
        let began = self.0.iter().filter(|(began, _)| (since + 1..=filters).contains(*began));
        began.map(|(_, tier)| *tier).min_by_key(|tier| *tier as u8)
    }

    fn add(&mut self, filters: u32, tier: Tier) {
        let room = self.0.len() < FLOORS;
        let nearest = self.0.range(..=filters).next_back().map(|(began, _)| *began);
        let at = nearest.filter(|began| *began == filters || !room).unwrap_or(filters);
        let strictest = self.0.get(&at).copied().map_or(tier, |other| if (other as u8) < tier as u8 { other } else { tier });
        self.0.insert(at, strictest);
    }
}

impl Inner {
    /// Whether any start of this run was ever tightened: what was judged before may not be repeated then.
    pub fn is_any(&self, floors: &Floors) -> bool {
        self.full || !self.members.is_empty() || !floors.0.is_empty()
    }

    /// Takes in what a start declares, and gives the tier that it belongs to. `true` where it is the first of its run, or
    /// the floors have changed.
    pub fn enter(&mut self, floors: &mut Floors, event: &Event) -> (Option<Tier>, bool) {
        let (first, before) = (!self.is_any(floors), floors.clone());
        let entries = event.environment.iter().filter_map(|entry| entry.strip_prefix(TIER.as_bytes())?.strip_prefix(b"="));
        // A word that names no tier may mean the strictest.
        let tier = |word: &[u8]| std::str::from_utf8(word).ok().and_then(|word| word.parse().ok()).unwrap_or(Tier::ReadOnly);
        let declared = entries.map(tier).min_by_key(|tier| *tier as u8);
        let mut processes = std::iter::once(&event.process).chain(&event.ancestry);
        let known = processes.find_map(|process| self.members.get(&(process.pid, process.start)).copied());
        let since = known.map_or(0, |member| member.filters);
        let found = [declared, known.map(|member| member.tier), floors.under(since, event.filters), self.full.then_some(Tier::ReadOnly)];
        let Some(tier) = found.into_iter().flatten().min_by_key(|tier| *tier as u8) else { return (None, false) };
        if declared.is_some() && event.filters > since {
            floors.add(event.filters, tier);
        }
        self.full |= self.members.len() >= BOUND;
        self.members.insert((event.process.pid, event.process.start), Member { tier, filters: event.filters });
        (Some(tier), first || before != *floors)
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

    const OUT: &str = "/bin/sh";

    fn start(pid: u32, above: &[u32], declares: &str, filters: u32) -> Event {
        let process = |pid| Process { pid, start: u64::from(pid), name: vec![] };
        let environment = if declares.is_empty() { vec![] } else { argv(&[&format!("STAYEXEC_TIER_WITHIN={declares}")]) };
        let ancestry = above.iter().copied().map(process).collect();
        Event { process: process(pid), ancestry, environment, filters, ..event(OUT, &["sh"]) }
    }

    #[test]
    fn the_strictest_tier_holds_for_the_process_and_its_children() -> Result<(), Box<dyn std::error::Error>> {
        let (session, _messages) = session(|frozen| frozen.tier = Tier::Supervised)?;
        let (mut inner, mut floors) = (Inner::default(), Floors::default());
        assert_eq!(inner.enter(&mut floors, &start(1, &[], "", 0)), (None, false));
        assert_eq!(inner.enter(&mut floors, &start(2, &[1], "readonly", 1)), (Some(Tier::ReadOnly), true));
        assert_eq!(inner.enter(&mut floors, &start(3, &[2, 1], "", 1)), (Some(Tier::ReadOnly), false));
        assert_eq!(decision(&session, CommandClass::Write, Some(Tier::ReadOnly)), GateDecision::Block);
        assert_eq!(decision(&session, CommandClass::Write, Some(Tier::Full)), GateDecision::Prompt);
        assert_eq!(decision(&session, CommandClass::Write, None), GateDecision::Prompt);
        Ok(())
    }

    #[test]
    fn an_inner_run_inside_an_inner_run_and_a_word_that_is_none() {
        let (mut inner, mut floors) = (Inner::default(), Floors::default());
        let mut entered = |event: &Event| inner.enter(&mut floors, event).0;
        assert_eq!(entered(&start(2, &[1], "supervised", 1)), Some(Tier::Supervised));
        assert_eq!(entered(&start(3, &[2, 1], "full", 2)), Some(Tier::Supervised));
        assert_eq!(entered(&start(4, &[1], "loose", 1)), Some(Tier::ReadOnly));
    }

    #[test]
    fn who_has_lost_ancestors_and_environment_has_the_strictest_tier_that_it_can_come_from() {
        let (mut inner, mut floors) = (Inner::default(), Floors::default());
        let mut entered = |event: &Event| inner.enter(&mut floors, event).0;
        entered(&start(2, &[1], "supervised", 1));
        entered(&start(3, &[2, 1], "readonly", 2));
        assert_eq!(entered(&start(10, &[], "", 1)), Some(Tier::Supervised), "of the outer one of the two");
        assert_eq!(entered(&start(11, &[], "full", 2)), Some(Tier::ReadOnly), "whatever it declares");
        assert_eq!(entered(&start(12, &[1], "", 0)), None, "it has no inner run's filter");
        // Taken up by a process of the inner run around it, and by one outside of both.
        assert_eq!(entered(&start(13, &[2, 1], "", 2)), Some(Tier::ReadOnly));
        assert_eq!(entered(&start(14, &[1], "", 2)), Some(Tier::ReadOnly));
        assert_eq!(entered(&start(15, &[2, 1], "", 1)), Some(Tier::Supervised), "a sibling of the stricter one");
    }

    #[test]
    fn a_supervisor_that_is_started_anew_knows_the_floors() {
        let (mut inner, mut floors) = (Inner::default(), Floors::default());
        inner.enter(&mut floors, &start(2, &[1], "readonly", 3));
        let mut inner = Inner::default();
        assert!(inner.is_any(&floors));
        assert_eq!(inner.enter(&mut floors, &start(3, &[2, 1], "", 3)), (Some(Tier::ReadOnly), false));
        // Who only writes the variable adds no filter, and binds nobody else.
        let (mut inner, mut floors) = (Inner::default(), Floors::default());
        assert_eq!(inner.enter(&mut floors, &start(2, &[1], "readonly", 0)), (Some(Tier::ReadOnly), true));
        assert_eq!(floors, Floors::default());
    }

    #[test]
    fn many_numbers_of_filters_only_tighten() {
        let mut floors = Floors::default();
        for filters in 1..=200 {
            floors.add(filters, if filters == 150 { Tier::ReadOnly } else { Tier::Full });
        }
        assert!(floors.0.len() <= FLOORS);
        assert_eq!((floors.under(0, 10), floors.under(0, 150)), (Some(Tier::Full), Some(Tier::ReadOnly)));
    }
}
