//! Where a user's supervisor is reached.
//!
//! Invariant: user, runtime folder (path and inode) and network namespace all go into the socket's name, so two users,
//! two folders or two containers never meet at one supervisor. Refuses a runtime folder that is not there.

use super::ControlError;
use sha2::{Digest, Sha256};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::SocketAddr;
use std::path::PathBuf;

/// Where a user's supervisor is reached: an abstract Unix socket named after user, runtime folder and network namespace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    /// Runtime folder.
    pub runtime_dir: PathBuf,
    /// State folder, handed to a supervisor that has to be started.
    pub state_dir: PathBuf,
    /// The user's configuration file, handed to it too.
    pub config: Option<PathBuf>,
}

impl Address {
    /// The name of the socket, without the leading zero byte.
    ///
    /// # Errors
    /// [`ControlError::Step`] where the folder or the network namespace cannot be looked at.
    pub fn name(&self) -> Result<String, ControlError> {
        let folder = std::fs::metadata(&self.runtime_dir).map_err(ControlError::step("look at the runtime folder"))?;
        let namespace = std::fs::metadata("/proc/self/ns/net").map_err(ControlError::step("look at the network namespace"))?;
        let mut hash = Sha256::new();
        for number in [u64::from(nix::unistd::getuid().as_raw()), folder.dev(), folder.ino(), namespace.dev(), namespace.ino()] {
            hash.update(number.to_le_bytes());
        }
        hash.update(self.runtime_dir.as_os_str().as_bytes());
        let digest: String = hash.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect();
        Ok(format!("stayexec-{digest}"))
    }

    /// The same as a socket address.
    ///
    /// # Errors
    /// As [`Address::name`].
    pub fn socket(&self) -> Result<SocketAddr, ControlError> {
        SocketAddr::from_abstract_name(self.name()?).map_err(ControlError::step("name the control socket"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_folders_have_two_names_and_a_missing_one_has_none() -> Result<(), ControlError> {
        let make = || tempfile::tempdir().map_err(ControlError::step("make a folder"));
        let (one, two) = (make()?, make()?);
        let address = |dir: &std::path::Path| Address { runtime_dir: dir.to_owned(), state_dir: dir.to_owned(), config: None };
        assert_eq!(address(one.path()).name()?, address(one.path()).name()?);
        assert_ne!(address(one.path()).name()?, address(two.path()).name()?);
        assert!(address(&one.path().join("missing")).name().is_err());
        Ok(())
    }
}
