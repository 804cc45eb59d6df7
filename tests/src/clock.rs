//! Waiting: for a condition, up to a limit. Refuses plain sleeps: a test never waits for time to pass.

use anyhow::{Result, bail};
use std::time::{Duration, Instant};

const STEP: Duration = Duration::from_millis(2);

/// Asks `probe` until it has an answer; an error that names `what` after `limit`.
///
/// # Errors
/// The limit passed.
pub fn until<T>(what: &str, limit: Duration, mut probe: impl FnMut() -> Option<T>) -> Result<T> {
    let begun = Instant::now();
    loop {
        if let Some(answer) = probe() {
            return Ok(answer);
        }
        if begun.elapsed() > limit {
            bail!("waited {limit:?} for {what}");
        }
        std::thread::sleep(STEP);
    }
}

/// [`until`] for a condition, with the usual limit of 30 s.
///
/// # Errors
/// The limit passed.
pub fn within(what: &str, mut probe: impl FnMut() -> bool) -> Result<()> {
    until(what, Duration::from_secs(30), || probe().then_some(()))
}
