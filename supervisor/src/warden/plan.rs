//! What a run needs to know before it starts.
//!
//! Invariant: a plan is frozen: nothing in it is read again from disk or environment while the run lasts.

use super::fence::Writable;
use stayexec_protocol::Mode;
use std::ffi::OsString;
use std::path::PathBuf;

/// The plan of one run, resolved from command line, environment and files.
#[derive(Debug, Clone)]
pub struct Plan {
    /// Id of the run (UUIDv7); its journal is named after it.
    pub run: [u8; 16],
    /// The file to launch, found already.
    pub program: PathBuf,
    /// The command to launch: program and arguments, not empty.
    pub command: Vec<OsString>,
    /// The frozen configuration as JSON, for the supervisor.
    pub config: Vec<u8>,
    /// The control address of the supervisor to use or to start.
    pub address: crate::control::Address,
    /// Folder for this run's journal, made already.
    pub journal_dir: PathBuf,
    /// File with the key of the journal's chain.
    pub key_path: PathBuf,
    /// Workspace of the run.
    pub workspace: PathBuf,
    /// Tier, as a word, for the journal's first record.
    pub tier: String,
    /// Origin, as a word, for the journal's first record.
    pub origin: String,
    /// What the tree may write to.
    pub writable: Writable,
    /// A folder that goes with the run.
    pub temporary: Option<PathBuf>,
    /// Variables that the launched program gets in addition; they replace those of the same name.
    pub environment: Vec<(OsString, OsString)>,
    /// The mode of the gate.
    pub require: Mode,
    /// A start that has to be asked about waits in its call.
    pub holds_calls: bool,
    /// Whether the agent's own process gets the shim.
    pub shim: bool,
    /// Who the command runs as, where that is not the warden's own user.
    pub user: Option<User>,
    /// Variables that the launched program does not get.
    pub taken: Vec<OsString>,
    /// Folder in which each run has one of its own, for what its tree has to find.
    pub rooms: PathBuf,
}

/// A user as the kernel knows one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    /// User id.
    pub uid: u32,
    /// Primary group.
    pub gid: u32,
    /// All groups.
    pub groups: Vec<u32>,
}

impl Plan {
    /// The environment of the launched program: our own, with what the plan adds and without what it takes.
    pub fn launch_environment(&self) -> Vec<(OsString, OsString)> {
        let replaced = |name: &OsString| self.taken.contains(name) || self.environment.iter().any(|(added, _)| added == name);
        std::env::vars_os().filter(|(name, _)| !replaced(name)).chain(self.environment.iter().cloned()).collect()
    }
}

/// Why a run could not start, or could not go on.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The program is not there.
    #[error("cannot find {0}: no such program in PATH")]
    NotFound(String),
    /// A path was given, and nothing is there.
    #[error("cannot find {0}: there is no such file")]
    NoSuchFile(String),
    /// The program is there and cannot be executed.
    #[error("cannot execute {0}: {1}")]
    NotExecutable(String, std::io::Error),
    /// One of the steps of the gate failed.
    #[error("cannot {step}: {cause}")]
    Step {
        /// What was being done, as an infinitive.
        step: &'static str,
        /// Why it failed.
        cause: std::io::Error,
    },
    /// What the gate needs does not hold on this machine.
    #[error("{0}")]
    Unsupported(String),
    /// No supervisor can be reached.
    #[error(transparent)]
    Control(#[from] crate::control::ControlError),
}
