//! JSON-RPC methods that turn HTTP on and hand its secrets out: to peers of the control socket alone.
//!
//! Invariant: a secret is in the reply and nowhere else. Refuses where HTTP is off, and an address that others can reach.

use super::rpc::{RpcError, Text, parameters, text};
use super::supervisor::Supervisor;
use crate::http::{Door, DoorError};
use serde::Deserialize;
use serde_json::{Value, json};
use std::net::SocketAddr;

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Open {
    listen: Option<SocketAddr>,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Nothing {}

impl Supervisor {
    /// Listens where the configuration wants it; what keeps it from that is said, and ends nothing.
    pub fn listen(&mut self) {
        if let Some(door) = &mut self.door
            && door.wanted().is_some()
            && let Err(e) = door.open(None)
        {
            crate::error::say(&format!("HTTP is off: {e}"));
        }
    }
}

fn door(supervisor: &mut Supervisor) -> Result<&mut Door, RpcError> {
    supervisor.door.as_mut().ok_or_else(|| refused(&DoorError::Off))
}

fn refused(error: &DoorError) -> RpcError {
    RpcError::new(-32_010, error.to_string())
}

/// Turns HTTP on where it is off; its address and a one-time code.
pub fn open(supervisor: &mut Supervisor, params: Value) -> Result<Text, RpcError> {
    let Open { listen } = parameters(params)?;
    let listening = door(supervisor)?.open(listen).map_err(|e| refused(&e))?;
    let code = listening.code().map_err(|e| refused(&e))?;
    text(&json!({ "address": listening.address, "code": code }))
}

/// Address and token.
pub fn token(supervisor: &mut Supervisor, params: Value) -> Result<Text, RpcError> {
    let Nothing {} = parameters(params)?;
    let listening = door(supervisor)?.listening().map_err(|e| refused(&e))?;
    text(&json!({ "address": listening.address, "token": listening.token() }))
}
