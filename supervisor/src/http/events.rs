//! `GET /events`: a stream that says when something changed.
//!
//! Invariant: the first event comes at once, and every later state is announced, though not every one between: whoever
//! reconnects is right again. Refuses more streams than a fixed number.

use super::bridge::News;
use super::guard::refuse;
use super::server::State;
use axum::extract::State as With;
use axum::http::StatusCode;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::sync::watch;

/// Most streams at once.
const STREAMS: usize = 64;
/// A comment is sent so often: a connection that is gone is noticed by it.
const ALIVE: Duration = Duration::from_secs(15);
/// Changes that come faster are announced together.
const TOGETHER: Duration = Duration::from_millis(50);

/// Counts an open stream while it lives.
struct Watcher(Arc<AtomicUsize>);

impl Drop for Watcher {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Opens a stream.
pub async fn events(With(state): With<State>) -> Response {
    if state.watchers.fetch_add(1, Ordering::Relaxed) >= STREAMS {
        state.watchers.fetch_sub(1, Ordering::Relaxed);
        return refuse(StatusCode::SERVICE_UNAVAILABLE, "too many streams are open");
    }
    let watcher = Watcher(Arc::clone(&state.watchers));
    let stream = stream::unfold((state.news.clone(), watcher, true), next);
    Sse::new(stream).keep_alive(KeepAlive::new().interval(ALIVE)).into_response()
}

type Watching = (watch::Receiver<News>, Watcher, bool);

async fn next((mut news, watcher, first): Watching) -> Option<(Result<Event, Infallible>, Watching)> {
    if !first {
        // The judge ends where it announces no more, and the stream with it.
        news.changed().await.ok()?;
        tokio::time::sleep(TOGETHER).await;
    }
    let News { revision, pending } = *news.borrow_and_update();
    let data = format!("{{\"revision\":{revision},\"pending\":{pending}}}");
    Some((Ok(Event::default().event("changed").data(data)), (news, watcher, false)))
}
