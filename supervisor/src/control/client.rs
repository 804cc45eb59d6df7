//! The client's side of the control socket.

use std::io;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;

/// Where a user's supervisor is reached: an abstract Unix socket named after user, runtime folder and network namespace.
#[derive(Debug, Clone)]
pub struct Address {
    /// Runtime folder.
    pub runtime_dir: PathBuf,
    /// State folder, handed to a supervisor that has to be started.
    pub state_dir: PathBuf,
}

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
pub enum ControlError {
    /// A system call failed.
    #[error("cannot {step}: {cause}")]
    Step {
        /// What was being done, as an infinitive.
        step: &'static str,
        /// Why it failed.
        cause: io::Error,
    },
    /// The other side said no.
    #[error("{0}")]
    Refused(String),
}

/// A greeted connection.
#[derive(Debug)]
pub struct Connection {
    /// The stream, blocking.
    pub stream: UnixStream,
}
