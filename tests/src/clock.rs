//! Waiting: for a condition, up to a limit. Refuses plain sleeps: a test never waits for time to pass.

use anyhow::{Result, bail};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
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

/// Waits until a run that begins is later than the last change of `file`: one that begins in the very tick of the file
/// system's clock cannot tell whether the file came before it.
///
/// # Errors
/// Whatever the file system says, and a clock that stands.
pub fn let_the_clock_tick(file: &Path) -> Result<()> {
    let changed = |path: &Path| fs::metadata(path).map(|m| (m.ctime(), m.ctime_nsec()));
    let (probe, put) = (file.with_extension("tick"), changed(file)?);
    until("the clock of the file system to tick", Duration::from_secs(5), || {
        let _ = fs::remove_file(&probe);
        fs::write(&probe, "").ok()?;
        let (seconds, nanos) = changed(&probe).ok()?;
        // Twice the coarsest tick (100 Hz): the clock that the run reads may lag behind by one.
        ((seconds, nanos) > (put.0, put.1 + 20_000_000) || seconds > put.0 + 1).then_some(())
    })?;
    Ok(fs::remove_file(&probe)?)
}
