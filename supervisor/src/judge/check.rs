//! A command that is only asked about: what this configuration would say to it.
//!
//! Invariant: the same steps in the same order as for a start, without launch, origin and grants. Refuses to know about
//! files: a name is taken for the program of that name, as in shell text.

use super::{forbidden, rules};
use crate::config::{ConfigError, Frozen};
use stayexec_policy::{CommandClass, GateDecision, Part, display};

/// What is asked about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input {
    /// Shell text.
    Text(String),
    /// An argument vector.
    Words(Vec<String>),
}

impl Input {
    /// As shell text.
    fn text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Words(words) => words.iter().map(|word| display::word(word)).collect::<Vec<_>>().join(" "),
        }
    }
}

/// What is said to it.
#[derive(Debug, Clone)]
pub struct Checked {
    /// The class.
    pub class: CommandClass,
    /// Allow, prompt or block.
    pub decision: GateDecision,
    /// Why.
    pub reason: String,
    /// The parts that it was judged by.
    pub parts: Part,
}

/// What this configuration says to a command; a declared class only raises.
///
/// # Errors
/// [`ConfigError::Frozen`].
pub fn check(frozen: &Frozen, input: &Input, declared: Option<CommandClass>) -> Result<Checked, ConfigError> {
    let policy = frozen.policy()?;
    let parts = match input {
        Input::Text(text) => policy.explain_command(text),
        Input::Words(words) => policy.explain_words(words),
    };
    let class = parts.class.max(declared.unwrap_or(CommandClass::Read));
    let reason = if class > parts.class { format!("declared {class} by the caller") } else { parts.deciding().reason.clone() };
    let matrix = policy.gate_decision(class);
    let (decision, reason) = if let Some(why) = forbidden::check_text(frozen, &policy, &input.text()) {
        (GateDecision::Block, why)
    } else if matrix == GateDecision::Block {
        (matrix, format!("the {} tier refuses {class} commands: {reason}", policy.autonomy()))
    } else {
        match rules::strictest_for(frozen, &policy, &input.text(), &parts) {
            Some(placed) => (placed.rule.decision, rules::said(placed)),
            None => (matrix, reason),
        }
    };
    Ok(Checked { class, decision, reason, parts })
}
