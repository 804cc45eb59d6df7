//! Many open questions and records: how long they take, and what they weigh.
//!
//! Prints its figures; the bounds are those of the product, also without optimization.

mod common;

use common::{Result, Supervisor, event, id_of};
use serde_json::json;
use stayexec::config::{Overrides, journals, workspace_state};
use stayexec::control::connect;
use stayexec::journal::Journal;
use stayexec_protocol::{Decision, FileId, Judged, Message, Mode, Process, Reason, Record, Stage};
use std::time::{Duration, Instant};
use uuid::Uuid;

const QUESTIONS: u64 = 2_000;
const RECORDS: u64 = 100_000;
const ANSWERS: usize = 200;

fn record(call: u64) -> Record {
    let command = format!("cc -O2 -Wall -c -o build/object-{call}.o src/some/folder/file-{call}.c").into_bytes();
    Record::Judged(Judged {
        time: i64::try_from(call).unwrap_or(0),
        call,
        stage: Stage::Loaded,
        mode: Mode::Verify,
        process: Process { pid: 5, start: 6, name: b"cc".to_vec() },
        parent: 4,
        euid: 0,
        path: b"/usr/bin/cc".to_vec(),
        id: FileId { dev: 1, ino: 2, size: 3, ctime: 4 },
        argv: command.split(|&byte| byte == b' ').map(<[u8]>::to_vec).collect(),
        shown: command,
        cwd: b"/home/dev/project".to_vec(),
        root: b"/".to_vec(),
        script: vec![],
        script_digest: [0; 32],
        digest: [0; 32],
        class: 1,
        decision: Decision::Allow,
        reason: Reason::Matrix,
        note: vec![],
        question: None,
        repeated: false,
        asked: None,
    })
}

fn resident_kib(pid: u32) -> Result<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).ok_or("no size")?;
    Ok(line.trim().trim_end_matches(" kB").parse()?)
}

#[test]
fn thousands_of_questions_and_a_hundred_thousand_records() -> Result<()> {
    let supervisor = Supervisor::start()?;
    let run = Uuid::now_v7();
    let folder = workspace_state(&supervisor.address.state_dir, b"/");
    std::fs::create_dir_all(journals(&folder))?;
    let private = std::os::unix::fs::PermissionsExt::from_mode(0o700);
    std::fs::set_permissions(&folder, private)?;
    let mut journal = Journal::create(&journals(&folder).join(format!("{run}.journal")), [1; 32])?;
    for call in 0..RECORDS {
        journal.append(&record(call))?;
    }
    let idle = resident_kib(supervisor.child.id())?;
    let mut warden = supervisor.warden_with(&Overrides::default(), run)?;

    let indexed = await_index(&folder, run)?;
    let taken_in = resident_kib(supervisor.child.id())?;
    // As a warden that holds many at once: everything is asked, then the verdicts are awaited.
    let environment: Vec<Vec<u8>> = (0..15).map(|n| format!("VARIABLE_{n}=/some/value/of/a/usual/length/{n}").into_bytes()).collect();
    let begun = Instant::now();
    let asking = std::thread::scope(|scope| -> Result<Vec<String>> {
        let mut asker = connect_half(&mut warden)?;
        let environment = &environment;
        scope.spawn(move || {
            for call in 0..QUESTIONS {
                let start = stayexec_protocol::Event { environment: environment.clone(), ..event(call) };
                if asker.send(&Message::Judge(start)).is_err() {
                    return;
                }
            }
        });
        let mut ids = Vec::new();
        while ids.len() < QUESTIONS as usize {
            match warden.recv()? {
                Some(Message::Verdict(verdict)) if verdict.decision == Decision::Hold => ids.push(id_of(&verdict)?),
                Some(Message::Verdict(verdict)) => return Err(String::from_utf8_lossy(&verdict.note).into()),
                other => return Err(format!("{other:?}").into()),
            }
        }
        Ok(ids)
    });
    let ids = asking?;
    let opened = begun.elapsed();

    let held = resident_kib(supervisor.child.id())?;
    let mut face = connect(&supervisor.address)?;
    let mut took = Vec::new();
    for id in ids.iter().step_by(ids.len() / ANSWERS) {
        let request = json!({ "jsonrpc": "2.0", "id": 1, "method": "stayexec.approval_decide", "params": { "audit_id": id, "decision": "ApproveOnce" } });
        let begun = Instant::now();
        face.send(&Message::Request(request.to_string().into_bytes()))?;
        let Some(Message::Answer(answer)) = warden.recv()? else { return Err("no answer".into()) };
        took.push(begun.elapsed());
        face.recv()?;
        warden.send(&Message::Settled(answer.call, true))?;
    }
    took.sort();
    let (median, slowest) = (took[took.len() / 2], took[took.len() - 1]);
    let listing = Instant::now();
    supervisor.call("stayexec.approval_list_pending", &json!({}))?;
    println!("{QUESTIONS} questions opened in {opened:?}; an answer reaches its warden in {median:?} (median), {slowest:?} (slowest)");
    println!("a list of them takes {:?}; {RECORDS} records were indexed in {indexed:?}", listing.elapsed());
    println!(
        "resident: {idle} KiB at the start, {taken_in} KiB with the records, {held} KiB with all of them, {} KiB after a list",
        resident_kib(supervisor.child.id())?
    );
    assert!(median <= Duration::from_millis(5), "{median:?}");
    // The budget is that of the build that users get; one for debugging takes 8 MiB more before it does anything.
    let budget = if std::env::var_os("STAYEXEC_BIN").is_some() { 40 } else { 48 };
    assert!(held <= budget << 10, "{held} KiB");
    Ok(())
}

/// A second end of the same connection, to send while the first waits.
fn connect_half(warden: &mut stayexec::control::Connection) -> Result<stayexec::control::Connection> {
    Ok(stayexec::control::Connection::new(warden.share().try_clone()?))
}

/// Waits until the records are in the store.
fn await_index(folder: &std::path::Path, run: Uuid) -> Result<Duration> {
    let begun = Instant::now();
    let db = rusqlite::Connection::open(folder.join("approval/approval.db"))?;
    while begun.elapsed() < Duration::from_secs(120) {
        let next = db.query_row("SELECT next FROM run WHERE id = ?1", [run.to_string()], |row| row.get::<_, i64>(0));
        if next.is_ok_and(|next| next.cast_unsigned() >= RECORDS) {
            return Ok(begun.elapsed());
        }
        let _ = crossbeam_channel::never::<()>().recv_timeout(Duration::from_millis(20));
    }
    Err("the records are not indexed".into())
}
