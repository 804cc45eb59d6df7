//! What is written into the store past the supervisor.

use super::*;
use rusqlite::{Connection, params};

/// The store, as whoever else may write it.
fn store(stage: &Stage) -> Result<Connection> {
    let folder = stage.supervisor.workspaces.folder(b"/");
    Ok(Connection::open(folder.join("approval/approval.db"))?)
}

fn rule(word: &str, decision: &str) -> Value {
    json!({ "workspace": "/", "match": [word], "decision": decision })
}

/// Has a rule in the store that no supervisor has put there: a copy of one with another word.
fn forge(stage: &Stage, like: &str, word: &str) -> Result<()> {
    let db = store(stage)?;
    let body: String = db.query_row("SELECT body FROM rule WHERE body LIKE ?1", [format!("%{like}%")], |row| row.get(0))?;
    let (old, new) = (serde_json::from_str::<Value>(&body)?["id"].clone(), Uuid::now_v7().to_string());
    let body = body.replace(like, word).replace(old.as_str().ok_or("no id")?, &new);
    db.execute("INSERT INTO rule (id, body) VALUES (?1, ?2)", params![new, body])?;
    Ok(())
}

#[test]
fn a_rule_from_outside_counts_from_the_next_start_on_and_is_named_there_once() -> Result<()> {
    let mut stage = Stage::new()?;
    stage.call("stayexec.rules_add", rule("make", "allow"))?;
    forge(&stage, "make", "frobnicate")?;
    assert_eq!(stage.judge(&unknown(5))?.decision, Decision::Hold);
    stage.restart()?;
    assert!(stage.lines.is_empty(), "the run goes on");
    assert_eq!(stage.judge(&unknown(6))?.decision, Decision::Hold, "a restart is no start");
    assert_eq!(stage.judge(&event("/usr/bin/make", &["make"]))?.reason, Reason::Rule, "the warden brought it");
    let listed = stage.call("stayexec.rules_list", json!({ "workspace": "/" }))?;
    let outside: Vec<_> = listed["result"].as_array().into_iter().flatten().map(|row| row["outside"] == true).collect();
    assert_eq!(outside, [false, true]);
    stage.begin()?;
    let [line] = &stage.lines[..] else { return Err(format!("{:?}", stage.lines).into()) };
    assert!(String::from_utf8_lossy(line).ends_with("rule allow `frobnicate` (new)"), "{}", String::from_utf8_lossy(line));
    assert_eq!(stage.judge(&unknown(7))?.reason, Reason::Rule, "shown, and counts");
    stage.begin()?;
    assert!(stage.lines.is_empty(), "said once");
    Ok(())
}

#[test]
fn a_rule_taken_out_of_the_store_counts_on_in_the_run() -> Result<()> {
    let mut stage = Stage::new()?;
    stage.call("stayexec.rules_add", rule("frobnicate", "block"))?;
    stage.kept()?;
    store(&stage)?.execute_batch("DELETE FROM rule; DELETE FROM listed")?;
    stage.restart()?;
    assert_eq!(stage.judge(&unknown(5))?.reason, Reason::Rule);
    Ok(())
}

#[test]
fn what_left_the_store_or_was_written_over_is_named() -> Result<()> {
    let mut stage = Stage::new()?;
    for word in ["one", "two", "three"] {
        stage.call("stayexec.rules_add", rule(word, "block"))?;
    }
    stage.begin()?;
    assert!(stage.lines.is_empty(), "they went through the supervisor: {:?}", stage.lines);
    let db = store(&stage)?;
    db.execute_batch("DELETE FROM rule WHERE body LIKE '%one%'; UPDATE rule SET body = replace(body, 'two', 'ten')")?;
    stage.begin()?;
    let said = String::from_utf8_lossy(&stage.lines.concat()).into_owned();
    assert!(said.contains("rule block `one` (gone)") && said.contains("rule block `ten`") && !said.contains("three"), "{said}");
    Ok(())
}

#[test]
fn an_answer_a_grant_and_an_agent_from_outside_are_not_believed_after_a_restart() -> Result<()> {
    let mut stage = Stage::new()?;
    let (asked, other) = (unknown(5), Event { call: 6, ..event("/usr/bin/other", &["other"]) });
    let (held, approved) = (stage.judge(&asked)?, stage.judge(&other)?);
    stage.call("stayexec.approval_decide", json!({ "audit_id": id_of(&approved)?, "decision": "ApproveOnce" }))?;
    let db = store(&stage)?;
    // The answer to the one question, put behind the other; and its call put behind the answered question.
    db.execute_batch(
        "UPDATE question SET ended = 1, outcome = (SELECT outcome FROM question WHERE outcome IS NOT NULL) WHERE outcome IS NULL;
        INSERT OR IGNORE INTO answered SELECT answered.run, question.id, answered.seal FROM answered, question",
    )?;
    let reopen = |stage: &mut Stage| -> Result<()> {
        stage.restart()?;
        stage.say(Message::Reopen(asked.clone(), held.clone()));
        assert!(stage.told().is_err(), "nobody has answered this one");
        Ok(())
    };
    reopen(&mut stage)?;
    db.execute("UPDATE waiting SET question = (SELECT question FROM waiting WHERE call = 6) WHERE call = 5", [])?;
    reopen(&mut stage)?;
    // A grant for another process of the tree.
    let grant = json!({ "pid": 77, "start": 78, "class": "destructive", "names": ["frobnicate"] }).to_string();
    for body in [grant.clone(), format!("{}{grant}", "0".repeat(64))] {
        db.execute("INSERT INTO granted SELECT run, ?1 FROM question LIMIT 1", [body])?;
    }
    stage.restart()?;
    let process = |pid| stayexec_protocol::Process { pid, start: u64::from(pid) + 1, name: vec![] };
    let below = Event { process: process(79), ancestry: vec![process(77)], ..unknown(9) };
    assert_eq!(stage.judge(&below)?.decision, Decision::Hold);
    // The same, had this supervisor written it.
    let granting = Event { process: process(77), ..event("/usr/bin/make", &["make", "frobnicate"]) };
    let grant = Grant::of(&granting, stayexec_policy::CommandClass::Destructive, true).ok_or("no grant")?;
    let Supervisor { sessions, workspaces, .. } = &mut stage.supervisor;
    let session = sessions.values().next().ok_or("no run")?;
    workspaces.get_mut(&session.folder).ok_or("no store")?.store.grant(&session.seal, session.run, &grant)?;
    stage.restart()?;
    assert_eq!(stage.judge(&below)?.reason, Reason::Grant);
    Ok(())
}
