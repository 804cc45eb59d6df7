//! Fixtures: the compiled programs of `fixtures/`, and files in general, put where a test wants them.

use anyhow::{Context, Result, ensure};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The compiled fixture `name`.
#[must_use]
pub fn built(name: &str) -> PathBuf {
    Path::new(env!("OUT_DIR")).join(name)
}

/// Copies the file `from` to `to`, executable by everybody.
///
/// install(1) does it: a file that this process had open for writing could still be open in a child that another test forked
/// meanwhile, and could then not be executed (ETXTBSY).
///
/// # Errors
/// install cannot be started or fails.
pub fn install(from: &Path, to: &Path) -> Result<()> {
    let status = Command::new("install").args(["-m", "0755", "-T"]).arg(from).arg(to).status().context("cannot start install")?;
    ensure!(status.success(), "install {} {} ended with {status}", from.display(), to.display());
    Ok(())
}
