//! Starts whose operands have to be followed on a thread of their own.
//!
//! Invariant: the judge never waits for a file system; each start is judged when its paths were followed, or when that has
//! taken too long. Refuses to gather threads: where all are busy with file systems that do not answer, a path that needs
//! one cannot be followed.

use super::leads::{Leads, View, at_once, in_time};
use crossbeam_channel::{Receiver, Sender};
use stayexec_policy::forbidden::Operands;
use stayexec_protocol::Event;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use uuid::Uuid;

/// How long a file system may take.
const PATIENCE: Duration = Duration::from_secs(2);
/// Most threads at once.
const THREADS: usize = 16;
/// Stack of such a thread.
const STACK: usize = 256 << 10;

/// A call of a run.
pub type Call = (Uuid, u64);

/// A start, what it would open, and where that leads.
#[derive(Debug)]
pub struct Followed {
    /// The start.
    pub event: Event,
    /// What it would open and start.
    pub operands: Operands,
    /// Where that leads.
    pub leads: Leads,
}

/// The starts that wait.
#[derive(Debug)]
pub struct Following {
    waiting: HashMap<Call, (Event, Operands, Instant)>,
    busy: Arc<AtomicUsize>,
    tell: Sender<(Call, Leads)>,
    /// Those whose paths were followed.
    pub done: Receiver<(Call, Leads)>,
}

impl Default for Following {
    fn default() -> Self {
        let (tell, done) = crossbeam_channel::unbounded();
        Self { waiting: HashMap::new(), busy: Arc::default(), tell, done }
    }
}

impl Following {
    /// Follows a start's operands; `None` where it has to be waited for.
    pub fn begin(&mut self, run: Uuid, event: Event, operands: Operands) -> Option<Followed> {
        let view = View::of(&event);
        let paths: Vec<PathBuf> = operands.opened.iter().map(|operand| operand.path.clone()).collect();
        if let Some(leads) = at_once(&view, &paths) {
            return Some(Followed { event, operands, leads });
        }
        let call = (run, event.call);
        match self.spawn(call, view, paths) {
            Ok(()) => {
                self.waiting.insert(call, (event, operands, Instant::now() + PATIENCE));
                None
            }
            Err(why) => Some(Followed { event, operands, leads: Err(why) }),
        }
    }

    fn spawn(&self, call: Call, view: View, paths: Vec<PathBuf>) -> Result<(), String> {
        let (tell, busy) = (self.tell.clone(), Busy(Arc::clone(&self.busy)));
        if busy.0.fetch_add(1, Ordering::Relaxed) >= THREADS {
            return Err("where its operands lead cannot be told: file systems do not answer".into());
        }
        let work = move || {
            let leads = in_time(&view, &paths);
            drop(busy);
            // A judge that is gone needs no word.
            let _ = tell.send((call, leads));
        };
        let started = thread::Builder::new().name("follow".into()).stack_size(STACK).spawn(work);
        started.map(drop).map_err(|e| format!("where its operands lead cannot be told: {e}"))
    }

    /// A start whose paths were followed; `None` where it is not waited for any more.
    pub fn end(&mut self, call: Call, leads: Leads) -> Option<Followed> {
        let (event, operands, _) = self.waiting.remove(&call)?;
        Some(Followed { event, operands, leads })
    }

    /// The starts that have waited long enough.
    pub fn late(&mut self, now: Instant) -> Vec<(Uuid, Followed)> {
        let late: Vec<Call> = self.waiting.iter().filter(|(_, (_, _, until))| *until <= now).map(|(call, _)| *call).collect();
        let unanswered = || Err("where its operands lead cannot be told: a file system does not answer".into());
        late.into_iter().filter_map(|call| Some((call.0, self.end(call, unanswered())?))).collect()
    }

    /// When the next has waited long enough.
    pub fn next(&self) -> Option<Instant> {
        self.waiting.values().map(|(_, _, until)| *until).min()
    }

    /// A call is no longer there.
    pub fn forget(&mut self, call: Call) {
        self.waiting.remove(&call);
    }

    /// A run is no longer there.
    pub fn forget_run(&mut self, run: Uuid) {
        self.waiting.retain(|(of, _), _| *of != run);
    }
}

/// One of the threads.
struct Busy(Arc<AtomicUsize>);

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::super::session::testing::event;
    use super::*;

    #[test]
    fn where_every_thread_is_busy_nothing_waits() {
        let mut following = Following::default();
        let operands = || {
            let path = PathBuf::from(format!("/nowhere/{}", Uuid::now_v7()));
            let operand = stayexec_policy::forbidden::Operand { program: "cat".into(), word: "x".into(), path };
            Operands { opened: vec![operand; 300], commands: vec![] }
        };
        let start = |call| Event { call, ..event("/usr/bin/cat", &["cat", "x"]) };
        assert!(following.begin(Uuid::nil(), start(1), operands()).is_none());
        let told = following.done.recv().map(|(call, leads)| following.end(call, leads).is_some_and(|followed| followed.leads.is_ok()));
        assert_eq!(told, Ok(true));
        following.busy.store(THREADS, Ordering::Relaxed);
        let refused = following.begin(Uuid::nil(), start(2), operands());
        assert!(refused.is_some_and(|followed| followed.leads.is_err()));
        following.busy.store(0, Ordering::Relaxed);
        assert!(following.begin(Uuid::nil(), start(3), operands()).is_none());
        let late = following.late(Instant::now() + PATIENCE);
        assert!(matches!(&late[..], [(_, followed)] if followed.leads.is_err()));
        assert!(following.next().is_none());
    }
}
