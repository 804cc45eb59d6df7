//! A plain HTTP client, so that a test can send what no library would.
//!
//! Invariant: what is sent is what the test wrote; every wait has a limit.

use crate::{Launch, Running, Scene};
use anyhow::{Context, Result, ensure};
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(30);

/// A reply.
#[derive(Debug)]
pub struct Reply {
    /// Its status.
    pub status: u16,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Reply {
    /// A header.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    /// The body as text.
    #[must_use]
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// Asserts the status, that a browser is told what it may do, and returns the body's JSON.
    #[track_caller]
    #[must_use = "or not"]
    pub fn json(&self, status: u16) -> Value {
        self.checked(status);
        serde_json::from_slice(&self.body).unwrap_or_else(|e| panic!("{e}: {}", self.text()))
    }

    /// [`Reply::json`] of a reply that is not needed any more.
    #[track_caller]
    #[allow(clippy::must_use_candidate, reason = "most callers want the assertion")]
    pub fn expect(self, status: u16) -> Value {
        self.json(status)
    }

    /// Asserts the status of a reply without a body.
    #[track_caller]
    pub fn expect_empty(&self, status: u16) {
        self.checked(status);
        assert!(self.body.is_empty(), "{}", self.text());
    }

    #[track_caller]
    fn checked(&self, status: u16) {
        assert_eq!(self.status, status, "{}", self.text());
        assert!(self.header("content-security-policy").is_some_and(|policy| policy.contains("default-src 'none'")));
        assert!(self.header("access-control-allow-origin").is_none());
    }
}

/// The HTTP face of a scene's supervisor.
#[derive(Debug)]
pub struct Client {
    /// Where it listens.
    pub port: u16,
    /// The token.
    pub token: String,
    /// A one-time code.
    pub code: String,
}

impl Client {
    /// Turns HTTP on.
    ///
    /// # Errors
    /// `web` or `token` fails.
    pub fn open(scene: &Scene) -> Result<Self> {
        let outcome = scene.stayexec().words(["web"]).finish()?;
        ensure!(outcome.code() == 0, "{}", outcome.told());
        let url = outcome.out();
        let rest = url.trim().strip_prefix("http://127.0.0.1:").with_context(|| url.clone())?;
        let (port, code) = rest.split_once("/#code=").with_context(|| url.clone())?;
        Ok(Self { code: code.to_owned(), ..Self::with_token(scene, port.parse()?)? })
    }

    /// For HTTP that is on at this port.
    ///
    /// # Errors
    /// `token` fails.
    pub fn with_token(scene: &Scene, port: u16) -> Result<Self> {
        let outcome = scene.stayexec().words(["token"]).finish()?;
        ensure!(outcome.code() == 0, "{}", outcome.told());
        Ok(Self { port, token: outcome.out().trim().to_owned(), code: String::new() })
    }

    /// A connection.
    ///
    /// # Errors
    /// Nobody listens.
    pub fn connect(&self) -> Result<TcpStream> {
        let stream = TcpStream::connect(("127.0.0.1", self.port))?;
        stream.set_read_timeout(Some(LIMIT))?;
        stream.set_write_timeout(Some(LIMIT))?;
        Ok(stream)
    }

    /// GET with the token.
    ///
    /// # Errors
    /// There is no reply.
    pub fn get(&self, path: &str) -> Result<Reply> {
        self.send("GET", path, &[], b"")
    }

    /// POST with the token.
    ///
    /// # Errors
    /// There is no reply.
    pub fn post(&self, path: &str, body: &Value) -> Result<Reply> {
        self.send("POST", path, &[], body.to_string().as_bytes())
    }

    /// A request with the token.
    ///
    /// # Errors
    /// There is no reply.
    pub fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Result<Reply> {
        let token = format!("Bearer {}", self.token);
        self.bare(method, path, &[&[("authorization", token.as_str())], headers].concat(), body)
    }

    /// A request with these headers, and a host where none is given.
    ///
    /// # Errors
    /// There is no reply.
    pub fn bare(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Result<Reply> {
        let mut stream = self.connect()?;
        stream.write_all(self.head(method, path, headers, body.len()).as_bytes())?;
        // Whoever refuses a long body reads no more of it.
        let _ = stream.write_all(body);
        let mut from = BufReader::new(stream);
        let (status, headers) = head_of(&mut from)?;
        let length = headers.iter().find(|(name, _)| name == "content-length").and_then(|(_, value)| value.parse().ok());
        let mut body = vec![0; length.unwrap_or(0)];
        from.read_exact(&mut body)?;
        Ok(Reply { status, headers, body })
    }

    fn head(&self, method: &str, path: &str, headers: &[(&str, &str)], length: usize) -> String {
        let mut head = format!("{method} {path} HTTP/1.1\r\ncontent-length: {length}\r\nconnection: close\r\n");
        if headers.iter().all(|(name, _)| *name != "host") {
            head += &format!("host: localhost:{}\r\n", self.port);
        }
        head.extend(headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")));
        head + "\r\n"
    }

    /// The stream of events.
    ///
    /// # Errors
    /// There is none.
    pub fn events(&self) -> Result<Events> {
        let mut stream = self.connect()?;
        let token = format!("Bearer {}", self.token);
        stream.write_all(self.head("GET", "/events", &[("authorization", token.as_str())], 0).as_bytes())?;
        let mut from = BufReader::new(stream);
        let (status, _) = head_of(&mut from)?;
        ensure!(status == 200, "status {status}");
        Ok(Events(from))
    }
}

/// A stream of events.
#[derive(Debug)]
pub struct Events(BufReader<TcpStream>);

impl Events {
    /// The data of the next event.
    ///
    /// # Errors
    /// None comes.
    #[allow(clippy::should_implement_trait, reason = "its end is an error")]
    pub fn next(&mut self) -> Result<Value> {
        loop {
            let mut line = String::new();
            ensure!(self.0.read_line(&mut line)? > 0, "the stream has ended");
            if let Some(data) = line.trim_end().strip_prefix("data: ") {
                return Ok(serde_json::from_str(data)?);
            }
        }
    }
}

type Head = (u16, Vec<(String, String)>);

fn head_of(from: &mut impl BufRead) -> Result<Head> {
    let mut line = || -> Result<String> {
        let mut line = String::new();
        from.read_line(&mut line)?;
        Ok(line.trim_end().to_owned())
    };
    let first = line()?;
    let status = first.split(' ').nth(1).and_then(|status| status.parse().ok()).with_context(|| format!("no status: {first:?}"))?;
    let mut headers = Vec::new();
    loop {
        let next = line()?;
        let Some((name, value)) = next.split_once(':') else { return Ok((status, headers)) };
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
}

impl Scene {
    /// Starts a supervised run of a shell text, beside a folder `victim`.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn supervised(&self, text: &str) -> Result<Running<'_>> {
        let victim = self.work().join("victim");
        std::fs::create_dir_all(&victim)?;
        self.give(&victim)?;
        let launch: Launch<'_> = self.run().tier("supervised").unconfined();
        launch.command(["bash", "-c", text]).start()
    }
}
