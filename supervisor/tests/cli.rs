//! The verbs of a person, on a real supervisor and its socket.

mod common;

use common::{Result, Supervisor, id_of, judged, judged_as, shell, touch};
use serde_json::Value;
use stayexec::config::{Overrides, journals, workspace_state};
use stayexec::control::Connection;
use stayexec::journal::Journal;
use stayexec_protocol::{Answer, Decision, Ended, Message, Reason, Record};
use std::io::{BufRead, BufReader};
use std::process::Stdio;
use uuid::Uuid;

fn told(warden: &mut Connection) -> Result<Answer> {
    match warden.recv()? {
        Some(Message::Answer(answer)) => Ok(answer),
        other => Err(format!("{other:?}").into()),
    }
}

fn expect(got: (Option<i32>, String, String), code: i32, line: &str) {
    assert_eq!(got.0, Some(code), "{got:?}");
    let said = if code == 0 { &got.1 } else { &got.2 };
    assert!(said.contains(line) && (code == 0 || said.lines().count() == 1), "{got:?}");
}

#[test]
fn pending_has_its_names_and_an_answer_one_of_three_errors() -> Result<()> {
    let supervisor = Supervisor::start()?;
    let mut warden = supervisor.warden_with(&Overrides { deadline: Some("1s".parse()?), ..Overrides::default() }, Uuid::now_v7())?;
    let expiring = id_of(&judged(&mut warden, 1)?)?;
    assert_eq!(told(&mut warden)?.reason, Reason::Expired);
    expect(supervisor.run(&["approve", &expiring[28..]])?, 6, "expired");
    expect(supervisor.run(&["later", &expiring])?, 6, "expired");
    drop(warden);

    let mut warden = supervisor.warden()?;
    let id = id_of(&judged(&mut warden, 2)?)?;
    let (code, list, _) = supervisor.run(&["pending", "--json"])?;
    let list: Value = serde_json::from_str(&list)?;
    let mut names: Vec<&str> = list[0].as_object().ok_or("no object")?.keys().map(String::as_str).collect();
    names.sort_unstable();
    let expected = "agent always_rule ancestry argv audit_id class command count created cwd deadline file origin reasons run"
        .split(' ')
        .collect::<Vec<_>>();
    assert_eq!((code, names), (Some(0), expected));
    expect(supervisor.run(&["pending"])?, 0, &id[28..]);
    expect(supervisor.run(&["later", &id[28..]])?, 0, "put off: frobnicate 2");
    expect(supervisor.run(&["deny", &id[28..], "--note", "not now"])?, 0, "denied: frobnicate 2");
    assert_eq!((told(&mut warden)?.decision, supervisor.run(&["pending", "--json"])?.1.trim()), (Decision::Deny, "[]"));
    for verb in ["approve", "deny", "later"] {
        expect(supervisor.run(&[verb, &id[28..]])?, 5, "answered already");
        expect(supervisor.run(&[verb, "0000ffff"])?, 4, "no open question");
    }
    expect(supervisor.run(&["approve", "abc"])?, 2, "at least its last 4");
    Ok(())
}

#[test]
fn approvals_for_a_run_and_for_a_time_are_remembered() -> Result<()> {
    let supervisor = Supervisor::start()?;
    let mut warden = supervisor.warden()?;
    for (call, options) in [(1, &["--run"][..]), (10, &["--for", "10m"]), (20, &["--always"])] {
        let id = id_of(&judged_as(&mut warden, touch(call))?)?;
        let words: Vec<&str> = ["approve", &id].into_iter().chain(options.iter().copied()).collect();
        expect(supervisor.run(&words)?, 0, "remembered: `/usr/bin/touch …`");
        assert_eq!(told(&mut warden)?.decision, Decision::Allow);
        assert!(matches!(warden.recv()?, Some(Message::Kept(_))));
        let again = judged_as(&mut warden, touch(call + 1))?;
        assert_eq!((again.decision, again.reason), (Decision::Allow, Reason::Remembered), "{options:?}");
        let (_, rules, _) = supervisor.run(&["rules", "list", "--json", "--workspace", "/"])?;
        let rules: Value = serde_json::from_str(&rules)?;
        assert_eq!(rules[0]["kind"], "remembered");
        expect(supervisor.run(&["rules", "remove", "--workspace", "/", rules[0]["id"].as_str().unwrap_or_default()])?, 0, "removed");
        assert!(matches!(warden.recv()?, Some(Message::Kept(_))));
    }
    let nothing = id_of(&judged_as(&mut warden, shell(30))?)?;
    expect(supervisor.run(&["approve", &nothing, "--always"])?, 125, "approve it once");
    expect(supervisor.run(&["approve", &nothing, "--for", "2d"])?, 2, "minutes");
    expect(supervisor.run(&["approve", &nothing])?, 0, "approved");
    Ok(())
}

#[test]
fn stop_reaches_the_one_run() -> Result<()> {
    let supervisor = Supervisor::start()?;
    let (one, other) = (Uuid::now_v7(), Uuid::now_v7());
    let mut wardens = [supervisor.warden_with(&Overrides::default(), one)?, supervisor.warden_with(&Overrides::default(), other)?];
    expect(supervisor.run(&["stop", "0000ffff"])?, 2, "no run");
    let id = other.to_string();
    expect(supervisor.run(&["stop", &id[28..]])?, 0, &id);
    assert_eq!(wardens[1].recv()?, Some(Message::Stop));
    Ok(())
}

#[test]
fn history_follows_a_workspace_that_comes_later() -> Result<()> {
    let supervisor = Supervisor::start()?;
    for words in [&["history", "-f", "--json", "--all"][..], &["history", "-f", "--json"]] {
        let mut child = supervisor.command(words).stdout(Stdio::piped()).spawn()?;
        let workspace = supervisor.dir.path().canonicalize()?;
        let folder = journals(&workspace_state(&supervisor.address.state_dir, workspace.as_os_str().as_encoded_bytes()));
        std::fs::create_dir_all(&folder)?;
        let mut journal = Journal::create(&folder.join(format!("{}.journal", Uuid::now_v7())), [1; 32])?;
        journal.append(&Record::Ended(Ended { time: 5, status: 0 }))?;
        let mut line = String::new();
        let mut read = BufReader::new(child.stdout.take().ok_or("no output")?);
        read.read_line(&mut line)?;
        journal.append(&Record::Ended(Ended { time: 6, status: 7 }))?;
        while !line.contains("\"status\":7") {
            line.clear();
            assert!(read.read_line(&mut line)? > 0, "it ended");
        }
        child.kill()?;
        child.wait()?;
        assert_eq!(serde_json::from_str::<Value>(&line)?["record"], "ended");
    }
    Ok(())
}
