//! The page, in a real browser.

use anyhow::Result;
use serde_json::json;
use stayexec_tests::{Browser, Client, Scene};

/// The address that `web` prints.
fn link(scene: &Scene) -> Result<String> {
    let outcome = scene.stayexec().words(["web"]).finish()?;
    outcome.expect_code(0);
    Ok(outcome.out().trim().to_owned())
}

#[test]
fn a_click_approves_and_the_code_leaves_the_address() -> Result<()> {
    let Some(browser) = Browser::start()? else { return Ok(()) };
    let scene = Scene::new()?;
    browser.open(&link(&scene)?)?;
    browser.sees("return document.getElementById('state').textContent === 'live'")?;
    browser.sees("return location.hash === '' && !document.getElementById('none').hidden")?;
    let running = scene.supervised("rm -r victim; echo status $?")?;
    scene.asked_once()?;
    browser.sees("return document.querySelector('.card pre').textContent === 'rm -r victim'")?;
    let text = browser.text();
    for part in ["DESTRUCTIVE", "by bash", "option -r", "Time left", " min ", "Through", "Approve once", "Ask later"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(scene.work().join("victim").exists());
    browser.click(".card button[data-decision=ApproveOnce]")?;
    running.finish()?.expect_line("status 0");
    assert!(!scene.work().join("victim").exists());
    browser.sees("return document.querySelectorAll('.card').length === 0")?;
    browser.sees("return document.getElementById('history').innerText.includes('rm -r victim')")?;
    let history = scene.stayexec().words(["history", "--json"]).finish()?.out();
    assert!(history.contains("through web"), "{history}");
    Ok(())
}

#[test]
fn a_denial_by_keyboard_takes_its_note_to_the_agent() -> Result<()> {
    let Some(browser) = Browser::start()? else { return Ok(()) };
    let scene = Scene::new()?;
    let running = scene.supervised("rm -r victim; echo status $?")?;
    scene.asked_once()?;
    browser.resize(360, 700)?;
    browser.open(&link(&scene)?)?;
    browser.types(".card input", "use git clean")?;
    browser.sees("return document.documentElement.scrollWidth <= innerWidth")?;
    browser.types(".card button[data-decision=Deny]", "\u{e007}")?;
    let outcome = running.finish()?;
    outcome.expect_line("status 126");
    assert_eq!(outcome.denials(), ["stayexec: denied (destructive): rm -r victim: use git clean"], "{}", outcome.told());
    assert!(scene.work().join("victim").exists());
    Ok(())
}

#[test]
fn what_always_would_save_is_shown_before() -> Result<()> {
    let Some(browser) = Browser::start()? else { return Ok(()) };
    let scene = Scene::new()?;
    let running = scene.supervised("touch a; touch b; echo status $?")?;
    let question = scene.asked_once()?;
    browser.open(&link(&scene)?)?;
    browser.click(".card button[data-decision=AlwaysApprove]")?;
    let shown = browser.script("return document.querySelector('.rule pre').textContent")?;
    assert_eq!(shown, question.row["always_rule"]);
    assert_eq!(scene.pending()?.len(), 1, "nothing is saved yet");
    browser.click(".rule button[data-confirm]")?;
    running.finish()?.expect_line("status 0");
    Ok(())
}

#[test]
fn hostile_text_is_text() -> Result<()> {
    let Some(browser) = Browser::start()? else { return Ok(()) };
    let scene = Scene::new()?;
    let hostile = "<img src=x onerror='document.title=1'><script>alert(1)</script>\u{202e}x\u{200b}";
    let run = scene.run().tier("supervised").unconfined().command(["bash", "-c", "touch \"$1\"; echo status $?", "-", hostile]);
    let running = run.start()?;
    let question = scene.asked_once()?;
    browser.open(&link(&scene)?)?;
    browser.sees("return document.querySelector('.card pre').textContent.includes('<img src=x')")?;
    assert_eq!(browser.script("return document.querySelectorAll('img, .card script').length")?, json!(0));
    assert_eq!(browser.script("return /[\\u202e\\u200b]/.test(document.body.textContent)")?, json!(false));
    scene.answer(&question, &["deny"])?;
    running.finish()?.expect_line("status 126");
    browser.sees("return document.getElementById('history').innerText.includes('<img src=x')")?;
    assert_eq!(browser.script("return document.querySelectorAll('img').length")?, json!(0));
    Ok(())
}

#[test]
fn an_open_tab_is_right_again_after_a_restart() -> Result<()> {
    let Some(browser) = Browser::start()? else { return Ok(()) };
    let scene = Scene::new()?;
    let port = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
    scene.configure(&format!("[http]\nlisten = \"127.0.0.1:{port}\"\n"))?;
    let running = scene.supervised("touch a; echo status $?")?;
    scene.asked_once()?;
    browser.open(&link(&scene)?)?;
    browser.sees("return document.querySelectorAll('.card').length === 1")?;
    scene.signal(&scene.supervisor()?, nix::sys::signal::Signal::SIGKILL);
    scene.asked_once()?;
    browser.sees("return !document.getElementById('notice').hidden")?;
    // The link in the same tab: no page is loaded anew.
    browser.open(&link(&scene)?)?;
    browser.sees("return document.getElementById('notice').hidden && document.getElementById('state').textContent === 'live'")?;
    browser.click(".card button[data-decision=ApproveOnce]")?;
    running.finish()?.expect_line("status 0");
    Ok(())
}

#[test]
fn history_is_searched_and_filtered() -> Result<()> {
    let Some(browser) = Browser::start()? else { return Ok(()) };
    let scene = Scene::new()?;
    let running = scene.supervised("touch one; rm -r victim; echo status $?")?;
    for _ in 0..2 {
        let question = scene.asked_once()?;
        scene.answer(&question, &["approve"])?.expect_code(0);
    }
    running.finish()?.expect_line("status 0");
    browser.open(&link(&scene)?)?;
    let rows = |count: u32| format!("return document.querySelectorAll('#history li').length === {count}");
    browser.sees(&rows(2))?;
    browser.types("#search", "ONE")?;
    browser.sees(&rows(1))?;
    browser.types("#class", "destructive")?;
    browser.sees("return !document.getElementById('no-history').hidden")?;
    Ok(())
}

#[test]
fn what_is_older_is_shown_page_by_page() -> Result<()> {
    let Some(browser) = Browser::start()? else { return Ok(()) };
    let scene = Scene::new()?;
    let running = scene.supervised("for i in $(seq 230); do touch file-$i & done; wait; echo over")?;
    let questions = scene.asked(230)?;
    browser.open(&link(&scene)?)?;
    let cards = |count: u32| format!("return document.querySelectorAll('.card').length === {count}");
    browser.sees(&cards(100))?;
    browser.click("#more")?;
    browser.sees(&cards(200))?;
    let client = Client::open(&scene)?;
    let deny = |id: &String| json!({ "jsonrpc": "2.0", "id": 1, "method": "stayexec.approval_decide", "params": { "audit_id": id, "decision": "Deny" } });
    let batch: Vec<_> = questions.iter().map(|question| deny(&question.audit_id)).collect();
    client.post("/rpc", &json!(batch))?.expect(200);
    running.finish()?.expect_line("over");
    let rows = |count: u32| format!("return document.querySelectorAll('#history li').length === {count}");
    browser.sees(&cards(0))?;
    browser.sees(&rows(100))?;
    // What was loaded stays in front of the eyes when something new ends.
    browser.click("#older")?;
    browser.sees(&rows(200))?;
    browser.sees("return document.activeElement === document.querySelectorAll('#history li')[100]")?;
    let running = scene.supervised("touch newest")?;
    scene.answer(&scene.asked_once()?, &["deny"])?.expect_code(0);
    running.finish()?;
    browser.sees("return document.querySelector('#history li').innerText.includes('touch newest')")?;
    browser.sees(&rows(201))?;
    browser.click("#older")?;
    browser.sees(&rows(231))?;
    browser.sees("return document.getElementById('older').hidden")?;
    let shown = browser.script("return new Set([...document.querySelectorAll('#history code')].map((code) => code.textContent)).size")?;
    assert_eq!(shown, json!(231), "each once");
    browser.types("#search", "file-23")?;
    browser.sees(&rows(2))?;
    Ok(())
}

#[test]
fn later_for_this_run_and_for_a_time() -> Result<()> {
    let Some(browser) = Browser::start()? else { return Ok(()) };
    let scene = Scene::new()?;
    browser.open(&link(&scene)?)?;
    let choose = |decision: &str| -> Result<()> {
        // While an answer is on its way the buttons are off.
        let button = format!(".card button[data-decision={decision}]");
        browser.sees(&format!("return document.querySelector('{button}')?.disabled === false"))?;
        browser.click(&button)?;
        browser.sees("return document.querySelector('.rule pre').textContent.includes('/touch')")?;
        browser.click(".rule button[data-confirm]")
    };
    // Put off, it stays; approved for the run, the run asks no more.
    let running = scene.supervised("touch a; touch b; echo status $?")?;
    let question = scene.asked_once()?;
    browser.click(".card button[data-decision=AskLater]")?;
    stayexec_tests::within("the answer", || scene.pending().is_ok_and(|open| open.len() == 1 && open[0].audit_id == question.audit_id))?;
    scene.mark("a").expect_none();
    choose("ApproveForRun")?;
    running.finish()?.expect_line("status 0");
    scene.mark("b").expect_made();
    // The next run asks again; approved for a time, the one after it does not.
    let running = scene.supervised("touch c; echo status $?")?;
    scene.asked_once()?;
    choose("ApproveFor")?;
    running.finish()?.expect_line("status 0");
    scene.supervised("touch d; echo status $?")?.finish()?.expect_line("status 0");
    scene.mark("d").expect_made();
    Ok(())
}
