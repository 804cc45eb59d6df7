//! The table that turns a class into a decision, one row a tier.
//!
//! Invariant: whatever is set, a tier never allows more than the default table does, except for the three upper cells of
//! the full tier. The setter refuses everything else, so a configuration file cannot open a tighter tier.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::{AutonomyLevel, CommandClass};

/// What happens to a command. The order is that of strictness.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GateDecision {
    /// It runs.
    Allow,
    /// It waits for a person.
    Prompt,
    /// It is refused.
    Block,
}

impl GateDecision {
    /// The lower-case name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Prompt => "prompt",
            Self::Block => "block",
        }
    }
}

impl fmt::Display for GateDecision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A word that names no decision.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no decision (allow, prompt, block)")]
pub struct UnknownDecision(pub String);

impl FromStr for GateDecision {
    type Err = UnknownDecision;

    fn from_str(text: &str) -> Result<Self, UnknownDecision> {
        match text.trim().to_ascii_lowercase().as_str() {
            "allow" => Ok(Self::Allow),
            "prompt" => Ok(Self::Prompt),
            "block" => Ok(Self::Block),
            other => Err(UnknownDecision(other.to_owned())),
        }
    }
}

/// A cell that may not be loosened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "[matrix.{tier}] {class} = \"{wanted}\" is looser than \"{default}\"; only full's network, install and destructive can be loosened"
)]
pub struct Loosened {
    /// The row.
    pub tier: AutonomyLevel,
    /// The column.
    pub class: CommandClass,
    /// What was asked for.
    pub wanted: GateDecision,
    /// What the default table says.
    pub default: GateDecision,
}

/// Three tiers by five classes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Matrix {
    cells: [[GateDecision; 5]; 3],
}

const DEFAULT: [[GateDecision; 5]; 3] = {
    use GateDecision::{Allow, Block, Prompt};
    [[Allow, Block, Block, Block, Block], [Allow, Prompt, Prompt, Prompt, Prompt], [Allow, Allow, Prompt, Prompt, Prompt]]
};

impl Default for Matrix {
    fn default() -> Self {
        Self { cells: DEFAULT }
    }
}

impl Matrix {
    /// The decision for a class in a tier.
    #[must_use]
    pub const fn decision(&self, tier: AutonomyLevel, class: CommandClass) -> GateDecision {
        self.cells[tier.index()][class.index()]
    }

    /// Sets one cell. Anything may be tightened; only full's network, install and destructive may be loosened.
    ///
    /// # Errors
    /// [`Loosened`] names the cell that would allow more than the default table.
    pub fn set(&mut self, tier: AutonomyLevel, class: CommandClass, decision: GateDecision) -> Result<(), Loosened> {
        let default = DEFAULT[tier.index()][class.index()];
        let open = tier == AutonomyLevel::Full && class >= CommandClass::Network;
        if decision < default && !open {
            return Err(Loosened { tier, class, wanted: decision, default });
        }
        self.cells[tier.index()][class.index()] = decision;
        Ok(())
    }

    /// [`Matrix::set`] in builder form.
    ///
    /// # Errors
    /// As [`Matrix::set`].
    pub fn with(mut self, tier: AutonomyLevel, class: CommandClass, decision: GateDecision) -> Result<Self, Loosened> {
        self.set(tier, class, decision)?;
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Tier;

    #[test]
    fn only_three_cells_can_be_loosened() {
        let mut loosened = Vec::new();
        for tier in Tier::ALL {
            for class in CommandClass::ALL {
                let mut matrix = Matrix::default();
                if matrix.decision(tier, class) != GateDecision::Allow && matrix.set(tier, class, GateDecision::Allow).is_ok() {
                    loosened.push((tier, class));
                }
                assert!(Matrix::default().with(tier, class, GateDecision::Block).is_ok(), "anything may be tightened");
            }
        }
        use CommandClass::{Destructive, Install, Network};
        assert_eq!(loosened, [(Tier::Full, Network), (Tier::Full, Install), (Tier::Full, Destructive)]);
    }

    #[test]
    fn a_tightened_cell_can_be_set_back() {
        let mut matrix = Matrix::default();
        matrix.set(Tier::Supervised, CommandClass::Destructive, GateDecision::Block).unwrap();
        matrix.set(Tier::Supervised, CommandClass::Destructive, GateDecision::Prompt).unwrap();
        assert_eq!(matrix, Matrix::default());
    }
}
