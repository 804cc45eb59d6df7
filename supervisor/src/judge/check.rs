//! A command that is only asked about: what this configuration would say to it.
//!
//! Invariant: the same steps in the same order as for a start, without launch, origin and grants. Refuses to know about
//! files: a name is taken for the program of that name, as in shell text.

use super::{forbidden, rules};
use crate::config::{ConfigError, Frozen};
use stayexec_policy::{CommandClass, GateDecision, Part};

/// What is asked about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input {
    /// Shell text.
    Text(String),
    /// An argument vector.
    Words(Vec<String>),
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
    let (decision, reason) = if let Some(why) = forbidden::check_input(frozen, &policy, input) {
        (GateDecision::Block, why)
    } else if matrix == GateDecision::Block {
        (matrix, format!("the {} tier refuses {class} commands: {reason}", policy.autonomy()))
    } else {
        match rule(frozen, input, &parts) {
            Some((decision, why)) => (decision, why),
            None => (matrix, reason),
        }
    };
    Ok(Checked { class, decision, reason, parts })
}

/// The strictest rule over everything that would run. One that allows counts only for a command of one part.
fn rule(frozen: &Frozen, input: &Input, parts: &Part) -> Option<(GateDecision, String)> {
    let mut lines = Vec::new();
    leaves(parts, &mut lines);
    let single = lines.len() == 1;
    let mut commands: Vec<Vec<&str>> = lines.iter().map(|line| line.split_whitespace().collect()).collect();
    if let Input::Words(words) = input {
        commands.push(words.iter().map(String::as_str).collect());
    }
    let found = commands.iter().filter_map(|words| rules::strictest_for_words(frozen, words));
    let strictest =
        found.filter(|placed| single || placed.rule.decision != GateDecision::Allow).max_by_key(|placed| placed.rule.decision)?;
    Some((strictest.rule.decision, super::rules::said(strictest)))
}

fn leaves<'a>(part: &'a Part, lines: &mut Vec<&'a str>) {
    if part.parts.is_empty() {
        lines.push(&part.text);
    }
    part.parts.iter().for_each(|below| leaves(below, lines));
}
