//! A command that is only asked about: what this configuration would say to it.
//!
//! Invariant: the same steps in the same order as for a start, without launch, origin and grants, in the environment of a
//! launch. Refuses to know about files: a name is taken for the program of that name, as in shell text.

use super::known::Known;
use super::{forbidden, rules};
use crate::config::Frozen;
use stayexec_policy::{CommandClass, GateDecision, Part, SecurityPolicy, display};

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

/// What this configuration says to a command; `policy` is its classifier and gate. A declared class only raises.
pub fn check(frozen: &Frozen, policy: &SecurityPolicy, known: &Known, input: &Input, declared: Option<CommandClass>) -> Checked {
    let parts = match input {
        Input::Text(text) => policy.explain_command(text),
        Input::Words(words) => policy.explain_words(words),
    };
    let class = parts.class.max(declared.unwrap_or(CommandClass::Read));
    let reason = if class > parts.class { format!("declared {class} by the caller") } else { parts.deciding().reason.clone() };
    let outside = || forbidden::outside_text(frozen, policy, &input.text());
    let (class, reason) = match (class, frozen.classify.workspace_only) {
        (CommandClass::Read, true) => outside().map_or((class, reason), |why| (CommandClass::Write, why)),
        _ => (class, reason),
    };
    let matrix = policy.gate_decision(class);
    let (decision, reason) = if let Some(why) = forbidden::check_text(frozen, policy, &input.text()) {
        (GateDecision::Block, why)
    } else if matrix == GateDecision::Block {
        (matrix, format!("the {} tier refuses {class} commands: {reason}", policy.autonomy()))
    } else {
        let approving = || known.approving(frozen, policy, &input.text(), declared.unwrap_or(CommandClass::Read), &parts);
        match (rules::strictest_for(frozen, &known.rules, policy, &input.text(), &parts), matrix) {
            (Some(placed), _) => (placed.rule.decision, rules::said(placed)),
            (None, GateDecision::Prompt) => match approving() {
                Some(shown) => (GateDecision::Allow, format!("remembered: {shown}")),
                None => (matrix, reason),
            },
            (None, _) => (matrix, reason),
        }
    };
    Checked { class, decision, reason, parts }
}

#[cfg(test)]
mod tests {
    use super::super::remembered::{Pattern, Remembered, Scope};
    use super::super::session::testing::{event, session};
    use super::super::store::Store;
    use super::*;
    use uuid::Uuid;

    #[test]
    fn what_was_remembered_is_allowed_and_nothing_beside_it() -> Result<(), Box<dyn std::error::Error>> {
        let dir = tempfile::tempdir()?;
        let tool = std::fs::canonicalize("/bin/touch")?;
        let name = tool.file_name().ok_or("no name")?.to_string_lossy().into_owned();
        let (session, _messages) = session(|_| {})?;
        let folder = dir.path().join("w");
        std::fs::create_dir_all(folder.join("approval"))?;
        std::fs::write(dir.path().join("digest.key"), b"key")?;
        let mut start = event(&tool.to_string_lossy(), &[&name, "-c", "x"]);
        start.environment = session.baseline.clone();
        let environment = super::super::environment::digest(&session, &start);
        let pattern = Pattern::of(&session, &start, CommandClass::Write, environment).ok_or("nothing to remember")?;
        let mut store = Store::open(&folder.join("approval/approval.db"))?;
        store.remember(&session.mac, &Remembered { id: Uuid::now_v7(), pattern, scope: Scope::Workspace, by: "me".into(), created: 0 })?;
        let known = Known::read(dir.path(), &folder, b"/usr/bin:/bin")?;
        let decided = |text: String, declared| check(&session.frozen, &session.policy, &known, &Input::Text(text), declared).decision;
        assert_eq!(decided(format!("{name} -c other"), None), GateDecision::Allow);
        assert_eq!(decided(format!("ls && {name} -c y"), None), GateDecision::Allow);
        for text in ["NAME other", "NAME -c y > z", "NAME -c y; mkdir z", "NAME -c $(mkdir z)", "LD_PRELOAD=x NAME -c y"] {
            assert_eq!(decided(text.replace("NAME", &name), None), GateDecision::Prompt, "{text}");
        }
        assert_eq!(decided(format!("{name} -c other"), Some(CommandClass::Network)), GateDecision::Prompt);
        Ok(())
    }
}
