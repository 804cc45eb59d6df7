//! The program's own folders.
//!
//! Invariant: runtime and state folder belong to the user and are closed to others before anything is put there. Refuses
//! a folder of another user, a symbolic link in a shared folder, and one that others may enter.

use super::{ConfigError, Surroundings};
use sha2::{Digest, Sha256};
use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

/// The program's own folders, resolved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Directories {
    /// Configuration of the user.
    pub config: PathBuf,
    /// Journals, store, log of the supervisor.
    pub state: PathBuf,
    /// Names the control socket.
    pub runtime: PathBuf,
    /// Key of the journals' chain, launchers.
    pub data: PathBuf,
}

impl Directories {
    /// Where they are for these surroundings. Makes none.
    ///
    /// # Errors
    /// [`ConfigError::NoHome`].
    pub fn resolve(around: &Surroundings) -> Result<Self, ConfigError> {
        let below = |variable: &str, home: &str| match around.path(variable) {
            Some(path) => Ok(path.join("stayexec")),
            None => around.home().map(|path| path.join(home).join("stayexec")).ok_or(ConfigError::NoHome),
        };
        let runtime = around
            .path("XDG_RUNTIME_DIR")
            .filter(|path| std::fs::metadata(path).is_ok_and(|dir| dir.is_dir() && dir.uid() == around.uid))
            .map_or_else(|| PathBuf::from(format!("/tmp/stayexec-{}", around.uid)), |path| path.join("stayexec"));
        Ok(Self {
            config: below("XDG_CONFIG_HOME", ".config")?,
            state: below("XDG_STATE_HOME", ".local/state")?,
            data: below("XDG_DATA_HOME", ".local/share")?,
            runtime,
        })
    }

    /// The user's configuration file.
    pub fn config_file(&self) -> PathBuf {
        self.config.join("config.toml")
    }

    /// The key of the journals' chain.
    pub fn key(&self) -> PathBuf {
        self.data.join("journal.key")
    }

    /// The folder of launchers.
    pub fn launchers(&self) -> PathBuf {
        self.data.join("bin")
    }

    /// Makes runtime, state and data folder where they are missing, and checks whose they are.
    ///
    /// # Errors
    /// [`ConfigError::Directory`].
    pub fn make(&self, uid: u32) -> Result<(), ConfigError> {
        [&self.runtime, &self.state, &self.data].into_iter().try_for_each(|path| make_private(path, uid))
    }
}

/// The folder in which everything about a workspace is kept, below the state folder.
pub fn workspace_state(state: &Path, workspace: &[u8]) -> PathBuf {
    let id: String = Sha256::digest(workspace).iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    state.join(id)
}

/// The journals in that folder.
pub fn journals(workspace_state: &Path) -> PathBuf {
    workspace_state.join("journals")
}

/// Makes a folder that only its owner may enter, or checks that it is one.
///
/// # Errors
/// [`ConfigError::Directory`].
pub fn make_private(path: &Path, uid: u32) -> Result<(), ConfigError> {
    let failed = |step| move |cause| ConfigError::Directory { step, path: path.to_owned(), cause };
    DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(failed("make"))?;
    let dir = std::fs::symlink_metadata(path).map_err(failed("look at"))?;
    let wrong = |what: &str| Err(failed("use")(io::Error::other(what)));
    if !dir.is_dir() {
        return wrong("it is a link; name the folder itself");
    }
    if dir.uid() != uid {
        return wrong("it belongs to another user; remove it or set XDG_RUNTIME_DIR, XDG_STATE_HOME and XDG_DATA_HOME");
    }
    if dir.mode() & 0o077 != 0 {
        return wrong("others may enter it; run chmod 700 on it");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn a_link_and_an_open_folder_are_refused() -> Result<(), Box<dyn std::error::Error>> {
        let dir = tempfile::tempdir()?;
        let uid = nix::unistd::geteuid().as_raw();
        let path = dir.path().join("a/b");
        make_private(&path, uid)?;
        make_private(&path, uid)?;
        assert!(make_private(&path, uid + 1).is_err());
        symlink(&path, dir.path().join("link"))?;
        assert!(make_private(&dir.path().join("link"), uid).is_err());
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o750))?;
        assert!(make_private(&path, uid).is_err());
        Ok(())
    }

    #[test]
    fn xdg_variables_win_over_home_and_relative_ones_are_ignored() -> Result<(), ConfigError> {
        let tmp = Path::new("/nowhere");
        let around = Surroundings::with(tmp, tmp, &[("HOME", "/h"), ("XDG_STATE_HOME", "/s"), ("XDG_DATA_HOME", "d")]);
        let dirs = Directories::resolve(&around)?;
        assert_eq!(dirs.state, Path::new("/s/stayexec"));
        assert_eq!(dirs.data, Path::new("/h/.local/share/stayexec"));
        assert_eq!(dirs.runtime, PathBuf::from(format!("/tmp/stayexec-{}", around.uid)));
        Ok(())
    }
}
