//! Configuration: layers of files, environment and command line, resolved into one frozen whole.
//!
//! managed file > command line > environment > workspace file > user file > defaults. Invariant: the managed file cannot
//! be loosened by anything, and the workspace file, which the agent can write, can only tighten. Refuses unknown keys,
//! and every error names file and line: with an invalid file no run starts.

mod deadline;
mod directories;
mod document;
mod error;
mod frozen;
mod hole;
mod knowledge;
mod layers;
mod outward;
mod preset;
mod profile;
mod resolve;
mod show;
mod source;
mod surroundings;
mod template;
mod workspace;

pub use deadline::Deadline;
pub use directories::{Directories, journals, make_private, workspace_state};
pub use document::{Hold, Origin, Permission, Program, Require, RiskLevel};
pub use error::ConfigError;
pub use frozen::{Cell, Frozen, PathText, PlacedRule, Places};
pub use hole::ends_so;
pub use knowledge::{KnowledgeText, knowledge, policy};
pub use layers::{Layer, Overrides};
pub use outward::{Outward, outward};
pub use preset::Preset;
pub use profile::{Line, Own, Profile};
pub use resolve::{Settings, load};
pub use show::{Row, rows};
pub use source::{Source, Sourced};
pub use stayexec_policy::rule::Rule;
pub use surroundings::{MANAGED, Surroundings};
pub use template::{Around, Template, find as find_holes};
pub use workspace::find as find_workspace;

#[cfg(test)]
mod schema_tests;
