//! What most verbs need first: surroundings, folders, the supervisor's address.

use crate::config::{self, Directories, Surroundings};
use crate::control::Address;
use crate::error::Failure;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Surroundings and folders of this process.
pub fn here() -> Result<(Surroundings, Directories), Failure> {
    let around = Surroundings::current()?;
    let directories = Directories::resolve(&around)?;
    Ok((around, directories))
}

/// Where the supervisor is reached.
pub fn address(directories: &Directories) -> Address {
    Address { runtime_dir: directories.runtime.clone(), state_dir: directories.state.clone(), config: Some(directories.config_file()) }
}

/// The folder in which everything about a workspace is kept.
pub fn workspace_state(directories: &Directories, workspace: &Path) -> PathBuf {
    config::workspace_state(&directories.state, workspace.as_os_str().as_bytes())
}
