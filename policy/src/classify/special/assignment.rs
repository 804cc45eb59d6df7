//! Assignments of variables that programs obey: what their values make of what runs.
//!
//! Invariant: a value that is only known when it runs is at least Write.

use super::super::args::Arg;
use super::super::judge::{Feed, Judge, Scope};
use super::super::vet::Finding;
use crate::shell::Disputed;
use crate::{CommandClass, ReasonCode};

/// A prompt in which nothing is expanded that could run something. It is decoded before: `\044` is a dollar sign to it, and
/// `\[` is nothing.
fn prompts(text: &str) -> bool {
    let (mut chars, mut dollar) = (text.chars(), false);
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some('[' | ']') => continue,
                Some(next) if next.is_ascii_digit() => return false,
                _ => dollar = false,
            },
            '`' => return false,
            '(' | '{' | '[' if dollar => return false,
            _ => dollar = c == '$',
        }
    }
    true
}

/// Variables with which zsh is led elsewhere, and which mean nothing to others.
const ZSH: &[&str] = &[
    "path",
    "fpath",
    "cdpath",
    "module_path",
    "aliases",
    "galiases",
    "saliases",
    "functions",
    "commands",
    "options",
    "nameddirs",
    "NULLCMD",
    "READNULLCMD",
    "PROMPT",
    "PROMPT2",
    "PROMPT4",
    "RPROMPT",
    "prompt",
    "precmd_functions",
    "preexec_functions",
    "chpwd_functions",
    "PS3",
];

pub(in crate::classify) fn obeyed_by_zsh(name: &str) -> bool {
    ZSH.contains(&name)
}

fn is_prompt(name: &str) -> bool {
    matches!(name, "PS0" | "PS1" | "PS2" | "PS4")
}

impl Judge<'_> {
    /// An assignment, in front of a command or on its own.
    pub fn assignment(&self, name: &str, value: &Arg, scope: &Scope<'_>) -> Option<Finding> {
        use crate::knowledge::Meaning;
        if obeyed_by_zsh(name) {
            self.dispute(Disputed { zsh: true, ..Disputed::default() });
        }
        let loads = || Finding::new(CommandClass::Write, ReasonCode::Environment, format!("{name} makes programs load other code"));
        match self.knowledge.meaning(name) {
            Meaning::Harmless => None,
            Meaning::Load | Meaning::LoadFor(_) => {
                let tame = value.full().is_some_and(|value| value.is_empty() || self.knowledge.is_tame(name, value));
                (!tame).then(loads)
            }
            Meaning::Path => (!self.starts && !path_is_tame(value))
                .then(|| Finding::new(CommandClass::Write, ReasonCode::Environment, "PATH changes what a name means")),
            Meaning::Command if is_prompt(name) && value.text.contains('\\') && !prompts(&value.text) => Some(loads()),
            Meaning::Command | Meaning::CommandFor(_) => match value.full() {
                Some("") => None,
                Some(text) if self.knowledge.is_tame(name, text) => None,
                Some(text) if is_prompt(name) && prompts(text) => None,
                Some(text) => {
                    // A pipe, and a dash for an input, stand in front of it.
                    let text = if name == "LESSOPEN" { text.trim_start_matches(['|', '-']) } else { text };
                    let inner = self.text_part(text, Some(scope.vars), scope.level + 1, &Feed::default());
                    let lets_by = if self.knowledge.is_transport(name) { CommandClass::Network } else { CommandClass::Read };
                    // Write is below Network, and no connection.
                    (inner.class > CommandClass::Read && (inner.class != lets_by))
                        .then(|| Finding::new(inner.class, ReasonCode::Environment, format!("{name} names a command: {}", inner.reason)))
                }
                None => Some(Finding::new(
                    CommandClass::Write,
                    ReasonCode::Environment,
                    format!("{name} names a command that is only known when it runs"),
                )),
            },
        }
    }
}

/// Nothing is put in front of the directories that were there, except where programs are installed.
fn path_is_tame(value: &Arg) -> bool {
    let Some(first) = value.text.split(':').next() else { return true };
    let standard = |dir: &str| matches!(dir, "/bin" | "/usr/bin" | "/sbin" | "/usr/sbin" | "/usr/local/bin" | "/usr/local/sbin");
    // What is not known may be anything, except the directories that were there.
    if value.is_open() && !value.path {
        return false;
    }
    if first.chars().eq([super::super::args::UNKNOWN]) {
        // A part that is empty, or no absolute path, is the working directory or lies in it.
        let somewhere = |dir: &str| dir.starts_with(['/', '~', super::super::args::UNKNOWN]);
        return !value.risky && value.text.split(':').skip(1).all(somewhere);
    }
    value.text.split(':').take_while(|dir| !dir.chars().eq([super::super::args::UNKNOWN])).all(standard)
}
