//! Answers over HTTP: every shape of the interface, and who is let in.

use anyhow::{Context, Result};
use serde_json::{Value, json};
use stayexec_tests::{Client, Scene};

const LIST: &str = "/rpc/openhuman.approval_list_pending";
const DECIDE: &str = "/rpc/openhuman.approval_decide";

#[test]
fn it_is_off_until_it_is_asked_for() -> Result<()> {
    let scene = Scene::new()?;
    let line = scene.stayexec().words(["token"]).finish()?;
    assert!(line.expect_code(125).expect_one_line().contains("HTTP is off"), "{}", line.told());
    Ok(())
}

#[test]
fn the_documented_lines_list_and_approve() -> Result<()> {
    for scene in Scene::of_each_user()? {
        let running = scene.supervised("rm -r victim; echo status $?")?;
        let question = scene.asked_once()?;
        let client = Client::open(&scene)?;
        let listed = client.get(LIST)?.expect(200);
        assert_eq!(listed[0]["audit_id"], json!(question.audit_id));
        assert_eq!(listed[0]["command"], json!("rm -r victim"));
        // curl calls the body a form.
        let body = format!("{{\"audit_id\":\"{}\",\"decision\":\"ApproveOnce\"}}", question.audit_id);
        let form = [("content-type", "application/x-www-form-urlencoded")];
        let row = client.send("POST", DECIDE, &form, body.as_bytes())?.expect(200);
        assert_eq!(row["decision"], json!("ApproveOnce"));
        assert!(row["decided_by"].as_str().is_some_and(|by| by.ends_with("through http")), "{row}");
        running.finish()?.expect_line("status 0");
        assert!(!scene.work().join("victim").exists());
    }
    Ok(())
}

#[test]
fn every_spelling_of_an_answer_is_taken_once() -> Result<()> {
    let scene = Scene::new()?;
    let running = scene.supervised("for i in 1 2 3; do touch made-$i & done; wait; ls made-*")?;
    let questions = scene.asked(3)?;
    let client = Client::open(&scene)?;
    let [one, two, three] = &questions[..] else { anyhow::bail!("three questions") };
    let later = json!({ "request_id": one.audit_id, "decision": "ask_later" });
    client.post(DECIDE, &later)?.expect(200);
    assert_eq!(scene.pending()?.len(), 3, "the question stays");
    client.post(DECIDE, &json!({ "request_id": one.audit_id, "decision": "approve_once" }))?.expect(200);
    client.post("/rpc/stayexec.approval_decide", &json!({ "audit_id": two.audit_id, "decision": "deny", "note": "no" }))?.expect(200);
    let minutes = |minutes: &str| format!("{{\"audit_id\":\"{}\",\"decision\":\"ApproveFor\",\"minutes\":{minutes}}}", three.audit_id);
    for wrong in ["10.5", "-1", "0", "\"10\"", "1441", "1e300", "null"] {
        client.send("POST", DECIDE, &[], minutes(wrong).as_bytes())?.expect(400);
    }
    // JSON has one kind of number.
    client.send("POST", DECIDE, &[], minutes("10.0").as_bytes())?.expect(200);
    let again = json!({ "audit_id": one.audit_id, "decision": "Deny" });
    client.post(DECIDE, &again)?.expect(409);
    let unknown = json!({ "audit_id": "00000000-0000-7000-8000-000000000000", "decision": "Deny" });
    client.post(DECIDE, &unknown)?.expect(404);
    let outcome = running.finish()?;
    assert_eq!(outcome.out().lines().count(), 2, "{}", outcome.told());
    let recent = client.get("/rpc/stayexec.approval_list_recent_decisions?limit=2")?.expect(200);
    assert_eq!(recent.as_array().map(Vec::len), Some(2));
    let found = client.get("/rpc/stayexec.approval_list_recent_decisions?search=MADE-&class=write")?.expect(200);
    assert_eq!(found.as_array().map(Vec::len), Some(3));
    let first = recent[1]["audit_id"].as_str().context("an id")?;
    let rest = client.get(&format!("/rpc/stayexec.approval_list_recent_decisions?before={first}"))?.expect(200);
    assert_eq!(rest.as_array().map(Vec::len), Some(1), "{rest}");
    for unknown in ["00000000-0000-7000-8000-000000000000", "x"] {
        client.get(&format!("/rpc/stayexec.approval_list_recent_decisions?before={unknown}"))?.expect(404);
    }
    let found = client.get("/rpc/stayexec.approval_list_recent_decisions?class=install")?.expect(200);
    assert_eq!(found, json!([]));
    Ok(())
}

#[test]
fn json_rpc_takes_batches_and_reports_errors() -> Result<()> {
    let scene = Scene::new()?;
    let running = scene.supervised("touch a; echo status $?")?;
    let question = scene.asked_once()?;
    let client = Client::open(&scene)?;
    let call = |id: u32, method: &str, params: Value| json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
    let batch = json!([
        call(1, "stayexec.approval_list_pending", json!({ "session": question.row["run"] })),
        call(2, "stayexec.approval_list_pending", json!({ "session": "other" })),
        call(3, "openhuman.approval_get_gate_state", json!({})),
        call(4, "stayexec.web_token", json!({})),
        call(5, "stayexec.rules_add", json!({})),
        call(6, "stayexec.approval_decide", json!({ "audit_id": question.audit_id, "decision": "ApproveOnce", "face": "cli" })),
        call(7, "stayexec.approval_decide", json!({ "audit_id": question.audit_id, "decision": "ApproveOnce" })),
    ]);
    let replies = client.post("/rpc", &batch)?.expect(200);
    assert_eq!(replies[0]["result"].as_array().map(Vec::len), Some(1));
    assert_eq!(replies[1]["result"], json!([]));
    assert_eq!(replies[2]["result"]["pending"], json!(1));
    assert_eq!((&replies[3]["error"]["code"], &replies[4]["error"]["code"]), (&json!(-32_601), &json!(-32_601)));
    assert!(replies[5]["result"]["decided_by"].as_str().is_some_and(|by| by.ends_with("through http")), "{replies}");
    assert_eq!(replies[6]["error"]["code"], json!(-32_005));
    running.finish()?.expect_line("status 0");
    assert_eq!(client.send("POST", "/rpc", &[], b"{")?.expect(200)["error"]["code"], json!(-32_700));
    for no_request in [json!("AAA"), json!(1), json!(null), json!(true)] {
        assert_eq!(client.post("/rpc", &no_request)?.expect(200)["error"]["code"], json!(-32_600));
    }
    assert_eq!(client.post("/rpc", &json!([]))?.expect(200)["error"]["code"], json!(-32_600));
    assert_eq!(client.post("/rpc", &json!({ "jsonrpc": "1.0", "id": 1, "method": "x" }))?.expect(200)["error"]["code"], json!(-32_600));
    client.post("/rpc", &json!({ "jsonrpc": "2.0", "method": "stayexec.approval_get_gate_state" }))?.expect_empty(204);
    Ok(())
}

#[test]
fn whoever_is_not_let_in_decides_nothing() -> Result<()> {
    let scene = Scene::new()?;
    let running = scene.supervised("touch a; echo status $?")?;
    let question = scene.asked_once()?;
    let client = Client::open(&scene)?;
    let good = json!({ "audit_id": question.audit_id, "decision": "ApproveOnce" }).to_string();
    let token = format!("Bearer {}", client.token);
    let send = |headers: &[(&str, &str)], body: &[u8]| client.bare("POST", DECIDE, headers, body);
    let auth = ("authorization", token.as_str());
    send(&[], good.as_bytes())?.expect(401);
    send(&[("authorization", "Bearer wrong")], good.as_bytes())?.expect(401);
    send(&[("authorization", "Basic eDp5")], good.as_bytes())?.expect(401);
    send(&[("cookie", "stayexec_1=x"), ("x-stayexec-key", "y")], good.as_bytes())?.expect(401);
    send(&[auth, ("host", "evil.example")], good.as_bytes())?.expect(421);
    send(&[auth, ("host", "127.0.0.1.evil.example:80")], good.as_bytes())?.expect(421);
    send(&[auth, ("host", "localhost"), ("host", "localhost")], good.as_bytes())?.expect(400);
    send(&[auth, ("origin", "http://evil.example")], good.as_bytes())?.expect(403);
    send(&[auth, ("origin", "null")], good.as_bytes())?.expect(403);
    send(&[auth, ("sec-fetch-site", "cross-site")], good.as_bytes())?.expect(403);
    send(&[auth, ("sec-fetch-site", "same-site")], good.as_bytes())?.expect(403);
    client.bare("OPTIONS", DECIDE, &[("origin", "http://evil.example")], b"")?.expect(403);
    for (method, address, allowed) in
        [("GET", DECIDE, "POST"), ("DELETE", DECIDE, "POST"), ("POST", LIST, "GET,HEAD"), ("PUT", LIST, "GET,HEAD")]
    {
        let refused = client.bare(method, address, &[auth], b"")?;
        assert_eq!(refused.header("allow"), Some(allowed), "{method} {address}");
        refused.expect(405);
    }
    client.bare("GET", "/nothing", &[auth], b"")?.expect(404);
    for wrong in [&b"{"[..], b"[]", b"1", b"\"x\"", b"\xff", b"{\"audit_id\":1,\"decision\":\"Deny\"}", b"{\"decision\":\"ApproveOnce\"}"] {
        send(&[auth], wrong)?.expect(400);
    }
    let odd = |decision: Value| json!({ "audit_id": question.audit_id, "decision": decision }).to_string();
    for decision in [json!("approveonce"), json!("Approve"), json!(""), json!(null), json!(true), json!(["ApproveOnce"])] {
        send(&[auth], odd(decision).as_bytes())?.expect(400);
    }
    send(&[auth], &vec![b' '; 10 << 20])?.expect(413);
    let deep = [b"[".repeat(100_000), b"]".repeat(100_000)].concat();
    send(&[auth], &deep)?.expect(400);
    assert_eq!(scene.pending()?.len(), 1);
    scene.mark("a").expect_none();
    scene.answer(&question, &["deny"])?.expect_code(0);
    running.finish()?.expect_line("status 126");
    Ok(())
}

#[test]
fn wrong_tokens_are_slowed_and_the_right_one_is_not() -> Result<()> {
    let scene = Scene::new()?;
    let client = Client::open(&scene)?;
    let mut last = 0;
    for _ in 0..40 {
        last = client.bare("GET", LIST, &[("authorization", "Bearer x")], b"")?.status;
    }
    assert_eq!(last, 429);
    client.get(LIST)?.expect(200);
    Ok(())
}

#[test]
fn idle_connections_keep_nobody_out() -> Result<()> {
    let scene = Scene::new()?;
    let client = Client::open(&scene)?;
    let idle: Vec<_> = (0..1_000).map(|_| client.connect()).collect::<Result<_>>()?;
    let begun = std::time::Instant::now();
    client.get(LIST)?.expect(200);
    assert!(begun.elapsed().as_millis() < 1_000, "{:?}", begun.elapsed());
    drop(idle);
    Ok(())
}

#[test]
fn a_code_is_exchanged_once_and_a_session_needs_its_key() -> Result<()> {
    let scene = Scene::new()?;
    let client = Client::open(&scene)?;
    let code = json!({ "code": client.code }).to_string();
    let enter = |headers: &[(&str, &str)]| client.bare("POST", "/session", headers, code.as_bytes());
    enter(&[])?.expect(403);
    let entered = enter(&[("x-stayexec-key", "")])?;
    let set = entered.header("set-cookie").context("a cookie")?.to_owned();
    assert!(set.contains("HttpOnly") && set.contains("SameSite=Strict"), "{set}");
    let key = entered.expect(200)["key"].as_str().context("a key")?.to_owned();
    let cookie = set.split(';').next().unwrap_or_default().to_owned();
    enter(&[("x-stayexec-key", "")])?.expect(401);
    client.bare("GET", LIST, &[("cookie", &cookie)], b"")?.expect(401);
    client.bare("GET", LIST, &[("x-stayexec-key", &key)], b"")?.expect(401);
    client.bare("GET", LIST, &[("cookie", &cookie), ("x-stayexec-key", "0")], b"")?.expect(401);
    let both = [("cookie", cookie.as_str()), ("x-stayexec-key", key.as_str())];
    client.bare("GET", LIST, &both, b"")?.expect(200);
    client.bare("DELETE", "/session", &both, b"")?.expect_empty(204);
    client.bare("GET", LIST, &both, b"")?.expect(401);
    Ok(())
}

#[test]
fn events_and_numbers_follow_what_happens() -> Result<()> {
    let scene = Scene::new()?;
    let client = Client::open(&scene)?;
    let mut events = client.events()?;
    assert_eq!(events.next()?["pending"], json!(0));
    let running = scene.supervised("touch a; echo status $?")?;
    assert_eq!(events.next()?["pending"], json!(1));
    let numbers = client.get("/metrics")?;
    assert!(numbers.text().contains("\nstayexec_questions_open 1\n"), "{}", numbers.text());
    let question = scene.asked_once()?;
    scene.answer(&question, &["approve"])?.expect_code(0);
    assert_eq!(events.next()?["pending"], json!(0));
    running.finish()?.expect_line("status 0");
    assert_eq!(client.bare("GET", "/healthz", &[], b"")?.text(), "ok\n");
    let document = client.bare("GET", "/openapi.json", &[], b"")?.expect(200);
    assert!(document["paths"][LIST.replace("openhuman", "{namespace}")].is_object(), "{document}");
    Ok(())
}

#[test]
fn a_configured_address_is_served_from_the_start_and_by_the_next_supervisor() -> Result<()> {
    let scene = Scene::new()?;
    let port = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
    scene.configure(&format!("[http]\nlisten = \"127.0.0.1:{port}\"\nallow_hosts = [\"box.example\"]\n"))?;
    let running = scene.supervised("touch a; echo status $?")?;
    scene.asked_once()?;
    let client = Client::with_token(&scene, port)?;
    let token = format!("Bearer {}", client.token);
    client.bare("GET", LIST, &[("host", "box.example"), ("authorization", &token)], b"")?.expect(200);
    scene.signal(&scene.supervisor()?, nix::sys::signal::Signal::SIGKILL);
    let question = scene.asked_once()?;
    client.get(LIST)?.expect(401);
    let client = Client::with_token(&scene, port)?;
    client.post(DECIDE, &json!({ "audit_id": question.audit_id, "decision": "ApproveOnce" }))?.expect(200);
    running.finish()?.expect_line("status 0");
    Ok(())
}

#[test]
fn a_notice_is_given_once_and_one_that_hangs_delays_nothing() -> Result<()> {
    let scene = Scene::new()?;
    let (seen, program) = (scene.path("work/seen"), scene.path("bin/notice"));
    std::fs::write(&program, format!("#!/bin/sh\ncat >>{}\nsleep 1000\n", seen.display()))?;
    std::fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755))?;
    scene.configure(&format!("[notify]\ncommand = [\"{}\"]\n", program.display()))?;
    let running = scene.supervised("touch a & touch a & wait; touch b; echo status $?")?;
    let first = stayexec_tests::until("two calls of one question", std::time::Duration::from_secs(30), || {
        scene.pending().ok()?.into_iter().find(|question| question.row["count"] == json!(2))
    })?;
    scene.answer(&first, &["approve"])?.expect_code(0);
    let second = scene.asked_once()?;
    scene.answer(&second, &["approve"])?.expect_code(0);
    running.finish()?.expect_line("status 0");
    let mut told = Vec::new();
    stayexec_tests::within("both notices", || {
        told = std::fs::read_to_string(&seen)
            .unwrap_or_default()
            .lines()
            .filter_map(|line| serde_json::from_str::<Value>(line).ok())
            .collect();
        told.len() == 2
    })?;
    assert_eq!((&told[0]["command"], &told[1]["command"]), (&json!("touch a"), &json!("touch b")));
    assert_eq!(told[0]["audit_id"], json!(first.audit_id));
    // What hangs belongs to the scene's supervisor, and ends with the scene.
    scene.leaves_processes();
    Ok(())
}

#[test]
fn a_notice_that_fails_or_cannot_be_given_delays_nothing() -> Result<()> {
    for program in ["/bin/false", "/no/such/program", "/etc/passwd"] {
        let scene = Scene::new()?;
        scene.configure(&format!("[notify]\ncommand = [\"{program}\"]\n"))?;
        let running = scene.supervised("touch a; echo status $?")?;
        let question = scene.asked_once()?;
        scene.answer(&question, &["approve"])?.expect_code(0);
        running.finish()?.expect_line("status 0");
    }
    Ok(())
}
