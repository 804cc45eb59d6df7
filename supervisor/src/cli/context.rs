//! What most verbs need first: surroundings, folders, the supervisor's address.

use crate::config::{Directories, Surroundings};
use crate::control::Address;
use crate::error::Failure;
use sha2::{Digest, Sha256};
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
    Address { runtime_dir: directories.runtime.clone(), state_dir: directories.state.clone() }
}

/// The folder in which everything about a workspace is kept.
pub fn workspace_state(directories: &Directories, workspace: &Path) -> PathBuf {
    let id: String = Sha256::digest(workspace.as_os_str().as_bytes()).iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    directories.state.join(id)
}

/// The journals in it.
pub fn journals(state: &Path) -> PathBuf {
    state.join("journals")
}
