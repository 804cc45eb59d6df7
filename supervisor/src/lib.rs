//! Warden (mechanism), supervisor (judgement) and every face a person sees.
//!
//! One event's way: `sys` brings the kernel's notification → `warden` captures what was loaded → `control` carries the
//! event → `judge` classifies and decides → the verdict comes back the same way → `warden` journals it, then releases,
//! holds or ends the image. Warden and judge share only the protocol.

pub mod cli;
pub mod clock;
pub mod config;
pub mod control;
pub mod error;
pub mod exit_code;
pub mod http;
pub mod journal;
pub mod judge;
pub mod sys;
pub mod warden;
