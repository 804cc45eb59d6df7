//! The warden: launches the agent, owns the seccomp listener, holds loaded images, writes the journal.
//!
//! Invariant: an image leaves its exec stop only after its record is in the journal. Refuses to judge: it knows no shell,
//! no class and no rule; it asks the supervisor and carries out what it is told.

mod plan;

pub use plan::{Plan, RunError};
