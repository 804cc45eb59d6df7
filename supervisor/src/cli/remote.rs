//! Requests to the supervisor, from a face.

use crate::control::{Connection, ControlError};
use crate::error::Failure;
use crate::exit_code;
use serde_json::{Value, json};
use stayexec_protocol::Message;

/// Calls a method and gives its result.
pub fn call(connection: &mut Connection, method: &str, params: &Value) -> Result<Value, Failure> {
    let request = json!({ "jsonrpc": "2.0", "id": 1, "method": format!("stayexec.{method}"), "params": params });
    let reply = match connection.ask(&Message::Request(request.to_string().into_bytes()))? {
        Message::Reply(reply) => reply,
        _ => return Err(ControlError::Refused("the supervisor replies with something that is no reply".into()).into()),
    };
    let mut reply: Value = serde_json::from_slice(&reply).map_err(|e| Failure::Rpc(e.to_string()))?;
    let error = reply["error"].take();
    if error.is_null() {
        return Ok(reply["result"].take());
    }
    let line = error["message"].as_str().unwrap_or_default().to_owned();
    Err(match error["data"]["kind"].as_str() {
        Some("unknown") => Failure::Question(exit_code::UNKNOWN_ID, line),
        Some("answered") => Failure::Question(exit_code::ANSWERED_ID, line),
        Some("expired") => Failure::Question(exit_code::EXPIRED_ID, line),
        _ if error["code"] == json!(-32_602) => Failure::Usage(line),
        _ => Failure::Rpc(line),
    })
}
