//! A call of the shim alone, as a call of the gate.
//!
//! Invariant: what the C library would try is looked at in its order; the first that is there is judged. Refuses to follow
//! a program out of the gate unnoticed: one that will not load the library is said so.

use super::call::{Asker, Call, State};
use super::called::{self, Said};
use super::gate::{Errand, Gate};
use super::intake::LOOK;
use super::launch::Go;
use super::lookup::{self, Request};
use super::shim::Asking;
use super::trust::View;
use super::{Plan, capture, elf};
use crate::sys::notify::Notification;
use crate::sys::procfs::Procfs;
use stayexec_protocol::ask::{OwnedAsk, flag};
use stayexec_protocol::{Event, Reason};
use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::time::Instant;

/// What is searched where PATH is unset: glibc's choice; musl adds /usr/local/bin before it.
const SEARCHED: &[u8] = b"/bin:/usr/bin";
/// The shell of `system` and `popen`.
const SHELL: &[u8] = b"/bin/sh";

impl Gate {
    /// Takes the connections that wait.
    pub(super) fn open_door(&mut self) {
        while let Some(number) = self.alone.as_mut().and_then(|alone| alone.accept()) {
            let Some(stream) = self.alone.as_ref().and_then(|alone| alone.stream(number)) else { continue };
            let _ = self.poller.add(stream, super::poller::Source::Asking(number));
            // Most have said all by now.
            self.hear_asking(number);
        }
    }

    /// A connection has something to say.
    pub(super) fn hear_asking(&mut self, number: u64) {
        let Some(asking) = self.alone.as_mut().and_then(|alone| alone.hear(number)) else { return };
        let _ = self.poller.remove(&asking.stream);
        self.take_ask(asking);
    }

    fn take_ask(&mut self, asking: Asking) {
        let Asking { stream, pid, ask } = asking;
        let number = self.number_call();
        self.take_tries(number, pid, tries(&ask, pid, number), Asker::Shim(stream));
    }

    /// The launch child asks for what it is to execute.
    pub(super) fn ask_for_launch(&mut self, plan: &Plan, go: Go) {
        let (call, pid) = (self.number_call(), self.agent);
        let variable = |(name, value): (OsString, OsString)| [name.as_bytes(), b"=", value.as_bytes()].concat();
        let said = Said {
            call,
            pid,
            launch: true,
            request: Request { tid: pid, path: plan.program.as_os_str().as_bytes().to_vec(), base: None, no_follow: false },
            argv: plan.command.iter().map(|word| word.as_bytes().to_vec()).collect(),
            environment: plan.launch_environment().into_iter().map(variable).collect(),
        };
        self.launched = true;
        self.take_tries(call, pid, vec![said], Asker::Launch(go));
    }

    fn number_call(&mut self) -> u64 {
        self.next_call += 1;
        self.next_call - 1
    }

    fn take_tries(&mut self, number: u64, pid: i32, tries: Vec<Said>, asker: Asker) {
        let request = tries.first().map(|said| said.request.clone());
        let notification = Notification { id: 0, tid: pid, nr: 0, arch: 0, args: [0; 6] };
        let state = State::Looking(Instant::now() + LOOK);
        let call =
            Call { notification, asker: Some(asker), request, group: pid, text_allowed: false, approved: None, digest: [0; 32], state };
        self.calls.insert(number, call);
        let (procfs, view) = (Arc::clone(&self.procfs), Arc::clone(&self.view));
        match first(&procfs, &view, &tries, true) {
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => {}
            event => return self.called(number, event),
        }
        if self.errands.send(move || Errand::Called(number, first(&procfs, &view, &tries, false).map(Box::new))).is_err() {
            self.refuse(number, Reason::Unreadable, "too many files are being waited for");
        }
    }

    /// Says, once a program, that what it starts will not be asked for.
    pub(super) fn warn_of_silence(&mut self, event: &Event) {
        let loads = lookup::reopen_path(&event.executable.path).is_some_and(|file| {
            let mut head = vec![0; elf::HEAD];
            let n = file.read_at(&mut head, 0).unwrap_or(0);
            matches!(elf::kind(&file, &head[..n]), elf::Kind::Dynamic(_))
        });
        let why = match (loads, event.environment.is_empty()) {
            (true, false) => return,
            (false, _) => "cannot load the preload library",
            (true, true) => "is started with an empty environment",
        };
        if self.silent.insert(event.executable.path.clone()) {
            let name = super::escaped(&event.executable.path);
            super::say(&format!("warning: {name} {why}: what it starts is not asked for"));
        }
    }
}

/// What the C library tries for this call, in its order.
fn tries(ask: &OwnedAsk, pid: i32, call: u64) -> Vec<Said> {
    let said = |path: Vec<u8>, base: Option<i32>, argv: &[Vec<u8>]| Said {
        call,
        pid,
        launch: false,
        request: Request { tid: pid, path, base, no_follow: false },
        argv: argv.to_vec(),
        environment: ask.environment.clone(),
    };
    if ask.head.entry.takes_line() {
        let argv = [b"sh".to_vec(), b"-c".to_vec(), ask.target.clone()];
        return vec![said(SHELL.to_vec(), None, &argv)];
    }
    if !ask.head.entry.searches() || ask.target.contains(&b'/') || ask.target.is_empty() {
        let base = Some(ask.head.descriptor).filter(|number| *number >= 0);
        return vec![said(ask.target.clone(), base, &ask.argv)];
    }
    let search = if ask.head.flags & flag::NO_PATH != 0 { SEARCHED } else { &ask.search };
    let folders = search.split(|&b| b == b':').map(|folder| if folder.is_empty() { &b"."[..] } else { folder });
    folders.map(|folder| said([folder, b"/", &ask.target].concat(), None, &ask.argv)).collect()
}

/// The first of these that is there.
fn first(procfs: &Procfs, view: &View, tries: &[Said], quick: bool) -> io::Result<Event> {
    let mut last = io::Error::from_raw_os_error(libc::ENOENT);
    for said in tries {
        match called::event(procfs, view, said, quick) {
            Err(e) if matches!(e.raw_os_error(), Some(libc::ENOENT | libc::ENOTDIR | libc::EACCES)) => last = e,
            // Its caller, or the C library, would have a shell read it.
            Err(e) if e.raw_os_error() == Some(libc::ENOEXEC) => {
                let file = lookup::locate(procfs, &view.devices, &said.request, quick)?;
                let script = view.vouched(procfs, lookup::script(procfs, &file, &said.request.path), &file, true);
                let text = capture::text((procfs, view), &said.request, script, said.argv.clone(), said.call, false)?;
                return Ok(Event { environment: said.environment.clone(), ..text });
            }
            event => return event,
        }
    }
    Err(last)
}
