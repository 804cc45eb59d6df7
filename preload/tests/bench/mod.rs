//! The bench of the shim's tests: a stub that answers, programs that ask.
//!
//! Invariant: a gate hears until it is dropped, and every program has a limit of time. Refuses to leave anything out in
//! silence: what this machine lacks is said, and fails under `CI=true`.
#![allow(dead_code, unused_imports, reason = "each test program uses its own part of the bench")]

pub mod fixture;
pub mod gate;

pub use fixture::{Libc, fixture, libcs};
pub use gate::Gate;

use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// Runs to the end, for at most a minute.
#[track_caller]
pub fn run(command: &mut Command) -> Output {
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("start");
    let pid = child.id();
    let (mut out, mut err) = (child.stdout.take().expect("piped"), child.stderr.take().expect("piped"));
    let drain = |stream: &mut dyn std::io::Read| {
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        bytes
    };
    let begun = Instant::now();
    std::thread::scope(|scope| {
        let stdout = scope.spawn(move || drain(&mut out));
        let stderr = scope.spawn(move || drain(&mut err));
        let status = loop {
            if let Some(status) = child.try_wait().expect("wait") {
                break status;
            }
            if begun.elapsed() > Duration::from_secs(60) {
                let _ = child.kill();
                panic!("{pid} did not end: {command:?}");
            }
            std::thread::sleep(Duration::from_millis(2));
        };
        Output { status, stdout: stdout.join().expect("read"), stderr: stderr.join().expect("read") }
    })
}

/// What a program wrote to standard output.
#[must_use]
pub fn out(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// What a program wrote to standard error.
#[must_use]
pub fn err(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Says what this machine lacks.
///
/// # Panics
/// Under `CI=true`.
pub fn cannot_run(why: &str) {
    use std::io::Write;
    assert!(std::env::var_os("CI").is_none_or(|v| v != "true"), "CANNOT RUN HERE: {why}");
    let _ = writeln!(std::io::stderr(), "CANNOT RUN HERE: {why}");
}
