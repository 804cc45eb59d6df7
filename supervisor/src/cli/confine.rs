//! What a confined run may write to.
//!
//! Invariant: in the readonly tier the workspace is never writable, nor a folder that contains it. A run's temporary folder
//! is its own and goes with it. Refuses a named folder that is not there.

use super::arguments::{RunOptions, Switch};
use crate::config::{Profile, Settings, make_private};
use crate::error::{Failure, say};
use crate::warden::{User, Writable};
use stayexec_policy::Tier;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The second floor of a run: what may be written, and the temporary folder of its own.
#[derive(Debug)]
pub(super) struct Confinement {
    pub(super) writable: Writable,
    pub(super) temporary: Option<PathBuf>,
}

impl Confinement {
    /// No second floor.
    pub(super) fn none() -> Self {
        Self { writable: Writable::Everything, temporary: None }
    }

    /// The confinement that the options ask for, or the tier: readonly is confined unless told otherwise.
    ///
    /// # Errors
    /// [`Failure::Usage`] for a folder that is not there or holds the workspace of a readonly run; otherwise what kept the
    /// temporary folder from being made.
    pub(super) fn of(
        options: &RunOptions,
        command: &[OsString],
        settings: &Settings,
        uid: u32,
        user: Option<&User>,
    ) -> Result<Self, Failure> {
        let readonly = settings.tier.value == Tier::ReadOnly;
        let confined =
            options.confine.map_or((readonly && !options.observe) || !options.writable.is_empty(), |switch| switch == Switch::On);
        if !confined {
            if !options.writable.is_empty() {
                return Err(Failure::Usage("--writable: names a folder of a confined run; leave out --confine=off".into()));
            }
            return Ok(Self::none());
        }
        let mut folders = Vec::new();
        for named in &options.writable {
            let Ok(folder) = named.canonicalize() else {
                return Err(Failure::Usage(format!("--writable {}: there is no such folder", named.display())));
            };
            if readonly && settings.workspace.starts_with(&folder) {
                let line = format!("--writable {}: the workspace lies in it, and the readonly tier never writes there", named.display());
                return Err(Failure::Usage(line));
            }
            folders.push(folder);
        }
        // Another user's folders are that user's to make.
        let own = state(command, &settings.home, user.is_none());
        folders.extend(own.into_iter().filter(|f| !(readonly && settings.workspace.starts_with(f))));
        if !readonly {
            folders.push(settings.workspace.clone());
        }
        // Another user may not get to where our own temporary files lie.
        let shared = user.map_or_else(std::env::temp_dir, |_| PathBuf::from("/tmp"));
        let temporary = shared.join(format!("stayexec-{}", uuid::Uuid::now_v7().simple()));
        make_private(&temporary, uid)?;
        if let Some(user) = user {
            std::os::unix::fs::chown(&temporary, Some(user.uid), Some(user.gid))
                .map_err(|e| Failure::Step("hand over the temporary folder", e))?;
        }
        folders.push(temporary.clone());
        Ok(Self { writable: Writable::Below(folders), temporary: Some(temporary) })
    }

    /// Variables that the launched program gets for it.
    pub(super) fn environment(&self) -> Vec<(OsString, OsString)> {
        self.temporary.iter().map(|folder| ("TMPDIR".into(), folder.clone().into())).collect()
    }
}

impl Drop for Confinement {
    fn drop(&mut self) {
        if let Some(folder) = &self.temporary
            && let Err(e) = std::fs::remove_dir_all(folder)
            // What looks after it when this process is killed may be faster.
            && e.kind() != std::io::ErrorKind::NotFound
        {
            say(&format!("cannot remove the run's temporary folder {}: {e}", folder.display()));
        }
    }
}

/// State folders of the agent that the command names. Those that are not there yet are made: Landlock allows only what is.
fn state(command: &[OsString], home: &Path, make: bool) -> Vec<PathBuf> {
    let name = command.first().map(PathBuf::from).and_then(|p| p.file_name().map(|n| n.to_string_lossy().into_owned()));
    let paths = name.and_then(|name| Profile::started_as(&name)).map(|profile| profile.state.as_slice()).unwrap_or_default();
    paths
        .iter()
        .map(|path| path.strip_prefix("~/").map_or_else(|| PathBuf::from(path), |rest| home.join(rest)))
        .inspect(|path| {
            if make && path.extension().is_none() {
                // Where it cannot be made, the agent could not have made it either.
                let _ = std::fs::create_dir_all(path);
            }
        })
        .filter(|path| path.exists())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_known_agent_has_its_folders_and_an_unknown_one_none() -> std::io::Result<()> {
        let home = tempfile::tempdir()?;
        std::fs::write(home.path().join(".claude.json"), "{}")?;
        let folders = state(&["/opt/bin/claude".into()], home.path(), true);
        assert!(folders.contains(&home.path().join(".claude")) && folders.contains(&home.path().join(".claude.json")));
        assert!(state(&["bash".into()], home.path(), true).is_empty());
        Ok(())
    }
}
