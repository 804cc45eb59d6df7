//! Every way in which the command can fail, and the exit status of each.
//!
//! Invariant: each failure is one line on standard error. Refuses to say the same thing twice: what was printed already is
//! [`Failure::Said`].

use crate::config::ConfigError;
use crate::control::ControlError;
use crate::exit_code;
use crate::journal::JournalError;
use crate::judge::ServeError;
use crate::warden::RunError;
use std::io::{self, Write};

/// Why the command failed.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The command line or its input is wrong.
    #[error("{0}")]
    Usage(String),
    /// The configuration.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The way to the supervisor.
    #[error(transparent)]
    Control(#[from] ControlError),
    /// The supervisor itself.
    #[error(transparent)]
    Serve(#[from] ServeError),
    /// The gate.
    #[error(transparent)]
    Run(#[from] RunError),
    /// A journal.
    #[error("{0}: {1}")]
    Journal(String, JournalError),
    /// A question that cannot be answered: which of the three, and the line for it.
    #[error("{1}")]
    Question(u8, String),
    /// The supervisor refused a request.
    #[error("the supervisor refuses: {0}")]
    Rpc(String),
    /// The store of a workspace.
    #[error("{0}")]
    Store(String),
    /// Something of the system.
    #[error("cannot {0}: {1}")]
    Step(&'static str, io::Error),
    /// Whoever reads standard output went away: no failure of ours.
    #[error("")]
    Pipe,
    /// It was said already, with this status.
    #[error("")]
    Said(u8),
}

impl Failure {
    /// The exit status.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Usage(_) => exit_code::USAGE,
            Self::Config(error) => config(error),
            Self::Run(RunError::NotFound(_) | RunError::NoSuchFile(_)) => exit_code::NOT_FOUND,
            Self::Run(RunError::NotExecutable(..)) => exit_code::NOT_EXECUTABLE,
            Self::Question(status, _) | Self::Said(status) => *status,
            Self::Pipe => exit_code::OK,
            Self::Control(_) | Self::Serve(_) | Self::Run(_) | Self::Journal(..) | Self::Rpc(_) | Self::Store(_) | Self::Step(..) => {
                exit_code::GATE_FAILED
            }
        }
    }

    /// Says it on standard error.
    pub fn say(&self) {
        if !matches!(self, Self::Pipe | Self::Said(_)) {
            say(&self.to_string());
        }
    }
}

/// What a person wrote is wrong, or the system does not give what it should.
fn config(error: &ConfigError) -> u8 {
    match error {
        ConfigError::Parse { .. }
        | ConfigError::Value { .. }
        | ConfigError::Looser(_)
        | ConfigError::WorkspaceKey { .. }
        | ConfigError::NoHome => exit_code::USAGE,
        ConfigError::Read { .. } | ConfigError::Workspace { .. } | ConfigError::Directory { .. } | ConfigError::Frozen(_) => {
            exit_code::GATE_FAILED
        }
    }
}

/// One line for the person on standard error. There is nobody to tell where that fails.
pub fn say(line: &str) {
    let _ = io::stderr().write_all(format!("stayexec: {}\n", line.replace('\n', " ")).as_bytes());
}
