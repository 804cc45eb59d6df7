//! The thread: accepts, and serves each connection.
//!
//! Invariant: a connection that says nothing costs a descriptor for some seconds and no more; where all places are taken
//! the oldest that has not shown a secret goes. Refuses to wait: headers and bodies have their time.

use super::access::Access;
use super::bridge::{Bridge, News};
use super::metrics::Counters;
use super::routes;
use axum::extract::Request;
use hyper::body::Incoming;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::AbortHandle;
use tower_service::Service;

/// Most connections at once.
const CONNECTIONS: usize = 256;
/// How long headers may take, also those of the next request on a connection.
const HEADERS: Duration = Duration::from_secs(10);
/// Most bytes of headers, and the least that is allowed for the buffer.
const HEADER_BYTES: usize = 16 << 10;
/// How long a listener rests that cannot accept.
const REST: Duration = Duration::from_millis(100);

/// What every request can reach.
#[derive(Debug, Clone)]
pub struct State {
    /// Secrets.
    pub access: Arc<Access>,
    /// The judge.
    pub bridge: Bridge,
    /// What it announces.
    pub news: watch::Receiver<News>,
    /// Open streams of events.
    pub watchers: Arc<AtomicUsize>,
    /// For `/metrics`.
    pub counters: Arc<Counters>,
    /// Host names beside those of loopback.
    pub allow_hosts: Arc<Vec<String>>,
    /// The listener's address.
    pub own: SocketAddr,
}

/// Set on a connection once it has shown a secret.
#[derive(Debug, Clone, Default)]
pub struct Known(Arc<AtomicBool>);

impl Known {
    /// It has.
    pub fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    fn get(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Starts the thread. It is confined as the one that starts it.
pub fn start(listener: std::net::TcpListener, state: State) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build()?;
    let serve = move || {
        let served = runtime.block_on(async move { accept(&TcpListener::from_std(listener)?, &state).await });
        if let Err(e) = served {
            crate::error::say(&format!("HTTP is off: {e}"));
        }
    };
    std::thread::Builder::new().name("http".into()).spawn(serve).map(drop)
}

async fn accept(listener: &TcpListener, state: &State) -> io::Result<()> {
    let router = routes::router(state.clone());
    let mut open: VecDeque<(AbortHandle, Known)> = VecDeque::new();
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            // No descriptor is left, or the peer is gone already.
            tokio::time::sleep(REST).await;
            continue;
        };
        open.retain(|(task, _)| !task.is_finished());
        if open.len() >= CONNECTIONS {
            let Some(at) = open.iter().position(|(_, known)| !known.get()) else { continue };
            if let Some((oldest, _)) = open.remove(at) {
                oldest.abort();
            }
        }
        let known = Known::default();
        let task = tokio::spawn(serve(stream, router.clone(), known.clone(), Arc::clone(&state.counters)));
        open.push_back((task.abort_handle(), known));
    }
}

async fn serve(stream: TcpStream, router: axum::Router, known: Known, counters: Arc<Counters>) {
    // Where it cannot be set, replies come a little later.
    let _ = stream.set_nodelay(true);
    let _one = counters.connection();
    let service = hyper::service::service_fn(move |request: hyper::Request<Incoming>| {
        let mut request: Request = request.map(axum::body::Body::new);
        request.extensions_mut().insert(known.clone());
        router.clone().call(request)
    });
    let mut http = hyper::server::conn::http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEADERS).max_buf_size(HEADER_BYTES).half_close(false);
    // What is wrong with a connection ends it, and is nobody else's matter.
    let _ = http.serve_connection(TokioIo::new(stream), service).await;
}
