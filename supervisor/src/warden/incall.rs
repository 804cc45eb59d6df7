//! Judging a call before the kernel has loaded anything for it.
//!
//! Two things need it. Without ptrace (mode `seccomp`) it is the whole judgement, and a race can get past it: every row
//! says so. With it (`--hold call`) it only tells whether a person has to be asked, who is then asked while the caller
//! waits in the call: what is loaded afterwards is judged as ever, and the answer holds for it only if it is in every
//! respect what was asked about. Refuses, without ptrace, what cannot be read before.

use super::call::{Approved, State, Subject};
use super::called::{self, Said};
use super::capture::Image;
use super::gate::{Errand, Gate};
use super::hold::Rest;
use super::intake::{LOOK, is_absence};
use super::{arguments, capture, kin, records, repeat};
use stayexec_protocol::{Answer, Decision, Event, Message, Mode, Reason, Stage, Verdict, Withdrawal};
use std::io;
use std::sync::Arc;
use std::time::Instant;

impl Gate {
    /// Goes on with a call whose file may be loaded: judged here where that is this run's way, and else when it is.
    pub(super) fn look_at_call(&mut self, number: u64) {
        let Some(call) = self.calls.get(number) else { return };
        let notification = call.notification;
        let launch = self.is_launch(notification.tid);
        if self.mode == Mode::Verify && (!self.holds_calls || launch) {
            return self.attach(number);
        }
        let Some(request) = call.request.clone() else { return self.called(number, Err(io::Error::from_raw_os_error(libc::EFAULT))) };
        let words = self.watch.during(|| arguments::words(&notification));
        let said = words.map(|(argv, environment)| Said { call: number, pid: call.group, launch, request, argv, environment });
        if !self.is_waiting(notification.id) {
            self.calls.remove(number);
            return;
        }
        let said = match said {
            Ok(said) => said,
            Err(e) => return self.called(number, Err(e)),
        };
        match called::event(&self.procfs, &self.view, &said, true) {
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => {}
            event => return self.called(number, event),
        }
        self.set(number, State::Looking(Instant::now() + LOOK));
        let (procfs, view) = (Arc::clone(&self.procfs), Arc::clone(&self.view));
        if self.errands.send(move || Errand::Called(number, called::event(&procfs, &view, &said, false).map(Box::new))).is_err() {
            self.called(number, Err(io::ErrorKind::ResourceBusy.into()));
        }
    }

    /// Asks the judge about a call that was looked at.
    pub(super) fn called(&mut self, number: u64, event: io::Result<Event>) {
        if !self.calls.contains(number) {
            return;
        }
        let mut event = match event {
            Ok(event) => event,
            // What is loaded, or the kernel, has the last word.
            Err(_) if self.mode == Mode::Verify => return self.attach(number),
            // Nothing that may be executed is there; ENOEXEC would have the caller interpret what nobody has judged.
            Err(e) if e.raw_os_error().is_some_and(is_absence) => {
                return self.fail(number, e.raw_os_error().unwrap_or(libc::EACCES));
            }
            Err(e) => return self.refuse(number, Reason::Unreadable, &format!("it cannot be told what would be started: {e}")),
        };
        if self.is_refused_again(number, &event) {
            return;
        }
        // Its ancestors, as an image's, without itself.
        event.ancestry = self.makers(event.process.pid as i32);
        event.elders = kin::descendants(&self.procfs, event.process.pid as i32);
        let before = self.images.runs(event.process.pid, event.process.start);
        event.agent = self.starter(before, &event.process, &event.ancestry);
        let parent = event.ancestry.first().map_or(0, |parent| parent.pid as i32);
        if self.alone.is_some() && event.stage == Stage::Called {
            self.warn_of_silence(&event);
        }
        if let Some(beside) = &mut self.beside {
            beside.leave(&mut event.environment);
            event.asked = beside.told(&event, parent);
        }
        let digest = repeat::digest(&self.key, &event);
        if let Some(call) = self.calls.get_mut(number) {
            call.digest = digest;
        }
        let repeated = self.repeats.get(&repeat::likeness(&digest, &event), number);
        if repeated.is_none() {
            self.link.send(&Message::Judge(event.clone()));
        }
        self.set(number, State::Judging(Subject::Call(Box::new(event)), Rest::Loaded));
        if let Some(verdict) = repeated {
            self.settle(number, &verdict, true);
        }
    }

    /// Whether what is loaded for this call is judged in its turn.
    pub(super) fn is_looked_at_again(&self, subject: &Subject) -> bool {
        self.mode == Mode::Verify && matches!(subject, Subject::Call(event) if event.stage == Stage::Called)
    }

    /// Whether a call that waited for an answer still says what was judged. Only where nothing is looked at afterwards does
    /// it matter, and there a caller's peers had all the time of the question to change it.
    pub(super) fn holds_still(&self, number: u64) -> bool {
        let (Mode::Seccomp, Some(call)) = (self.mode, self.calls.get(number)) else { return true };
        let State::Held(held) = &call.state else { return true };
        let judged = held.subject.event();
        let (Some(request), Stage::Called) = (call.request.clone(), judged.stage) else { return true };
        let now = self.request_of(&call.notification).flatten();
        let words = self.watch.during(|| arguments::words(&call.notification));
        let (true, Ok((argv, environment))) = (now.as_ref() == Some(&request), words) else { return false };
        let said = Said { call: number, pid: call.group, launch: judged.launch, request, argv, environment };
        called::event(&self.procfs, &self.view, &said, true).is_ok_and(|mut now| {
            if let Some(beside) = &self.beside {
                beside.leave(&mut now.environment);
            }
            repeat::digest(&self.key, &now) == call.digest && is_same_start(&now, judged)
        })
    }

    /// Keeps an approval for what will be loaded; `false` where nothing is compared with it.
    pub(super) fn approve_call(&mut self, number: u64, answer: &Answer) -> bool {
        let Some(call) = self.calls.get(number) else { return false };
        let State::Held(held) = &call.state else { return false };
        if !self.is_looked_at_again(&held.subject) {
            return false;
        }
        let verdict = Verdict { decision: Decision::Allow, reason: answer.reason, note: answer.note.clone(), ..held.verdict.clone() };
        let approved = Approved { event: held.subject.event().clone(), digest: call.digest, verdict };
        if let Some(call) = self.calls.get_mut(number) {
            call.approved = Some(Box::new(approved));
        }
        true
    }

    /// Whether an image is, in every respect, what was approved in its call. Where it is not, the approval is void.
    pub(super) fn is_as_approved(&mut self, number: u64, image: &Image) -> bool {
        let Some(call) = self.calls.get(number) else { return false };
        let Some(approved) = &call.approved else { return false };
        let same =
            call.digest == approved.digest && is_same_start(&image.event, &approved.event) && self.operand_holds(image, &approved.event);
        if !same {
            let question = approved.verdict.question.unwrap_or_default();
            // Nothing proceeds by it, so an unwritable journal, which has been reported, changes nothing.
            let _ = self.record(&records::withdrawn(number, question, Withdrawal::Changed));
            self.not_started(number);
        }
        same
    }

    /// Releases an image that is what was approved in its call.
    pub(super) fn release_approved(&mut self, number: u64, mut image: Box<Image>) {
        let Some(approved) = self.calls.get_mut(number).and_then(|call| call.approved.take()) else { return };
        image.event.environment = Vec::new();
        self.set(number, State::Judging(Subject::Image(image), Rest::Loaded));
        self.settle(number, &approved.verdict, false);
        // One that could not be recorded is on its way out.
        self.link.send(&Message::Settled(number, !self.calls.contains(number)));
    }

    /// What was approved in its call did not start: the approval covers nothing.
    pub(super) fn not_started(&mut self, number: u64) {
        if self.calls.get_mut(number).and_then(|call| call.approved.take()).is_some() {
            self.link.send(&Message::Settled(number, false));
        }
    }

    /// Whether the operand that the judge had looked at is still the text that it was.
    fn operand_holds(&self, image: &Image, judged: &Event) -> bool {
        let Some(script) = judged.script.as_ref().filter(|script| script.operand) else { return true };
        let pid = image.event.process.pid as i32;
        let now = capture::script_at(&self.procfs, &self.view, pid, &script.path, true, true);
        now.is_ok_and(|now| now.digest == script.digest && now.id == script.id && now.digest != [0; 32])
    }
}

/// Whether two looks saw the same start; argument vector and environment are compared by their digest.
fn is_same_start(now: &Event, judged: &Event) -> bool {
    let script = |event: &Event| event.script.as_ref().filter(|s| !s.operand).map(|s| (s.path.clone(), s.id.clone(), s.digest));
    let ids = |event: &Event| (event.uid, event.euid, event.process.pid, event.process.start);
    now.executable.id == judged.executable.id
        && (&now.cwd, &now.root) == (&judged.cwd, &judged.root)
        && ids(now) == ids(judged)
        && script(now) == script(judged)
        && script(now).is_none_or(|(_, _, digest)| digest != [0; 32])
}
