//! From an answer to its effect: compared, recorded, then released or ended.
//!
//! Invariant: what runs by an answer is what was judged when it was asked: image, files and script are compared first, and
//! the answer is in the journal before it has an effect. Refuses an answer to what has changed: the image is killed, or asked
//! about anew.

use super::call::{State, Subject};
use super::ending::Ending;
use super::gate::{Errand, Gate};
use super::settle::unrecorded;
use super::upkeep::is_signalled;
use super::{capture, records};
use stayexec_protocol::{Answer, Decision, Message, Reason, Script, Verdict, Withdrawal};
use std::sync::Arc;

impl Gate {
    /// A question has ended.
    pub(super) fn answered(&mut self, answer: Answer) {
        let number = answer.call;
        let Some(State::Held(held)) = self.calls.get_mut(number).map(|c| &mut c.state) else {
            // It was withdrawn, and the supervisor has been told; the messages have crossed.
            return;
        };
        if let Subject::Image(image) = &held.subject {
            let pid = image.event.process.pid as i32;
            // What the program would ignore is taken from its way before it runs.
            let spared = held.rest.is_at_rest() && held.ignored().is_some() && is_signalled(&self.procfs, pid);
            if spared || !held.rest.is_at_rest() {
                if let Ok(rest) = if spared { held.rest.deliver(pid) } else { held.rest.recall(pid) } {
                    held.rest = rest;
                }
                held.answer = Some(answer);
                return self.start_moving(number);
            }
        }
        self.carry_out(number, answer);
    }

    /// Carries out the answer to a question whose image is at rest: first its script is compared.
    pub(super) fn carry_out(&mut self, number: u64, answer: Answer) {
        let Some(State::Held(held)) = self.calls.state(number) else { return };
        let event = held.subject.event();
        // One that could not be read was judged as such; of a file that is too long to be read its identity says that it is the
        // same. A pipe is dated anew by each byte.
        let script = event.script.clone().filter(|script| script.digest != [0; 32] || script.id.size > 0);
        let (Some(judged), Decision::Allow) = (script, answer.decision) else { return self.carry_out_compared(answer, None) };
        let pid = event.process.pid as i32;
        let changed = move |now: Script| Some(now).filter(|now| now.id != judged.id || now.digest != judged.digest);
        let (path, operand) =
            (event.script.as_ref().map_or_else(Vec::new, |s| s.path.clone()), event.script.as_ref().is_some_and(|s| s.operand));
        if let Ok(now) = capture::script_at(&self.procfs, &self.view, pid, &path, operand, true) {
            return self.carry_out_compared(answer, changed(now));
        }
        let (procfs, view) = (Arc::clone(&self.procfs), Arc::clone(&self.view));
        let late = answer.clone();
        let sent = self.errands.send(move || {
            let now = capture::script_at(&procfs, &view, pid, &path, operand, false);
            Errand::Compared(answer, changed(now.unwrap_or_else(|_| Script::unreadable(path, operand))))
        });
        if sent.is_err() {
            self.carry_out_compared(Answer { decision: Decision::Deny, reason: Reason::Unreadable, ..late }, None);
        }
    }

    /// Carries out an answer, knowing how the script has changed.
    pub(super) fn carry_out_compared(&mut self, answer: Answer, changed: Option<Script>) {
        let number = answer.call;
        let Some(State::Held(held)) = self.calls.state(number) else { return };
        let allow = answer.decision == Decision::Allow;
        let same = match (&held.subject, &held.snapshot) {
            (Subject::Image(image), Some(snapshot)) => snapshot.holds(&self.procfs, image),
            (Subject::Image(_), None) => false,
            (Subject::Call(_), _) => !allow || self.holds_still(number),
        };
        let verdict = held.verdict.clone();
        if allow && !same {
            return self.changed(number);
        }
        if let Some(script) = changed {
            return self.ask_anew(number, script);
        }
        let question = verdict.question.unwrap_or_default();
        if self.record(&records::answered(&answer, question)).is_err() {
            self.link.send(&Message::Settled(number, false));
            return self.deny(number, &unrecorded(&verdict));
        }
        if allow && self.approve_call(number, &answer) {
            // It is settled when what is loaded has been compared.
            return self.attach(number);
        }
        if allow {
            self.release(number);
        } else {
            self.deny(number, &Verdict { decision: Decision::Deny, reason: answer.reason, note: answer.note, ..verdict });
        }
        self.link.send(&Message::Settled(number, allow));
    }

    /// The image is no longer what was judged: it is killed, and that is recorded.
    fn changed(&mut self, number: u64) {
        self.withdraw(number, Withdrawal::Changed);
        if let Some((Subject::Image(image), _)) = self.open(number) {
            let ending = Ending::kill(image.event.process.pid as i32, image.registers);
            self.set(number, State::Ending(Box::new(ending)));
            self.start_moving(number);
        } else {
            // In its call it can be judged anew.
            self.look_at_call(number);
        }
    }

    /// The script is no longer the text that was judged: the call is judged again, with the new text.
    fn ask_anew(&mut self, number: u64, script: Script) {
        self.withdraw(number, Withdrawal::Changed);
        let Some(State::Held(mut held)) = self.calls.replace(number, State::Queued) else { return };
        held.subject.event_mut().script = Some(script);
        self.link.send(&Message::Judge(held.subject.event_with_environment(self.beside.as_ref())));
        self.set(number, State::Judging(held.subject, held.rest));
    }
}
