//! The thread that takes journals into the stores.
//!
//! Invariant: it holds nothing up: judging goes on while it works, and what it has not taken in yet is in the journal.
//! Refuses to end with an error: a journal that does not hold is said in the log and left.

use super::store::{Store, ingest};
use crate::config;
use crate::error::say;
use crate::journal::{self, Reading};
use crossbeam_channel::{Receiver, RecvTimeoutError, Sender};
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;
use uuid::Uuid;

/// How often growing journals are looked at.
const LOOK: Duration = Duration::from_secs(1);

/// A run whose journal is there or about to be.
pub type Watched = (PathBuf, Uuid);

/// Starts the thread. Where none can be had there is no index, and the journals stay what counts.
pub fn start() -> Sender<Watched> {
    let (watch, watched) = crossbeam_channel::unbounded();
    let started = thread::Builder::new().name("index".into()).spawn(move || Indexer::default().work(&watched));
    if let Err(e) = started {
        say(&format!("cannot start the thread that indexes journals: {e}"));
    }
    watch
}

#[derive(Default)]
struct Indexer {
    stores: HashMap<PathBuf, Store>,
    swept: HashSet<PathBuf>,
    open: HashMap<PathBuf, (PathBuf, Option<Reading>)>,
}

impl Indexer {
    fn work(mut self, watched: &Receiver<Watched>) {
        loop {
            let next =
                if self.open.is_empty() { watched.recv().map_err(|_| RecvTimeoutError::Disconnected) } else { watched.recv_timeout(LOOK) };
            match next {
                Ok((folder, run)) => self.watch(folder, run),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            self.look();
        }
    }

    fn watch(&mut self, folder: PathBuf, run: Uuid) {
        let journals = config::journals(&folder);
        // Runs whose warden and supervisor died together are found here.
        if self.swept.insert(folder.clone()) {
            let entries = std::fs::read_dir(&journals).into_iter().flatten().filter_map(Result::ok);
            for path in entries.map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|ending| ending == "journal")) {
                self.open.insert(path, (folder.clone(), None));
            }
        }
        self.open.insert(journals.join(format!("{run}.journal")), (folder, None));
    }

    fn look(&mut self) {
        let Self { stores, open, .. } = self;
        open.retain(|path, (folder, reading)| match take_in(stores, path, folder, reading) {
            Ok(ended) => !ended,
            Err(line) => {
                say(&format!("{}: {line}", path.display()));
                false
            }
        });
    }
}

/// Takes in what is new; `true` where the journal has ended.
fn take_in(stores: &mut HashMap<PathBuf, Store>, path: &Path, folder: &Path, reading: &mut Option<Reading>) -> Result<bool, String> {
    let run = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    if !stores.contains_key(folder) {
        let store = Store::open(&folder.join("approval/approval.db")).map_err(|e| e.to_string())?;
        stores.insert(folder.to_owned(), store);
    }
    let Some(store) = stores.get_mut(folder) else { return Ok(true) };
    if reading.is_none() {
        if store.is_indexed(&run).map_err(|e| e.to_string())? {
            return Ok(true);
        }
        *reading = Some(journal::read(path, None).map_err(|e| e.to_string())?);
    }
    match reading {
        Some(open) => ingest(store, &run, open).map_err(|e| e.to_string()),
        None => Ok(true),
    }
}
