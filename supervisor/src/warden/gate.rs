//! The gate: what the warden waits on, and which step is next for which call.
//!
//! A call goes one way: taken → looked up → loading → judging → (held →) released or ending. Invariant: nothing that one
//! call waits for delays another. Refuses to block: every wait is in the poller, except the writing of a record.

use super::again::Refusals;
use super::arguments;
use super::call::State;
use super::calls::Calls;
use super::capture::Image;
use super::errand::Errands;
use super::images::Images;
use super::link::Link;
use super::lookup::{Found, Heads, Request};
use super::poller::{Poller, Source};
use super::repeat::Repeats;
use super::shim::{Alone, Beside};
use super::signals::Signals;
use super::trust::View;
use super::waiting::Waiting;
use super::wake::Wake;
use super::watch::Watch;
use super::{kin, reaper};
use crate::journal::Journal;
use crate::sys::notify::{Notification, Reply};
use crate::sys::procfs::Procfs;
use crate::sys::{notify, process};
use stayexec_protocol::{Answer, Ended, Event, Message, Mode, Process, Record, Script};
use std::collections::HashSet;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::Instant;

/// What comes back from errands.
#[derive(Debug)]
pub(super) enum Errand {
    Found(u64, Option<Found>),
    Called(u64, io::Result<Box<Event>>),
    Read(u64, Box<Image>, io::Result<()>),
    Operand(u64, Script),
    Compared(Answer, Option<Script>),
    Said(u64),
    Told,
}

/// The gate of one run.
pub(super) struct Gate {
    pub(super) mode: Mode,
    /// A start that has to be asked about waits in its call.
    pub(super) holds_calls: bool,
    pub(super) agent: i32,
    /// The shim in the agent's own process.
    pub(super) beside: Option<Beside>,
    pub(super) launched: bool,
    pub(super) key: [u8; 32],
    /// The filter's; nothing where the shim is alone.
    pub(super) listener: Option<OwnedFd>,
    pub(super) alone: Option<Alone>,
    /// Programs of which it was said that they start others unasked.
    pub(super) silent: HashSet<Vec<u8>>,
    pub(super) procfs: Arc<Procfs>,
    pub(super) heads: Arc<Heads>,
    pub(super) view: Arc<View>,
    pub(super) poller: Poller,
    pub(super) signals: Signals,
    pub(super) news: UnixStream,
    pub(super) link: Link,
    pub(super) wake: Arc<Wake>,
    pub(super) errands: Errands<Errand>,
    pub(super) journal: Journal,
    pub(super) repeats: Repeats,
    pub(super) refusals: Refusals,
    pub(super) calls: Calls,
    /// What the processes of the run have executed.
    pub(super) images: Images,
    /// Calls whose process may change at any moment: loading, judging, ending.
    pub(super) moving: Vec<u64>,
    pub(super) watch: Watch,
    pub(super) next_call: u64,
    pub(super) next_sweep: Instant,
    pub(super) waiting: Waiting,
    /// The agent's parent.
    pub(super) reaper: i32,
    /// The person has ended the run: when what is left is ended.
    pub(super) stopping: Option<Instant>,
    /// Writing to the supervisor is waited for.
    pub(super) writing: bool,
    /// The tree was started with no_new_privs.
    pub(super) no_new_privs: bool,
    /// It was said what that means.
    pub(super) explained: bool,
    /// The journal could not be written; said once until it can.
    pub(super) unrecorded: bool,
}

impl Gate {
    /// Runs until the agent has ended, and gives its wait status.
    ///
    /// # Errors
    /// Where the gate itself cannot go on; the tree then starts nothing any more.
    pub(super) fn run(mut self) -> io::Result<i32> {
        if let Some(listener) = &self.listener {
            self.poller.add(listener.as_fd(), Source::Listener)?;
        }
        if let Some(alone) = &self.alone {
            self.poller.add(alone.descriptor(), Source::Door)?;
        }
        self.poller.add(self.signals.descriptor(), Source::Signals)?;
        self.poller.add(self.news.as_fd(), Source::Reaper)?;
        self.poller.add(self.wake.descriptor(), Source::Wake)?;
        self.watch_supervisor()?;
        loop {
            for source in self.poller.wait(self.deadline())? {
                match source {
                    Source::Listener => self.take_call(),
                    Source::Signals => {
                        if self.signals.take(self.agent) {
                            crate::control::reap_started();
                            self.look_at_moving();
                        }
                    }
                    Source::Reaper => match reaper::next(&mut self.news)? {
                        reaper::News::Stopped(_) | reaper::News::Continued => {}
                        reaper::News::Ended(status) => return self.end(status),
                    },
                    Source::Supervisor => self.hear_supervisor(),
                    Source::Wake => self.hear_threads()?,
                    Source::Door => self.open_door(),
                    Source::Asking(number) => self.hear_asking(number),
                    Source::Held(call) => self.held_ended(call),
                }
            }
            self.tick(Instant::now());
            self.expect_greeting(Instant::now());
            self.watch_backlog();
        }
    }

    fn watch_supervisor(&mut self) -> io::Result<()> {
        self.writing = false;
        self.link.socket().map_or(Ok(()), |socket| self.poller.add(socket, Source::Supervisor))
    }

    fn watch_backlog(&mut self) {
        let backlog = self.link.has_backlog();
        if backlog != self.writing
            && let Some(socket) = self.link.socket()
            && self.poller.set_writing(socket, Source::Supervisor, backlog).is_ok()
        {
            self.writing = backlog;
        }
    }

    fn hear_supervisor(&mut self) {
        self.link.flush();
        for message in self.link.receive() {
            match message {
                Message::Look(call, path) => self.look_at_operand(call, path),
                Message::Verdict(verdict) => self.judged(verdict),
                Message::Answer(answer) => self.answered(answer),
                Message::Stop => self.stop(),
                Message::Forget | Message::Kept(_) => self.repeats = Repeats::default(),
                // Anything else is not for a warden; the calls that are open stay open.
                _ => {}
            }
        }
    }

    fn hear_threads(&mut self) -> io::Result<()> {
        self.wake.silence();
        while let Some(errand) = self.errands.next() {
            match errand {
                Errand::Found(call, found) => self.looked_up(call, found.unwrap_or(Found::Unsure)),
                Errand::Called(call, event) => self.called(call, event.map(|event| *event)),
                Errand::Read(call, image, read) => self.read(call, image, read),
                Errand::Operand(call, script) => self.judge_with(call, script),
                Errand::Compared(answer, changed) => self.carry_out_compared(answer, changed),
                Errand::Said(call) => self.refuse_now(call),
                Errand::Told => {}
            }
        }
        if self.link.resume() {
            self.watch_supervisor()?;
            self.ask_again();
        }
        Ok(())
    }

    /// A new supervisor knows the run and none of its open calls.
    fn ask_again(&mut self) {
        for number in self.calls.numbers() {
            let beside = self.beside.as_ref();
            let message = match self.calls.state(number) {
                Some(State::Judging(subject, _)) => Message::Judge(subject.event_with_environment(beside)),
                Some(State::Held(held)) => Message::Reopen(held.subject.event_with_environment(beside), held.verdict.clone()),
                _ => continue,
            };
            self.link.send(&message);
        }
    }

    /// The path and argument registers of a call that still waits; `None` for one that is gone.
    pub(super) fn request_of(&self, notification: &Notification) -> Option<Option<Request>> {
        let request = self.watch.during(|| arguments::request(notification).ok());
        // Only now is it certain that the memory belonged to this caller.
        self.is_waiting(notification.id).then_some(request)
    }

    /// Whether this notified call still waits.
    pub(super) fn is_waiting(&self, id: u64) -> bool {
        self.listener.as_ref().is_some_and(|listener| notify::is_waiting(listener.as_fd(), id))
    }

    /// Answers a notified call. ENOENT: the caller has died meanwhile.
    pub(super) fn answer(&self, id: u64, reply: Reply) {
        if let Some(listener) = &self.listener {
            let _ = notify::answer(listener.as_fd(), id, reply);
        }
    }

    /// The processes of the tree above and with this one, nearest first.
    pub(super) fn ancestry(&self, pid: i32) -> Vec<Process> {
        let chain = kin::ancestry(&self.procfs, pid, self.agent).into_iter();
        // What left its parent hangs below the reaper, and above that is the person's own.
        chain.take_while(|above| above.pid as i32 != self.reaper).collect()
    }

    /// The run is over: held images die with the warden, and it is said of each that they did.
    fn end(mut self, status: i32) -> io::Result<i32> {
        if self.stopping.is_some() {
            self.clear();
        }
        // Its hello may have come with its end.
        self.open_door();
        let heard = self.alone.as_ref().is_none_or(|alone| alone.greeting().is_none());
        for number in self.calls.held() {
            self.withdraw(number, stayexec_protocol::Withdrawal::RunEnded);
        }
        let record = Record::Ended(Ended { time: process::now(), status });
        if self.journal.append(&record).and_then(|_| self.journal.sync()).is_err() {
            self.say_unrecorded();
        }
        self.link.send(&Message::End(status));
        if heard { Ok(status) } else { Err(io::Error::other("the program has not loaded the preload library, so nothing was asked for")) }
    }
}
