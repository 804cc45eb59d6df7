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
#[path = "grants_tests.rs"]
mod tests;
