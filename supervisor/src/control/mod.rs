//! The control socket: how wardens and faces reach the supervisor.
//!
//! It is an abstract Unix socket: the kernel refuses it to every process in a Landlock scope, whatever its pid or
//! namespace, so nobody in a gated tree can answer for the person. Invariant: no message is passed on from a peer whose
//! user, versions and place outside every tree were not checked first. Refuses to judge.

mod address;
mod client;
mod connection;
mod peer;
mod server;
mod start;

pub use address::Address;
pub use client::{connect, connect_or_start};
pub use connection::{Connection, ControlError};
pub use peer::Baseline;
pub use server::{ConnectionId, Inbound, Outbox, listen, serve_connections};
pub use start::{Readiness, reap_started};

/// The version that both ends compare, besides the protocol's number: that of the program, and the identity of its build.
pub const PROGRAM_VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "+", env!("STAYEXEC_BUILD"));
