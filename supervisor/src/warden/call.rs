//! One call: what is judged of it, and where it stands.
//!
//! Invariant: a call has one state, and what belongs to another state is not there. Refuses to keep an image's environment:
//! the image holds still, and is read again.

use super::capture::Image;
use super::ending::Ending;
use super::hold::{Held, Rest};
use super::launch::Go;
use super::lookup::Request;
use super::shim::{self, Beside};
use super::stack;
use crate::sys::notify::Notification;
use stayexec_protocol::ask::Reply as Said;
use stayexec_protocol::{Event, Verdict};
use std::os::unix::net::UnixStream;
use std::time::Instant;

/// What is judged: an image in its exec stop, or a call whose caller waits in it.
#[derive(Debug)]
pub(super) enum Subject {
    Image(Box<Image>),
    Call(Box<Event>),
}

impl Subject {
    pub(super) fn event(&self) -> &Event {
        match self {
            Self::Image(image) => &image.event,
            Self::Call(event) => event,
        }
    }

    /// The event as the judge is told it. The image keeps its environment itself, and holds still: it is read again, rather
    /// than thousands of copies carried.
    pub(super) fn event_with_environment(&self, beside: Option<&Beside>) -> Event {
        let mut event = self.event().clone();
        if let Self::Image(image) = self {
            let read = stack::read(event.process.pid as i32, image.registers.sp(), image.registers.width());
            // One that cannot be read is dying; its call is over in a moment.
            event.environment = read.map(|initial| initial.environment).unwrap_or_default();
            shim::leave(beside, &mut event.environment);
        }
        event
    }

    pub(super) fn event_mut(&mut self) -> &mut Event {
        match self {
            Self::Image(image) => &mut image.event,
            Self::Call(event) => event,
        }
    }
}

/// Where a call stands.
#[derive(Debug)]
pub(super) enum State {
    /// A file system is being waited for, until then at the longest.
    Looking(Instant),
    /// Another thread of its process is loading.
    Queued,
    /// Attached, and let go into the kernel's exec.
    Loading,
    /// Loaded; its files are being read off the gate's thread, until then at the longest.
    Reading { pid: i32, until: Instant },
    /// The supervisor has been asked.
    Judging(Subject, Rest),
    /// A person has been asked.
    Held(Box<Held>),
    /// A refused caller gets its line, until then at the longest.
    Refusing(Instant),
    /// A denied image is on its way out.
    Ending(Box<Ending>),
}

/// Who waits for an answer where no filter notifies.
#[derive(Debug)]
pub(super) enum Asker {
    /// A shim.
    Shim(UnixStream),
    /// The launch child.
    Launch(Go),
}

impl Asker {
    /// Sends the answer. Who is gone needs none.
    pub(super) fn reply(&self, said: Said<'_>) {
        match (self, said) {
            (Self::Shim(stream), said) => super::shim::reply(stream, said),
            (Self::Launch(go), Said::GoOn) => drop(go.go()),
            (Self::Launch(go), Said::Refused(line)) => {
                super::say(String::from_utf8_lossy(line).trim_start_matches("stayexec: "));
                let _ = go.refuse();
            }
        }
    }
}

/// One call.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) notification: Notification,
    /// Where the shim is the whole gate: who waits for the answer, and there is no notification.
    pub(super) asker: Option<Asker>,
    pub(super) request: Option<Request>,
    /// Thread group of the caller.
    pub(super) group: i32,
    /// The file is a text that was allowed: the kernel's ENOEXEC may reach the caller.
    pub(super) text_allowed: bool,
    /// What a person has approved in the call, to be compared with what is loaded.
    pub(super) approved: Option<Box<Approved>>,
    pub(super) digest: [u8; 32],
    pub(super) state: State,
}

/// An approval that was given in the call.
#[derive(Debug)]
pub(super) struct Approved {
    pub(super) event: Event,
    pub(super) digest: [u8; 32],
    pub(super) verdict: Verdict,
}
