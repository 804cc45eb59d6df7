//! `serve`.

use super::arguments::Serve;
use super::context;
use crate::config::make_private;
use crate::control::Address;
use crate::error::Failure;
use crate::exit_code;
use crate::judge::{self, Options};
use std::time::Duration;

/// Serves until told to end, or idle.
pub fn run(arguments: &Serve) -> Result<u8, Failure> {
    let address = match (&arguments.runtime_dir, &arguments.state_dir) {
        (Some(runtime), Some(state)) => Address { runtime_dir: runtime.clone(), state_dir: state.clone() },
        _ => {
            let (_, directories) = context::here()?;
            let own = context::address(&directories);
            let runtime_dir = arguments.runtime_dir.clone().unwrap_or(own.runtime_dir);
            Address { runtime_dir, state_dir: arguments.state_dir.clone().unwrap_or(own.state_dir) }
        }
    };
    let uid = nix::unistd::geteuid().as_raw();
    make_private(&address.runtime_dir, uid)?;
    make_private(&address.state_dir, uid)?;
    let linger = Duration::from_secs(arguments.linger);
    judge::serve(&Options { address, started: arguments.started, linger })?;
    Ok(exit_code::OK)
}
