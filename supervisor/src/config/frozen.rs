//! The configuration of a run as the warden keeps it and hands it to each supervisor: JSON.
//!
//! Invariant: it is complete: a supervisor that has it reads no file. Refuses a text of another format, with keys that it
//! does not know, or with a matrix that is looser than may be.

use super::{ConfigError, Deadline, Hold, KnowledgeText, Origin, Program, Require, Settings};
use serde::{Deserialize, Serialize};
use stayexec_policy::rule::Rule;
use stayexec_policy::{ClassifySettings, CommandClass, GateDecision, Matrix, SecurityPolicy, Tier};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Number of this format.
const FORMAT: u32 = 2;

/// A cell of the matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cell {
    /// The row.
    pub tier: Tier,
    /// The column.
    pub class: CommandClass,
    /// What becomes of such a command.
    pub decision: GateDecision,
}

/// A path of any bytes: text where it is text, an array of bytes elsewhere.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum PathText {
    /// UTF-8.
    Text(String),
    /// Anything else.
    Bytes(Vec<u8>),
}

impl From<&Path> for PathText {
    fn from(path: &Path) -> Self {
        path.to_str().map_or_else(|| Self::Bytes(path.as_os_str().as_bytes().to_vec()), |text| Self::Text(text.to_owned()))
    }
}

impl PathText {
    /// Its bytes.
    pub fn bytes(&self) -> &[u8] {
        match self {
            Self::Text(text) => text.as_bytes(),
            Self::Bytes(bytes) => bytes,
        }
    }

    /// As a path.
    pub fn path(&self) -> PathBuf {
        PathBuf::from(OsStr::from_bytes(self.bytes()))
    }
}

/// Folders of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Places {
    /// The workspace.
    pub workspace: PathText,
    /// The home folder.
    pub home: PathText,
    /// The program's own folders: nothing in the tree may be told to open anything below.
    pub own: Vec<PathText>,
    /// The folder of launchers, below one of these. A launcher may be started, and nothing else be done with it.
    pub launchers: PathText,
}

/// A rule and where it stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlacedRule {
    /// The rule.
    pub rule: Rule,
    /// File and line.
    pub place: String,
}

/// A resolved configuration without its sources.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Frozen {
    format: u32,
    /// How much the agent may do on its own.
    pub tier: Tier,
    /// Who is there to answer.
    pub origin: Origin,
    /// How long a question waits.
    pub deadline: Deadline,
    /// The least mode.
    pub require: Require,
    /// Where a start waits for its answer.
    pub hold: Hold,
    /// The person switched prompts off.
    pub gate_off: bool,
    /// The run only observes.
    pub observe: bool,
    /// All fifteen cells.
    pub matrix: Vec<Cell>,
    /// The classifier's settings.
    pub classify: ClassifySettings,
    /// `[forbidden] paths`.
    pub forbidden_paths: Vec<PathText>,
    /// `[forbidden] commands`.
    pub forbidden_commands: Vec<String>,
    /// `[trust] dirs`.
    pub trust_dirs: Vec<PathText>,
    /// `[[rule]]`.
    pub rules: Vec<PlacedRule>,
    /// `[program.NAME]`.
    pub programs: BTreeMap<String, Program>,
    /// Knowledge files.
    pub knowledge: Vec<KnowledgeText>,
    /// Folders.
    pub places: Places,
    /// `[notify] command` as it was at the start: a supervisor that has read another one tells nobody of this run.
    pub notify: Vec<String>,
}

impl Frozen {
    /// Freezes resolved settings.
    pub fn of(settings: &Settings, gate_off: bool, observe: bool) -> Self {
        let path = |path: &PathBuf| PathText::from(path.as_path());
        let own = &settings.directories;
        Self {
            format: FORMAT,
            tier: settings.tier.value,
            origin: settings.origin.value,
            deadline: settings.deadline.value,
            require: settings.require.value,
            hold: settings.hold.value,
            gate_off,
            observe,
            matrix: settings.matrix.iter().map(|(tier, class, cell)| Cell { tier: *tier, class: *class, decision: cell.value }).collect(),
            classify: ClassifySettings {
                shell: settings.shell.value,
                unknown: settings.unknown.value,
                workspace_only: settings.workspace_only.value,
            },
            forbidden_paths: settings.forbidden_paths.iter().map(|dir| path(&dir.value)).collect(),
            forbidden_commands: settings.forbidden_commands.iter().map(|command| command.value.clone()).collect(),
            trust_dirs: settings.trust_dirs.iter().map(|dir| path(&dir.value)).collect(),
            rules: settings.rules.iter().map(|rule| PlacedRule { rule: rule.value.clone(), place: rule.source.to_string() }).collect(),
            programs: settings.programs.iter().map(|(name, program)| (name.clone(), program.value)).collect(),
            knowledge: settings.knowledge.clone(),
            places: Places {
                workspace: path(&settings.workspace),
                home: path(&settings.home),
                own: [&own.config, &own.state, &own.runtime, &own.data].map(path).into(),
                launchers: path(&own.launchers()),
            },
            notify: Vec::new(),
        }
    }

    /// The configuration as it travels.
    ///
    /// # Errors
    /// [`ConfigError::Frozen`].
    pub fn to_json(&self) -> Result<Vec<u8>, ConfigError> {
        serde_json::to_vec(self).map_err(|e| ConfigError::Frozen(e.to_string()))
    }

    /// The configuration that a warden sent.
    ///
    /// # Errors
    /// [`ConfigError::Frozen`].
    pub fn from_json(json: &[u8]) -> Result<Self, ConfigError> {
        let frozen: Self = serde_json::from_slice(json).map_err(|e| ConfigError::Frozen(e.to_string()))?;
        if frozen.format != FORMAT {
            return Err(ConfigError::Frozen(format!("format {} instead of {FORMAT}", frozen.format)));
        }
        Ok(frozen)
    }

    /// Classifier and gate for it.
    ///
    /// # Errors
    /// [`ConfigError::Frozen`] where the matrix is looser than may be, or has a cell missing; [`ConfigError::Parse`] where a
    /// knowledge file is not understood.
    pub fn policy(&self) -> Result<SecurityPolicy, ConfigError> {
        Ok(super::knowledge::policy(self.tier, &self.knowledge)?.with_matrix(self.matrix()?).with_classify(self.classify))
    }

    /// The matrix alone: without the classifier's knowledge, which takes memory that a warden need not have.
    ///
    /// # Errors
    /// [`ConfigError::Frozen`].
    pub fn matrix(&self) -> Result<Matrix, ConfigError> {
        let mut matrix = Matrix::default();
        for cell in &self.matrix {
            matrix.set(cell.tier, cell.class, cell.decision).map_err(|e| ConfigError::Frozen(e.to_string()))?;
        }
        if self.matrix.len() != Tier::ALL.len() * CommandClass::ALL.len() {
            return Err(ConfigError::Frozen("the matrix is not whole".into()));
        }
        Ok(matrix)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Overrides, Surroundings, load};
    use super::*;

    #[test]
    fn a_frozen_configuration_comes_back_even_with_odd_paths() -> Result<(), Box<dyn std::error::Error>> {
        let dir = tempfile::tempdir()?;
        let odd = dir.path().join(OsStr::from_bytes(b"odd\xff"));
        std::fs::create_dir(&odd)?;
        let around = Surroundings::with(&odd, Path::new("/nowhere"), &[("HOME", "/nowhere/home")]);
        let frozen = Frozen::of(&load(&Overrides::default(), &around)?, false, false);
        assert_eq!(Frozen::from_json(&frozen.to_json()?)?, frozen);
        assert!(frozen.places.workspace.bytes().ends_with(b"odd\xff"));
        frozen.policy()?;
        let text = "[frob]\nclass = \"read\"\n".to_owned();
        let knowing = Frozen { knowledge: vec![KnowledgeText { name: "/gone.toml".into(), text, workspace: false }], ..frozen.clone() };
        assert_eq!(Frozen::from_json(&knowing.to_json()?)?.policy()?.classify_command("frob"), CommandClass::Read);
        assert_eq!(frozen.policy()?.classify_command("frob"), CommandClass::Write);
        let mut loose = frozen.clone();
        loose.matrix[1].decision = GateDecision::Allow;
        assert!(loose.policy().is_err());
        assert!(Frozen::from_json(b"{}").is_err());
        assert!(Frozen::from_json(&Frozen { format: 3, ..frozen }.to_json()?).is_err());
        Ok(())
    }
}
