//! `run --user NAME`: the agent as another user than the gate.
//!
//! Invariant: only root can, and everything of the gate's own stays root's: the agent's user can neither read nor write it.
//! Refuses a name that is not known, and root itself.

use crate::error::Failure;
use crate::warden::User;
use std::ffi::{CString, OsString};
use std::path::PathBuf;

/// Variables that name folders of the user who starts the run.
const FOLDERS: [&str; 6] = ["XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "OLDPWD"];
/// Variables by which sudo tells who called it.
const SUDO: [&str; 4] = ["SUDO_USER", "SUDO_UID", "SUDO_GID", "SUDO_COMMAND"];

/// Who the agent is.
#[derive(Debug)]
pub(super) struct Agent {
    pub(super) user: User,
    pub(super) home: PathBuf,
    name: String,
    shell: PathBuf,
}

impl Agent {
    /// The user of this name.
    ///
    /// # Errors
    /// [`Failure::Usage`].
    pub(super) fn named(name: &str, uid: u32) -> Result<Self, Failure> {
        let wrong = |why: String| Err(Failure::Usage(format!("--user {name}: {why}")));
        if uid != 0 {
            return wrong("only root can run a command as another user".into());
        }
        let found = match nix::unistd::User::from_name(name) {
            Ok(Some(found)) => found,
            Ok(None) => return wrong("there is no such user".into()),
            Err(errno) => return wrong(format!("the user cannot be looked up: {errno}")),
        };
        if found.uid.is_root() {
            return wrong("this is root, from whom nothing is out of reach; name another user".into());
        }
        let groups = CString::new(name).ok().and_then(|name| nix::unistd::getgrouplist(&name, found.gid).ok());
        let Some(groups) = groups else { return wrong("its groups cannot be looked up".into()) };
        let user = User { uid: found.uid.as_raw(), gid: found.gid.as_raw(), groups: groups.iter().map(|gid| gid.as_raw()).collect() };
        Ok(Self { user, home: found.dir, name: found.name, shell: found.shell })
    }

    /// Variables that the agent gets.
    pub(super) fn environment(&self) -> Vec<(OsString, OsString)> {
        let own = [("HOME", self.home.clone()), ("SHELL", self.shell.clone())];
        let names = ["USER", "LOGNAME"].map(|variable| (variable.into(), self.name.clone().into()));
        own.into_iter().map(|(variable, path)| (variable.into(), path.into())).chain(names).collect()
    }

    /// Variables that it does not get.
    pub(super) fn taken() -> Vec<OsString> {
        FOLDERS.into_iter().chain(SUDO).map(OsString::from).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn root_and_strangers_are_nobody_to_become() {
        assert!(Agent::named("root", 0).is_err() && Agent::named("no such user", 0).is_err() && Agent::named("nobody", 1).is_err());
        let agent = Agent::named("nobody", 0);
        assert!(agent.is_ok_and(|agent| agent.user.uid != 0 && agent.environment().iter().any(|(name, _)| name == "HOME")));
    }
}
