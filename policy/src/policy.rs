//! The policy of a run: tier, matrix, settings and knowledge, and the questions that can be put to it.

use std::sync::Arc;

use crate::{
    Assessment, AutonomyLevel, ClassifySettings, CommandClass, Decision, Exec, GateDecision, Knowledge, Matrix, Part, Places, classify,
};

/// Classifier and gate of one run.
#[derive(Debug, Clone)]
pub struct SecurityPolicy {
    autonomy: AutonomyLevel,
    matrix: Matrix,
    settings: ClassifySettings,
    knowledge: Arc<Knowledge>,
}

impl Default for SecurityPolicy {
    fn default() -> Self {
        Self::new(AutonomyLevel::default())
    }
}

impl SecurityPolicy {
    /// A policy with the default matrix, the default settings and the compiled-in knowledge.
    #[must_use]
    pub fn new(autonomy: AutonomyLevel) -> Self {
        Self { autonomy, matrix: Matrix::default(), settings: ClassifySettings::default(), knowledge: Knowledge::builtin() }
    }

    /// The same policy in another tier.
    #[must_use]
    pub fn with_autonomy(mut self, autonomy: AutonomyLevel) -> Self {
        self.autonomy = autonomy;
        self
    }

    /// The same policy with another matrix.
    #[must_use]
    pub fn with_matrix(mut self, matrix: Matrix) -> Self {
        self.matrix = matrix;
        self
    }

    /// The same policy with other settings of the classifier.
    #[must_use]
    pub fn with_classify(mut self, settings: ClassifySettings) -> Self {
        self.settings = settings;
        self
    }

    /// The same policy with other knowledge.
    #[must_use]
    pub fn with_knowledge(mut self, knowledge: Knowledge) -> Self {
        self.knowledge = Arc::new(knowledge);
        self
    }

    /// Gives the knowledge back; where others hold it too, as a layer on theirs.
    pub(crate) fn into_knowledge(self) -> Knowledge {
        Arc::try_unwrap(self.knowledge).unwrap_or_else(Knowledge::over)
    }

    /// The tier.
    #[must_use]
    pub const fn autonomy(&self) -> AutonomyLevel {
        self.autonomy
    }

    /// The matrix.
    #[must_use]
    pub const fn matrix(&self) -> &Matrix {
        &self.matrix
    }

    /// The settings of the classifier.
    #[must_use]
    pub const fn settings(&self) -> ClassifySettings {
        self.settings
    }

    /// The knowledge about programs.
    #[must_use]
    pub fn knowledge(&self) -> &Knowledge {
        &self.knowledge
    }

    /// The class of a shell text: the maximum over everything that would run.
    #[must_use]
    pub fn classify_command(&self, command: &str) -> CommandClass {
        classify::command(self, command, false).class
    }

    /// [`classify_command`](Self::classify_command) with the tree of parts.
    #[must_use]
    pub fn explain_command(&self, command: &str) -> Part {
        classify::command(self, command, true)
    }

    /// The class of one exec, with the facts of its file.
    #[must_use]
    pub fn classify_argv(&self, exec: &Exec<'_>, places: &Places<'_>) -> Assessment {
        classify::exec(self, exec, places, false).0
    }

    /// [`classify_argv`](Self::classify_argv) with the tree of parts.
    #[must_use]
    pub fn explain_argv(&self, exec: &Exec<'_>, places: &Places<'_>) -> Part {
        classify::exec(self, exec, places, true).1
    }

    /// The class of an argument vector alone, its first word taken for a name as in shell text.
    #[must_use]
    pub fn classify_words(&self, argv: &[String]) -> CommandClass {
        classify::words(self, argv, false).class
    }

    /// [`classify_words`](Self::classify_words) with the tree of parts.
    #[must_use]
    pub fn explain_words(&self, argv: &[String]) -> Part {
        classify::words(self, argv, true)
    }

    /// What the tier says to a class.
    #[must_use]
    pub const fn gate_decision(&self, class: CommandClass) -> GateDecision {
        self.matrix.decision(self.autonomy, class)
    }

    /// Class and decision of a shell text. A declared class only raises.
    #[must_use]
    pub fn decide(&self, command: &str, declared: Option<CommandClass>) -> Decision {
        let part = classify::command(self, command, false);
        let deciding = part.deciding();
        match declared {
            Some(declared) if declared > part.class => {
                Decision { class: declared, decision: self.gate_decision(declared), reason: format!("declared {declared} by the caller") }
            }
            _ => Decision { class: part.class, decision: self.gate_decision(part.class), reason: deciding.reason.clone() },
        }
    }
}
