//! What is wrong with a configuration.
//!
//! Invariant: each variant is one line that says what, where, and what to do.

use super::Source;
use std::io;
use std::path::PathBuf;

/// A value that is looser than one that stands.
#[derive(Debug, thiserror::Error)]
#[error("{place}: {key} = {wanted} is looser than {standing} ({standing_place}); {advice}")]
pub struct Looser {
    /// Where the looser value is.
    pub place: Source,
    /// Its key.
    pub key: String,
    /// Its value.
    pub wanted: String,
    /// The value that stands.
    pub standing: String,
    /// Where that one comes from.
    pub standing_place: Source,
    /// What to do.
    pub advice: &'static str,
}

/// Why a configuration cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// A file is there and cannot be read.
    #[error("cannot read {}: {cause}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        cause: io::Error,
    },
    /// A file does not say what it may say.
    #[error("{}:{line}: {message}", path.display())]
    Parse {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: usize,
        /// What is wrong.
        message: String,
    },
    /// An option or a variable has a value that it cannot have.
    #[error("{source_name}: {message}")]
    Value {
        /// The option or the variable.
        source_name: String,
        /// What is wrong.
        message: String,
    },
    /// A layer that can only tighten would loosen.
    #[error(transparent)]
    Looser(Box<Looser>),
    /// A key that only some layers may have.
    #[error("{place}: {key} loosens, and a workspace file can only tighten; put it into the user's config.toml")]
    WorkspaceKey {
        /// Where it is.
        place: Source,
        /// The key.
        key: String,
    },
    /// The workspace cannot be used.
    #[error("cannot use the workspace {}: {cause}", path.display())]
    Workspace {
        /// The folder.
        path: PathBuf,
        /// Why.
        cause: io::Error,
    },
    /// One of the program's own folders cannot be used.
    #[error("cannot {step} {}: {cause}", path.display())]
    Directory {
        /// What was being done, as an infinitive.
        step: &'static str,
        /// The folder.
        path: PathBuf,
        /// Why.
        cause: io::Error,
    },
    /// The home folder is not known.
    #[error("HOME is not set to an absolute path; set it, or XDG_STATE_HOME, XDG_CONFIG_HOME and XDG_DATA_HOME")]
    NoHome,
    /// A frozen configuration that cannot be read back.
    #[error("the frozen configuration cannot be understood: {0}")]
    Frozen(String),
}
