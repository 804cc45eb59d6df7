//! From the notification to the kernel's exec: taken, looked up, attached, let go.
//!
//! Invariant: a call is let go only while the warden is attached to its thread, and one thread of a process at a time:
//! the kernel makes an attaching tracer wait for a sibling's exec, which may itself wait for the tracer. Refuses, with
//! EPERM, what it cannot attach to.

use super::call::{Asker, Call, State, Subject};
use super::gate::{Errand, Gate};
use super::hold::Rest;
use super::lookup::{self, Found};
use super::{arguments, capture, kin, repeat};
use crate::sys::filter::{self, Told};
use crate::sys::notify::{self, Reply};
use crate::sys::{pidfd, process, ptrace};
use stayexec_protocol::ask::Reply as Said;
use stayexec_protocol::{Event, Message, Mode, Reason, Script};
use std::io;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long a file system may take to say whether a file is there.
pub(super) const LOOK: Duration = Duration::from_secs(10);
/// How long a refused caller may take to be told.
const TELL: Duration = Duration::from_millis(100);

impl Gate {
    /// Receives one call.
    pub(super) fn take_call(&mut self) {
        // ENOENT: the caller has died meanwhile.
        let Some(Ok(notification)) = self.listener.as_ref().map(|listener| notify::receive(listener.as_fd())) else { return };
        if let Some(beside) = &mut self.beside {
            beside.listen(&self.procfs);
        }
        let Ok(group) = self.group_of(notification.tid) else {
            // Not to be seen from this pid namespace, or gone.
            return self.answer(notification.id, Reply::Errno(libc::EPERM));
        };
        let told = filter::told(notification.arch, notification.nr);
        if told != Told::Start {
            return self.take_adopting(&notification, group, told);
        }
        let Some(request) = self.request_of(&notification) else { return };
        let number = self.next_call;
        self.next_call += 1;
        let looked = request.as_ref().map(|r| lookup::find(&self.procfs, &self.view.devices, &self.heads, r, true));
        let state = State::Looking(Instant::now() + LOOK);
        self.calls.insert(
            number,
            Call { notification, asker: None, request, group, text_allowed: false, approved: None, digest: [0; 32], state },
        );
        match looked {
            Some(Some(found)) => self.looked_up(number, found),
            Some(None) => self.look_longer(number),
            // A path that cannot be read: the kernel will say EFAULT, or load what is there by then.
            None => self.look_at_call(number),
        }
    }

    fn group_of(&self, tid: i32) -> io::Result<i32> {
        if tid == 0 {
            return Err(io::ErrorKind::NotFound.into());
        }
        if process::is_leader(tid) {
            return Ok(tid);
        }
        let known = pidfd::open_thread(tid).and_then(|fd| pidfd::identity(fd.as_fd())).map(|i| i.tgid);
        known.or_else(|_| {
            let text = self.procfs.process(tid)?.status_field("Tgid")?;
            text.parse().map_err(io::Error::other)
        })
    }

    fn look_longer(&mut self, number: u64) {
        let Some(request) = self.calls.get(number).and_then(|c| c.request.clone()) else { return };
        let (procfs, view, heads) = (Arc::clone(&self.procfs), Arc::clone(&self.view), Arc::clone(&self.heads));
        if self.errands.send(move || Errand::Found(number, lookup::find(&procfs, &view.devices, &heads, &request, false))).is_err() {
            self.refuse(number, Reason::Unreadable, "too many files are being waited for");
        }
    }

    /// Goes on with what was found.
    pub(super) fn looked_up(&mut self, number: u64, found: Found) {
        if !matches!(self.calls.state(number), Some(State::Looking(_))) {
            return;
        }
        match found {
            Found::Absent(errno) => self.fail(number, errno),
            // Its image could not be read either.
            Found::Closed if self.mode == Mode::Verify => {
                self.refuse(number, Reason::Unreadable, "it may be executed and not read, so nobody can say what it is");
            }
            Found::Loadable | Found::Closed | Found::Unsure => self.look_at_call(number),
            Found::Text(script) => self.judge_text(number, script),
        }
    }

    /// The kernel will not load this file; a shell would interpret it without another call.
    fn judge_text(&mut self, number: u64, script: Script) {
        let Some(call) = self.calls.get(number) else { return };
        let (notification, Some(request)) = (call.notification, call.request.clone()) else { return };
        let launch = self.is_launch(notification.tid);
        let argv = self.watch.during(|| arguments::vector(&notification));
        let event = argv.and_then(|argv| capture::text((&self.procfs, &self.view), &request, script, argv, number, launch));
        match event {
            Ok(_) if !self.is_waiting(notification.id) => drop(self.calls.remove(number)),
            Ok(event) if self.is_refused_again(number, &event) => {}
            Ok(mut event) => {
                event.ancestry = [event.process.clone()].into_iter().chain(self.makers(event.process.pid as i32)).collect();
                event.elders = kin::descendants(&self.procfs, event.process.pid as i32);
                let parent = event.ancestry.get(1).map_or(0, |parent| parent.pid as i32);
                event.asked = self.beside.as_mut().and_then(|beside| beside.told(&event, parent));
                let digest = repeat::digest(&self.key, &event);
                self.link.send(&Message::Judge(event.clone()));
                self.set(number, State::Judging(Subject::Call(Box::new(event)), Rest::Loaded));
                if let Some(call) = self.calls.get_mut(number) {
                    call.digest = digest;
                }
            }
            Err(e) => self.refuse(number, Reason::Unreadable, &format!("its arguments cannot be read: {e}")),
        }
    }

    /// Whether this very call was refused a moment ago, under another name of its file; then it is refused again.
    pub(super) fn is_refused_again(&mut self, number: u64, event: &Event) -> bool {
        let Some(reason) = self.refusals.why(event, Instant::now()) else { return false };
        const NOTE: &str = "its file was refused a moment ago, under another name";
        self.record_refusal(number, reason, NOTE);
        if self.calls.get(number).is_some_and(|call| call.asker.is_some()) {
            self.tell_and_refuse(number, format!("stayexec: denied: {NOTE}\n"));
        } else {
            // Its caller has had its line.
            self.fail(number, libc::EPERM);
        }
        true
    }

    /// Attaches to the calling thread and lets the call go.
    pub(super) fn attach(&mut self, number: u64) {
        let Some(call) = self.calls.get(number) else { return };
        let (id, tid, group) = (call.notification.id, call.notification.tid, call.group);
        if self.mode != Mode::Verify {
            return self.let_go(number);
        }
        if self.calls.is_loading(group) {
            return self.set(number, State::Queued);
        }
        if let Err(e) = ptrace::seize(tid) {
            if !self.is_waiting(id) {
                self.calls.remove(number);
                return;
            }
            let note = self.why_untraceable(tid, &e);
            return self.refuse(number, Reason::Untraceable, &note);
        }
        // The thread that is attached now is the one that called only if its call still waits; if not, nothing is let go,
        // and the stop that INTERRUPT brings is where it is left alone again.
        //
        // INTERRUPT comes first: a received call waits on regardless (WAIT_KILLABLE_RECV), and an exec that fails stops
        // before its caller can do anything, a second call included.
        let _ = ptrace::interrupt(tid);
        if self.is_waiting(id) {
            self.answer(id, Reply::Continue);
        }
        self.set(number, State::Loading);
        self.moving.push(number);
    }

    fn why_untraceable(&self, tid: i32, error: &io::Error) -> String {
        let tracer = self.procfs.process(tid).and_then(|p| p.status_field("TracerPid")).unwrap_or_default();
        match tracer.as_str() {
            "" | "0" => format!("the warden cannot attach to its caller: {error}"),
            pid => format!("its caller is traced by process {pid}, and what runs under a debugger cannot be verified"),
        }
    }

    /// A call of the same process that had to wait.
    pub(super) fn attach_next(&mut self, group: i32) {
        while let Some(number) = self.calls.first_queued(group) {
            self.set(number, State::Looking(Instant::now() + LOOK));
            self.attach(number);
            // One that was gone or refused has left the way free for the one behind it.
            if self.calls.is_loading(group) {
                return;
            }
        }
    }

    /// Refuses a call before anything was loaded: a line for its caller, a record, EPERM.
    pub(super) fn refuse(&mut self, number: u64, reason: Reason, note: &str) {
        self.record_refusal(number, reason, note);
        let path = self.calls.get(number).and_then(|c| c.request.as_ref()).map(|r| super::escaped(&r.path) + ": ").unwrap_or_default();
        let line = format!("stayexec: denied: {path}{note}\n");
        self.tell_and_refuse(number, line);
    }

    /// Writes `line` to the caller's standard error, if that takes it at once, and then answers EPERM.
    pub(super) fn tell_and_refuse(&mut self, number: u64, line: String) {
        if self.calls.get(number).is_some_and(|call| call.asker.is_some()) {
            let asker = self.calls.remove(number).and_then(|call| call.asker);
            if let (Some(Asker::Launch(_)), Some(alone)) = (&asker, &mut self.alone) {
                alone.expect_no_hello();
            }
            return asker.iter().for_each(|asker| asker.reply(Said::Refused(line.trim_end().as_bytes())));
        }
        let Some(call) = self.calls.get(number) else { return };
        let (group, mode) = (call.group, self.mode);
        self.set(number, State::Refusing(Instant::now() + TELL));
        let said = self.errands.send(move || {
            // Where nothing can be attached to, the caller's descriptors are often out of reach as well.
            if !super::courtesy::write_line(group, line.as_bytes()) && mode == Mode::Seccomp {
                super::say(line.trim_start_matches("stayexec: ").trim_end());
            }
            Errand::Said(number)
        });
        if said.is_err() {
            self.refuse_now(number);
        }
    }

    /// Answers EPERM.
    pub(super) fn refuse_now(&mut self, number: u64) {
        if !self.calls.get(number).is_some_and(|c| matches!(c.state, State::Refusing(_))) {
            return;
        }
        if let Some(call) = self.calls.remove(number) {
            self.answer(call.notification.id, Reply::Errno(libc::EPERM));
        }
    }

    /// An errand did not come back in time.
    pub(super) fn too_late(&mut self, number: u64) {
        match self.calls.state(number) {
            Some(State::Looking(_)) => self.refuse(number, Reason::Unreadable, "its file system does not answer"),
            Some(State::Refusing(_)) => self.refuse_now(number),
            Some(State::Reading { pid, .. }) => {
                let pid = *pid;
                self.end_unread(number, pid, "its file system does not answer");
                self.start_moving(number);
            }
            _ => {}
        }
    }

    /// Lets a call go on that is not looked at again.
    fn let_go(&mut self, number: u64) {
        let Some(call) = self.calls.remove(number) else { return };
        self.launched |= self.is_launch(call.notification.tid) && !call.text_allowed;
        match &call.asker {
            Some(asker) => asker.reply(Said::GoOn),
            None => self.answer(call.notification.id, Reply::Continue),
        }
    }

    pub(super) fn is_launch(&self, tid: i32) -> bool {
        !self.launched && tid == self.agent
    }

    /// The call fails as the kernel would have it fail. A shim that asked goes on where nothing is there, and its C library
    /// finds the same; everything else is refused to it.
    pub(super) fn fail(&mut self, number: u64, errno: i32) {
        let Some(call) = self.calls.remove(number) else { return };
        match &call.asker {
            // Of what is not there the C library says so by itself.
            Some(asker) if is_absence(errno) => asker.reply(Said::GoOn),
            Some(asker) => asker.reply(Said::Refused(b"stayexec: denied: it was refused a moment ago, under another name")),
            None => self.answer(call.notification.id, Reply::Errno(errno)),
        }
    }

    pub(super) fn set(&mut self, number: u64, state: State) {
        self.calls.replace(number, state);
    }
}

/// Whether nothing that could be started is behind this errno.
pub(super) fn is_absence(errno: i32) -> bool {
    matches!(errno, libc::ENOENT | libc::ENOTDIR | libc::EACCES | libc::ELOOP | libc::EFAULT)
}
