//! What outlives a supervisor, and what is remembered.

use super::*;
use crate::judge::judgement::{Terms, terms};

fn touch(call: u64) -> Event {
    Event { call, ..event("/usr/bin/touch", &["touch", "x"]) }
}

/// The same start by a process that nothing covers.
fn elsewhere(call: u64) -> Event {
    let process = stayexec_protocol::Process { pid: 900, start: 1, name: vec![] };
    Event { process, ..touch(call) }
}

fn child(call: u64, path: &str, words: &[&str]) -> Event {
    let parent = event("/", &[]).process;
    let process = stayexec_protocol::Process { pid: 500 + u32::try_from(call).unwrap_or(0), ..parent.clone() };
    Event { call, process, ancestry: vec![parent], ..event(path, words) }
}

#[test]
fn nothing_is_lost_when_the_supervisor_dies() -> Result<()> {
    let mut stage = Stage::new()?;
    let (open, answered) = (stage.judge(&unknown(5))?, stage.judge(&child(6, "/usr/bin/other", &["other"]))?);
    stage.call("stayexec.approval_decide", json!({ "audit_id": id_of(&answered)?, "decision": "ApproveOnce" }))?;
    let before = stage.call("stayexec.approval_list_pending", Value::Null)?;
    stage.restart()?;
    stage.say(Message::Reopen(unknown(5), open.clone()));
    stage.say(Message::Reopen(child(6, "/usr/bin/other", &["other"]), answered.clone()));
    assert_eq!(stage.answer()?.call, 6, "the answer was on the disk");
    let after = stage.call("stayexec.approval_list_pending", Value::Null)?;
    assert_eq!(after["result"][0]["audit_id"], before["result"][0]["audit_id"]);
    assert_eq!(after["result"].as_array().map(Vec::len), Some(1));
    let again = stage.call("stayexec.approval_decide", json!({ "audit_id": id_of(&answered)?, "decision": "Deny" }))?;
    assert_eq!(again["error"]["data"]["kind"], "answered");
    Ok(())
}

#[test]
fn an_approval_covers_descendants_once_it_was_carried_out() -> Result<()> {
    let mut stage = Stage::new()?;
    let verdict = stage.judge(&unknown(5))?;
    let Some(Terms { grant, .. }) = stage.supervisor.sessions.values().next().map(|session| terms(session, &unknown(5))) else {
        return Err("no session".into());
    };
    stage.call("stayexec.approval_decide", json!({ "audit_id": id_of(&verdict)?, "decision": "ApproveOnce" }))?;
    assert_eq!(stage.answer()?.decision, Decision::Allow);
    assert_eq!(stage.judge(&child(6, "/usr/bin/other", &["other"]))?.decision, Decision::Hold);
    stage.say(Message::Settled(5, true));
    let covered = stage.judge(&child(7, "/usr/bin/third", &["third"]))?;
    if grant.is_some() {
        assert_eq!((covered.decision, covered.reason, covered.repeatable), (Decision::Allow, Reason::Grant, false));
    } else {
        assert_eq!(covered.decision, Decision::Hold, "a text that was not seen grants nothing");
    }
    Ok(())
}

#[test]
fn what_is_remembered_is_not_asked_again_until_it_is_removed() -> Result<()> {
    let mut stage = Stage::new()?;
    let verdict = stage.judge(&touch(5))?;
    let pending = stage.call("stayexec.approval_list_pending", Value::Null)?;
    assert_eq!(pending["result"][0]["always_rule"], "`/usr/bin/touch …` with any operands, up to write");
    stage.call("stayexec.approval_decide", json!({ "audit_id": id_of(&verdict)?, "decision": "AlwaysApprove" }))?;
    stage.answer()?;
    stage.kept()?;
    stage.restart()?;
    assert_eq!(stage.judge(&touch(6))?.reason, Reason::Remembered);
    let list = stage.call("stayexec.rules_list", json!({ "workspace": "/" }))?;
    let id = list["result"][0]["id"].clone();
    stage.call("stayexec.rules_remove", json!({ "workspace": "/", "id": id }))?;
    stage.kept()?;
    assert_eq!(stage.judge(&elsewhere(7))?.decision, Decision::Hold);
    Ok(())
}

#[test]
fn approvals_for_a_run_and_for_minutes_end() -> Result<()> {
    let mut stage = Stage::new()?;
    let verdict = stage.judge(&touch(5))?;
    let id = id_of(&verdict)?;
    let bare = stage.call("stayexec.approval_decide", json!({ "audit_id": id, "decision": "ApproveFor" }))?;
    assert_eq!(bare["error"]["code"], json!(-32_602));
    stage.call("stayexec.approval_decide", json!({ "audit_id": id, "decision": "ApproveForRun" }))?;
    stage.answer()?;
    assert_eq!(stage.judge(&touch(6))?.reason, Reason::Remembered);
    for session in stage.supervisor.sessions.values_mut() {
        session.run = Uuid::from_u128(99);
    }
    assert_eq!(stage.judge(&elsewhere(7))?.decision, Decision::Hold, "another run");
    Ok(())
}

#[test]
fn an_added_rule_is_effective_at_once() -> Result<()> {
    let mut stage = Stage::new()?;
    let rule = json!({ "workspace": "/", "match": ["frobnicate"], "decision": "block", "message": "not here" });
    stage.call("stayexec.rules_add", rule)?;
    stage.kept()?;
    let verdict = stage.judge(&unknown(5))?;
    assert_eq!((verdict.decision, verdict.reason, &verdict.note[..]), (Decision::Deny, Reason::Rule, &b"not here"[..]));
    Ok(())
}

#[test]
fn an_added_rule_ends_the_questions_that_it_blocks() -> Result<()> {
    let mut stage = Stage::new()?;
    let blocked = stage.judge(&unknown(5))?;
    stage.judge(&child(6, "/usr/bin/other", &["other"]))?;
    stage.call("stayexec.rules_add", json!({ "workspace": "/", "match": ["frobnicate"], "decision": "block", "message": "not here" }))?;
    stage.kept()?;
    let answer = stage.answer()?;
    assert_eq!((answer.call, answer.decision, answer.reason, &answer.note[..]), (5, Decision::Deny, Reason::Rule, &b"not here"[..]));
    let late = stage.call("stayexec.approval_decide", json!({ "audit_id": id_of(&blocked)?, "decision": "ApproveOnce" }))?;
    assert_eq!(late["error"]["data"]["kind"], "answered");
    assert_eq!(stage.call("stayexec.approval_list_pending", Value::Null)?["result"].as_array().map(Vec::len), Some(1));
    let recent = stage.call("stayexec.approval_list_recent_decisions", Value::Null)?;
    assert_eq!((&recent["result"][0]["reason"], &recent["result"][0]["outcome"]), (&json!("rule"), &json!("deny")));
    Ok(())
}

#[test]
fn what_a_rule_asks_about_is_remembered_by_no_supervisor() -> Result<()> {
    let mut stage = Stage::new()?;
    stage.call("stayexec.rules_add", json!({ "workspace": "/", "match": ["touch"], "decision": "prompt" }))?;
    stage.kept()?;
    let verdict = stage.judge(&touch(5))?;
    assert_eq!((verdict.decision, verdict.reason), (Decision::Hold, Reason::Rule));
    for restart in [false, true] {
        if restart {
            stage.restart()?;
            stage.say(Message::Reopen(touch(5), verdict.clone()));
        }
        let pending = stage.call("stayexec.approval_list_pending", Value::Null)?;
        assert_eq!(pending["result"][0]["always_rule"], Value::Null, "{pending}");
        let always = stage.call("stayexec.approval_decide", json!({ "audit_id": id_of(&verdict)?, "decision": "AlwaysApprove" }))?;
        assert!(always["error"].is_object(), "{always}");
    }
    Ok(())
}

#[test]
fn a_rule_that_came_while_no_supervisor_was_there_ends_what_comes_back() -> Result<()> {
    let mut stage = Stage::new()?;
    let verdict = stage.judge(&unknown(5))?;
    // The warden had been told, and the supervisor died before it did more.
    let rule: crate::config::Rule = serde_json::from_value(json!({ "match": ["frobnicate"], "decision": "block" }))?;
    let placed = crate::config::PlacedRule { rule, place: "me".into() };
    let rules = vec![crate::judge::kept::OwnRule { id: Uuid::now_v7(), placed }];
    stage.kept = crate::judge::kept::Kept { rules, ..Default::default() }.to_json()?;
    stage.restart()?;
    stage.say(Message::Reopen(unknown(5), verdict));
    let answer = stage.answer()?;
    assert_eq!((answer.call, answer.decision, answer.reason), (5, Decision::Deny, Reason::Rule));
    Ok(())
}

#[test]
fn what_cannot_be_kept_is_not_asked_and_does_not_run() -> Result<()> {
    let mut stage = Stage::new()?;
    let folder = stage.supervisor.workspaces.folder(b"/");
    let db = rusqlite::Connection::open(folder.join("approval/approval.db"))?;
    db.execute_batch("DROP TABLE waiting")?;
    let verdict = stage.judge(&unknown(5))?;
    assert_eq!((verdict.decision, verdict.reason), (Decision::Deny, Reason::Unrecorded));
    assert_eq!(stage.call("stayexec.approval_list_pending", Value::Null)?["result"], json!([]));
    Ok(())
}

#[test]
fn the_script_of_a_shell_is_looked_at_once() -> Result<()> {
    let mut stage = Stage::new()?;
    for (words, looked) in [
        (&["bash", "x.sh", "-c"][..], Some("x.sh")),
        (&["bash", "-eu", "-o", "pipefail", "y.sh"], Some("y.sh")),
        (&["bash", "-ec", "ls"], None),
        (&["bash", "-s", "x"], None),
        (&["bash"], None),
    ] {
        stage.say(Message::Judge(event("/usr/bin/bash", words)));
        match (stage.warden.try_recv()?, looked) {
            (Message::Look(1, path), Some(wanted)) => assert_eq!(path, wanted.as_bytes()),
            (Message::Verdict(_), None) => {}
            (other, _) => return Err(format!("{words:?}: {other:?}").into()),
        }
    }
    let read = stayexec_protocol::Script::unreadable(b"x.sh".to_vec(), true);
    stage.say(Message::Judge(Event { script: Some(read), ..event("/usr/bin/bash", &["bash", "x.sh"]) }));
    assert!(matches!(stage.warden.try_recv()?, Message::Verdict(_)));
    Ok(())
}

#[test]
fn what_a_rule_and_a_remembered_approval_grant_outlives_the_supervisor_and_not_the_run() -> Result<()> {
    let mut stage = Stage::new()?;
    stage.call("stayexec.rules_add", json!({ "workspace": "/", "match": ["make"], "decision": "allow" }))?;
    stage.kept()?;
    let make = event("/usr/bin/make", &["make", "all"]);
    assert_eq!(stage.judge(&make)?.reason, Reason::Rule);
    let below = |call| child(call, "/usr/bin/frobnicate", &["frobnicate"]);
    stage.restart()?;
    let covered = stage.judge(&below(5))?;
    assert_eq!((covered.decision, covered.reason, covered.repeatable), (Decision::Allow, Reason::Grant, false));
    let orphan = Event { ancestry: vec![], ..below(6) };
    assert_eq!(stage.judge(&orphan)?.decision, Decision::Hold, "it was reparented away");
    let becomes = |call, name: &str| Event { call, ..event(&format!("/usr/bin/{name}"), &[name, "x"]) };
    assert_eq!(stage.judge(&becomes(7, "frobnicate"))?.decision, Decision::Hold, "the approved text does not name it");
    stage.begin()?;
    assert_eq!(stage.judge(&below(8))?.decision, Decision::Hold, "the run was over");
    Ok(())
}

#[test]
fn past_the_limit_a_start_is_denied_and_not_forgotten() -> Result<()> {
    let mut stage = Stage::new()?;
    let start = |call: u64| Event { call, ..event("/usr/bin/frobnicate", &["frobnicate", &call.to_string()]) };
    let limit = crate::judge::questions::OPEN_LIMIT as u64;
    for call in 0..limit {
        stage.supervisor.take(Inbound::Said(WARDEN, Box::new(Message::Judge(start(call)))));
    }
    stage.supervisor.flush()?;
    assert_eq!(stage.warden.try_iter().filter(|said| matches!(said, Message::Verdict(v) if v.decision == Decision::Hold)).count(), 10_000);
    let refused = stage.judge(&start(limit))?;
    assert_eq!((refused.decision, refused.reason), (Decision::Deny, Reason::Overflow));
    assert_eq!(stage.judge(&Event { call: limit + 1, ..start(0) })?.decision, Decision::Hold, "the same as an open one");
    stage.say(Message::Withdraw(1, stayexec_protocol::Withdrawal::Died));
    assert_eq!(stage.judge(&start(limit + 2))?.decision, Decision::Hold);
    Ok(())
}

#[test]
fn nobody_is_told_before_the_disk_was_waited_for() -> Result<()> {
    let mut stage = Stage::new()?;
    stage.supervisor.take(Inbound::Said(WARDEN, Box::new(Message::Judge(unknown(5)))));
    assert!(stage.warden.is_empty());
    stage.supervisor.flush()?;
    let Message::Verdict(verdict) = stage.warden.try_recv()? else { return Err("no verdict".into()) };
    let request = json!({ "jsonrpc": "2.0", "id": 1, "method": "stayexec.approval_decide", "params": { "audit_id": id_of(&verdict)?, "decision": "ApproveOnce" } });
    stage.supervisor.take(Inbound::Said(FACE, Box::new(Message::Request(request.to_string().into_bytes()))));
    assert!(stage.warden.is_empty() && stage.face.is_empty());
    stage.supervisor.flush()?;
    assert_eq!(stage.answer()?.call, 5);
    assert!(matches!(stage.face.try_recv()?, Message::Reply(_)));
    Ok(())
}

#[test]
fn a_supervisor_makes_room_for_another_build_only_without_runs() -> Result<()> {
    let mut stage = Stage::new()?;
    let asked = |stage: &mut Stage| -> Result<bool> {
        let (tell, told) = crossbeam_channel::bounded(1);
        stage.take(Inbound::Foreign(tell));
        Ok(told.try_recv()?)
    };
    assert!(!asked(&mut stage)? && !stage.supervisor.leaves());
    stage.say(Message::End(0));
    assert!(asked(&mut stage)? && stage.supervisor.leaves());
    Ok(())
}
