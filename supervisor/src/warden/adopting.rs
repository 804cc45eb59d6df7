//! Processes that may have children which they did not fork.
//!
//! Whose start a start is follows from its ancestors, each the maker of the next. A subreaper takes up orphans, and clone(2)
//! with CLONE_PARENT gives a child to the caller's parent: the filter tells of both before they happen. Invariant: such a
//! process is nobody's ancestor from then on, so nothing that it was allowed covers what seems to be its child, which is asked
//! about anew. Refuses to have a child given to the agent's own process, whose starts are its own.

use super::gate::Gate;
use super::images::Runs;
use crate::sys::filter::Told;
use crate::sys::notify::{self, Notification, Reply};
use stayexec_protocol::Process;
use std::os::fd::AsFd;

impl Gate {
    /// Answers a call by which a process may get children that it has not made.
    pub(super) fn take_adopting(&mut self, notification: &Notification, group: i32, told: Told) {
        let allowed = self.note_adopting(notification, group, told);
        let reply = if allowed == Some(true) { Reply::Continue } else { Reply::Errno(libc::EPERM) };
        self.answer(notification.id, reply);
    }

    /// Whether it may go on; nothing where that cannot be told.
    fn note_adopting(&mut self, notification: &Notification, group: i32, told: Told) -> Option<bool> {
        let stat = |pid: i32| self.procfs.process(pid).and_then(|process| process.stat()).ok();
        let caller = stat(group)?;
        let (pid, start) = match told {
            Told::Adopts => (group, caller.start),
            // The reaper is nobody's ancestor anyway.
            _ if caller.parent == self.reaper => return Some(true),
            _ => (caller.parent, stat(caller.parent)?.start),
        };
        // What was read is the caller's own only while it still waits.
        notify::is_waiting(self.listener.as_ref()?.as_fd(), notification.id).then_some(())?;
        if told == Told::Sibling && self.is_agents_own(pid, start) {
            return Some(false);
        }
        self.images.adopts(pid as u32, start);
        Some(true)
    }

    /// Whether a process runs the agent's own image, its own or by a fork.
    fn is_agents_own(&self, pid: i32, start: u64) -> bool {
        let process = Process { pid: pid as u32, start, name: Vec::new() };
        let before = self.images.runs(process.pid, start);
        self.images.starter(before, &process, &self.makers(pid)).is_some()
    }

    /// The processes that made this one, nearest first, as far as that is certain.
    pub(super) fn makers(&self, pid: i32) -> Vec<Process> {
        self.images.makers(self.ancestry(pid).into_iter().skip(1).collect())
    }

    /// Whose start it is: see [`Event::agent`](stayexec_protocol::Event::agent).
    pub(super) fn starter(&self, before: Runs, process: &Process, ancestry: &[Process]) -> Option<Process> {
        let starter = self.images.starter(before, process, ancestry)?;
        // The first process of a pid namespace takes up all its orphans.
        let mut between = ancestry.iter().take_while(|above| **above != starter);
        let takes_up = |above: &Process| self.is_init(above.pid as i32);
        let may_adopt = starter.pid != process.pid && (takes_up(&starter) || between.any(takes_up));
        (!may_adopt).then_some(starter)
    }

    fn is_init(&self, pid: i32) -> bool {
        let numbers = self.procfs.process(pid).and_then(|process| process.status_field("NSpid"));
        // One that cannot be looked at may be one.
        numbers.map_or(true, |numbers| numbers.split_ascii_whitespace().next_back() == Some("1"))
    }
}
