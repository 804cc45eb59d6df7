//! From the kernel's exec to the question what it loaded.
//!
//! Invariant: an image at its exec stop is read, and judged, repeated from a judgement given before, or ended. An exec
//! that failed is let go with its errno; one exception: where the kernel could not load a text that nobody has judged,
//! its caller must not take ENOEXEC for leave to interpret it.

use super::call::{State, Subject};
use super::capture::Image;
use super::gate::{Errand, Gate};
use super::hold::Rest;
use super::images::Runs;
use super::intake::LOOK;
use super::{capture, ending, kin, repeat};
use crate::sys::arch::Registers;
use crate::sys::ptrace::{self, Change};
use stayexec_protocol::{Message, Reason, Script};
use std::io;
use std::sync::Arc;
use std::time::Instant;

impl Gate {
    /// Looks at every process that may have changed.
    pub(super) fn look_at_moving(&mut self) {
        for number in std::mem::take(&mut self.moving) {
            if self.look_at(number) {
                self.start_moving(number);
            }
        }
    }

    /// Whether the call is still moving.
    fn look_at(&mut self, number: u64) -> bool {
        let Some(call) = self.calls.get_mut(number) else { return false };
        let (tid, group) = (call.notification.tid, call.group);
        match &mut call.state {
            State::Loading => match wait_either(tid, group) {
                Change::None => true,
                change => {
                    let still = self.load(number, tid, group, change);
                    self.attach_next(group);
                    still
                }
            },
            State::Ending(ending) => loop {
                match ptrace::wait(ending.pid()) {
                    Change::None => return true,
                    change => {
                        if ending.advance(change) == ending::Progress::Over {
                            self.calls.remove(number);
                            return false;
                        }
                    }
                }
            },
            State::Reading { pid, .. } => match ptrace::wait(*pid) {
                Change::Ended(_) | Change::Gone => {
                    self.calls.remove(number);
                    false
                }
                _ => true,
            },
            // A judged image moves only to die.
            State::Judging(Subject::Image(image), _) => match ptrace::wait(image.event.process.pid as i32) {
                Change::None => true,
                Change::Ended(_) | Change::Gone => {
                    self.calls.remove(number);
                    false
                }
                _ => true,
            },
            State::Held(_) => self.held_moved(number),
            _ => false,
        }
    }

    fn load(&mut self, number: u64, tid: i32, group: i32, change: Change) -> bool {
        match change {
            Change::Loaded => return self.loaded(number, group),
            Change::Ended(_) | Change::Gone | Change::None => {}
            Change::Signal(signal) => self.leave_failed(number, tid, signal),
            Change::Interrupted | Change::GroupStop(_) | Change::Syscall => self.leave_failed(number, tid, 0),
        }
        self.not_started(number);
        self.calls.remove(number);
        false
    }

    /// Detaches from a thread whose exec has failed.
    fn leave_failed(&self, number: u64, tid: i32, signal: i32) {
        let judged = self.calls.get(number).is_some_and(|c| c.text_allowed);
        if let Ok(registers) = Registers::read(tid)
            && registers.result() == -i64::from(libc::ENOEXEC)
            && !judged
        {
            let _ = registers.with_result(-i64::from(libc::EPERM)).write(tid);
        }
        let _ = ptrace::detach(tid, signal);
    }

    fn loaded(&mut self, number: u64, pid: i32) -> bool {
        let tid = self.calls.get(number).map_or(0, |c| c.notification.tid);
        let launch = self.is_launch(tid);
        self.launched |= launch;
        match capture::image(&self.procfs, &self.view, pid, number, launch) {
            Ok(mut image) => {
                self.explain_privilege(&image);
                let process = &image.event.process;
                image.before = self.images.loaded(process.pid, process.start);
                if let Some(beside) = &mut self.beside {
                    image.event.asked = beside.told(&image.event, image.parent);
                    beside.leave(&mut image.event.environment);
                }
                self.complete(number, Box::new(image));
            }
            Err(e) => self.end_unread(number, pid, &format!("it cannot be read: {e}")),
        }
        self.calls.contains(number)
    }

    /// Says once in a run why sudo and the like do not work in it.
    fn explain_privilege(&mut self, image: &Image) {
        if image.unprivileged && self.no_new_privs && !std::mem::replace(&mut self.explained, true) {
            let name = super::escaped(image.event.executable.path.rsplit(|&b| b == b'/').next().unwrap_or_default());
            let line = format!(
                "{name} gets no other user's rights in this run: a gate that is not root's needs no_new_privs; \
                 start stayexec as root, or take this step outside"
            );
            // Whoever reads the standard error may be slow.
            let _ = self.errands.send(move || {
                super::say(&line);
                Errand::Told
            });
        }
    }

    /// Reads the image's files, here where that is quick.
    fn complete(&mut self, number: u64, mut image: Box<Image>) {
        let pid = image.event.process.pid as i32;
        match capture::complete(&self.procfs, &self.view, &mut image, true) {
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => {}
            read => return self.read(number, image, read),
        }
        self.set(number, State::Reading { pid, until: Instant::now() + LOOK });
        let (procfs, view) = (Arc::clone(&self.procfs), Arc::clone(&self.view));
        let sent = self.errands.send(move || {
            let read = capture::complete(&procfs, &view, &mut image, false);
            Errand::Read(number, image, read)
        });
        if sent.is_err() {
            self.end_unread(number, pid, "too many files are being waited for");
        }
    }

    /// Goes on with an image whose files have been read: the judgement given before for the same start, or the judge.
    pub(super) fn read(&mut self, number: u64, mut image: Box<Image>, read: io::Result<()>) {
        if !matches!(self.calls.state(number), Some(State::Loading | State::Reading { .. })) {
            return;
        }
        if let Err(e) = read {
            return self.end_unread(number, image.event.process.pid as i32, &format!("its files cannot be read: {e}"));
        }
        let digest = repeat::digest(&self.key, &image.event);
        if let Some(call) = self.calls.get_mut(number) {
            call.digest = digest;
        }
        if self.is_as_approved(number, &image) {
            return self.release_approved(number, image);
        }
        // What a process becomes after its first image the judge has to know: what it was granted may end with that.
        let is_first = image.before == Runs::Inherited;
        let repeated = if is_first { self.repeats.get(&repeat::likeness(&digest, &image.event), number) } else { None };
        if repeated.is_none() {
            image.event.ancestry = self.images.makers(self.ancestry(image.parent));
            image.event.elders = kin::descendants(&self.procfs, image.event.process.pid as i32);
            image.event.agent = self.starter(image.before, &image.event.process, &image.event.ancestry);
            self.link.send(&Message::Judge(image.event.clone()));
        }
        // The image keeps its environment itself: see `Subject::event_with_environment`.
        image.event.environment = Vec::new();
        self.set(number, State::Judging(Subject::Image(image), Rest::Loaded));
        self.start_moving(number);
        if let Some(verdict) = repeated {
            self.settle(number, &verdict, true);
        }
    }

    /// The judge has to know what an operand holds.
    pub(super) fn look_at_operand(&mut self, number: u64, path: Vec<u8>) {
        let Some(State::Judging(subject, _)) = self.calls.state(number) else { return };
        let pid = subject.event().process.pid as i32;
        if let Ok(script) = capture::script_at(&self.procfs, &self.view, pid, &path, true, true) {
            return self.judge_with(number, script);
        }
        let (procfs, view, named) = (Arc::clone(&self.procfs), Arc::clone(&self.view), path.clone());
        let sent = self.errands.send(move || {
            let script = capture::script_at(&procfs, &view, pid, &named, true, false);
            Errand::Operand(number, script.unwrap_or_else(|_| Script::unreadable(named, true)))
        });
        if sent.is_err() {
            self.judge_with(number, Script::unreadable(path, true));
        }
    }

    /// Asks the judge again, with the operand that it wanted to see.
    pub(super) fn judge_with(&mut self, number: u64, script: Script) {
        let Some(State::Judging(subject, _)) = self.calls.get_mut(number).map(|c| &mut c.state) else { return };
        subject.event_mut().script.get_or_insert(script);
        let event = subject.event_with_environment(self.beside.as_ref());
        self.link.send(&Message::Judge(event));
    }

    /// Ends an image that could not be read.
    pub(super) fn end_unread(&mut self, number: u64, pid: i32, note: &str) {
        self.record_refusal(number, Reason::Unreadable, note);
        match Registers::read(pid) {
            Ok(registers) => self.end_image(number, pid, registers, false, format!("stayexec: denied: {note}\n")),
            // Not even its registers: it is dying already.
            Err(_) => {
                let _ = crate::sys::process::kill(pid, libc::SIGKILL);
                self.calls.remove(number);
            }
        }
    }
}

/// The exec of a thread that is not the leader is reported by its leader, whose id it has taken.
fn wait_either(tid: i32, group: i32) -> Change {
    match ptrace::wait(tid) {
        Change::Gone if group != tid => ptrace::wait(group),
        change => change,
    }
}
