//! The supervisor's process over its real socket, with folders of its own.

mod common;

use common::{Result, Supervisor, event, judged};
use serde_json::{Value, json};
use stayexec::control::{Address, ControlError, PROGRAM_VERSION, connect};
use stayexec_protocol::{Decision, Message, Reason, VERSION, Withdrawal};
use std::io::{BufRead, BufReader, Read};
use std::os::unix::net::UnixStream;
use std::process::Stdio;
use uuid::Uuid;

#[test]
fn a_question_goes_out_and_its_answer_comes_back() -> Result<()> {
    let supervisor = Supervisor::start()?;
    let mut warden = supervisor.warden()?;
    let verdict = judged(&mut warden, 1)?;
    assert_eq!(verdict.decision, Decision::Hold);
    let id = Uuid::from_bytes(verdict.question.ok_or("no question")?);
    let pending = supervisor.call("stayexec.approval_list_pending", &Value::Null)?;
    assert_eq!(pending["result"][0]["audit_id"], json!(id));
    supervisor.call("openhuman.approval_decide", &json!({ "audit_id": id, "decision": "ApproveOnce" }))?;
    let Some(Message::Answer(answer)) = warden.recv()? else { return Err("no answer".into()) };
    assert_eq!((answer.call, answer.decision, answer.reason), (1, Decision::Allow, Reason::Answer));
    warden.send(&Message::Settled(1, true))?;
    judged(&mut warden, 2)?;
    warden.send(&Message::Withdraw(2, Withdrawal::Died))?;
    judged(&mut warden, 3)?;
    let pending = supervisor.call("stayexec.approval_list_pending", &Value::Null)?;
    assert_eq!(pending["result"].as_array().map(Vec::len), Some(1));
    drop(warden);
    Ok(())
}

#[test]
fn other_versions_and_strangers_are_refused_with_a_line() -> Result<()> {
    let supervisor = Supervisor::start()?;
    let _warden = supervisor.warden()?;
    let build = format!("{}+0123456789abcdef", env!("CARGO_PKG_VERSION"));
    for hello in [
        Message::Hello(VERSION + 1, PROGRAM_VERSION.into()),
        Message::Hello(VERSION, b"9.9.9\x1b[2J".to_vec()),
        Message::Hello(VERSION, build.into_bytes()),
    ] {
        let refused = supervisor.raw()?.ask(&hello);
        let Err(ControlError::Refused(line)) = refused else { return Err(format!("{refused:?}").into()) };
        assert!(line.contains("do not work together; end the runs") && !line.contains('\x1b'), "{line}");
    }
    assert!(matches!(supervisor.raw()?.ask(&Message::Stop), Err(ControlError::Refused(_))));
    assert!(matches!(connect(&supervisor.address)?.ask(&Message::Judge(event(1))), Err(ControlError::Refused(_))));
    Ok(())
}

#[test]
fn a_supervisor_without_runs_makes_room_for_another_build() -> Result<()> {
    let mut supervisor = Supervisor::start()?;
    let mut warden = supervisor.warden()?;
    warden.send(&Message::End(0))?;
    drop(warden);
    let _face = connect(&supervisor.address)?;
    // The end of the run may still be on its way.
    let foreign = || -> Result<ControlError> {
        supervisor.raw()?.ask(&Message::Hello(VERSION, b"9.9.9".to_vec())).err().ok_or_else(|| "it is welcome".into())
    };
    let left = (0..5_000).any(|_| matches!(foreign(), Ok(ControlError::Closed)));
    assert!(left, "it stays");
    assert!(matches!(connect(&supervisor.address), Err(ControlError::Absent)), "the name is free at once");
    assert!(supervisor.child.wait()?.success());
    Ok(())
}

#[test]
fn hostile_clients_disturb_nobody() -> Result<()> {
    use std::io::Write;
    let supervisor = Supervisor::start()?;
    let mut warden = supervisor.warden()?;
    let socket = supervisor.address.socket()?;
    // Silent ones, one with an endless frame, one with rubbish, one that reads nothing.
    let silent: Vec<UnixStream> = (0..50).map(|_| UnixStream::connect_addr(&socket)).collect::<std::io::Result<_>>()?;
    let mut endless = UnixStream::connect_addr(&socket)?;
    endless.write_all(&u32::MAX.to_le_bytes())?;
    let mut said = Vec::new();
    endless.read_to_end(&mut said)?;
    let mut rubbish = connect(&supervisor.address)?.into_stream()?;
    rubbish.write_all(&[5, 0, 0, 0, 200, 1, 2, 3, 4])?;
    rubbish.read_to_end(&mut said)?;
    let mut deaf = connect(&supervisor.address)?;
    for _ in 0..200 {
        deaf.send(&Message::Request(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"stayexec.approval_get_gate_state\"}".to_vec()))?;
    }
    assert_eq!(judged(&mut warden, 1)?.decision, Decision::Hold);
    drop((silent, deaf));
    Ok(())
}

#[test]
fn the_second_supervisor_says_one_line() -> Result<()> {
    let supervisor = Supervisor::start()?;
    let second = Supervisor::serve(&supervisor.address).stderr(Stdio::piped()).output()?;
    assert_eq!(second.status.code(), Some(125));
    let lines: Vec<_> = BufReader::new(&second.stderr[..]).lines().collect::<std::io::Result<_>>()?;
    assert!(matches!(&lines[..], [line] if line.starts_with("stayexec: another supervisor")), "{lines:?}");
    Ok(())
}

#[test]
fn a_started_supervisor_ends_after_its_last_peer() -> Result<()> {
    let supervisor = Supervisor::start()?;
    let started = |address: &Address| Supervisor::serve(address).args(["--started", "--linger", "0"]).stdout(Stdio::piped()).output();
    assert_eq!(started(&supervisor.address)?.stdout, b"taken\n");
    let own = supervisor.dir.path().join("runtime2");
    let address = Address { runtime_dir: own, ..supervisor.address.clone() };
    let output = started(&address)?;
    assert!(output.stdout.starts_with(b"ready "), "{output:?}");
    for _ in 0..5_000 {
        if matches!(connect(&address), Err(ControlError::Absent)) {
            return Ok(());
        }
        std::thread::yield_now();
    }
    Err("it does not end".into())
}
