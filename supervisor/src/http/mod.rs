//! Answers over HTTP and in the browser.
//!
//! One thread with a runtime of its own serves all connections and asks the judge through a channel, as every face does.
//! Invariant: the judge never waits for this thread, and nothing is decided here: the judge's table of methods is behind
//! every address. Refuses whoever brings neither the token nor a session, names another host, or comes from another site.

mod access;
mod bridge;
mod door;
mod events;
mod guard;
mod metrics;
mod page;
mod routes;
mod server;

pub use bridge::{Ask, Call, Face, News, Reply};
pub use door::{Door, DoorError, Listening, Options};
