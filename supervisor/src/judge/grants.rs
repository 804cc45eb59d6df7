//! Grants: what an approval covers besides the one image that was approved.
//!
//! Invariant: a grant is bound to a process by pid and start time, covers no class above the approved one, and in that
//! very process only programs that the approved text names. Refuses descendants that were reparented away: their ancestry
//! no longer leads to the process, so they are asked about anew; and files that were changed while the question was open:
//! a person may have looked at them before.

use crate::clock::Nanos;
use serde::{Deserialize, Serialize};
use stayexec_policy::{CommandClass, redact};
use stayexec_protocol::{Event, Process};
use std::collections::{BTreeSet, HashMap, VecDeque};

/// Most names that are taken from one word or script.
const NAMES: usize = 1_024;
/// Most grants of a run; past it the oldest go, and what they covered is asked about.
const LIMIT: usize = 10_000;

/// How far the clock that dates files may be behind: a tick of the slowest kernel.
const TICK: Nanos = 10_000_000;

/// What an approval covers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grant {
    pid: u32,
    start: u64,
    class: CommandClass,
    /// Names that the approved text holds, for what the process itself becomes.
    names: BTreeSet<String>,
    /// Descendants that the process had before: (pid, start).
    #[serde(default)]
    elders: Vec<(u32, u64)>,
    /// From when until when its question was open.
    #[serde(default)]
    open: Option<(Nanos, Nanos)>,
}

impl Grant {
    /// The grant that an approval of this event gives; `None` where not all of its text was seen, or nobody knows which
    /// descendants are its own.
    pub fn of(event: &Event, class: CommandClass, text_seen: bool) -> Option<Self> {
        let elders = event.elders.iter().flatten().map(holder).collect();
        let own = event.elders.is_some();
        // Names go to the disk: what is no name, or part of a secret, is none.
        let argv = redact::argv(&event.argv);
        let script = event.script.iter().filter_map(|script| Some(redact::text(&String::from_utf8_lossy(script.text.as_ref()?))));
        let texts = argv.iter().map(|word| String::from_utf8_lossy(word).into_owned()).chain(script);
        let mut names = BTreeSet::new();
        for text in texts.take_while(|_| text_seen) {
            let word = |c: char| c.is_alphanumeric() || "._+-@".contains(c);
            names.extend(text.split(|c| !word(c)).filter(|name| (1..=64).contains(&name.len())).take(NAMES).map(str::to_owned));
        }
        (text_seen && own).then_some(Self { pid: event.process.pid, start: event.process.start, class, names, elders, open: None })
    }

    /// The grant of an answer that came at `answered` to what was asked at `asked`.
    pub fn answered(self, asked: Nanos, answered: Nanos) -> Self {
        // What the approved command itself writes at once may be dated a little before.
        Self { open: Some((asked, answered.saturating_sub(TICK))), ..self }
    }

    /// Whether what starts was changed between question and answer.
    fn is_of_another(&self, event: &Event) -> bool {
        let files = std::iter::once(&event.executable.id).chain(event.script.as_ref().map(|script| &script.id));
        self.open.is_some_and(|(asked, answered)| files.into_iter().any(|id| asked < id.ctime && id.ctime < answered))
    }

    fn names(&self, event: &Event) -> bool {
        let name = |path: &[u8]| {
            let name = path.rsplit(|&byte| byte == b'/').next().unwrap_or(path);
            std::str::from_utf8(name).is_ok_and(|name| self.names.contains(name))
        };
        let file = &event.executable;
        // `python3` in a text is a link to `python3.11`: of a file that nobody in the tree can write what it is called counts.
        let installed = file.root_owned && file.chain_root_owned && file.unchanged && file.same_view;
        match &event.script {
            // What is named is the script; its interpreter comes with it.
            Some(script) => name(&script.path),
            None => name(&file.path) || (installed && event.argv.first().is_some_and(|called| name(called))),
        }
    }
}

type Holder = (u32, u64);

fn holder(process: &Process) -> Holder {
    (process.pid, process.start)
}

/// The grants of a run.
#[derive(Debug, Default)]
pub struct Grants {
    of: HashMap<Holder, Vec<Grant>>,
    order: VecDeque<Holder>,
}

impl Grants {
    /// Adds grants.
    pub fn extend(&mut self, grants: impl IntoIterator<Item = Grant>) {
        grants.into_iter().for_each(|grant| self.add(grant));
    }

    /// Whether this very grant is there.
    pub fn has(&self, grant: &Grant) -> bool {
        self.of.get(&(grant.pid, grant.start)).is_some_and(|grants| grants.contains(grant))
    }

    /// Whether the process of this grant holds any.
    pub fn holds_any_of(&self, grant: &Grant) -> bool {
        self.of.contains_key(&(grant.pid, grant.start))
    }

    fn add(&mut self, grant: Grant) {
        if self.has(&grant) {
            return;
        }
        if self.order.len() >= LIMIT
            && let Some(oldest) = self.order.pop_front()
            && let Some(grants) = self.of.get_mut(&oldest)
        {
            grants.remove(0);
            if grants.is_empty() {
                self.of.remove(&oldest);
            }
        }
        let holder = (grant.pid, grant.start);
        self.order.push_back(holder);
        self.of.entry(holder).or_default().push(grant);
    }

    /// The process of an event has become another program: what it was granted before goes, unless the text names the new one.
    /// Whether anything went.
    pub fn became(&mut self, event: &Event) -> bool {
        let holder = holder(&event.process);
        let Some(grants) = self.of.get_mut(&holder) else { return false };
        let before = grants.len();
        grants.retain(|grant| grant.names(event));
        let gone = before - grants.len();
        if grants.is_empty() {
            self.of.remove(&holder);
        }
        for _ in 0..gone {
            if let Some(at) = self.order.iter().position(|other| *other == holder) {
                self.order.remove(at);
            }
        }
        gone > 0
    }

    /// Whether a start of this class is covered: by what its process was granted, where the approved text names it, or by
    /// what an ancestor was granted.
    pub fn cover(&self, event: &Event, class: CommandClass) -> bool {
        let counts = |grant: &&Grant| class <= grant.class && !grant.is_of_another(event);
        let held = |process: &Process| self.of.get(&holder(process)).into_iter().flatten().filter(counts);
        let below = std::iter::once(&event.process).chain(&event.ancestry);
        held(&event.process).any(|grant| grant.names(event))
            || event.ancestry.iter().zip(below).any(|(ancestor, below)| held(ancestor).any(|grant| !grant.elders.contains(&holder(below))))
    }
}

#[cfg(test)]
mod tests {
    use super::super::session::testing::event;
    use super::*;

    fn process(pid: u32, start: u64) -> Process {
        Process { pid, start, name: b"x".to_vec() }
    }

    fn child(path: &str, parents: &[(u32, u64)]) -> Event {
        let ancestry = parents.iter().map(|(pid, start)| process(*pid, *start)).collect();
        Event { process: process(77, 700), ancestry, ..event(path, &["x"]) }
    }

    fn granted() -> Grants {
        let mut grants = Grants::default();
        let approved = Event { process: process(10, 20), ..event("/usr/bin/bash", &["bash", "-c", "cd x; npm install"]) };
        grants.extend(Grant::of(&approved, CommandClass::Install, true));
        grants
    }

    #[test]
    fn descendants_up_to_the_class_are_covered() {
        let grants = granted();
        assert!(grants.cover(&child("/usr/bin/node", &[(10, 20)]), CommandClass::Install));
        assert!(grants.cover(&child("/usr/bin/make", &[(50, 1), (10, 20), (1, 0)]), CommandClass::Write));
        assert!(!grants.cover(&child("/usr/bin/rm", &[(10, 20)]), CommandClass::Destructive));
    }

    #[test]
    fn reparented_reused_and_foreign_processes_are_not() {
        let grants = granted();
        assert!(!grants.cover(&child("/usr/bin/node", &[(1, 0)]), CommandClass::Write));
        assert!(!grants.cover(&child("/usr/bin/node", &[(10, 21)]), CommandClass::Write));
    }

    #[test]
    fn what_the_process_had_forked_before_is_not() {
        let approved =
            Event { process: process(10, 20), elders: Some(vec![process(50, 1)]), ..event("/usr/bin/bash", &["bash", "-c", "make"]) };
        let mut grants = Grants::default();
        grants.extend(Grant::of(&approved, CommandClass::Write, true));
        assert!(grants.cover(&child("/usr/bin/make", &[(51, 1), (10, 20)]), CommandClass::Write));
        assert!(!grants.cover(&child("/usr/bin/make", &[(50, 1), (10, 20)]), CommandClass::Write));
        let elder = Event { process: process(50, 1), ..child("/usr/bin/make", &[(10, 20)]) };
        assert!(!grants.cover(&elder, CommandClass::Write));
        assert_eq!(Grant::of(&Event { elders: None, ..approved }, CommandClass::Write, true), None, "nobody knows");
    }

    #[test]
    fn a_process_that_becomes_something_else_keeps_nothing() {
        let mut grants = granted();
        let becomes = |path: &str, called: &str| Event { process: process(10, 20), ..event(path, &[called, "x"]) };
        assert!(!grants.became(&becomes("/usr/bin/npm", "npm")));
        assert!(grants.cover(&child("/usr/bin/node", &[(10, 20)]), CommandClass::Write));
        assert!(grants.became(&becomes("/usr/bin/python3.11", "python3")));
        assert!(!grants.cover(&child("/usr/bin/node", &[(10, 20)]), CommandClass::Write));
        assert!(grants.order.is_empty());
    }

    #[test]
    fn an_installed_program_is_named_by_what_it_is_called() {
        let mut grants = Grants::default();
        let approved = Event { process: process(10, 20), ..event("/usr/bin/bash", &["bash", "-c", "python3 -m pip list"]) };
        grants.extend(Grant::of(&approved, CommandClass::Write, true));
        let own = |path: &str| Event { process: process(10, 20), ..event(path, &["python3", "-m", "pip"]) };
        assert!(grants.cover(&own("/usr/bin/python3.11"), CommandClass::Write));
        let mut evil = own("/home/dev/proj/x");
        evil.executable.root_owned = false;
        assert!(!grants.cover(&evil, CommandClass::Write));
    }

    #[test]
    fn in_place_only_what_the_text_names() {
        let grants = granted();
        let own = |path: &str| Event { process: process(10, 20), ..event(path, &["other"]) };
        assert!(grants.cover(&own("/usr/bin/npm"), CommandClass::Install));
        assert!(!grants.cover(&own("/usr/bin/make"), CommandClass::Write));
    }

    #[test]
    fn a_file_that_was_changed_while_the_question_was_open_is_not() {
        let second = 1_000_000_000;
        let approved = Event { process: process(10, 20), ..event("/usr/bin/bash", &["bash", "-c", "./deploy.sh"]) };
        let mut grants = Grants::default();
        grants.extend(Grant::of(&approved, CommandClass::Write, true).map(|grant| grant.answered(100 * second, 160 * second)));
        let script = |ctime| {
            let mut script = stayexec_protocol::Script::unreadable(b"./deploy.sh".to_vec(), false);
            script.id.ctime = ctime;
            Event { script: Some(script), ..child("/usr/bin/bash", &[(10, 20)]) }
        };
        let program = |ctime| {
            let mut event = child("/home/dev/proj/tool", &[(10, 20)]);
            event.executable.id.ctime = ctime;
            event
        };
        for (ctime, covered) in [(99 * second, true), (130 * second, false), (160 * second, true)] {
            assert_eq!(grants.cover(&script(ctime), CommandClass::Write), covered, "{ctime}");
            assert_eq!(grants.cover(&program(ctime), CommandClass::Write), covered, "{ctime}");
        }
    }

    #[test]
    fn past_the_limit_the_oldest_goes() {
        let mut grants = granted();
        for pid in 0..u32::try_from(LIMIT).unwrap_or(0) {
            let approved = Event { process: process(pid, 9), ..event("/usr/bin/make", &["make"]) };
            grants.extend(Grant::of(&approved, CommandClass::Write, true));
        }
        assert!(!grants.cover(&child("/usr/bin/make", &[(10, 20)]), CommandClass::Write));
        assert!(grants.cover(&child("/usr/bin/make", &[(0, 9)]), CommandClass::Write));
        assert_eq!((grants.order.len(), grants.of.len()), (LIMIT, LIMIT));
    }

    #[test]
    fn a_text_that_nobody_saw_grants_nothing() {
        assert_eq!(Grant::of(&event("/usr/bin/bash", &["bash"]), CommandClass::Write, false), None);
    }
}
