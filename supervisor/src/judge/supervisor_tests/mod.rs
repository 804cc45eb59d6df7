//! What messages do to the judge, without a socket.

use super::super::session::testing::{enlist, event, settings};
use super::*;
use crate::config::Frozen;
use crossbeam_channel::Receiver;
use hmac::Mac;
use serde_json::{Value, json};
use stayexec_protocol::{Decision, Enlist, Event, Verdict};

mod keeping;
mod outside;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

const WARDEN: ConnectionId = 1;
const FACE: ConnectionId = 2;

struct Stage {
    supervisor: Supervisor,
    warden: Receiver<Message>,
    face: Receiver<Message>,
    dir: tempfile::TempDir,
    /// What the warden would bring, and what it was told at the last enlisting.
    kept: Vec<u8>,
    lines: Vec<Vec<u8>>,
    _sockets: Vec<std::os::unix::net::UnixStream>,
}

impl Stage {
    fn new() -> Result<Self> {
        let dir = tempfile::tempdir()?;
        let supervisor = Self::supervisor(&dir)?;
        let (_, nothing) = crossbeam_channel::unbounded();
        let mut stage = Self { supervisor, warden: nothing.clone(), face: nothing, dir, kept: vec![], lines: vec![], _sockets: vec![] };
        stage.face = stage.connect(FACE)?;
        stage.enlist()?;
        Ok(stage)
    }

    fn supervisor(dir: &tempfile::TempDir) -> Result<Supervisor> {
        let (index, _) = crossbeam_channel::unbounded();
        Ok(Supervisor::new(Hmac::new_from_slice(b"key")?, dir.path().to_owned(), index))
    }

    /// The supervisor dies, another one comes, the warden finds it.
    fn restart(&mut self) -> Result<()> {
        self.supervisor = Self::supervisor(&self.dir)?;
        self.face = self.connect(FACE)?;
        self.enlist()
    }

    fn answer(&mut self) -> Result<Answer> {
        match self.told()? {
            Message::Answer(answer) => Ok(answer),
            other => Err(format!("{other:?}").into()),
        }
    }

    fn connect(&mut self, id: ConnectionId) -> Result<Receiver<Message>> {
        let (outbox, messages, socket) = Outbox::for_test()?;
        self._sockets.push(socket);
        self.take(Inbound::Opened(id, outbox, 4_242));
        Ok(messages)
    }

    fn enlist(&mut self) -> Result<()> {
        self.warden = self.connect(WARDEN)?;
        let kept = self.kept.clone();
        self.say(Message::Enlist(Enlist { kept, ..enlist(&Frozen::of(&settings()?, false, false))? }));
        let Message::Enlisted(kept, lines) = self.warden.try_recv()? else { return Err("not enlisted".into()) };
        (self.kept, self.lines) = (kept, lines);
        Ok(())
    }

    /// The warden is told what counts from now on.
    fn kept(&mut self) -> Result<()> {
        match self.warden.try_recv()? {
            Message::Kept(kept) => self.kept = kept,
            other => return Err(format!("{other:?}").into()),
        }
        Ok(())
    }

    /// Another run begins.
    fn begin(&mut self) -> Result<()> {
        self.say(Message::End(0));
        self.kept.clear();
        self.enlist()
    }

    /// What the warden is told next, besides what counts from now on, which it takes in.
    fn told(&mut self) -> Result<Message> {
        loop {
            match self.warden.try_recv()? {
                Message::Kept(kept) => self.kept = kept,
                other => return Ok(other),
            }
        }
    }

    /// As the judge's thread does it.
    fn take(&mut self, inbound: Inbound) {
        self.supervisor.take(inbound);
        while self.supervisor.following.next().is_some() {
            let done = self.supervisor.following.done.recv_timeout(Duration::from_secs(20));
            let Ok((call, leads)) = done else { break };
            if let Some(followed) = self.supervisor.following.end(call, leads) {
                self.supervisor.judge_followed(call.0, followed);
            }
        }
        if let Err(line) = self.supervisor.flush() {
            crate::error::say(&line);
        }
    }

    fn say(&mut self, message: Message) {
        self.take(Inbound::Said(WARDEN, Box::new(message)));
    }

    fn judge(&mut self, event: &Event) -> Result<Verdict> {
        self.say(Message::Judge(event.clone()));
        match self.told()? {
            Message::Verdict(verdict) => Ok(verdict),
            other => Err(format!("{other:?}").into()),
        }
    }

    fn call(&mut self, method: &str, params: Value) -> Result<Value> {
        let request = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        self.take(Inbound::Said(FACE, Box::new(Message::Request(request.to_string().into_bytes()))));
        match self.face.try_recv()? {
            Message::Reply(reply) => Ok(serde_json::from_slice(&reply)?),
            other => Err(format!("{other:?}").into()),
        }
    }
}

fn unknown(call: u64) -> Event {
    Event { call, ..event("/usr/bin/frobnicate", &["frobnicate", "x"]) }
}

fn id_of(verdict: &Verdict) -> Result<String> {
    Ok(Uuid::from_bytes(verdict.question.ok_or("no question")?).to_string())
}

#[test]
fn a_question_is_listed_answered_and_delivered() -> Result<()> {
    let mut stage = Stage::new()?;
    let verdict = stage.judge(&unknown(5))?;
    assert_eq!((verdict.decision, verdict.repeatable), (Decision::Hold, false));
    let id = id_of(&verdict)?;
    let pending = stage.call("stayexec.approval_list_pending", Value::Null)?;
    let row = &pending["result"][0];
    for name in
        ["audit_id", "run", "agent", "command", "argv", "cwd", "file", "class", "reasons", "always_rule", "origin", "created", "deadline"]
    {
        assert!(row.get(name).is_some(), "{name}");
    }
    assert_eq!(row["audit_id"], json!(id));
    let decided = stage.call("openhuman.approval_decide", json!({ "request_id": id, "decision": "Deny", "note": "use\x1bgit" }))?;
    assert_eq!(decided["result"]["decision"], "Deny");
    let Message::Answer(answer) = stage.warden.try_recv()? else { return Err("no answer".into()) };
    assert_eq!((answer.call, answer.decision, answer.reason), (5, Decision::Deny, Reason::Answer));
    assert_eq!(answer.note, b"use\\egit");
    let again = stage.call("stayexec.approval_decide", json!({ "audit_id": id, "decision": "ApproveOnce" }))?;
    assert_eq!(again["error"]["data"]["kind"], "answered");
    let none = stage.call("stayexec.approval_decide", json!({ "audit_id": Uuid::now_v7(), "decision": "ApproveOnce" }))?;
    assert_eq!(none["error"]["data"]["kind"], "unknown");
    let recent = stage.call("stayexec.approval_list_recent_decisions", json!({ "limit": 5 }))?;
    assert_eq!(recent["result"][0]["decision"], "Deny");
    Ok(())
}

#[test]
fn identical_starts_are_one_question_and_different_environments_two() -> Result<()> {
    let mut stage = Stage::new()?;
    let one = id_of(&stage.judge(&unknown(5))?)?;
    assert_eq!(id_of(&stage.judge(&unknown(6))?)?, one);
    let other = Event { environment: vec![b"A=1".to_vec()], ..unknown(7) };
    assert_ne!(id_of(&stage.judge(&other)?)?, one);
    stage.call("stayexec.approval_decide", json!({ "audit_id": one, "decision": "ApproveOnce" }))?;
    let calls: Vec<u64> = stage.warden.try_iter().filter_map(|m| if let Message::Answer(a) = m { Some(a.call) } else { None }).collect();
    assert_eq!(calls, [5, 6]);
    Ok(())
}

#[test]
fn a_reopened_question_keeps_its_id_and_its_deadline() -> Result<()> {
    let mut stage = Stage::new()?;
    let verdict = stage.judge(&unknown(5))?;
    let before = stage.call("stayexec.approval_list_pending", Value::Null)?;
    stage.call("stayexec.approval_decide", json!({ "audit_id": id_of(&verdict)?, "decision": "AskLater" }))?;
    stage.take(Inbound::Closed(WARDEN));
    assert_eq!(stage.call("stayexec.approval_list_pending", Value::Null)?["result"], json!([]));
    stage.enlist()?;
    stage.say(Message::Reopen(unknown(5), verdict.clone()));
    let after = stage.call("stayexec.approval_list_pending", Value::Null)?;
    assert!(after["result"][0]["later"].is_string(), "who has put it off: {after}");
    assert_eq!(after["result"][0]["audit_id"], before["result"][0]["audit_id"]);
    assert_eq!(after["result"][0]["deadline"], before["result"][0]["deadline"]);
    Ok(())
}

#[test]
fn an_answer_that_was_not_confirmed_is_delivered_again() -> Result<()> {
    let mut stage = Stage::new()?;
    let verdict = stage.judge(&unknown(5))?;
    stage.call("stayexec.approval_decide", json!({ "audit_id": id_of(&verdict)?, "decision": "ApproveOnce" }))?;
    stage.take(Inbound::Closed(WARDEN));
    stage.enlist()?;
    stage.say(Message::Reopen(unknown(5), verdict.clone()));
    assert!(matches!(stage.warden.try_recv()?, Message::Answer(Answer { call: 5, decision: Decision::Allow, .. })));
    stage.say(Message::Settled(5, true));
    assert!(stage.supervisor.unsettled.is_empty());
    Ok(())
}

#[test]
fn what_comes_out_of_turn_is_refused() -> Result<()> {
    let mut stage = Stage::new()?;
    stage.take(Inbound::Said(FACE, Box::new(Message::Judge(unknown(1)))));
    assert!(matches!(stage.face.try_recv()?, Message::Refused(_)));
    stage.say(Message::Request(b"{}".to_vec()));
    assert!(matches!(stage.warden.try_recv()?, Message::Refused(_)));
    let other = stage.connect(3)?;
    let broken = Enlist { config: b"{}".to_vec(), run: [8; 16], ..enlist(&Frozen::of(&settings()?, false, false))? };
    stage.take(Inbound::Said(3, Box::new(Message::Enlist(broken))));
    assert!(matches!(other.try_recv()?, Message::Refused(_)));
    Ok(())
}

#[test]
fn withdrawn_and_ended_questions_are_gone() -> Result<()> {
    let mut stage = Stage::new()?;
    stage.judge(&unknown(5))?;
    stage.say(Message::Withdraw(5, stayexec_protocol::Withdrawal::Died));
    assert_eq!(stage.call("stayexec.approval_list_pending", Value::Null)?["result"], json!([]));
    stage.judge(&unknown(6))?;
    stage.say(Message::End(0));
    let state = stage.call("stayexec.approval_get_gate_state", Value::Null)?;
    assert_eq!((&state["result"]["runs"], &state["result"]["pending"]), (&json!(0), &json!(0)));
    Ok(())
}

#[test]
fn the_envelope_of_json_rpc() -> Result<()> {
    let mut stage = Stage::new()?;
    for (request, code) in [
        ("{", -32_700),
        ("[]", -32_600),
        ("{\"id\":1}", -32_600),
        ("{\"jsonrpc\":\"1.0\",\"method\":\"stayexec.approval_list_pending\",\"id\":1}", -32_600),
        ("{\"jsonrpc\":\"2.0\",\"method\":\"other.approval_list_pending\",\"id\":1}", -32_601),
        ("{\"jsonrpc\":\"2.0\",\"method\":\"stayexec.approval_decide\",\"id\":1}", -32_602),
        ("{\"jsonrpc\":\"2.0\",\"method\":\"stayexec.approval_list_pending\",\"params\":{\"x\":1},\"id\":1}", -32_602),
    ] {
        let reply: Value = serde_json::from_slice(&rpc::serve(&mut stage.supervisor, request.as_bytes(), None))?;
        assert_eq!(reply["error"]["code"], json!(code), "{request}");
    }
    assert!(rpc::serve(&mut stage.supervisor, b"{\"jsonrpc\":\"2.0\",\"method\":\"stayexec.approval_list_pending\"}", None).is_empty());
    let batch = b"[{\"jsonrpc\":\"2.0\",\"method\":\"stayexec.approval_list_pending\",\"id\":null}]";
    let reply: Value = serde_json::from_slice(&rpc::serve(&mut stage.supervisor, batch, None))?;
    assert_eq!(reply, json!([{ "jsonrpc": "2.0", "id": null, "result": [] }]));
    Ok(())
}
