//! The settings that make the classifier stricter than it is by default. None makes it looser.

use serde::{Deserialize, Serialize};

/// `[classify]` of the configuration.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ClassifySettings {
    /// How pipes, substitutions and expansions are taken.
    pub shell: Shell,
    /// The class of a program that nobody knows.
    pub unknown: Unknown,
    /// Reads outside the workspace are at least Write.
    pub workspace_only: bool,
}

/// How pipes, substitutions and expansions are taken.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Shell {
    /// By what they are made of.
    #[default]
    Normal,
    /// As at least Write.
    Strict,
}

/// The class of a program that nobody knows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Unknown {
    /// Write.
    #[default]
    Write,
    /// Destructive, the most restrictive one.
    Destructive,
}
