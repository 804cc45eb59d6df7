//! The page for whoever does not see it or has no mouse: what Chromium tells a screen reader, and where the keys lead.

use anyhow::Result;
use serde_json::json;
use stayexec_tests::{Browser, Scene};

const TAB: &str = "\u{e004}";
const ENTER: &str = "\u{e007}";
const ESCAPE: &str = "\u{e00c}";

fn open(browser: &Browser, scene: &Scene) -> Result<()> {
    let outcome = scene.stayexec().words(["web"]).finish()?;
    browser.open(outcome.expect_code(0).out().trim())?;
    browser.sees("return document.getElementById('state').textContent === 'live'")
}

/// What has the focus, in words.
const FOCUS: &str = "const e = document.activeElement; return e.id || e.dataset.decision || e.dataset.confirm || (e.closest('.rule') && e.textContent) \
    || (e.matches('.card') && 'card') || (e.closest('.card') && e.tagName) || e.className || e.tagName";

#[test]
fn everything_has_a_role_and_a_name() -> Result<()> {
    let Some(browser) = Browser::start()? else { return Ok(()) };
    let scene = Scene::new()?;
    let running = scene.supervised("touch first; rm -r victim; echo status $?")?;
    let question = scene.asked_once()?;
    scene.answer(&question, &["approve"])?.expect_code(0);
    scene.asked_once()?;
    open(&browser, &scene)?;
    browser.sees("return document.querySelectorAll('.card').length === 1 && document.querySelectorAll('#history li').length === 1")?;
    let told = browser.accessible()?;
    let has = |role: &str, name: &str| told.iter().any(|(r, n)| r == role && n.trim().eq_ignore_ascii_case(name));
    let wanted = [
        ("RootWebArea", "(1) stayexec"),
        ("link", "Skip to the open questions"),
        ("banner", ""),
        ("main", ""),
        ("heading", "stayexec"),
        ("heading", "Open questions"),
        ("heading", "Answered"),
        ("region", "Open questions 1 waiting"),
        ("region", "Answered 1 shown"),
        ("article", "destructive by bash"),
        ("heading", "destructive by bash"),
        ("textbox", "Note for the agent"),
        ("group", "Answers"),
        ("button", "Approve once"),
        ("button", "Deny"),
        ("button", "Ask later"),
        ("button", "For this run"),
        ("button", "For 10 minutes"),
        ("button", "Always approve"),
        ("search", "Answered questions"),
        ("searchbox", "Search"),
        ("combobox", "Class"),
        ("list", "Answered 1 shown"),
    ];
    for (role, name) in wanted {
        assert!(has(role, name), "no {role} {name:?} in {told:#?}");
    }
    // Whatever can be used has a name, and each number that changes by itself is told.
    let nameless: Vec<_> =
        told.iter().filter(|(r, n)| ["button", "link", "textbox", "searchbox", "combobox"].contains(&r.as_str()) && n.is_empty()).collect();
    assert!(nameless.is_empty(), "{nameless:?}");
    assert!(told.iter().filter(|(role, _)| role == "status").count() >= 3, "{told:#?}");
    assert!(told.iter().any(|(role, _)| role == "alert"), "{told:#?}");
    let described = "const card = document.querySelector('.card'); const of = (e) => document.getElementById(e.getAttribute('aria-describedby')).textContent; \
        return of(card) === 'rm -r victim' && of(card.querySelector('.answers')) === 'rm -r victim'";
    assert_eq!(browser.script(described)?, json!(true), "the card and its answers are told with their command");
    browser.click(".card button[data-decision=Deny]")?;
    running.finish()?.expect_line("status 126");
    Ok(())
}

#[test]
fn the_keys_lead_through_the_page_in_the_order_of_reading() -> Result<()> {
    let Some(browser) = Browser::start()? else { return Ok(()) };
    let scene = Scene::new()?;
    let running = scene.supervised("touch a & touch b & wait; echo over")?;
    scene.asked(2)?;
    open(&browser, &scene)?;
    browser.sees("return document.querySelectorAll('.card').length === 2")?;
    let mut order = Vec::new();
    for _ in 0..8 {
        browser.press(TAB)?;
        order.push(browser.script(FOCUS)?.as_str().unwrap_or_default().to_owned());
    }
    assert_eq!(order, ["skip", "INPUT", "ApproveOnce", "Deny", "AskLater", "ApproveForRun", "ApproveFor", "AlwaysApprove"]);
    // What would be remembered is told first; the key that opened it does not confirm it, and Escape goes back.
    browser.press(ENTER)?;
    assert_eq!(browser.script(FOCUS)?, json!("Back"));
    browser.press(ESCAPE)?;
    assert_eq!(browser.script(FOCUS)?, json!("AlwaysApprove"));
    assert_eq!(scene.pending()?.len(), 2);
    // An answer takes the focus to the next card, and to none of its buttons: a second press answers nothing.
    browser.script("document.querySelector('.card button[data-decision=Deny]').focus()")?;
    browser.press(ENTER)?;
    browser.sees("return document.querySelectorAll('.card').length === 1")?;
    browser.press(ENTER)?;
    browser.press(" ")?;
    assert_eq!(browser.script(FOCUS)?, json!("card"));
    assert_eq!(scene.pending()?.len(), 1);
    for _ in 0..3 {
        browser.press(TAB)?;
    }
    assert_eq!(browser.script(FOCUS)?, json!("Deny"));
    browser.press(ENTER)?;
    running.finish()?.expect_line("over");
    browser.sees("return document.querySelectorAll('.card').length === 0 && document.activeElement.id === 'open'")?;
    // The focus is seen.
    browser.press(TAB)?;
    let outline = browser.script("return getComputedStyle(document.activeElement).outlineStyle")?;
    assert!(outline != json!("none"), "{outline}");
    Ok(())
}
