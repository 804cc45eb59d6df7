//! JSON-RPC 2.0: the one table of methods behind every face.
//!
//! Invariant: a method name is looked up in [`METHODS`] and nowhere else; both namespaces name the same methods. Refuses
//! parameters that it does not know, and says for an id that cannot be answered which of the three reasons it is.

use super::answering::AnswerError;
use super::question::QuestionError;
use super::supervisor::Supervisor;
use crate::http::Face;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// Namespaces in which the methods are found.
const NAMESPACES: [&str; 2] = ["stayexec", "openhuman"];
/// Most requests in a batch.
const BATCH: usize = 1_000;
/// Why a method did not do what it was asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RpcError {
    code: i64,
    message: String,
    kind: Option<&'static str>,
}

impl RpcError {
    pub(super) fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), kind: None }
    }

    pub(super) fn parameters(message: impl Into<String>) -> Self {
        Self::new(-32_602, message)
    }

    /// Nobody has time for it.
    pub fn busy(message: impl Into<String>) -> Self {
        Self { code: -32_009, message: message.into(), kind: Some("busy") }
    }

    /// Its number.
    pub const fn code(&self) -> i64 {
        self.code
    }

    /// As JSON-RPC's `error`.
    pub fn to_json(&self) -> Value {
        let mut error = json!({ "code": self.code, "message": self.message });
        if let Some(kind) = self.kind {
            error["data"] = json!({ "kind": kind });
        }
        error
    }
}

impl From<QuestionError> for RpcError {
    fn from(error: QuestionError) -> Self {
        let (code, kind) = match error {
            QuestionError::Unknown => (-32_004, "unknown"),
            QuestionError::Answered => (-32_005, "answered"),
            QuestionError::Expired => (-32_006, "expired"),
        };
        Self { code, message: error.to_string(), kind: Some(kind) }
    }
}

impl From<AnswerError> for RpcError {
    fn from(error: AnswerError) -> Self {
        let (code, kind) = match error {
            AnswerError::Question(error) => return error.into(),
            AnswerError::Nothing => (-32_007, "nothing"),
            AnswerError::Store(_) => (-32_008, "store"),
        };
        Self { code, message: error.to_string(), kind: Some(kind) }
    }
}

/// A result as JSON text: a long list is never built as a tree.
pub type Text = String;

type Method = fn(&mut Supervisor, Value) -> Result<Text, RpcError>;

/// Who may call a method.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reach {
    /// Every face.
    All,
    /// Peers of the control socket: no process in a tree is one.
    Socket,
}
use Reach::{All, Socket};

/// Every method, without its namespace.
const METHODS: &[(&str, Reach, Method)] = &[
    ("approval_list_pending", All, super::rpc_questions::list_pending),
    ("approval_decide", All, super::rpc_questions::decide),
    ("approval_list_recent_decisions", All, super::rpc_questions::list_recent_decisions),
    ("approval_get_gate_state", All, super::rpc_questions::get_gate_state),
    ("approval_find", Socket, super::rpc_questions::find),
    ("run_list", Socket, super::rpc_rules::list_runs),
    ("run_stop", Socket, super::rpc_rules::stop_run),
    ("rules_list", Socket, super::rpc_rules::list),
    ("rules_add", Socket, super::rpc_rules::add),
    ("rules_remove", Socket, super::rpc_rules::remove),
    ("web_open", Socket, super::rpc_http::open),
    ("web_token", Socket, super::rpc_http::token),
];

/// Answers a request or a batch of a peer of the control socket, or of another face.
pub fn serve(supervisor: &mut Supervisor, request: &[u8], face: Option<Face>) -> Vec<u8> {
    let reply = match serde_json::from_slice(request) {
        Err(e) => Some(failed(&Value::Null, &RpcError::new(-32_700, format!("this is no JSON: {e}")))),
        Ok(Value::Array(batch)) if batch.is_empty() || batch.len() > BATCH => {
            Some(failed(&Value::Null, &RpcError::new(-32_600, format!("a batch holds 1 to {BATCH} requests"))))
        }
        Ok(Value::Array(batch)) => {
            let replies: Vec<Text> = batch.into_iter().filter_map(|one| answer(supervisor, one, face)).collect();
            (!replies.is_empty()).then(|| format!("[{}]", replies.join(",")))
        }
        Ok(one) => answer(supervisor, one, face),
    };
    // A notification is not replied to in JSON-RPC; the frame is, with nothing in it.
    reply.map(String::into_bytes).unwrap_or_default()
}

/// Calls a method by its full name.
///
/// # Errors
/// [`RpcError`] as JSON-RPC numbers it.
pub fn call(supervisor: &mut Supervisor, method: &str, mut params: Value, face: Option<Face>) -> Result<Text, RpcError> {
    let name = method.split_once('.').filter(|(namespace, _)| NAMESPACES.contains(namespace)).map(|(_, name)| name);
    let found = METHODS.iter().find(|(known, reach, _)| Some(*known) == name && (*reach == All || face.is_none()));
    if let (Some(face), Some("approval_decide"), Some(params)) = (face, name, params.as_object_mut()) {
        // Who answers through another face does not choose its name.
        params.insert("face".into(), face.as_str().into());
    }
    let (.., run) = found.ok_or_else(|| RpcError::new(-32_601, format!("there is no method `{}`", shown(method))))?;
    run(supervisor, params)
}

pub(super) fn shown(method: &str) -> String {
    method.chars().filter(char::is_ascii_graphic).take(60).collect()
}

#[derive(Deserialize)]
struct Request {
    jsonrpc: String,
    method: String,
    #[serde(default)]
    params: Value,
    #[serde(default, deserialize_with = "present")]
    id: Option<Value>,
}

/// `"id": null` is an id; a missing one makes a notification.
fn present<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(from).map(Some)
}

fn answer(supervisor: &mut Supervisor, request: Value, face: Option<Face>) -> Option<Text> {
    let request: Request = match serde_json::from_value(request) {
        Ok(request) => request,
        Err(e) => return Some(failed(&Value::Null, &RpcError::new(-32_600, format!("this is no request: {e}")))),
    };
    let result = if request.jsonrpc == "2.0" {
        call(supervisor, &request.method, request.params, face)
    } else {
        Err(RpcError::new(-32_600, "jsonrpc has to be \"2.0\""))
    };
    let id = request.id?;
    Some(match result {
        Ok(result) => format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{result}}}"),
        Err(error) => failed(&id, &error),
    })
}

fn failed(id: &Value, error: &RpcError) -> Text {
    json!({ "jsonrpc": "2.0", "id": id, "error": error.to_json() }).to_string()
}

pub(super) fn parameters<T: DeserializeOwned + Default>(params: Value) -> Result<T, RpcError> {
    if params.is_null() || params.as_array().is_some_and(Vec::is_empty) {
        return Ok(T::default());
    }
    serde_json::from_value(params).map_err(|e| RpcError::parameters(e.to_string()))
}

/// Who says it, through which face.
pub(super) fn by(face: Option<&str>) -> String {
    format!("{} through {}", user(), face.map_or_else(|| "rpc".to_owned(), shown))
}

fn user() -> String {
    let uid = nix::unistd::getuid();
    let named = nix::unistd::User::from_uid(uid).ok().flatten();
    named.map_or_else(|| format!("user {uid}"), |user| user.name)
}

/// A result.
pub(super) fn text(value: &impl serde::Serialize) -> Result<Text, RpcError> {
    serde_json::to_string(value).map_err(|e| RpcError::new(-32_603, e.to_string()))
}
