//! Which rule decides about a text or a start.

use super::Rule;
use crate::{GateDecision, Part, ReasonCode, SecurityPolicy};

/// The rule that decides, strictest first; `commands` and `part` come from the same text or exec.
///
/// An allow rule decides only when each command is allowed and the rest of the tree holds nothing besides commands.
#[must_use]
pub fn decide<'r>(rules: &'r [Rule], policy: &SecurityPolicy, commands: &[Vec<String>], part: &Part) -> Option<&'r Rule> {
    let first = |decision: GateDecision| {
        rules.iter().filter(move |rule| rule.decision == decision).find(|rule| commands.iter().any(|words| rule.matches(policy, words)))
    };
    if let Some(rule) = first(GateDecision::Block).or_else(|| first(GateDecision::Prompt)) {
        return Some(rule);
    }
    let allowed = |words: &Vec<String>| rules.iter().find(|rule| rule.decision == GateDecision::Allow && rule.matches(policy, words));
    let mut deciding = None;
    for words in commands.iter().filter(|words| !is_shell_text(policy, words)) {
        deciding = Some(allowed(words)?);
    }
    deciding.filter(|_| only_commands(part))
}

/// `sh -c TEXT`: its text stands among the commands itself.
fn is_shell_text(policy: &SecurityPolicy, words: &[String]) -> bool {
    let Some(name) = words.first() else { return false };
    let short = name.rsplit('/').next().unwrap_or(name);
    let shell = policy.knowledge().program(short).and_then(|entry| entry.special.as_deref()) == Some("shell");
    shell && !name.contains("./") && words.iter().skip(1).any(|word| word.starts_with('-') && !word.starts_with("--") && word.contains('c'))
}

fn only_commands(part: &Part) -> bool {
    use ReasonCode as R;
    let plain = matches!(
        part.code,
        R::Known
            | R::UnknownProgram
            | R::UnknownSubcommand
            | R::UnlistedOption
            | R::RaisingOption
            | R::Operand
            | R::InterpreterText
            | R::Payload
            | R::Parts
            | R::Empty
            | R::ProgramText
    );
    plain && part.parts.iter().all(only_commands)
}
