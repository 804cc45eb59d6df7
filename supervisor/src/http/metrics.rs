//! `/metrics`: numbers in the text exposition format.
//!
//! Invariant: a number is read, never computed from what an agent wrote. Refuses labels that somebody outside could choose.

use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// What this face counts.
#[derive(Debug, Default)]
pub struct Counters {
    connections: AtomicU64,
    accepted: AtomicU64,
    /// Replies by the first digit of their status.
    replies: [AtomicU64; 6],
}

/// An open connection.
#[derive(Debug)]
pub struct One(Arc<Counters>);

impl Drop for One {
    fn drop(&mut self) {
        self.0.connections.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Counters {
    /// Counts a connection while the result lives.
    pub fn connection(self: &Arc<Self>) -> One {
        self.connections.fetch_add(1, Ordering::Relaxed);
        self.accepted.fetch_add(1, Ordering::Relaxed);
        One(Arc::clone(self))
    }

    /// Counts a reply.
    pub fn reply(&self, status: u16) {
        if let Some(count) = self.replies.get(usize::from(status / 100)) {
            count.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// All of it, with the gate's own numbers before.
    pub fn render(&self, gate: &serde_json::Value, watchers: usize) -> String {
        let mut out = String::new();
        let mut put = |name: &str, kind: &str, help: &str, lines: &[(String, u64)]| {
            // Writing to a string cannot fail.
            let _ = writeln!(out, "# HELP stayexec_{name} {help}\n# TYPE stayexec_{name} {kind}");
            for (labels, value) in lines {
                let _ = writeln!(out, "stayexec_{name}{labels} {value}");
            }
        };
        let number = |name: &str| vec![(String::new(), gate[name].as_u64().unwrap_or(0))];
        put("questions_open", "gauge", "Questions that wait for an answer.", &number("pending"));
        put("runs", "gauge", "Runs that go on.", &number("runs"));
        let load = |count: &AtomicU64| count.load(Ordering::Relaxed);
        put("http_connections", "gauge", "Open HTTP connections.", &[(String::new(), load(&self.connections))]);
        put("http_connections_total", "counter", "Accepted HTTP connections.", &[(String::new(), load(&self.accepted))]);
        put("http_watchers", "gauge", "Open streams of events.", &[(String::new(), watchers as u64)]);
        let replies: Vec<_> =
            self.replies.iter().enumerate().skip(2).map(|(class, count)| (format!("{{status=\"{class}xx\"}}"), load(count))).collect();
        put("http_replies_total", "counter", "HTTP replies by status.", &replies);
        out
    }
}
