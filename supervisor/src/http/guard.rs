//! What a request has to bring before anything of it is looked at.
//!
//! Invariant: the host that it names is ours, it comes from no other site, and it shows the token or a whole session; each
//! is a status and one line, nothing is decided. Refuses what is doubtful: a request without a host, two secrets that do
//! not agree.

use super::access::Refusal;
use super::bridge::Face;
use super::page;
use super::server::{Known, State};
use axum::extract::{Request, State as With};
use axum::http::header::{AUTHORIZATION, COOKIE, HOST, ORIGIN, RETRY_AFTER};
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use serde_json::json;

/// The header that carries a session's key.
pub const KEY: &str = "x-stayexec-key";
/// Host names that always fit.
const LOOPBACK: [&str; 3] = ["127.0.0.1", "localhost", "[::1]"];

/// A status and one line, as JSON.
pub fn refuse(status: StatusCode, line: &str) -> Response {
    let body = json!({ "error": { "code": status.as_u16(), "message": line } }).to_string();
    (status, [("content-type", "application/json")], body).into_response()
}

/// Host and site; for every request.
pub async fn host(With(state): With<State>, request: Request, next: Next) -> Response {
    let response = match checked(&state, request.headers(), request.uri()) {
        Ok(()) => next.run(request).await,
        Err(response) => *response,
    };
    state.counters.reply(response.status().as_u16());
    page::harden(response)
}

fn checked(state: &State, headers: &HeaderMap, uri: &Uri) -> Result<(), Box<Response>> {
    let refused = |status, line| Err(Box::new(refuse(status, line)));
    let named = headers.get_all(HOST);
    let named: Vec<&str> = named.iter().filter_map(|value| value.to_str().ok()).collect();
    let [host] = named[..] else { return refused(StatusCode::BAD_REQUEST, "a request names one host") };
    if uri.host().is_some_and(|other| name(host) != other) {
        return refused(StatusCode::BAD_REQUEST, "a request names one host");
    }
    if !ours(state, name(host)) {
        return refused(StatusCode::MISDIRECTED_REQUEST, "this host is not served; `[http] allow_hosts` adds one");
    }
    let site = headers.get("sec-fetch-site").map(HeaderValue::as_bytes);
    let foreign = site.is_some_and(|site| !matches!(site, b"same-origin" | b"none"));
    let origin = headers.get(ORIGIN).map(|value| value.to_str().unwrap_or_default());
    let other = origin.is_some_and(|origin| origin.split_once("://").is_none_or(|(_, from)| from != host));
    // A link on another site may lead to the page, and to nothing else.
    if other || (foreign && !page::is_asset(uri.path())) {
        return refused(StatusCode::FORBIDDEN, "another site's page cannot ask here");
    }
    Ok(())
}

/// The host without its port.
fn name(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    }
}

fn ours(state: &State, name: &str) -> bool {
    let same = |known: &str| known.eq_ignore_ascii_case(name);
    LOOPBACK.into_iter().any(same) || same(&state.own.ip().to_string()) || state.allow_hosts.iter().any(|known| same(known))
}

/// The name of the session's cookie: cookies do not tell ports apart.
pub fn cookie_name(state: &State) -> String {
    format!("stayexec_{}", state.own.port())
}

/// The session's cookie of a request.
pub fn cookie<'h>(state: &State, headers: &'h HeaderMap) -> Option<&'h str> {
    let wanted = cookie_name(state);
    let all = headers.get_all(COOKIE).into_iter().filter_map(|value| value.to_str().ok()).flat_map(|value| value.split(';'));
    all.filter_map(|pair| pair.trim().split_once('=')).find(|(name, _)| *name == wanted).map(|(_, value)| value)
}

/// Token or session; for whatever tells or decides something.
pub async fn admit(With(state): With<State>, mut request: Request, next: Next) -> Response {
    match admitted(&state, request.headers()) {
        Ok(face) => {
            if let Some(known) = request.extensions().get::<Known>() {
                known.set();
            }
            request.extensions_mut().insert(face);
            next.run(request).await
        }
        Err(response) => *response,
    }
}

fn admitted(state: &State, headers: &HeaderMap) -> Result<Face, Box<Response>> {
    if let Some(value) = headers.get(AUTHORIZATION) {
        let token = value.to_str().ok().and_then(|value| value.split_once(' '));
        let token = token.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer")).map_or("", |(_, token)| token.trim());
        return state.access.bearer(token).map(|()| Face::Http).map_err(|refusal| Box::new(refused(refusal)));
    }
    let key = headers.get(KEY).and_then(|value| value.to_str().ok());
    match (cookie(state, headers), key) {
        (Some(cookie), Some(key)) => state.access.session(cookie, key).map(|()| Face::Web).map_err(|refusal| Box::new(refused(refusal))),
        _ => Err(Box::new(unknown("show the token of `stayexec token`, or open the link of `stayexec web`"))),
    }
}

/// The response for a wrong secret.
pub fn refused(refusal: Refusal) -> Response {
    match refusal {
        Refusal::Wrong => unknown("this is not valid, or not any more; `stayexec web` and `stayexec token` give what is"),
        Refusal::TooOften => {
            let mut response = refuse(StatusCode::TOO_MANY_REQUESTS, "too many wrong secrets; wait a minute");
            response.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("60"));
            response
        }
    }
}

fn unknown(line: &str) -> Response {
    let mut response = refuse(StatusCode::UNAUTHORIZED, line);
    response.headers_mut().insert("www-authenticate", HeaderValue::from_static("Bearer"));
    response
}

#[cfg(test)]
mod tests {
    use super::name;

    #[test]
    fn ports_are_no_part_of_a_name() {
        for (host, expected) in [("localhost:8000", "localhost"), ("a", "a"), ("[::1]:80", "[::1]"), ("[::1]", "[::1]"), ("a:b", "a:b")] {
            assert_eq!(name(host), expected);
        }
    }
}
