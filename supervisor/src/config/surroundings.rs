//! What a configuration is resolved from, besides files: environment, working directory, user.
//!
//! Invariant: the environment is read here and nowhere else, once, so that everything below is a function of its input.

use super::ConfigError;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// The managed file.
pub const MANAGED: &str = "/etc/stayexec/managed.toml";

/// What a process finds around itself.
#[derive(Debug, Clone)]
pub struct Surroundings {
    variables: BTreeMap<OsString, OsString>,
    /// Working directory.
    pub cwd: PathBuf,
    /// User.
    pub uid: u32,
    /// The managed file.
    pub managed: PathBuf,
}

impl Surroundings {
    /// Those of this process.
    ///
    /// # Errors
    /// [`ConfigError::Workspace`] where there is no working directory.
    pub fn current() -> Result<Self, ConfigError> {
        let cwd = std::env::current_dir().map_err(|cause| ConfigError::Workspace { path: PathBuf::from("."), cause })?;
        let uid = nix::unistd::geteuid().as_raw();
        Ok(Self { variables: std::env::vars_os().collect(), cwd, uid, managed: PathBuf::from(MANAGED) })
    }

    /// Others, for a test.
    pub fn with(cwd: &Path, managed: &Path, variables: &[(&str, &str)]) -> Self {
        let variables = variables.iter().map(|(name, value)| (OsString::from(name), OsString::from(value))).collect();
        Self { variables, cwd: cwd.to_owned(), uid: nix::unistd::geteuid().as_raw(), managed: managed.to_owned() }
    }

    /// A variable that is set and not empty.
    pub fn variable(&self, name: &str) -> Option<&OsStr> {
        self.variables.get(OsStr::new(name)).map(OsString::as_os_str).filter(|value| !value.is_empty())
    }

    /// A variable that holds an absolute path. The XDG specification has any other value ignored.
    pub fn path(&self, name: &str) -> Option<PathBuf> {
        self.variable(name).map(PathBuf::from).filter(|path| path.is_absolute())
    }

    /// The home folder: HOME, or what the user database says.
    pub fn home(&self) -> Option<PathBuf> {
        self.path("HOME").or_else(|| {
            let user = nix::unistd::User::from_uid(nix::unistd::Uid::from_raw(self.uid)).ok().flatten()?;
            user.dir.is_absolute().then_some(user.dir)
        })
    }
}
