//! Many open questions and a long history over HTTP: how long a request takes.
//!
//! Prints its figures; the bounds are those of the product where it is optimized, and wider elsewhere.

mod common;

use common::{Result, Supervisor, event, id_of, judged_as};
use serde_json::{Value, json};
use stayexec::config::{Overrides, workspace_state};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};
use uuid::Uuid;

const QUESTIONS: u64 = 2_000;
const ENDED: i64 = 100_000;

struct Http {
    address: String,
    token: String,
}

impl Http {
    fn ask(&self, path: &str) -> Result<(Duration, Value)> {
        let begun = Instant::now();
        let mut stream = TcpStream::connect(&self.address)?;
        let head = format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\nauthorization: Bearer {}\r\n\r\n", self.token);
        stream.write_all(head.as_bytes())?;
        let mut reply = Vec::new();
        stream.read_to_end(&mut reply)?;
        let took = begun.elapsed();
        let at = reply.windows(4).position(|part| part == b"\r\n\r\n").ok_or("no body")?;
        Ok((took, serde_json::from_slice(&reply[at + 4..])?))
    }

    /// The median of some requests, and how many rows the last one gave.
    fn median(&self, path: &str) -> Result<(Duration, usize)> {
        let mut took = Vec::new();
        let mut rows = 0;
        for _ in 0..9 {
            let (time, reply) = self.ask(path)?;
            rows = reply.as_array().map_or(0, Vec::len);
            took.push(time);
        }
        took.sort();
        Ok((took[took.len() / 2], rows))
    }
}

#[test]
fn pages_for_thousands_of_questions_and_a_long_history_stay_usable() -> Result<()> {
    let supervisor = Supervisor::start()?;
    let run = Uuid::now_v7();
    let mut warden = supervisor.warden_with(&Overrides::default(), run)?;
    let mut last = None;
    for call in 0..QUESTIONS {
        last = Some(judged_as(&mut warden, event(call))?);
    }
    let mut row = supervisor.call("stayexec.approval_list_pending", &json!({}))?["result"][0].take();
    for (name, value) in [("decision", "Deny"), ("outcome", "deny"), ("reason", "answer"), ("note", ""), ("decided_by", "dev through web")]
    {
        row[name] = json!(value);
    }
    row["decided"] = row["created"].clone();
    let folder = workspace_state(&supervisor.address.state_dir, b"/");
    let mut db = rusqlite::Connection::open(folder.join("approval/approval.db"))?;
    let tx = db.transaction()?;
    for number in 0..ENDED {
        let id = Uuid::now_v7();
        (row["audit_id"], row["command"]) = (json!(id), json!(format!("cc -O2 -c src/file-{number}.c")));
        let sentence = "INSERT INTO question (id, run, body, deadline, ended, outcome) VALUES (?1, ?2, '{}', 0, ?3, ?4)";
        tx.prepare_cached(sentence)?.execute(rusqlite::params![id.to_string(), run.to_string(), number, row.to_string()])?;
    }
    tx.commit()?;
    let opened = supervisor.call("stayexec.web_open", &json!({}))?;
    let given = supervisor.call("stayexec.web_token", &json!({}))?;
    let text = |of: &Value, name: &str| of["result"][name].as_str().unwrap_or_default().to_owned();
    let http = Http { address: text(&opened, "address"), token: text(&given, "token") };

    let (pending, open) = http.median("/rpc/stayexec.approval_list_pending")?;
    let (recent, hundred) = http.median("/rpc/stayexec.approval_list_recent_decisions?limit=100")?;
    let (sought, few) = http.median("/rpc/stayexec.approval_list_recent_decisions?search=file-9999&limit=100")?;
    let (none, nothing) = http.median("/rpc/stayexec.approval_list_recent_decisions?class=install")?;
    // The next page, as whoever reads on asks for it.
    let (_, page) = http.ask("/rpc/stayexec.approval_list_recent_decisions?limit=500")?;
    let oldest = page.as_array().and_then(|page| page.last()).and_then(|row| row["audit_id"].as_str()).ok_or("a page")?;
    let (older, another) = http.median(&format!("/rpc/stayexec.approval_list_recent_decisions?limit=100&before={oldest}"))?;
    println!(
        "{QUESTIONS} open: {pending:?}; of {ENDED} ended: the last 100 {recent:?}, an older 100 {older:?}, a search {sought:?}, a class that none has {none:?}"
    );
    assert_eq!((open as u64, hundred, another, few, nothing), (QUESTIONS, 100, 100, 10, 0));
    let bound = Duration::from_millis(if cfg!(debug_assertions) { 200 } else { 20 });
    for took in [pending, recent, older, sought, none] {
        assert!(took <= bound, "{took:?}");
    }
    id_of(&last.ok_or("nothing was asked")?)?;
    Ok(())
}
