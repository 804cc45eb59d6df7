//! From the verdict to its effect: recorded, then released, held or ended.
//!
//! Invariant: the record is in the journal before the effect; where it cannot be written the effect is denial. Refuses a
//! release of anything that is not what was judged.

use super::ending::Ending;
use super::gate::{Gate, State, Subject};
use super::poller::Source;
use super::snapshot::Snapshot;
use super::{records, repeat};
use crate::sys::{pidfd, process, ptrace};
use stayexec_protocol::{Answer, CLASS_WORDS, Decision, Message, Reason, Verdict, Withdrawal};
use std::os::fd::AsFd;

impl Gate {
    /// The supervisor's word on a call.
    pub(super) fn judged(&mut self, verdict: Verdict) {
        let Some(State::Judging(subject)) = self.calls.get(&verdict.call).map(|c| &c.state) else { return };
        let number = verdict.call;
        if let Some(call) = self.calls.get(&number) {
            self.repeats.keep(repeat::likeness(&call.digest, subject.event()), &verdict);
        }
        self.settle(number, &verdict, false);
    }

    /// Records a verdict and carries it out.
    pub(super) fn settle(&mut self, number: u64, verdict: &Verdict, repeated: bool) {
        let Some(call) = self.calls.get(&number) else { return };
        let State::Judging(subject) = &call.state else { return };
        let parent = match subject {
            Subject::Image(image) => image.parent,
            Subject::Text(_) => 0,
        };
        let record = records::judged(subject.event(), parent, call.digest, verdict, repeated);
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
    fn release(&mut self, number: u64) {
        let Some(call) = self.calls.get_mut(&number) else { return };
        match &call.state {
            State::Judging(Subject::Image(image)) | State::Held { subject: Subject::Image(image), .. } => {
                let pid = image.event.process.pid as i32;
                if ptrace::detach(pid, 0).is_err() {
                    // It has died in its stop: it is reaped for its parent.
                    let _ = ptrace::wait(pid);
                }
                self.calls.remove(&number);
            }
            State::Judging(Subject::Text(_)) | State::Held { subject: Subject::Text(_), .. } => {
                call.text_allowed = true;
                self.attach(number);
            }
            _ => {}
        }
    }

    /// Ends a denied image, or refuses a denied text's caller.
    fn deny(&mut self, number: u64, verdict: &Verdict) {
        let line = denial(verdict);
        let Some(call) = self.calls.get_mut(&number) else { return };
        match &call.state {
            State::Judging(Subject::Image(image)) | State::Held { subject: Subject::Image(image), .. } => {
                let ending = Ending::begin(image.event.process.pid as i32, image.registers, line.as_bytes());
                call.state = State::Ending(ending);
                self.start_moving(number);
            }
            State::Judging(Subject::Text(_)) | State::Held { subject: Subject::Text(_), .. } => self.tell_and_refuse(number, line),
            _ => {}
        }
    }

    fn hold(&mut self, number: u64, verdict: Verdict) {
        let Some(call) = self.calls.get_mut(&number) else { return };
        let group = call.group;
        let State::Judging(subject) = std::mem::replace(&mut call.state, State::Queued) else { return };
        let snapshot = match &subject {
            Subject::Image(image) => match Snapshot::take(&self.procfs, image) {
                Ok(snapshot) => Some(snapshot),
                Err(_) => {
                    call.state = State::Judging(subject);
                    let note = "it could not be kept for comparison".into();
                    return self.deny(number, &Verdict { decision: Decision::Deny, reason: Reason::Unreadable, note, ..verdict });
                }
            },
            Subject::Text(_) => None,
        };
        // Without a handle the sweep notices an end half a second later.
        let pidfd = pidfd::open(group).ok();
        if let Some(fd) = &pidfd {
            let _ = self.poller.add(fd.as_fd(), Source::Held(number));
        }
        call.state = State::Held { subject, snapshot, verdict, _ended: pidfd };
    }

    /// A question has ended.
    pub(super) fn answered(&mut self, answer: Answer) {
        let number = answer.call;
        let Some(State::Held { subject, snapshot, verdict, .. }) = self.calls.get(&number).map(|c| &c.state) else {
            // It was withdrawn, and the supervisor has been told; the messages have crossed.
            return;
        };
        let allow = answer.decision == Decision::Allow;
        let same = match (subject, snapshot) {
            (Subject::Image(image), Some(snapshot)) => !allow || snapshot.holds(&self.procfs, image),
            (Subject::Text(event), _) => !allow || super::snapshot::script_holds(&self.procfs, event),
            (Subject::Image(_), None) => false,
        };
        let verdict = verdict.clone();
        if !same {
            return self.changed(number, &verdict);
        }
        let question = verdict.question.unwrap_or_default();
        if self.record(&records::answered(&answer, question)).is_err() {
            self.link.send(&Message::Settled(number, false));
            return self.deny(number, &unrecorded(&verdict));
        }
        if allow {
            self.release(number);
        } else {
            self.deny(number, &Verdict { decision: Decision::Deny, reason: answer.reason, note: answer.note, ..verdict });
        }
        self.link.send(&Message::Settled(number, allow));
    }

    /// What was judged is no longer what would run: it is killed, and that is recorded.
    fn changed(&mut self, number: u64, verdict: &Verdict) {
        let note = b"what was asked about has changed since".to_vec();
        self.withdraw(number, Withdrawal::Changed);
        let denial = Verdict { decision: Decision::Deny, reason: Reason::Changed, note, ..verdict.clone() };
        let Some(call) = self.calls.get_mut(&number) else { return };
        match &call.state {
            State::Held { subject: Subject::Image(image), .. } => {
                call.state = State::Ending(Ending::kill(image.event.process.pid as i32, image.registers));
                self.start_moving(number);
            }
            _ => self.deny(number, &denial),
        }
    }

    /// Says, in the journal and to the supervisor, that a question has ended by itself.
    pub(super) fn withdraw(&mut self, number: u64, why: Withdrawal) {
        let Some(State::Held { verdict, .. }) = self.calls.get(&number).map(|c| &c.state) else { return };
        let question = verdict.question.unwrap_or_default();
        // Nothing proceeds by it, so an unwritable journal, which has been reported, changes nothing.
        let _ = self.record(&records::withdrawn(number, question, why));
        self.link.send(&Message::Withdraw(number, why));
    }

    /// The person ends the run: the agent is told to end, and what it waits for is denied.
    pub(super) fn stop(&mut self) {
        let _ = process::kill(self.agent, libc::SIGTERM);
        let held: Vec<u64> = self.calls.iter().filter(|(_, c)| matches!(c.state, State::Held { .. })).map(|(&n, _)| n).collect();
        for number in held {
            self.withdraw(number, Withdrawal::RunEnded);
            if let Some(State::Held { verdict, .. }) = self.calls.get(&number).map(|c| &c.state) {
                let verdict = Verdict { decision: Decision::Deny, note: b"the run was stopped".to_vec(), ..verdict.clone() };
                self.deny(number, &verdict);
            }
        }
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
    let shown = super::escaped(&verdict.shown);
    let note = super::escaped(&verdict.note);
    if note.is_empty() {
        format!("stayexec: denied ({class}): {shown}\n")
    } else {
        format!("stayexec: denied ({class}): {shown}: {note}\n")
    }
}

fn unrecorded(verdict: &Verdict) -> Verdict {
    let note = b"it cannot be recorded, and what cannot be recorded does not run".to_vec();
    Verdict { decision: Decision::Deny, reason: Reason::Unrecorded, note, question: None, ..verdict.clone() }
}
