//! Starts whose operands have to be followed on a thread of their own.
//!
//! Invariant: the judge never waits for a file system; each start is judged when its paths were followed, or when that has
//! taken too long. Refuses to gather threads: where all are busy with file systems that do not answer, a start that needs
//! one has to wait for its own end.

use super::agent::Reading;
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
    /// What it is to its agent.
    pub reading: Reading,
}

/// What a thread is to do.
type Job = (Call, View, Vec<PathBuf>);

/// The starts that wait.
#[derive(Debug)]
pub struct Following {
    waiting: HashMap<Call, (Event, Operands, Reading, Instant)>,
    jobs: Sender<Job>,
    queue: Receiver<Job>,
    threads: usize,
    idle: Arc<AtomicUsize>,
    tell: Sender<(Call, Leads)>,
    /// Those whose paths were followed.
    pub done: Receiver<(Call, Leads)>,
}

impl Default for Following {
    fn default() -> Self {
        let (tell, done) = crossbeam_channel::unbounded();
        let (jobs, queue) = crossbeam_channel::unbounded();
        Self { waiting: HashMap::new(), jobs, queue, threads: 0, idle: Arc::default(), tell, done }
    }
}

impl Following {
    /// Follows a start's operands; `None` where it has to be waited for.
    pub fn begin(&mut self, run: Uuid, event: Event, operands: Operands, reading: Reading) -> Option<Followed> {
        let view = View::of(&event);
        let paths: Vec<PathBuf> = operands.opened.iter().map(|operand| operand.path.clone()).collect();
        if let Some(leads) = at_once(&view, &paths) {
            return Some(Followed { event, operands, leads, reading });
        }
        let call = (run, event.call);
        // The queue is ours and never closed.
        let _ = self.jobs.send((call, view, paths));
        self.waiting.insert(call, (event, operands, reading, Instant::now() + PATIENCE));
        if self.threads < THREADS && self.idle.load(Ordering::Relaxed) < self.queue.len() {
            self.spawn();
        }
        None
    }

    /// Starts a thread. Where none can be had its work waits for another one, or for its end.
    fn spawn(&mut self) {
        let (queue, tell, idle) = (self.queue.clone(), self.tell.clone(), Arc::clone(&self.idle));
        let work = move || {
            loop {
                idle.fetch_add(1, Ordering::Relaxed);
                let job = queue.recv();
                idle.fetch_sub(1, Ordering::Relaxed);
                let Ok((call, view, paths)) = job else { return };
                if tell.send((call, in_time(&view, &paths))).is_err() {
                    return;
                }
            }
        };
        if thread::Builder::new().name("follow".into()).stack_size(STACK).spawn(work).is_ok() {
            self.threads += 1;
        }
    }

    /// A start whose paths were followed; `None` where it is not waited for any more.
    pub fn end(&mut self, call: Call, leads: Leads) -> Option<Followed> {
        let (event, operands, reading, _) = self.waiting.remove(&call)?;
        Some(Followed { event, operands, leads, reading })
    }

    /// The starts that have waited long enough.
    pub fn late(&mut self, now: Instant) -> Vec<(Uuid, Followed)> {
        let late: Vec<Call> = self.waiting.iter().filter(|(_, (.., until))| *until <= now).map(|(call, _)| *call).collect();
        let unanswered = || Err("where its operands lead cannot be told: a file system does not answer".into());
        late.into_iter().filter_map(|call| Some((call.0, self.end(call, unanswered())?))).collect()
    }

    /// When the next has waited long enough.
    pub fn next(&self) -> Option<Instant> {
        self.waiting.values().map(|(.., until)| *until).min()
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

#[cfg(test)]
mod tests {
    use super::super::session::testing::event;
    use super::*;
    use stayexec_policy::SecurityPolicy;
    use std::path::Path;

    fn start(following: &mut Following, call: u64) -> Option<Followed> {
        // So many are not looked up on the judge's thread.
        let text = (0..300).fold("cat".to_owned(), |text, at| format!("{text} /nowhere/{call}/{at}"));
        let operands = Operands::of_command(&SecurityPolicy::default(), &text, Path::new("/"), Path::new("/"));
        following.begin(Uuid::nil(), Event { call, ..event("/usr/bin/cat", &["cat", "x"]) }, operands, Reading::PLAIN)
    }

    #[test]
    fn many_at_once_are_all_followed() -> Result<(), crossbeam_channel::RecvError> {
        let mut following = Following::default();
        assert!((0..500).all(|call| start(&mut following, call).is_none()));
        for _ in 0..500 {
            let (call, leads) = following.done.recv()?;
            assert!(following.end(call, leads).is_some_and(|followed| followed.leads.is_ok()));
        }
        assert!(following.threads <= THREADS && following.next().is_none());
        Ok(())
    }

    #[test]
    fn where_every_thread_hangs_a_start_waits_for_its_end() {
        let mut following = Following { threads: THREADS, ..Following::default() };
        assert!(start(&mut following, 1).is_none());
        assert!(following.late(Instant::now()).is_empty());
        let late = following.late(Instant::now() + PATIENCE);
        assert!(matches!(&late[..], [(_, followed)] if followed.leads.is_err()));
        assert!(following.next().is_none());
    }
}
