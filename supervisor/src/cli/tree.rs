//! What a command was judged by, for a person and for a machine.
//!
//! Invariant: a text from outside is shown escaped, and colour stands for the class alone, in addition to its word. Refuses
//! colour where nobody looks at a terminal, where `NO_COLOR` is set and not empty, and where `TERM` is missing or `dumb`.

use crate::config::Surroundings;
use crate::judge;
use serde::{Serialize, Serializer};
use stayexec_policy::{CommandClass, GateDecision, Part, ReasonCode};
use std::io::IsTerminal;

/// The answer with its parts: the JSON that `docs/policy.md` describes.
#[derive(Serialize)]
pub struct Answer<'a> {
    class: CommandClass,
    decision: GateDecision,
    reason: &'a str,
    parts: Node<'a>,
}

/// One part; every key is always there.
#[derive(Serialize)]
struct Node<'a> {
    text: &'a str,
    class: CommandClass,
    code: ReasonCode,
    reason: &'a str,
    entry: Option<&'a str>,
    #[serde(serialize_with = "nodes")]
    parts: &'a [Part],
}

impl<'a> From<&'a Part> for Node<'a> {
    fn from(part: &'a Part) -> Self {
        let Part { text, class, code, reason, entry, parts } = part;
        Self { text, class: *class, code: *code, reason, entry: entry.as_deref(), parts }
    }
}

fn nodes<S: Serializer>(parts: &[Part], to: S) -> Result<S::Ok, S::Error> {
    to.collect_seq(parts.iter().map(Node::from))
}

/// The answer for a machine.
pub fn answer<'a>(checked: &'a judge::Checked) -> Answer<'a> {
    Answer { class: checked.class, decision: checked.decision, reason: &checked.reason, parts: Node::from(&checked.parts) }
}

/// Whether standard output is to be coloured.
pub fn coloured(around: &Surroundings) -> bool {
    wanted(around) && std::io::stdout().is_terminal()
}

fn wanted(around: &Surroundings) -> bool {
    around.variable("NO_COLOR").is_none() && around.variable("TERM").is_some_and(|term| term != "dumb")
}

/// The word for a class, in its colour.
pub fn class(class: CommandClass, colour: bool) -> String {
    if !colour {
        return class.to_string();
    }
    let code = match class {
        CommandClass::Read => "32",
        CommandClass::Write => "33",
        CommandClass::Network => "36",
        CommandClass::Install => "35",
        CommandClass::Destructive => "1;31",
    };
    format!("\x1b[{code}m{class}\x1b[0m")
}

/// The parts, a line each, indented by depth.
pub fn lines(part: &Part, colour: bool) -> String {
    let mut out = String::new();
    // A list instead of recursion: nothing here depends on how deep a command is.
    let mut open = vec![(part, 1)];
    while let Some((part, depth)) = open.pop() {
        let entry = part.entry.as_ref().map(|entry| format!(" ({entry})")).unwrap_or_default();
        let text = judge::shown(&part.text);
        let (class, reason) = (class(part.class, colour), judge::shown(&part.reason));
        out.push_str(&format!("{:indent$}{class}: {text}: {reason}{entry}\n", "", indent = 2 * depth));
        open.extend(part.parts.iter().rev().map(|below| (below, depth + 1)));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use stayexec_policy::SecurityPolicy;
    use std::path::Path;

    fn around(variables: &[(&str, &str)]) -> Surroundings {
        Surroundings::with(Path::new("/"), Path::new("/nowhere"), variables)
    }

    #[test]
    fn colour_is_for_terminals_that_can_and_people_who_want() {
        assert!(wanted(&around(&[("TERM", "xterm")])));
        assert!(wanted(&around(&[("TERM", "xterm"), ("NO_COLOR", "")])));
        for variables in [&[("TERM", "xterm"), ("NO_COLOR", "1")][..], &[("TERM", "dumb")], &[("TERM", "")], &[]] {
            assert!(!wanted(&around(variables)), "{variables:?}");
        }
    }

    #[test]
    fn colour_adds_nothing_but_colour() {
        let part = SecurityPolicy::default().explain_command("ls | sort -o x; npm install; git fetch; git clean -f");
        let plain = lines(&part, false);
        let mut bare = lines(&part, true);
        for code in ["32", "33", "36", "35", "1;31", "0"] {
            let sequence = format!("\x1b[{code}m");
            assert!(bare.contains(&sequence), "{sequence:?}");
            bare = bare.replace(&sequence, "");
        }
        assert_eq!(bare, plain);
        assert!(!plain.contains('\x1b'));
    }

    #[test]
    fn a_text_moves_no_cursor() {
        let part = SecurityPolicy::default().explain_command("frob '\x1b[2J' \u{202e}x");
        assert!(!lines(&part, false).chars().any(|c| c != '\n' && stayexec_policy::display::is_unsafe(c)));
    }
}
