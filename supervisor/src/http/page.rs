//! The page's files, and the headers that every response carries.
//!
//! Invariant: the files are part of the program and the same for everybody; they hold nothing about any run. Refuses, by
//! the policy that it sends, scripts and styles from anywhere else, frames, forms and HTML made from text.

use axum::http::HeaderValue;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};

/// Path, type and text.
type Asset = (&'static str, &'static str, &'static str);

const ASSETS: [Asset; 7] = [
    ("/", "text/html; charset=utf-8", include_str!("../../web/index.html")),
    ("/style.css", "text/css; charset=utf-8", include_str!("../../web/style.css")),
    ("/app.js", "text/javascript; charset=utf-8", include_str!("../../web/app.js")),
    ("/api.js", "text/javascript; charset=utf-8", include_str!("../../web/api.js")),
    ("/cards.js", "text/javascript; charset=utf-8", include_str!("../../web/cards.js")),
    ("/history.js", "text/javascript; charset=utf-8", include_str!("../../web/history.js")),
    ("/openapi.json", "application/json", include_str!("../../web/openapi.json")),
];

const HEADERS: [(&str, &str); 8] = [
    (
        "content-security-policy",
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; \
         form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
    ),
    ("x-content-type-options", "nosniff"),
    ("x-frame-options", "DENY"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-resource-policy", "same-origin"),
    ("cross-origin-opener-policy", "same-origin"),
    ("permissions-policy", "camera=(), microphone=(), geolocation=()"),
    ("cache-control", "no-store"),
];

/// Whether the path is that of a file.
pub fn is_asset(path: &str) -> bool {
    ASSETS.iter().any(|(known, ..)| *known == path)
}

/// The paths of all files.
pub fn paths() -> impl Iterator<Item = &'static str> {
    ASSETS.iter().map(|(path, ..)| *path)
}

/// The file at this path; an empty response where there is none.
pub fn asset(path: &str) -> Response {
    let found = ASSETS.iter().find(|(known, ..)| *known == path);
    found.map_or_else(|| ().into_response(), |(_, kind, text)| ([(CONTENT_TYPE, *kind)], *text).into_response())
}

/// Adds what a browser has to know.
pub fn harden(mut response: Response) -> Response {
    for (name, value) in HEADERS {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}
