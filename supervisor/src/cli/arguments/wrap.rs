//! What `wrap` can be told.
//!
//! Invariant: a name that was taken can be a file's name in a folder of PATH and nothing else. Refuses paths, and stayexec
//! itself.

use super::{Listing, RunOptions};
use clap::{Args, Subcommand};
use std::ffi::OsString;

#[derive(Debug, Subcommand)]
pub(in crate::cli) enum Wrap {
    /// Put launchers first in PATH: `codex` then means `stayexec run -- codex`
    Install(WrapInstall),
    /// Take launchers away
    Remove {
        /// All of them
        #[arg(long, conflicts_with = "names")]
        all: bool,
        /// Names of programs
        #[arg(required_unless_present = "all", value_name = "NAME")]
        names: Vec<LauncherName>,
    },
    /// List the launchers, what each starts, and whether PATH leads to it
    Status(Listing),
    /// Start the real program of a name behind the gate, or as it is where a gate is around already; launchers do this
    Run(WrapRun),
}

#[derive(Debug, Args)]
pub(in crate::cli) struct WrapInstall {
    #[command(flatten)]
    pub(in crate::cli) options: RunOptions,
    /// Names of programs
    #[arg(required = true, value_name = "NAME")]
    pub(in crate::cli) names: Vec<LauncherName>,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct WrapRun {
    #[command(flatten)]
    pub(in crate::cli) options: RunOptions,
    /// The name of the program, and its arguments
    #[arg(required = true, trailing_var_arg = true, value_name = "NAME")]
    pub(in crate::cli) command: Vec<OsString>,
}

/// A name that a launcher can have.
#[derive(Debug, Clone)]
pub(in crate::cli) struct LauncherName(String);

impl LauncherName {
    pub(in crate::cli) fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::str::FromStr for LauncherName {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let wrong = |why: &str| Err(format!("{why}; say a program's name as in `stayexec wrap install codex`"));
        match name {
            "stayexec" => wrong("stayexec itself cannot be wrapped"),
            "" => wrong("a name cannot be empty"),
            _ if name.contains('/') => wrong("a path is no name"),
            _ if name.starts_with(['.', '-']) => wrong("a name cannot begin with a dot or a dash"),
            _ if name.chars().any(char::is_control) => wrong("a name cannot hold control characters"),
            _ => Ok(Self(name.to_owned())),
        }
    }
}
