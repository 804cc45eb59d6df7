//! From the verdict to its effect: recorded, then released, held or ended.
//!
//! Invariant: the record is in the journal before the effect; where it cannot be written the effect is denial. Refuses a
//! release of anything that is not what was judged.

use super::call::{State, Subject};
use super::ending::Ending;
use super::gate::{Errand, Gate};
use super::hold::{Held, Rest};
use super::poller::Source;
use super::snapshot::Snapshot;
use super::{capture, records, repeat};
use crate::sys::arch::Registers;
use crate::sys::{pidfd, ptrace};
use stayexec_protocol::{CLASS_WORDS, Decision, Message, Reason, Stage, Verdict, Withdrawal};
use std::os::fd::AsFd;
use std::time::Instant;

impl Gate {
    /// The supervisor's word on a call.
    pub(super) fn judged(&mut self, verdict: Verdict) {
        let Some(State::Judging(subject, _)) = self.calls.state(verdict.call) else { return };
        let number = verdict.call;
        // Of a call that is only looked at nobody knows whether it will succeed.
        if verdict.agent && matches!(subject, Subject::Image(_)) {
            let process = &subject.event().process;
            self.images.is_agents(process.pid, process.start);
        }
        if let Some(call) = self.calls.get(number) {
            self.repeats.keep(repeat::likeness(&call.digest, subject.event()), &verdict);
        }
        self.settle(number, &verdict, false);
    }

    /// Records a verdict and carries it out.
    pub(super) fn settle(&mut self, number: u64, verdict: &Verdict, repeated: bool) {
        let Some(call) = self.calls.get(number) else { return };
        let State::Judging(subject, _) = &call.state else { return };
        let parent = match subject {
            Subject::Image(image) => image.parent,
            Subject::Call(event) => event.ancestry.first().filter(|_| event.stage == Stage::Called).map_or(0, |parent| parent.pid as i32),
        };
        if self.is_looked_at_again(subject) && verdict.decision != Decision::Hold {
            // Whatever it is: what is loaded decides, and is recorded.
            return self.attach(number);
        }
        let record = records::judged(self.mode, subject.event(), parent, call.digest, verdict, repeated);
        if self.record(&record).is_err() {
            return self.deny(number, &unrecorded(verdict));
        }
        match verdict.decision {
            Decision::Allow => self.release(number),
            Decision::Deny => self.deny(number, verdict),
            Decision::Hold => self.hold(number, verdict.clone()),
        }
    }

    /// Lets an image run, or a text be interpreted.
    pub(super) fn release(&mut self, number: u64) {
        match self.open(number) {
            Some((Subject::Image(image), _)) => {
                let pid = image.event.process.pid as i32;
                if ptrace::detach(pid, 0).is_err() {
                    // It has died in its stop: it is reaped for its parent.
                    let _ = ptrace::wait(pid);
                }
                self.calls.remove(number);
            }
            Some((Subject::Call(event), _)) => {
                let text = event.stage == Stage::Text;
                if let Some(call) = self.calls.get_mut(number) {
                    call.text_allowed = text;
                }
                self.attach(number);
            }
            None => {}
        }
    }

    /// Ends a denied image, or refuses a denied text's caller.
    pub(super) fn deny(&mut self, number: u64, verdict: &Verdict) {
        let line = denial(verdict);
        match self.open(number) {
            Some((Subject::Image(image), rest)) => {
                let (pid, registers, left) = (image.event.process.pid as i32, image.registers, rest.has_left());
                self.end_image(number, pid, registers, left, line);
            }
            Some((Subject::Call(event), _)) => {
                let event = event.clone();
                self.refusals.note(&event, verdict.reason, Instant::now());
                self.tell_and_refuse(number, line);
            }
            None => {}
        }
    }

    /// Ends an image by its own hand, or, where touching its code could have the gate wait for a file system, tells for it
    /// and kills it.
    pub(super) fn end_image(&mut self, number: u64, pid: i32, registers: Registers, left: bool, line: String) {
        let ending = if self.has_code_at_hand(pid, registers.ip()) {
            Ending::begin(pid, registers, left, capture::errs_on_terminal(&self.procfs, pid), line.as_bytes())
        } else if let Ok(process) = pidfd::open(pid)
            && self
                .errands
                .send(move || {
                    super::courtesy::write_line(pid, line.as_bytes());
                    let _ = pidfd::kill(process.as_fd(), libc::SIGKILL);
                    Errand::Told
                })
                .is_ok()
        {
            Ending::expect(pid, registers)
        } else {
            Ending::kill(pid, registers)
        };
        self.set(number, State::Ending(Box::new(ending)));
        self.start_moving(number);
    }

    fn has_code_at_hand(&self, pid: i32, ip: u64) -> bool {
        let region = self.procfs.process(pid).and_then(|process| process.region(ip));
        region.is_ok_and(|region| region.is_some_and(|r| r.ino == 0 || self.view.devices.is_quick(r.dev)))
    }

    /// The subject of a call that waits for its verdict or its answer.
    pub(super) fn open(&self, number: u64) -> Option<(&Subject, Rest)> {
        match &self.calls.get(number)?.state {
            State::Judging(subject, rest) => Some((subject, *rest)),
            State::Held(held) => Some((&held.subject, held.rest)),
            _ => None,
        }
    }

    fn hold(&mut self, number: u64, verdict: Verdict) {
        let Some(call) = self.calls.get_mut(number) else { return };
        let group = call.group;
        let State::Judging(subject, _) = &call.state else { return };
        let snapshot = match subject {
            Subject::Call(_) => None,
            Subject::Image(image) => match Snapshot::take(&self.procfs, image) {
                Ok(snapshot) => Some(snapshot),
                Err(_) => {
                    // It was recorded as held, and its question is open: both end here.
                    let question = verdict.question.unwrap_or_default();
                    let _ = self.record(&records::withdrawn(number, question, Withdrawal::Changed));
                    self.link.send(&Message::Withdraw(number, Withdrawal::Changed));
                    let note = "it could not be kept for comparison".into();
                    return self.deny(number, &Verdict { decision: Decision::Deny, reason: Reason::Unreadable, note, ..verdict });
                }
            },
        };
        // Without a handle the sweep notices an end half a second later.
        let ended = pidfd::open(group).ok();
        if let Some(fd) = &ended {
            let _ = self.poller.add(fd.as_fd(), Source::Held(number));
        }
        if let Some(State::Judging(subject, rest)) = self.calls.replace(number, State::Queued) {
            self.set(number, State::Held(Box::new(Held { subject, snapshot, verdict, rest, answer: None, _ended: ended })));
            self.waiting.expect(number, Instant::now());
        }
    }

    /// Says, in the journal and to the supervisor, that a question has ended by itself.
    pub(super) fn withdraw(&mut self, number: u64, why: Withdrawal) {
        let Some(State::Held(held)) = self.calls.state(number) else { return };
        let question = held.verdict.question.unwrap_or_default();
        // Nothing proceeds by it, so an unwritable journal, which has been reported, changes nothing.
        let _ = self.record(&records::withdrawn(number, question, why));
        self.link.send(&Message::Withdraw(number, why));
    }

    pub(super) fn start_moving(&mut self, number: u64) {
        if !self.moving.contains(&number) {
            self.moving.push(number);
        }
    }
}

/// The line that a denied image writes: `stayexec: denied (destructive): rm -rf build: note`.
fn denial(verdict: &Verdict) -> String {
    let class = CLASS_WORDS.get(usize::from(verdict.class)).unwrap_or(&"unknown");
    let (shown, note) = (cut(super::escaped(&verdict.shown)), cut(super::escaped(&verdict.note)));
    let mark = if note.is_empty() { "" } else { ": " };
    format!("stayexec: denied ({class}): {shown}{mark}{note}\n")
}

/// A line has to fit on the stack of the image that writes it, and on the screen of whoever reads it. The judge folds what
/// it shows; this is for what it does not.
fn cut(mut text: String) -> String {
    const LIMIT: usize = 1500;
    if let Some((at, _)) = text.char_indices().nth(LIMIT) {
        text.truncate(at);
        text.push('…');
    }
    text
}

pub(super) fn unrecorded(verdict: &Verdict) -> Verdict {
    let note = b"it cannot be recorded, and what cannot be recorded does not run".to_vec();
    Verdict { decision: Decision::Deny, reason: Reason::Unrecorded, note, question: None, ..verdict.clone() }
}
