//! Classes, tiers, classifier and gate. Pure: no I/O, no clock, no globals.

mod assessment;
mod class;
pub mod display;
mod classify;
mod exec;
pub mod forbidden;
mod knowledge;
mod matrix;
mod policy;
pub mod redact;
mod shell;
mod settings;
mod tier;

pub use assessment::{Assessment, Decision, Part, ReasonCode};
pub use class::{CommandClass, UnknownClass};
pub use exec::{Exec, FileFacts, Places, Script, Stdin};
pub use knowledge::{Example, Knowledge, KnowledgeError};
pub use matrix::{GateDecision, Loosened, Matrix, UnknownDecision};
pub use policy::SecurityPolicy;
pub use settings::{ClassifySettings, Shell, Unknown};
pub use tier::{AutonomyLevel, Tier, UnknownTier};
