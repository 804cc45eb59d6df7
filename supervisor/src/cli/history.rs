//! `history`: what was judged, from the journals.
//!
//! Invariant: every whole record of every journal is shown, and where a journal cannot be read further, that is said and
//! the status tells it. Refuses to show anything unescaped: records hold what the judge made safe, paths are made so here.

use super::arguments::History;
use super::{context, print};
use crate::clock::rfc3339;
use crate::config::{self, Surroundings};
use crate::error::{Failure, say};
use crate::exit_code;
use crate::journal::{self, JournalError, Reading};
use crate::judge::shown_bytes;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::inotify::{AddWatchFlags, InitFlags, Inotify};
use serde_json::{Value, json};
use stayexec_protocol::{CLASS_WORDS, Mode, Record};
use std::collections::{BTreeMap, HashMap};
use std::io;
use std::os::fd::AsFd;
use std::path::PathBuf;
use uuid::Uuid;

/// How long a journal in a folder that has just been made may go unnoticed.
const LOOK: u16 = 1_000;

/// Prints the records of this workspace, or of all.
pub fn run(arguments: &History) -> Result<u8, Failure> {
    let around = Surroundings::current()?;
    let directories = config::Directories::resolve(&around)?;
    let place = if arguments.all {
        Place::All(directories.state)
    } else {
        let workspace = config::find_workspace(arguments.workspace.as_deref(), &around)?;
        Place::One(config::journals(&context::workspace_state(&directories, &workspace)))
    };
    let watch = arguments.follow.then(Watch::new).transpose()?;
    let mut journals = Journals { place, open: BTreeMap::new(), shown: Shown::default(), failed: false };
    let mut first = true;
    loop {
        // Watched before it is read: what comes in between wakes us up.
        if let Some(watch) = &watch {
            watch.add(&journals.place.folders()?)?;
        }
        print_rows(&journals.more()?, arguments, first)?;
        first = false;
        match &watch {
            Some(watch) => watch.wait()?,
            None => return Ok(if journals.failed { exit_code::GATE_FAILED } else { exit_code::OK }),
        }
    }
}

/// Where the journals are.
enum Place {
    One(PathBuf),
    /// Below the state folder.
    All(PathBuf),
}

impl Place {
    /// The folders that are there now.
    fn folders(&self) -> Result<Vec<PathBuf>, Failure> {
        let state = match self {
            Self::One(folder) => return Ok(Some(folder.clone()).filter(|folder| folder.is_dir()).into_iter().collect()),
            Self::All(state) => state,
        };
        let entries = match std::fs::read_dir(state) {
            Ok(entries) => entries,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(cause) => return Err(Failure::Step("read the state folder", cause)),
        };
        let folders = entries.filter_map(Result::ok).map(|entry| config::journals(&entry.path()));
        Ok(folders.filter(|folder| folder.is_dir()).collect())
    }
}

/// Wakes up when a journal grows.
struct Watch(Inotify);

impl Watch {
    fn new() -> Result<Self, Failure> {
        Inotify::init(InitFlags::IN_CLOEXEC | InitFlags::IN_NONBLOCK).map(Self).map_err(failed)
    }

    /// Watches these folders as well; to add one again changes nothing.
    fn add(&self, folders: &[PathBuf]) -> Result<(), Failure> {
        let watch = |folder: &PathBuf| self.0.add_watch(folder.as_path(), AddWatchFlags::IN_MODIFY | AddWatchFlags::IN_CREATE).map(drop);
        folders.iter().try_for_each(watch).map_err(failed)
    }

    /// Until a journal grows, or a new folder may have come.
    fn wait(&self) -> Result<(), Failure> {
        let mut fds = [PollFd::new(self.0.as_fd(), PollFlags::POLLIN)];
        match poll(&mut fds, PollTimeout::from(LOOK)).and_then(|_| self.0.read_events().map(drop)) {
            Ok(()) | Err(nix::Error::EINTR | nix::Error::EAGAIN) => Ok(()),
            Err(errno) => Err(failed(errno)),
        }
    }
}

fn failed(errno: nix::Error) -> Failure {
    Failure::Step("watch the journals", errno.into())
}

struct Journals {
    place: Place,
    open: BTreeMap<PathBuf, Option<Reading>>,
    shown: Shown,
    failed: bool,
}

impl Journals {
    /// The records that have come since the last time, in the order of their times.
    fn more(&mut self) -> Result<Vec<Value>, Failure> {
        for folder in self.place.folders()? {
            let entries = match std::fs::read_dir(&folder) {
                Ok(entries) => entries,
                Err(e) if e.kind() == io::ErrorKind::NotFound => continue,
                Err(cause) => return Err(Failure::Step("read the journals' folder", cause)),
            };
            for path in entries.filter_map(Result::ok).map(|entry| entry.path()) {
                if path.extension().is_some_and(|ending| ending == "journal") && !self.open.contains_key(&path) {
                    match journal::read(&path, None) {
                        Ok(reading) => drop(self.open.insert(path, Some(reading))),
                        // One that has just been created has no magic yet: it is opened again at the next look.
                        Err(JournalError::Magic) if std::fs::metadata(&path).is_ok_and(|file| file.len() < 8) => {}
                        Err(e) => {
                            self.failed = true;
                            say(&format!("{}: {e}", path.display()));
                            self.open.insert(path, None);
                        }
                    }
                }
            }
        }
        let mut rows = Vec::new();
        for (path, reading) in &mut self.open {
            let run = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
            let Some(open) = reading else { continue };
            for next in open.by_ref() {
                match next {
                    Ok((sequence, record)) => rows.push((time_of(&record), self.shown.row(&run, sequence, &record))),
                    Err(e) => {
                        self.failed = true;
                        say(&format!("{}: {e}", path.display()));
                        *reading = None;
                        break;
                    }
                }
            }
        }
        rows.sort_by_key(|(time, _)| *time);
        Ok(rows.into_iter().map(|(_, row)| row).collect())
    }
}

fn time_of(record: &Record) -> i64 {
    match record {
        Record::Started(r) => r.time,
        Record::Judged(r) => r.time,
        Record::Answered(r) => r.time,
        Record::Withdrawn(r) => r.time,
        Record::Ended(r) => r.time,
    }
}

/// What an answer needs to know of its call.
#[derive(Default)]
struct Shown {
    held: HashMap<(String, u64), (String, String)>,
}

impl Shown {
    fn row(&mut self, run: &str, sequence: u64, record: &Record) -> Value {
        let text = |bytes: &[u8]| shown_bytes(bytes);
        let mut row = match record {
            Record::Started(r) => json!({
                "record": "started", "command": line(&r.argv), "cwd": text(&r.cwd), "workspace": text(&r.workspace),
                "tier": text(&r.tier), "origin": text(&r.origin), "mode": r.mode.as_str(), "uid": r.uid, "version": text(&r.version),
            }),
            Record::Judged(r) => {
                let class = CLASS_WORDS.get(usize::from(r.class)).copied().unwrap_or("destructive");
                let command = String::from_utf8_lossy(&r.shown).into_owned();
                if r.question.is_some() {
                    self.held.insert((run.to_owned(), r.call), (class.to_owned(), command.clone()));
                }
                json!({
                    "record": "judged", "call": r.call, "stage": r.stage.as_str(), "mode": r.mode.as_str(), "verified": r.mode == Mode::Verify,
                    "pid": r.process.pid,
                    "parent": r.parent, "euid": r.euid, "file": text(&r.path), "command": command,
                    "argv": r.argv.iter().map(|word| text(word)).collect::<Vec<_>>(), "cwd": text(&r.cwd), "root": text(&r.root),
                    "script": text(&r.script), "class": class, "decision": r.decision.as_str(), "reason": r.reason.as_str(),
                    "note": text(&r.note), "audit_id": r.question.map(|id| Uuid::from_bytes(id).to_string()), "repeated": r.repeated,
                    "asked": r.asked.as_ref().map(|asked| json!({
                        "function": text(&asked.function), "target": text(&asked.target), "site": text(&asked.site),
                    })),
                })
            }
            Record::Answered(r) => {
                let (class, command) = self.held.remove(&(run.to_owned(), r.call)).unwrap_or_default();
                json!({
                    "record": "answered", "call": r.call, "audit_id": Uuid::from_bytes(r.question).to_string(), "class": class,
                    "command": command, "decision": r.decision.as_str(), "reason": r.reason.as_str(), "note": text(&r.note),
                    "by": text(&r.by),
                })
            }
            Record::Withdrawn(r) => {
                let (class, command) = self.held.remove(&(run.to_owned(), r.call)).unwrap_or_default();
                json!({
                    "record": "withdrawn", "call": r.call, "audit_id": Uuid::from_bytes(r.question).to_string(), "class": class,
                    "command": command, "reason": text(&r.cause),
                })
            }
            Record::Ended(r) => json!({ "record": "ended", "status": r.status }),
        };
        row["time"] = json!(rfc3339(time_of(record)));
        row["run"] = json!(run);
        row["sequence"] = json!(sequence);
        row
    }
}

fn line(argv: &[Vec<u8>]) -> String {
    argv.iter().map(|word| shown_bytes(word)).collect::<Vec<_>>().join(" ")
}

fn print_rows(rows: &[Value], arguments: &History, first: bool) -> Result<(), Failure> {
    if arguments.json {
        return rows.iter().try_for_each(print::json);
    }
    let cell = |row: &Value, name: &str| row[name].as_str().unwrap_or_default().to_owned();
    let cells: Vec<[String; 5]> = rows
        .iter()
        .filter(|row| matches!(row["record"].as_str(), Some("judged" | "answered" | "withdrawn")))
        .map(|row| {
            let decision = if row["record"] == "withdrawn" { "withdrawn".to_owned() } else { cell(row, "decision") };
            [cell(row, "time"), decision, cell(row, "class"), cell(row, "reason"), cell(row, "command")]
        })
        .collect();
    if !first {
        return cells.iter().try_for_each(|row| print::line(&row.join("  ")));
    }
    print::table(["TIME", "DECISION", "CLASS", "REASON", "COMMAND"], &cells)
}
