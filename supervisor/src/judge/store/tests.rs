//! The store, closed and opened again between the steps.

use super::*;
use crate::config::Origin;
use crate::journal::{self, Journal};
use crate::judge::grants::Grant;
use crate::judge::question::{Answering, Choice};
use crate::judge::session::testing::event;
use hmac::Mac;
use stayexec_policy::CommandClass;
use stayexec_protocol::{Answer, Decision, Ended as RunEnded, Reason, Record};
use std::path::PathBuf;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

const RUN: Uuid = Uuid::from_u128(1);
/// An id that says when it was made.
const DATED: u128 = 0x0199_0000_0000_7000_8000_0000_0000_0009;

fn question(id: u128) -> Question {
    Question {
        audit_id: Uuid::from_u128(id),
        run: RUN,
        agent: "bash".into(),
        command: "rm x".into(),
        argv: vec![],
        ancestry: vec![],
        cwd: "/".into(),
        file: "/bin/rm".into(),
        class: CommandClass::Write,
        reasons: vec![],
        always_rule: None,
        origin: Origin::Interactive,
        created: String::new(),
        deadline: String::new(),
        count: 1,
        abandoned: false,
        later: None,
    }
}

fn ended(id: u128, choice: Choice) -> Ended {
    let answering = Answering { choice, note: "n".into(), by: "me".into() };
    let decision = if choice.allows() == Some(true) { Decision::Allow } else { Decision::Deny };
    Ended::new(&question(id), &answering, decision, Reason::Answer, 5)
}

fn seal() -> std::result::Result<Seal, &'static str> {
    Seal::under(&[9; 32]).ok_or("no seal")
}

fn path(dir: &tempfile::TempDir) -> PathBuf {
    dir.path().join("approval.db")
}

#[test]
fn an_answer_counts_once_and_stays_until_it_is_settled() -> Result<()> {
    let dir = tempfile::tempdir()?;
    let grant = Grant::of(&event("/usr/bin/npm", &["npm", "ci"]), CommandClass::Install, true);
    Store::open(&path(&dir))?.ask(&seal()?, &question(DATED), (u64::MAX, grant.as_ref()), 100)?;
    assert!(Store::open(&path(&dir))?.undelivered(&seal()?, RUN)?.is_empty());
    assert!(Store::open(&path(&dir))?.end(&seal()?, &ended(DATED, Choice::ApproveOnce), None, 5)?);
    assert!(!Store::open(&path(&dir))?.end(&seal()?, &ended(DATED, Choice::Deny), None, 6)?, "the second answer");
    let mut store = Store::open(&path(&dir))?;
    let answers = store.undelivered(&seal()?, RUN)?;
    assert!(matches!(&answers[..], [Answer { call: u64::MAX, decision: Decision::Allow, .. }]));
    assert_eq!(store.grants(&seal()?, RUN)?.len(), 1);
    store.settle(RUN, u64::MAX, true)?;
    assert!(store.undelivered(&seal()?, RUN)?.is_empty());
    assert_eq!(store.grants(&seal()?, RUN)?.len(), 1);
    store.settle(RUN, u64::MAX, false)?;
    assert!(store.grants(&seal()?, RUN)?.is_empty(), "what was not carried out grants nothing");
    assert_eq!(store.ended(Uuid::from_u128(DATED))?.map(|e| e.decision), Some("ApproveOnce".to_owned()));
    assert_eq!(store.asked(Uuid::from_u128(DATED))?, Some((question(DATED), 100)));
    Ok(())
}

#[test]
fn a_denial_grants_nothing() -> Result<()> {
    let dir = tempfile::tempdir()?;
    let mut store = Store::open(&path(&dir))?;
    let grant = Grant::of(&event("/usr/bin/npm", &["npm", "ci"]), CommandClass::Install, true);
    store.ask(&seal()?, &question(9), (1, grant.as_ref()), 100)?;
    store.end(&seal()?, &ended(9, Choice::Deny), None, 5)?;
    assert!(store.grants(&seal()?, RUN)?.is_empty());
    assert_eq!(store.recent(10, &Sought::default())?.len(), 1);
    Ok(())
}

#[test]
fn pages_hold_each_ended_question_once_whatever_ends_meanwhile() -> Result<()> {
    let dir = tempfile::tempdir()?;
    let mut store = Store::open(&path(&dir))?;
    let end = |store: &mut Store, id: u128, time| -> Result<()> {
        store.ask(&seal()?, &question(id), (1, None), 100)?;
        assert!(store.end(&seal()?, &ended(id, Choice::Deny), None, time)?);
        Ok(())
    };
    // Several end at the same time.
    for id in 1..=7 {
        end(&mut store, id, if id < 5 { 5 } else { 6 })?;
    }
    let (mut seen, mut sought) = (Vec::new(), Sought::default());
    loop {
        let page = store.recent(2, &sought)?;
        let Some((place, _)) = page.last() else { break };
        sought.behind = Some(place.clone());
        assert_eq!(store.place(page[0].1.question.audit_id)?.as_ref(), Some(&page[0].0));
        seen.extend(page.into_iter().map(|(_, ended)| ended.question.audit_id.as_u128()));
        end(&mut store, 100 + seen.len() as u128, 7)?;
    }
    assert_eq!(seen, [7, 6, 5, 4, 3, 2, 1]);
    assert_eq!(store.place(Uuid::from_u128(99))?, None);
    Ok(())
}

#[test]
fn a_grant_outlives_its_supervisor_and_not_its_run() -> Result<()> {
    let dir = tempfile::tempdir()?;
    let granted = |words: &[&str]| Grant::of(&event("/usr/bin/npm", words), CommandClass::Install, true).ok_or("no grant");
    let (one, answered) = (granted(&["npm", "ci"])?, granted(&["npm", "i"])?);
    let mut store = Store::open(&path(&dir))?;
    for _ in 0..2 {
        store.grant(&seal()?, RUN, &one)?;
    }
    store.ask(&seal()?, &question(DATED), (1, Some(&answered)), 100)?;
    store.end(&seal()?, &ended(DATED, Choice::ApproveOnce), None, 5)?;
    store.sync()?;
    let mut store = Store::open(&path(&dir))?;
    let grants = store.grants(&seal()?, RUN)?;
    assert_eq!((grants.first(), grants.len()), (Some(&one), 2));
    assert!(store.grants(&seal()?, Uuid::from_u128(2))?.is_empty());
    store.revoke(RUN)?;
    assert!(store.grants(&seal()?, RUN)?.is_empty());
    Ok(())
}

fn always(id: u128) -> Remembered {
    let pattern = serde_json::from_value(serde_json::json!({
        "words": vec![1; 32], "script": null, "environment": vec![0; 32], "class": "write", "shown": "x"
    }));
    let Ok(pattern) = pattern else { panic!("{pattern:?}") };
    Remembered { id: Uuid::from_u128(id), pattern, scope: crate::judge::remembered::Scope::Workspace, by: "me".into(), created: 0 }
}

#[test]
fn an_answer_and_what_it_remembers_are_there_together_or_not_at_all() -> Result<()> {
    let dir = tempfile::tempdir()?;
    let key = Hmac::new_from_slice(b"key")?;
    let mut store = Store::open(&path(&dir))?;
    store.ask(&seal()?, &question(DATED), (1, None), 100)?;
    assert!(store.end(&seal()?, &ended(DATED, Choice::AlwaysApprove), Some((&key, &always(7))), 5)?);
    assert_eq!(store.remembered()?.len(), 1);
    // The second answer remembers nothing either.
    assert!(!store.end(&seal()?, &ended(DATED, Choice::AlwaysApprove), Some((&key, &always(8))), 6)?);
    assert_eq!(store.remembered()?.len(), 1);
    // Where one of them cannot be written the other is not there.
    store.ask(&seal()?, &question(10), (2, None), 100)?;
    assert!(store.end(&seal()?, &ended(10, Choice::AlwaysApprove), Some((&key, &always(7))), 7).is_err());
    assert_eq!(store.ended(Uuid::from_u128(10))?.map(|e| e.decision), None);
    Ok(())
}

#[test]
fn a_store_that_was_read_only_for_a_while_can_be_written_again() -> Result<()> {
    let dir = tempfile::tempdir()?;
    drop(Store::open(&path(&dir))?);
    let mut store = Store::open(&path(&dir))?;
    let flags = rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY;
    store.connection = rusqlite::Connection::open_with_flags(path(&dir), flags)?;
    store.ask(&seal()?, &question(9), (1, None), 100)?;
    store.sync()?;
    assert!(Store::open(&path(&dir))?.asked(Uuid::from_u128(9))?.is_some());
    Ok(())
}

#[test]
fn what_is_written_into_a_removed_store_is_not_on_the_disk() -> Result<()> {
    let dir = tempfile::tempdir()?;
    let mut store = Store::open(&path(&dir))?;
    store.ask(&seal()?, &question(9), (1, None), 100)?;
    store.sync()?;
    std::fs::remove_file(path(&dir))?;
    store.ask(&seal()?, &question(10), (2, None), 100)?;
    assert!(matches!(store.sync(), Err(StoreError::Gone(_))));
    Ok(())
}

#[test]
fn an_ended_question_is_found_by_the_end_of_its_id() -> Result<()> {
    let dir = tempfile::tempdir()?;
    let mut store = Store::open(&path(&dir))?;
    for id in [0x10abcd, 0x20abcd, 0x30beef] {
        store.ask(&seal()?, &question(id), (1, None), 100)?;
    }
    assert!(store.ended_so("abcd")?.is_empty());
    for id in [0x10abcd, 0x20abcd] {
        store.end(&seal()?, &ended(id, Choice::Deny), None, 5)?;
    }
    assert_eq!(store.ended_so("abcd")?.len(), 2);
    assert_eq!(store.ended_so("10abcd")?, [Uuid::from_u128(0x10abcd).to_string()]);
    assert!(store.ended_so("beef")?.is_empty() && store.ended_so("%")?.is_empty());
    Ok(())
}

#[test]
fn records_are_taken_in_exactly_once() -> Result<()> {
    let dir = tempfile::tempdir()?;
    let file = dir.path().join("r.journal");
    let mut journal = Journal::create(&file, [1; 32])?;
    let mut store = Store::open(&path(&dir))?;
    let mut reading = journal::read(&file, None)?;
    assert!(!ingest(&mut store, "r", &mut reading)?);
    for number in 0..3 {
        journal.append(&Record::Withdrawn(stayexec_protocol::Withdrawn {
            time: number,
            call: 1,
            question: [0; 16],
            cause: b"died".to_vec(),
        }))?;
    }
    assert!(!ingest(&mut store, "r", &mut reading)?);
    assert_eq!(store.records("r")?, 3);
    // Another reader from the beginning: a supervisor that was started anew.
    journal.append(&Record::Ended(RunEnded { time: 9, status: 0 }))?;
    let mut store = Store::open(&path(&dir))?;
    assert!(ingest(&mut store, "r", &mut journal::read(&file, None)?)?);
    assert!(ingest(&mut store, "r", &mut reading)?);
    assert_eq!(store.records("r")?, 4);
    assert!(store.is_indexed("r")?);
    Ok(())
}

#[test]
fn a_store_of_another_format_is_refused() -> Result<()> {
    let dir = tempfile::tempdir()?;
    drop(Store::open(&path(&dir))?);
    rusqlite::Connection::open(path(&dir))?.pragma_update(None, "user_version", 9)?;
    assert!(matches!(Store::open(&path(&dir)), Err(StoreError::Format(9, 4))));
    Ok(())
}
