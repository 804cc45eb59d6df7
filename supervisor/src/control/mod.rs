//! The control socket: how wardens and faces reach the supervisor.

mod client;

pub use client::{Address, Connection, ControlError};
