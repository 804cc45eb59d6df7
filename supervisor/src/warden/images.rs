//! Which processes run a program that they executed themselves, and whether that is the agent's own.
//!
//! Invariant: a process that is not listed runs what its parent ran when it was forked: every exec of the tree passes here
//! before the image's first instruction, and a parent that may not have forked it is told apart (`warden/adopting.rs`).
//! Refuses to forget a process that still lives; a reused pid is told apart by its start time.

use crate::sys::process;
use stayexec_protocol::Process;
use std::collections::HashMap;

/// What a process runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Runs {
    /// What its parent ran when it forked.
    Inherited,
    /// A program of its own.
    Other,
    /// The agent's own image.
    Agent,
}

/// How many processes are listed before the dead are looked for.
const ROOM: usize = 4_096;

/// The processes that have executed something.
#[derive(Debug)]
pub(super) struct Images {
    of: HashMap<u32, (u64, bool)>,
    room: usize,
    /// Those that may have children which they did not fork.
    adopters: HashMap<u32, u64>,
}

impl Default for Images {
    fn default() -> Self {
        Self { of: HashMap::new(), room: ROOM, adopters: HashMap::new() }
    }
}

impl Images {
    pub(super) fn runs(&self, pid: u32, start: u64) -> Runs {
        match self.of.get(&pid) {
            Some((known, agent)) if *known == start => {
                if *agent {
                    Runs::Agent
                } else {
                    Runs::Other
                }
            }
            _ => Runs::Inherited,
        }
    }

    /// A process has a new image. What it ran before.
    pub(super) fn loaded(&mut self, pid: u32, start: u64) -> Runs {
        let before = self.runs(pid, start);
        if self.of.len() >= self.room {
            self.of.retain(|pid, _| process::exists(*pid as i32));
            self.room = ROOM.max(self.of.len() * 2);
        }
        self.of.insert(pid, (start, false));
        before
    }

    /// A process may get children that it does not fork.
    pub(super) fn adopts(&mut self, pid: u32, start: u64) {
        if self.adopters.len() >= ROOM {
            self.adopters.retain(|pid, _| process::exists(*pid as i32));
        }
        self.adopters.insert(pid, start);
    }

    /// The ancestors that certainly made what is below them: those before the first that may have taken it up.
    pub(super) fn makers(&self, ancestry: Vec<Process>) -> Vec<Process> {
        ancestry.into_iter().take_while(|process| self.adopters.get(&process.pid) != Some(&process.start)).collect()
    }

    /// The image of this process was judged to be the agent's own.
    pub(super) fn is_agents(&mut self, pid: u32, start: u64) {
        if let Some((known, agent)) = self.of.get_mut(&pid)
            && *known == start
        {
            *agent = true;
        }
    }

    /// Whose start it is: see [`Event::agent`](stayexec_protocol::Event::agent).
    pub(super) fn starter(&self, before: Runs, process: &Process, ancestry: &[Process]) -> Option<Process> {
        match before {
            Runs::Agent => return Some(process.clone()),
            Runs::Other => return None,
            Runs::Inherited => {}
        }
        let (nearest, runs) =
            ancestry.iter().map(|above| (above, self.runs(above.pid, above.start))).find(|(_, runs)| *runs != Runs::Inherited)?;
        (runs == Runs::Agent).then(|| nearest.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(pid: u32, start: u64) -> Process {
        Process { pid, start, name: b"x".to_vec() }
    }

    #[test]
    fn a_start_is_the_agents_while_nothing_else_was_executed_in_between() {
        let mut images = Images::default();
        assert_eq!(images.loaded(10, 1), Runs::Inherited);
        images.is_agents(10, 1);
        let agent = process(10, 1);
        let starter = |images: &Images, before, above: &[Process]| images.starter(before, &process(30, 3), above).map(|p| p.pid);
        assert_eq!(starter(&images, Runs::Inherited, std::slice::from_ref(&agent)), Some(10));
        // A fork of it that has executed nothing is still the agent.
        assert_eq!(starter(&images, Runs::Inherited, &[process(20, 2), agent.clone()]), Some(10));
        images.loaded(20, 2);
        assert_eq!(starter(&images, Runs::Inherited, &[process(20, 2), agent.clone()]), None);
        assert_eq!(starter(&images, Runs::Other, std::slice::from_ref(&agent)), None);
        assert_eq!(starter(&images, Runs::Agent, &[]), Some(30));
        assert_eq!(starter(&images, Runs::Inherited, &[]), None);
    }

    #[test]
    fn who_may_have_taken_up_its_children_is_nobodys_maker() {
        let mut images = Images::default();
        images.loaded(10, 1);
        images.is_agents(10, 1);
        images.adopts(20, 2);
        let chain = |above: &[(u32, u64)]| above.iter().map(|(pid, start)| process(*pid, *start)).collect::<Vec<_>>();
        assert_eq!(images.makers(chain(&[(30, 3), (20, 2), (10, 1)])), chain(&[(30, 3)]));
        assert_eq!(images.makers(chain(&[(20, 9), (10, 1)])), chain(&[(20, 9), (10, 1)]), "a reused pid is another process");
        assert_eq!(images.starter(Runs::Inherited, &process(40, 4), &images.makers(chain(&[(20, 2), (10, 1)]))), None);
    }

    #[test]
    fn another_program_in_the_same_process_is_not_the_agent() {
        let mut images = Images::default();
        images.loaded(10, 1);
        images.is_agents(10, 1);
        assert_eq!(images.loaded(10, 1), Runs::Agent);
        assert_eq!(images.runs(10, 1), Runs::Other);
        // A reused pid is another process.
        assert_eq!(images.runs(10, 2), Runs::Inherited);
        images.is_agents(10, 2);
        assert_eq!(images.runs(10, 1), Runs::Other);
    }

    #[test]
    fn the_dead_make_room_and_the_living_stay() {
        let mut images = Images::default();
        let own = std::process::id();
        images.loaded(own, 7);
        for pid in 0..u32::try_from(ROOM).unwrap_or(0) {
            images.loaded(1 << 30 | pid, 1);
        }
        assert!(images.of.len() < ROOM);
        assert_eq!(images.runs(own, 7), Runs::Other);
    }
}
