//! `serve`.

use super::arguments::Serve;
use super::context;
use crate::config::{self, Outward, make_private};
use crate::control::Address;
use crate::error::Failure;
use crate::exit_code;
use crate::http;
use crate::judge::{self, Options};
use std::time::Duration;

/// Serves until told to end, or idle.
pub fn run(arguments: &Serve) -> Result<u8, Failure> {
    let address = match (&arguments.runtime_dir, &arguments.state_dir) {
        (Some(runtime), Some(state)) => {
            Address { runtime_dir: runtime.clone(), state_dir: state.clone(), config: arguments.config.clone() }
        }
        _ => {
            let (_, directories) = context::here()?;
            let own = context::address(&directories);
            let runtime_dir = arguments.runtime_dir.clone().unwrap_or(own.runtime_dir);
            Address {
                runtime_dir,
                state_dir: arguments.state_dir.clone().unwrap_or(own.state_dir),
                config: arguments.config.clone().or(own.config),
            }
        }
    };
    let uid = nix::unistd::geteuid().as_raw();
    make_private(&address.runtime_dir, uid)?;
    make_private(&address.state_dir, uid)?;
    let linger = Duration::from_secs(arguments.linger);
    let Outward { listen, allow_hosts, notify } = outward(&address);
    let http = http::Options { listen, allow_hosts };
    judge::serve(&Options { address, started: arguments.started, linger, http, notify })?;
    Ok(exit_code::OK)
}

/// A file that is wrong turns HTTP and notices off, and nothing else: questions have to be answered all the same.
fn outward(address: &Address) -> Outward {
    config::outward(config::MANAGED.as_ref(), address.config.as_deref()).unwrap_or_else(|e| {
        crate::error::say(&format!("HTTP and notices are off: {e}"));
        Outward::default()
    })
}
