//! Making journal records of what the gate knows.

use super::lookup::Request;
use super::{Plan, VERSION};
use crate::sys::process;
use stayexec_protocol::{
    Answer, Answered, Decision, Event, FileId, Judged, Mode, Process, Reason, Record, Stage, Started, Verdict, Withdrawal, Withdrawn,
};
use std::os::unix::ffi::OsStrExt;

/// First record of a run. The command is shown by its program alone: its arguments are redacted by the judge, and stand
/// in the record of the launch.
pub fn started(plan: &Plan, run: [u8; 16], mode: Mode) -> Record {
    Record::Started(Started {
        time: process::now(),
        run,
        argv: plan.command.iter().take(1).map(|a| a.as_bytes().to_vec()).collect(),
        cwd: std::env::current_dir().map(|d| d.as_os_str().as_bytes().to_vec()).unwrap_or_default(),
        workspace: plan.workspace.as_os_str().as_bytes().to_vec(),
        tier: plan.tier.clone().into(),
        origin: plan.origin.clone().into(),
        mode,
        uid: nix::unistd::Uid::current().as_raw(),
        version: VERSION.into(),
    })
}

/// A judged call.
pub fn judged(mode: Mode, event: &Event, parent: i32, digest: [u8; 32], verdict: &Verdict, repeated: bool) -> Record {
    let (script, script_digest) = event.script.as_ref().map(|s| (s.path.clone(), s.digest)).unwrap_or_default();
    Record::Judged(Judged {
        time: process::now(),
        call: event.call,
        stage: event.stage,
        mode,
        process: event.process.clone(),
        parent: parent as u32,
        euid: event.euid,
        path: event.executable.path.clone(),
        id: event.executable.id.clone(),
        shown: verdict.shown.clone(),
        argv: verdict.argv.clone(),
        cwd: event.cwd.clone(),
        root: event.root.clone(),
        script,
        script_digest,
        digest,
        class: verdict.class,
        decision: verdict.decision,
        reason: verdict.reason,
        note: verdict.note.clone(),
        question: verdict.question,
        repeated,
        asked: verdict.asked.clone(),
    })
}

/// A call that was refused before there was anything to judge. Of its arguments nothing is kept: nobody has redacted them.
pub fn refused(mode: Mode, call: u64, tid: i32, request: Option<&Request>, reason: Reason, note: &str) -> Record {
    let path = request.map(|r| r.path.clone()).unwrap_or_default();
    Record::Judged(Judged {
        time: process::now(),
        call,
        stage: Stage::Called,
        mode,
        process: Process { pid: tid as u32, start: 0, name: Vec::new() },
        parent: 0,
        euid: 0,
        shown: path.clone(),
        path,
        id: FileId { dev: 0, ino: 0, size: 0, ctime: 0 },
        argv: Vec::new(),
        cwd: Vec::new(),
        root: Vec::new(),
        script: Vec::new(),
        script_digest: [0; 32],
        digest: [0; 32],
        class: HIGHEST,
        decision: Decision::Deny,
        reason,
        note: note.into(),
        question: None,
        repeated: false,
        asked: None,
    })
}

/// Rank of the highest class, for what could not be judged.
const HIGHEST: u8 = 4;

/// An answered question.
pub fn answered(answer: &Answer, question: [u8; 16]) -> Record {
    Record::Answered(Answered {
        time: process::now(),
        call: answer.call,
        question,
        decision: answer.decision,
        reason: answer.reason,
        note: answer.note.clone(),
        by: answer.by.clone(),
    })
}

/// A question that ended by itself.
pub fn withdrawn(call: u64, question: [u8; 16], why: Withdrawal) -> Record {
    Record::Withdrawn(Withdrawn { time: process::now(), call, question, cause: why.as_str().into() })
}
