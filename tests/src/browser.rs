//! A real Chromium, driven over WebDriver.
//!
//! Invariant: its profile is its own and empty, and it ends with the test. Refuses to be left out silently: where it is not
//! installed the test says so, and fails under `CI=true`.

use crate::{Client, Reply, cannot_run, until};
use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use tempfile::TempDir;

const LIMIT: Duration = Duration::from_secs(30);
/// The key under which WebDriver names an element.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";
const FLAGS: [&str; 9] = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
];

/// A browser with one window.
#[derive(Debug)]
pub struct Browser {
    driver: Child,
    http: Client,
    session: String,
    _profile: TempDir,
}

impl Browser {
    /// Starts one; `None` where none is installed.
    ///
    /// # Errors
    /// It does not start.
    pub fn start() -> Result<Option<Self>> {
        let profile = tempfile::Builder::new().prefix("chromium-").tempdir_in("/tmp")?;
        let Some((driver, port)) = driver(profile.path())? else { return Ok(None) };
        let mut browser =
            Self { driver, http: Client { port, token: String::new(), code: String::new() }, session: String::new(), _profile: profile };
        let folder = format!("--user-data-dir={}", browser._profile.path().join("profile").display());
        let flags: Vec<&str> = FLAGS.into_iter().chain([folder.as_str()]).collect();
        let wanted = json!({ "capabilities": { "alwaysMatch": { "browserName": "chrome", "goog:chromeOptions": { "args": flags } } } });
        let made = browser.ask("POST", "/session", &wanted)?;
        browser.session = made["sessionId"].as_str().context("a session")?.to_owned();
        Ok(Some(browser))
    }

    fn ask(&self, method: &str, path: &str, body: &Value) -> Result<Value> {
        let text = if method == "GET" { String::new() } else { body.to_string() };
        let reply: Reply = self.http.bare(method, path, &[("content-type", "application/json")], text.as_bytes())?;
        let value: Value = serde_json::from_str(&reply.text()).with_context(|| reply.text())?;
        ensure!(reply.status == 200, "{}", value["value"]["message"]);
        Ok(value["value"].clone())
    }

    fn within(&self, path: &str) -> String {
        format!("/session/{}{path}", self.session)
    }

    /// Goes to an address.
    ///
    /// # Errors
    /// The browser says no.
    pub fn open(&self, url: &str) -> Result<()> {
        self.ask("POST", &self.within("/url"), &json!({ "url": url })).map(drop)
    }

    /// What a script returns.
    ///
    /// # Errors
    /// The browser says no.
    pub fn script(&self, text: &str) -> Result<Value> {
        self.ask("POST", &self.within("/execute/sync"), &json!({ "script": text, "args": [] }))
    }

    /// Waits for an element.
    fn element(&self, css: &str) -> Result<String> {
        let wanted = json!({ "using": "css selector", "value": css });
        let found = until(css, LIMIT, || self.ask("POST", &self.within("/element"), &wanted).ok());
        Ok(found.with_context(|| self.text())?[ELEMENT].as_str().context("an element")?.to_owned())
    }

    /// Clicks an element, once it is there.
    ///
    /// # Errors
    /// It does not come, or is hidden.
    pub fn click(&self, css: &str) -> Result<()> {
        let element = self.element(css)?;
        self.ask("POST", &self.within(&format!("/element/{element}/click")), &json!({})).map(drop)
    }

    /// Types into an element; `\u{e007}` is the return key, `\u{e004}` the tabulator.
    ///
    /// # Errors
    /// It does not come, or is hidden.
    pub fn types(&self, css: &str, text: &str) -> Result<()> {
        let element = self.element(css)?;
        self.ask("POST", &self.within(&format!("/element/{element}/value")), &json!({ "text": text })).map(drop)
    }

    /// Presses keys where the focus is.
    ///
    /// # Errors
    /// The browser says no.
    pub fn press(&self, keys: &str) -> Result<()> {
        let steps: Vec<Value> =
            keys.chars().flat_map(|key| ["keyDown", "keyUp"].map(|kind| json!({ "type": kind, "value": key }))).collect();
        let actions = json!({ "actions": [{ "type": "key", "id": "keys", "actions": steps }] });
        self.ask("POST", &self.within("/actions"), &actions).map(drop)
    }

    /// What a screen reader is told: role and name of each node that is not ignored, in order.
    ///
    /// # Errors
    /// The browser says no.
    pub fn accessible(&self) -> Result<Vec<(String, String)>> {
        let asked = json!({ "cmd": "Accessibility.getFullAXTree", "params": {} });
        let tree = self.ask("POST", &self.within("/goog/cdp/execute"), &asked)?;
        let text = |node: &Value, what: &str| node[what]["value"].as_str().unwrap_or_default().to_owned();
        let nodes = tree["nodes"].as_array().context("nodes")?.iter().filter(|node| node["ignored"] != json!(true));
        Ok(nodes.map(|node| (text(node, "role"), text(node, "name"))).collect())
    }

    /// The page's text.
    #[must_use]
    pub fn text(&self) -> String {
        let text = self.script("return document.body.innerText").ok();
        text.and_then(|text| text.as_str().map(str::to_owned)).unwrap_or_default()
    }

    /// Waits until a script returns true.
    ///
    /// # Errors
    /// It does not.
    pub fn sees(&self, script: &str) -> Result<()> {
        let seen = until(script, LIMIT, || self.script(script).ok().filter(|value| *value == json!(true)));
        seen.map(drop).with_context(|| self.text())
    }

    /// Sets the window's size.
    ///
    /// # Errors
    /// The browser says no.
    pub fn resize(&self, width: u32, height: u32) -> Result<()> {
        self.ask("POST", &self.within("/window/rect"), &json!({ "width": width, "height": height })).map(drop)
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // The browser ends with its session, or else with its driver.
        let _ = self.ask("DELETE", &self.within(""), &Value::Null);
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

/// A driver and its port; nothing where none is installed. It takes a free port of IPv4 and wants the same of IPv6: where
/// that one is taken it ends, and another is started.
fn driver(home: &std::path::Path) -> Result<Option<(Child, u16)>> {
    for _ in 0..10 {
        let mut command = Command::new("chromedriver");
        command.arg("--port=0").env("HOME", home).stdout(Stdio::piped()).stderr(Stdio::null());
        let Ok(mut driver) = command.spawn() else {
            cannot_run("chromium and chromium-driver are not installed");
            return Ok(None);
        };
        match port(driver.stdout.take().context("its output")?) {
            Ok(port) => return Ok(Some((driver, port))),
            Err(_) => {
                let _ = driver.kill();
                driver.wait()?;
            }
        }
    }
    Err(anyhow::anyhow!("the driver tells no port"))
}

/// The port that the driver tells; its further output is read and dropped.
fn port(out: impl std::io::Read + Send + 'static) -> Result<u16> {
    let mut lines = BufReader::new(out).lines();
    let told = lines.by_ref().map_while(Result::ok).find_map(|line| {
        let (_, rest) = line.split_once("started successfully on port ")?;
        rest.trim_end_matches('.').parse().ok()
    });
    std::thread::spawn(move || lines.count());
    told.context("the driver tells no port")
}
