//! What one configuration file may say.
//!
//! Invariant: a key that is not named here is an error. Each value keeps its place in the text, so that an error or
//! `config show --origin` can name the line. Refuses to know about layers.

use super::{ConfigError, Deadline};
use serde::{Deserialize, Serialize};
use stayexec_policy::rule::Rule;
use stayexec_policy::{CommandClass, GateDecision, Shell, Tier, Unknown};
use std::collections::BTreeMap;
use std::path::Path;
use toml::Spanned;

/// Who is there to answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// A person can be asked.
    Interactive,
    /// Nobody is watching: prompts are approved unless the program is flagged.
    Background,
    /// Nobody can answer: prompts are denied.
    Unattended,
}

/// The least mode that a person accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Require {
    /// Judged after loading.
    Verify,
    /// Judged on the arguments read before.
    Seccomp,
    /// Asked for by the shim alone.
    Preload,
}

/// Where a start waits for its answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Hold {
    /// Loaded, before its first instruction; its parent is free.
    #[default]
    Image,
    /// In the call, so that no timer of the caller's runs; looked at again once it is loaded.
    Call,
}

/// Whether a way around the gate may be taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Permission {
    /// A person may take it.
    Allow,
    /// Nobody may.
    Forbid,
}

/// How much is at stake when a program runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RiskLevel {
    /// At least Write.
    Medium,
    /// At least Destructive.
    High,
}

/// A `[program.NAME]`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Program {
    /// A background run asks about it too.
    pub require_approval_for_medium_risk: bool,
    /// Raises its class.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub risk_level: Option<RiskLevel>,
}

/// `[matrix]`: a row for each tier.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MatrixTable {
    /// The readonly tier.
    pub readonly: BTreeMap<CommandClass, Spanned<GateDecision>>,
    /// The supervised tier.
    pub supervised: BTreeMap<CommandClass, Spanned<GateDecision>>,
    /// The full tier.
    pub full: BTreeMap<CommandClass, Spanned<GateDecision>>,
}

/// `[classify]`.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ClassifyTable {
    /// Pipes, substitutions and expansions.
    pub shell: Option<Spanned<Shell>>,
    /// Programs that nobody knows.
    pub unknown: Option<Spanned<Unknown>>,
    /// Reads outside the workspace.
    pub workspace_only: Option<Spanned<bool>>,
}

/// `[forbidden]`.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ForbiddenTable {
    /// Files and folders that nothing may be told to open.
    pub paths: Vec<Spanned<String>>,
    /// Commands, by their leading words, that never run.
    pub commands: Vec<Spanned<String>>,
}

/// `[trust]`.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TrustTable {
    /// Folders whose programs are what their names say.
    pub dirs: Vec<Spanned<String>>,
}

/// `[http]`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HttpTable {
    /// Where to listen from the start; a loopback address.
    pub listen: Option<std::net::SocketAddr>,
    /// Host names beside those of loopback.
    pub allow_hosts: Vec<String>,
}

/// `[notify]`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct NotifyTable {
    /// A program and its arguments, started once a question.
    pub command: Vec<String>,
}

/// One file.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Document {
    /// How much the agent may do on its own.
    pub tier: Option<Spanned<Tier>>,
    /// Who is there to answer.
    pub origin: Option<Spanned<Origin>>,
    /// How long a question waits.
    pub deadline: Option<Spanned<Deadline>>,
    /// The least mode.
    pub require: Option<Spanned<Require>>,
    /// Where a start waits.
    pub hold: Option<Spanned<Hold>>,
    /// Whether STAYEXEC_APPROVAL_GATE=0 counts.
    pub gate_off: Option<Spanned<Permission>>,
    /// Whether `run --observe` may be used.
    pub observe: Option<Spanned<Permission>>,
    /// `[matrix.TIER]`.
    pub matrix: MatrixTable,
    /// `[classify]`.
    pub classify: ClassifyTable,
    /// `[forbidden]`.
    pub forbidden: ForbiddenTable,
    /// `[trust]`.
    pub trust: TrustTable,
    /// `[http]`.
    pub http: Option<HttpTable>,
    /// `[notify]`.
    pub notify: Option<NotifyTable>,
    /// `[[rule]]`.
    pub rule: Vec<Spanned<Rule>>,
    /// `[program.NAME]`.
    pub program: BTreeMap<String, Spanned<Program>>,
}

impl Document {
    /// Reads the text of the file at `path`.
    ///
    /// # Errors
    /// [`ConfigError::Parse`] with the line.
    pub fn parse(text: &str, path: &Path) -> Result<Self, ConfigError> {
        toml::from_str(text).map_err(|error| ConfigError::Parse {
            path: path.to_owned(),
            line: error.span().map_or(1, |span| line_at(text, span.start)),
            message: error.message().lines().collect::<Vec<_>>().join(" "),
        })
    }
}

/// The line of a byte offset, counted from 1.
pub(super) fn line_at(text: &str, offset: usize) -> usize {
    1 + text.as_bytes().iter().take(offset).filter(|&&byte| byte == b'\n').count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        Document::parse(text, Path::new("x.toml")).err().map(|e| e.to_string()).unwrap_or_default()
    }

    #[test]
    fn errors_are_one_line_with_file_and_line() {
        assert!(error("tier = \"full\"\nteir = 1\n").starts_with("x.toml:2: unknown field `teir`"), "{}", error("\nteir = 1\n"));
        assert!(error("\n\n[matrix.full]\nnetwork = \"maybe\"\n").starts_with("x.toml:4: unknown variant `maybe`"));
        assert!(error("deadline = 10").starts_with("x.toml:1:"));
        assert!(error("[[rule]]\nmatch = [\"a\"]\n").contains("missing field `decision`"));
        for text in [
            "tier = ",
            "[http]\nlisten = \"x\"",
            "[matrix.middle]\n",
            "[program.npm]\nx = 1",
            "[[rule]]\nmatch = \"a\"\ndecision = \"block\"",
        ] {
            let error = error(text);
            assert!(error.starts_with("x.toml:") && !error.contains('\n'), "{text}: {error}");
        }
    }
}
