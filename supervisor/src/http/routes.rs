//! Every address, and what it asks the judge.
//!
//! Invariant: methods are not known here; a name goes to the judge's table as it came, and its error becomes a status.
//! Refuses long bodies, slow bodies, and what is no JSON object, whatever type a body says it is.

use super::bridge::{Call, Face};
use super::guard::{self, cookie, cookie_name, refuse, refused};
use super::server::{Known, State};
use super::{events, page};
use crate::judge::RpcError;
use axum::Router;
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{Extension, Path, Query, Request, State as With};
use axum::http::header::{ALLOW, CONTENT_TYPE, SET_COOKIE};
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri};
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get, post};
use serde_json::{Map, Value, json};
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Longest body.
const BODY: usize = 1 << 20;
/// How long a body may take.
const PATIENCE: Duration = Duration::from_secs(10);
/// The one method that is called with POST: it decides.
const DECIDES: &str = "approval_decide";

/// All addresses.
pub fn router(state: State) -> Router {
    let asking = Router::new()
        .route("/rpc", post(raw))
        .route("/rpc/{method}", any(called))
        .route("/events", get(events::events))
        .route("/metrics", get(metrics))
        .layer(from_fn_with_state(state.clone(), guard::admit));
    let open = Router::new().route("/session", post(enter).delete(leave)).route("/healthz", get(health));
    let open = page::paths().fold(open, |router, path| router.route(path, get(asset)));
    let nowhere = || async { refuse(StatusCode::NOT_FOUND, "there is nothing here; /openapi.json says what there is") };
    let unfit = || async { refuse(StatusCode::METHOD_NOT_ALLOWED, "this address does not take this method") };
    (open.merge(asking).fallback(nowhere).method_not_allowed_fallback(unfit))
        .layer(from_fn_with_state(state.clone(), guard::host))
        .with_state(state)
}

async fn asset(uri: Uri) -> Response {
    page::asset(uri.path())
}

async fn health(With(state): With<State>) -> Response {
    match state.bridge.ask(Face::Http, Call::Method("stayexec.approval_get_gate_state".into(), Value::Null)).await {
        Ok(_) => "ok\n".into_response(),
        Err(error) => failed(&error),
    }
}

async fn metrics(With(state): With<State>) -> Response {
    match state.bridge.ask(Face::Http, Call::Method("stayexec.approval_get_gate_state".into(), Value::Null)).await {
        Ok(text) => {
            let gate = serde_json::from_str(&text).unwrap_or_default();
            let text = state.counters.render(&gate, state.watchers.load(Ordering::Relaxed));
            ([(CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text).into_response()
        }
        Err(error) => failed(&error),
    }
}

/// A whole body, or the response for one that is not.
async fn body(from: Body) -> Result<Bytes, Box<Response>> {
    match tokio::time::timeout(PATIENCE, to_bytes(from, BODY)).await {
        Ok(Ok(bytes)) => Ok(bytes),
        Ok(Err(_)) => Err(Box::new(refuse(StatusCode::PAYLOAD_TOO_LARGE, "the body is longer than 1 MiB, or was cut off"))),
        Err(_) => Err(Box::new(refuse(StatusCode::REQUEST_TIMEOUT, "the body takes too long"))),
    }
}

/// A body's JSON object; an empty body is an empty object.
async fn object(from: Body) -> Result<Map<String, Value>, Box<Response>> {
    let bytes = body(from).await?;
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Ok(Map::new());
    }
    match serde_json::from_slice(&bytes) {
        Ok(Value::Object(map)) => Ok(map),
        Ok(_) => Err(Box::new(refuse(StatusCode::BAD_REQUEST, "the body has to be a JSON object"))),
        Err(e) => Err(Box::new(refuse(StatusCode::BAD_REQUEST, &format!("the body is no JSON: {e}")))),
    }
}

async fn raw(With(state): With<State>, Extension(face): Extension<Face>, request: Request) -> Response {
    let bytes = match body(request.into_body()).await {
        Ok(bytes) => bytes,
        Err(response) => return *response,
    };
    if bytes.is_empty() {
        return refuse(StatusCode::BAD_REQUEST, "there is no request");
    }
    match state.bridge.ask(face, Call::Raw(bytes.to_vec())).await {
        Ok(text) if text.is_empty() => StatusCode::NO_CONTENT.into_response(),
        Ok(text) => json_text(StatusCode::OK, text),
        Err(error) => failed(&error),
    }
}

type Parameters = Result<Query<Vec<(String, String)>>, axum::extract::rejection::QueryRejection>;

/// A method by its address: lists are asked with GET, an answer is given with POST.
async fn called(
    With(state): With<State>,
    Extension(face): Extension<Face>,
    Path(method): Path<String>,
    query: Parameters,
    request: Request,
) -> Response {
    let decides = method.ends_with(DECIDES);
    let params = match (request.method().as_str(), decides) {
        ("POST", true) => object(request.into_body()).await,
        ("GET" | "HEAD", false) => queried(query),
        (_, true) => return unfit("POST", "an answer is given with POST"),
        (_, false) => return unfit("GET,HEAD", "this is asked with GET, or as JSON-RPC at /rpc"),
    };
    match params {
        Ok(params) => method_of(&state, face, method, params).await,
        Err(response) => *response,
    }
}

fn unfit(allowed: &'static str, line: &str) -> Response {
    let mut response = refuse(StatusCode::METHOD_NOT_ALLOWED, line);
    response.headers_mut().insert(ALLOW, HeaderValue::from_static(allowed));
    response
}

/// The parameters of a query.
fn queried(query: Parameters) -> Result<Map<String, Value>, Box<Response>> {
    let refused = |line| Err(Box::new(refuse(StatusCode::BAD_REQUEST, line)));
    let Ok(Query(pairs)) = query else { return refused("the query cannot be understood") };
    let mut params = Map::new();
    for (name, text) in pairs {
        let number = name == "limit" && !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        // A number beyond all numbers is a large one.
        let value = if number { json!(text.parse::<u64>().unwrap_or(u64::MAX)) } else { Value::String(text) };
        if params.insert(name, value).is_some() {
            return refused("a parameter is given twice");
        }
    }
    Ok(params)
}

async fn method_of(state: &State, face: Face, method: String, params: Map<String, Value>) -> Response {
    match state.bridge.ask(face, Call::Method(method, Value::Object(params))).await {
        Ok(text) => json_text(StatusCode::OK, text),
        Err(error) => failed(&error),
    }
}

/// A one-time code for a session.
async fn enter(With(state): With<State>, headers: HeaderMap, known: Option<Extension<Known>>, request: Request) -> Response {
    // A form of another site cannot send this header.
    if !headers.contains_key(guard::KEY) {
        return refuse(StatusCode::FORBIDDEN, "this is asked by the page alone");
    }
    let params = match object(request.into_body()).await {
        Ok(params) => params,
        Err(response) => return *response,
    };
    match state.access.exchange(params.get("code").and_then(Value::as_str).unwrap_or_default()) {
        Ok((secret, key)) => {
            if let Some(Extension(known)) = known {
                known.set();
            }
            let set = format!("{}={secret}; Path=/; HttpOnly; SameSite=Strict", cookie_name(&state));
            ([(SET_COOKIE, set)], json_text(StatusCode::OK, json!({ "key": key }).to_string())).into_response()
        }
        Err(Some(refusal)) => refused(refusal),
        Err(None) => refuse(StatusCode::INTERNAL_SERVER_ERROR, "no session can be made"),
    }
}

/// Ends the session.
async fn leave(With(state): With<State>, headers: HeaderMap) -> Response {
    if let (Some(cookie), true) = (cookie(&state, &headers), headers.contains_key(guard::KEY)) {
        state.access.leave(cookie);
    }
    StatusCode::NO_CONTENT.into_response()
}

fn json_text(status: StatusCode, text: String) -> Response {
    (status, [(CONTENT_TYPE, "application/json")], text).into_response()
}

fn failed(error: &RpcError) -> Response {
    let status = match error.code() {
        -32_700 | -32_600 | -32_602 => StatusCode::BAD_REQUEST,
        -32_601 | -32_004 => StatusCode::NOT_FOUND,
        -32_005 => StatusCode::CONFLICT,
        -32_006 => StatusCode::GONE,
        -32_007 => StatusCode::UNPROCESSABLE_ENTITY,
        -32_008 | -32_009 => StatusCode::SERVICE_UNAVAILABLE,
        _ => StatusCode::INTERNAL_SERVER_ERROR,
    };
    json_text(status, json!({ "error": error.to_json() }).to_string())
}
