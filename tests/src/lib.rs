//! The harness of the end-to-end tests.
//!
//! A [`Scene`] is one test's world: folders of its own, a copy of the built `stayexec`, a user. Invariant: whatever a scene
//! started has ended before its test ends, also where the test failed, and every wait has a limit. Refuses to reach outside:
//! victims lie in the scene's folder, and only processes that belong to the scene are ever signalled.

mod alike;
mod bounds;
mod browser;
mod clock;
mod commands;
mod container;
mod faces;
mod files;
mod fixture;
mod http;
mod i386;
mod launch;
mod outcome;
mod podman;
mod process;
mod running;
mod scene;
mod sys;
mod terminal;
mod victim;

pub use alike::{Alike, alike, tools_path};
pub use bounds::{cannot_run, full, rounds};
pub use browser::Browser;
pub use clock::{let_the_clock_tick, until, within};
pub use container::{CAPABILITIES, Container, containers_work};
pub use faces::{Entry, Question};
pub use fixture::install;
pub use http::{Client, Events, Reply};
pub use i386::i386_mark;
pub use launch::{Input, Launch};
pub use outcome::Outcome;
pub use podman::{podman_words, podman_works};
pub use process::{Process, fds, owned_by, resident_kib};
pub use running::Running;
pub use scene::{Scene, User};
pub use terminal::Terminal;
pub use victim::{Mark, Victim};
