//! One test's world.
//!
//! Invariant: when a scene ends, no process of it is left; where one was that nobody had announced, the test fails.

use crate::fixture::install;
use crate::process::{Process, owned_by};
use crate::{cannot_run, until};
use anyhow::{Context, Result, ensure};
use nix::sys::signal::Signal;
use nix::unistd::geteuid;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tempfile::TempDir;

/// Who is in the scene.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum User {
    /// Whoever runs the tests.
    Own,
    /// An ordinary user without any privilege: `nobody`.
    Ordinary,
}

const NOBODY: u32 = 65534;

/// Folders, a copy of the built `stayexec`, and a user.
#[derive(Debug)]
pub struct Scene {
    dir: TempDir,
    user: User,
    leaves: AtomicBool,
}

impl Scene {
    /// A scene of whoever runs the tests.
    ///
    /// # Errors
    /// Whatever the file system says; also where `stayexec` was not built.
    pub fn new() -> Result<Self> {
        Self::of(User::Own)
    }

    /// One scene of each user: root and an ordinary one where root runs the tests.
    ///
    /// # Errors
    /// As [`Scene::new`].
    pub fn of_each_user() -> Result<Vec<Self>> {
        if geteuid().is_root() {
            return Ok(vec![Self::of(User::Own)?, Self::of(User::Ordinary)?]);
        }
        cannot_run("only root can run a test as each user");
        Ok(vec![Self::new()?])
    }

    /// A scene of an ordinary user, where there can be one.
    ///
    /// # Errors
    /// As [`Scene::new`].
    pub fn ordinary() -> Result<Self> {
        Self::of(if geteuid().is_root() { User::Ordinary } else { User::Own })
    }

    /// A scene of `user`.
    ///
    /// # Errors
    /// As [`Scene::new`].
    pub fn of(user: User) -> Result<Self> {
        let dir = tempfile::Builder::new().prefix("stayexec-").tempdir_in("/tmp")?;
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755))?;
        let scene = Self { dir, user, leaves: AtomicBool::new(false) };
        fs::create_dir(scene.path("bin"))?;
        install(&product()?, &scene.binary())?;
        for name in ["home", "work", "tmp", "run", "state", "config", "data"] {
            fs::create_dir(scene.path(name))?;
            fs::set_permissions(scene.path(name), fs::Permissions::from_mode(0o700))?;
            scene.give(&scene.path(name))?;
        }
        Ok(scene)
    }

    /// A path in the scene's folder.
    #[must_use]
    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// The folder that commands run in.
    #[must_use]
    pub fn work(&self) -> PathBuf {
        self.path("work")
    }

    /// The scene's copy of `stayexec`.
    #[must_use]
    pub fn binary(&self) -> PathBuf {
        self.path("bin/stayexec")
    }

    /// Whose scene it is.
    #[must_use]
    pub fn user(&self) -> User {
        self.user
    }

    /// The user and group to start commands as, where they are not the tests' own.
    #[must_use]
    pub fn switch(&self) -> Option<u32> {
        (self.user == User::Ordinary).then_some(NOBODY)
    }

    /// Whether commands of this scene run as root.
    #[must_use]
    pub fn is_root(&self) -> bool {
        self.user == User::Own && geteuid().is_root()
    }

    /// The environment of every command: nothing of the tests' own.
    #[must_use]
    pub fn environment(&self) -> Vec<(String, PathBuf)> {
        let folders = [("HOME", "home"), ("TMPDIR", "tmp"), ("XDG_RUNTIME_DIR", "run"), ("XDG_STATE_HOME", "state")];
        let more = [("XDG_CONFIG_HOME", "config"), ("XDG_DATA_HOME", "data")];
        let mut all: Vec<_> = folders.iter().chain(&more).map(|(k, v)| ((*k).to_owned(), self.path(v))).collect();
        for (name, value) in [("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"), ("LANG", "C.UTF-8")] {
            all.push((name.to_owned(), value.into()));
        }
        all
    }

    /// The processes that belong to the scene.
    #[must_use]
    pub fn processes(&self) -> Vec<Process> {
        owned_by(self.dir.path())
    }

    /// Waits for the supervisor of this scene.
    ///
    /// # Errors
    /// It takes more than 30 s.
    pub fn supervisor(&self) -> Result<Process> {
        until("the supervisor", Duration::from_secs(30), || self.processes().into_iter().find(|p| self.is_supervisor(p)))
    }

    /// Waits for the warden of the scene's only run.
    ///
    /// # Errors
    /// It takes more than 30 s.
    pub fn warden(&self) -> Result<Process> {
        until("the warden", Duration::from_secs(30), || {
            let run = |p: &Process| p.program() == Some(self.binary()) && p.line.contains(" run ") && p.state != 'Z';
            self.processes().into_iter().find(run)
        })
    }

    /// Whether it is this scene's supervisor.
    #[must_use]
    pub fn is_supervisor(&self, process: &Process) -> bool {
        let ours = process.program().is_some_and(|p| p.file_name() == Some("stayexec".as_ref()));
        process.state != 'Z' && ours && process.line.split(' ').any(|w| w == "serve")
    }

    /// Signals a process of the scene.
    pub fn signal(&self, process: &Process, signal: Signal) {
        process.signal(self.dir.path(), signal);
    }

    /// Tells that the scene leaves processes behind on purpose.
    pub fn leaves_processes(&self) {
        self.leaves.store(true, Ordering::Relaxed);
    }

    /// The processes that are neither the supervisor nor on their way out.
    fn left_behind(&self) -> Vec<Process> {
        let mut left = Vec::new();
        let _ = until("the scene's processes to end", Duration::from_secs(5), || {
            left = self.processes().into_iter().filter(|p| !self.is_supervisor(p)).collect();
            left.is_empty().then_some(())
        });
        left
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        let checks = !std::thread::panicking() && !self.leaves.load(Ordering::Relaxed);
        let left = if checks { self.left_behind() } else { Vec::new() };
        let ended = until("killed processes to end", Duration::from_secs(20), || {
            let all = self.processes();
            all.iter().for_each(|p| self.signal(p, Signal::SIGKILL));
            all.is_empty().then_some(())
        });
        assert!(std::thread::panicking() || (left.is_empty() && ended.is_ok()), "left behind: {left:?} {:?}", self.processes());
    }
}

/// The built `stayexec`: `STAYEXEC_BIN`, or the one beside the test's own folder. Building it is the test command's job.
fn product() -> Result<PathBuf> {
    let path = match std::env::var_os("STAYEXEC_BIN") {
        Some(path) => PathBuf::from(path),
        None => {
            let test = std::env::current_exe()?;
            test.parent().and_then(Path::parent).context("the test lies in a target folder")?.join("stayexec")
        }
    };
    ensure!(path.is_file(), "{} is not built: run scripts/test, or cargo build and set STAYEXEC_BIN", path.display());
    Ok(path)
}
