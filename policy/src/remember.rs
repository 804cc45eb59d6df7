//! What "always approve" remembers: program, subcommand words and exact options, on any operands, where the knowledge vets
//! every option and no operand is a program's text; everything else by the exact argument vector.
//!
//! By the exact argument vector alone: Network and above, programs and subcommands that the knowledge does not list or whose
//! options it does not vet, options and operands that hold commands, programs that read a language of their own, shells,
//! interpreters, wrappers and multi-call binaries. A file that anyone in the run could have written besides only for as long
//! as it stays the one that was approved. Never a shell or interpreter alone, or with its text from elsewhere: what it does
//! tomorrow is not what a person approved today.

use serde::{Deserialize, Serialize};

use crate::classify::args::Arg;
use crate::knowledge::{Entry, Role};
use crate::{CommandClass, Exec, Places, SecurityPolicy};

/// A remembered approval.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Shape {
    /// Path of the program.
    pub program: String,
    /// The name that it was called by, where that says which of several programs it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub called: Option<String>,
    /// Subcommand words.
    pub words: Vec<String>,
    /// Options with their values, in alphabetical order.
    pub options: Vec<String>,
    /// The exact argument vector after the program, where only that was approved.
    pub exact: Option<Vec<String>>,
    /// It holds for the approved file alone, and only while its identity stays the same: whoever keeps the shape keeps the
    /// identity with it, and compares it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub same_file: bool,
    /// Nothing above this class is covered.
    pub class: CommandClass,
}

impl Shape {
    /// The shape of an exec, or none when nothing may be remembered about it.
    #[must_use]
    pub fn of(policy: &SecurityPolicy, exec: &Exec<'_>, places: &Places<'_>, class: CommandClass) -> Option<Self> {
        let trusted = exec.file.trusted(places);
        // A loader of the tree's own can put anything into any file.
        if !trusted && !exec.file.linker_trusted {
            return None;
        }
        let program = std::str::from_utf8(exec.file.path).ok()?.to_owned();
        let argv: Vec<String> =
            exec.argv.iter().skip(1).map(|arg| std::str::from_utf8(arg).map(str::to_owned)).collect::<Result<_, _>>().ok()?;
        let base = |path: &str| path.rsplit('/').next().unwrap_or(path).to_owned();
        let (file, word) = (base(&program), exec.argv.first().and_then(|word| std::str::from_utf8(word).ok()).map(base));
        let known = policy.knowledge().called(&file, word.as_deref());
        let other = known.besides.is_some() || known.strange;
        let called = (other || known.name != file).then(|| word.clone().unwrap_or_default());
        let entry = policy.knowledge().program(known.name);
        let kind = entry.map_or(Kind::Exact, |entry| kind(entry, &argv));
        let assessment = policy.classify_argv(exec, places);
        if matches!(kind, Kind::Never) || !assessment.text_seen || !assessment.self_contained {
            return None;
        }
        match entry.filter(|_| trusted && !other && class < CommandClass::Network && matches!(kind, Kind::Shape)) {
            None => Some(Self { program, called, words: Vec::new(), options: Vec::new(), exact: Some(argv), same_file: !trusted, class }),
            Some(entry) => match split(entry, &argv) {
                Some((words, mut options)) => {
                    options.sort_unstable();
                    Some(Self { program, called, words, options, exact: None, same_file: false, class })
                }
                None => Some(Self { program, called, words: Vec::new(), options: Vec::new(), exact: Some(argv), same_file: false, class }),
            },
        }
    }

    /// The exec is one that was approved, and its class is not above the approved one.
    #[must_use]
    pub fn covers(&self, policy: &SecurityPolicy, exec: &Exec<'_>, places: &Places<'_>, class: CommandClass) -> bool {
        class <= self.class && Self::of(policy, exec, places, self.class).as_ref() == Some(self)
    }

    /// One line for the person who is about to save it, without secrets.
    #[must_use]
    pub fn describe(&self) -> String {
        // What is a secret goes by the program that it is.
        let mut words = vec![self.called.as_ref().unwrap_or(&self.program).clone()];
        words.extend(self.exact.iter().flatten().chain(&self.words).cloned());
        // A value is told from its option: so it is looked at as what it is.
        words.extend(self.options.iter().flat_map(|option| option.splitn(2, '=').map(str::to_owned)));
        let raw: Vec<Vec<u8>> = words.into_iter().map(String::into_bytes).collect();
        let shown = crate::redact::argv(&raw);
        let rest = shown.iter().skip(1).map(|word| crate::display::word(&String::from_utf8_lossy(word)));
        let line = std::iter::once(crate::display::word(&self.program)).chain(rest).collect::<Vec<_>>().join(" ");
        let called = self.called.as_ref().map_or_else(String::new, |name| format!(" (called {})", crate::display::word(name)));
        match self.exact {
            Some(_) if self.same_file => format!("exactly `{line}`{called}, up to {}, while the file stays as it is", self.class),
            Some(_) => format!("exactly `{line}`{called}, up to {}", self.class),
            None => format!("`{line} …`{called} with any operands, up to {}", self.class),
        }
    }
}

enum Kind {
    Never,
    Exact,
    Shape,
}

fn kind(entry: &Entry, argv: &[String]) -> Kind {
    match entry.special.as_deref() {
        // Half of what they run comes by their input.
        Some("xargs" | "parallel") => Kind::Never,
        // Alone they run whatever they are told later.
        _ if argv.is_empty() && (entry.special.is_some() || entry.payload.is_some()) => Kind::Never,
        _ => Kind::Shape,
    }
}

/// Handlers that read operands as names of files or of what a repository holds, and nothing else.
const NAMES_ALONE: &[&str] = &["git", "git-list", "checkout", "restore", "clean", "reflog", "chmod", "sinks", "cargo"];

/// What an operand of this entry does is in its table: no option goes unvetted, none and no operand holds a command.
fn is_table(entry: &Entry) -> bool {
    !entry.lax
        && entry.payload.is_none()
        && entry.special.as_deref().is_none_or(|handler| NAMES_ALONE.contains(&handler))
        && !entry.options.values().any(|option| option.role == Role::Exec)
}

/// Subcommand words, and options with the values that belong to them; nothing where operands decide what it does.
fn split(entry: &Entry, argv: &[String]) -> Option<(Vec<String>, Vec<String>)> {
    let mut entry = entry;
    let (mut words, mut options) = (Vec::new(), Vec::new());
    let mut rest: Vec<Arg> = argv.iter().map(Arg::closed).collect();
    loop {
        let vetted = crate::classify::vet(entry, &rest);
        // A file of options (`gcc @FILE`) is none of them.
        if !is_table(entry) || !vetted.unlisted.is_empty() || rest.iter().any(|arg| arg.text.starts_with('@')) {
            return None;
        }
        options.extend(vetted.flags);
        options.extend(vetted.taken.iter().map(|taken| format!("{}={}", taken.option, taken.value.text)));
        if !entry.has_sub() {
            return Some((words, options));
        }
        let at = *vetted.operands.first()?;
        let sub = entry.subcommand(&rest[at].text)?;
        words.push(rest[at].text.clone());
        rest.drain(..=at);
        entry = sub;
    }
}

#[cfg(test)]
#[path = "remember_tests.rs"]
mod tests;
