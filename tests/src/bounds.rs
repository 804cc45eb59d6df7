//! How much is tried, and what cannot be tried here.
//!
//! Invariant: nothing is left out silently; under `CI=true` what cannot run is a failure.

/// Whether the long form of every test was asked for: `STAYEXEC_TESTS=full`.
#[must_use]
pub fn full() -> bool {
    std::env::var_os("STAYEXEC_TESTS").is_some_and(|v| v == "full")
}

/// `long` rounds in the long form, else `short`.
#[must_use]
pub fn rounds(short: u32, long: u32) -> u32 {
    if full() { long } else { short }
}

/// Says that this machine lacks what the test needs.
///
/// # Panics
/// Under `CI=true`: there, what a test needs must be there.
pub fn cannot_run(why: &str) {
    assert!(std::env::var_os("CI").is_none_or(|v| v != "true"), "CANNOT RUN HERE: {why}");
    say(&format!("CANNOT RUN HERE: {why}"));
}

/// One line past the test runner's capture, so that it is seen of a test that passes too.
fn say(line: &str) {
    use std::io::Write;
    let test = std::thread::current();
    let _ = writeln!(std::io::stderr(), "{}: {line}", test.name().unwrap_or("test"));
}
