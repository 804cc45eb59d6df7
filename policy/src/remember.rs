//! What "always approve" remembers: program, subcommand words and exact options; for Network and above the exact
//! argument vector.
//!
//! Never a shell, an interpreter, a wrapper or a multi-call binary alone, and never a file that anyone in the run could
//! have written: what it does tomorrow is not what a person approved today.

use serde::{Deserialize, Serialize};

use crate::classify::args::Arg;
use crate::knowledge::{Entry, Payload};
use crate::{CommandClass, Exec, Places, SecurityPolicy};

/// A remembered approval.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Shape {
    /// Path of the program.
    pub program: String,
    /// Subcommand words.
    pub words: Vec<String>,
    /// Options with their values, in alphabetical order.
    pub options: Vec<String>,
    /// The exact argument vector after the program, where only that was approved.
    pub exact: Option<Vec<String>>,
    /// Nothing above this class is covered.
    pub class: CommandClass,
}

impl Shape {
    /// The shape of an exec, or none when nothing may be remembered about it.
    #[must_use]
    pub fn of(policy: &SecurityPolicy, exec: &Exec<'_>, places: &Places<'_>, class: CommandClass) -> Option<Self> {
        if !exec.file.trusted(places) {
            return None;
        }
        let program = std::str::from_utf8(exec.file.path).ok()?.to_owned();
        let argv: Vec<String> =
            exec.argv.iter().skip(1).map(|arg| std::str::from_utf8(arg).map(str::to_owned)).collect::<Result<_, _>>().ok()?;
        let name = program.rsplit('/').next().unwrap_or(&program);
        let entry = policy.knowledge().program(name)?;
        let exact = match kind(entry, &argv) {
            Kind::Never => return None,
            Kind::Exact => true,
            Kind::Shape => class >= CommandClass::Network,
        };
        if exact {
            return Some(Self { program, words: Vec::new(), options: Vec::new(), exact: Some(argv), class });
        }
        let (words, mut options) = split(entry, &argv);
        options.sort_unstable();
        Some(Self { program, words, options, exact: None, class })
    }

    /// The exec is one that was approved, and its class is not above the approved one.
    #[must_use]
    pub fn covers(&self, policy: &SecurityPolicy, exec: &Exec<'_>, places: &Places<'_>, class: CommandClass) -> bool {
        class <= self.class && Self::of(policy, exec, places, self.class).as_ref() == Some(self)
    }

    /// One line for the person who is about to save it.
    #[must_use]
    pub fn describe(&self) -> String {
        let mut words = vec![self.program.clone()];
        words.extend(self.exact.iter().flatten().chain(&self.words).chain(&self.options).cloned());
        let line = words.iter().map(|word| crate::display::word(word)).collect::<Vec<_>>().join(" ");
        match self.exact {
            Some(_) => format!("exactly `{line}`, up to {}", self.class),
            None => format!("`{line} …` with any operands, up to {}", self.class),
        }
    }
}

enum Kind {
    Never,
    Exact,
    Shape,
}

fn kind(entry: &Entry, argv: &[String]) -> Kind {
    let has_text = argv.iter().any(|arg| arg.starts_with('-') && !arg.starts_with("--") && arg.contains('c'))
        && argv.iter().any(|arg| !arg.starts_with('-'));
    match entry.special.as_deref() {
        Some("shell") if has_text => Kind::Exact,
        Some("shell" | "interpreter" | "xargs" | "parallel" | "busybox" | "ldso" | "eval" | "source") => Kind::Never,
        _ if entry.payload == Some(Payload::Argv) || entry.special.as_deref() == Some("env") => Kind::Never,
        _ if entry.payload.is_some() => Kind::Exact,
        _ => Kind::Shape,
    }
}

/// Subcommand words, and options with the values that belong to them.
fn split(entry: &Entry, argv: &[String]) -> (Vec<String>, Vec<String>) {
    let mut entry = entry;
    let (mut words, mut options) = (Vec::new(), Vec::new());
    let mut rest: Vec<Arg> = argv.iter().map(Arg::closed).collect();
    loop {
        let vetted = crate::classify::vet(entry, &rest);
        options.extend(vetted.flags);
        options.extend(vetted.taken.iter().map(|taken| format!("{}={}", taken.option, taken.value.text)));
        // An option that nobody knows belongs to the shape as it stands.
        options.extend(rest.iter().filter(|arg| arg.text.starts_with('-') && !vetted.findings.is_empty()).map(|arg| arg.text.clone()));
        let below = vetted.operands.first().and_then(|&at| Some((at, entry.subcommand(&rest[at].text)?)));
        let Some((at, sub)) = below else { return (words, options) };
        words.push(rest[at].text.clone());
        rest.drain(..=at);
        entry = sub;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FileFacts, Stdin};

    fn with<T>(path: &str, argv: &[&str], act: impl Fn(&SecurityPolicy, &Exec<'_>, &Places<'_>) -> T) -> T {
        let argv: Vec<Vec<u8>> = argv.iter().map(|word| word.as_bytes().to_vec()).collect();
        let file = FileFacts {
            path: path.as_bytes(),
            root_owned: true,
            chain_root_owned: true,
            unchanged: true,
            same_view: true,
            linker_trusted: true,
        };
        let exec = Exec { argv: &argv, environment: &[], baseline: &[], cwd: b"/w", file, script: None, stdin: Stdin::Null };
        act(&SecurityPolicy::default(), &exec, &Places { workspace: b"/w", ..Places::default() })
    }

    fn shape(path: &str, argv: &[&str], class: CommandClass) -> Option<Shape> {
        with(path, argv, |policy, exec, places| Shape::of(policy, exec, places, class))
    }

    fn covers(shape: &Shape, path: &str, argv: &[&str], class: CommandClass) -> bool {
        with(path, argv, |policy, exec, places| shape.covers(policy, exec, places, class))
    }

    #[test]
    fn operands_are_free_options_are_not() {
        use CommandClass::{Destructive, Network, Write};
        let add = shape("/usr/bin/git", &["git", "add", "-v", "x"], Write).unwrap();
        assert!(covers(&add, "/usr/bin/git", &["git", "add", "y", "-v"], Write));
        assert!(!covers(&add, "/usr/bin/git", &["git", "add", "-f", "y"], Write));
        assert!(!covers(&add, "/usr/bin/git", &["git", "commit", "-v"], Write));
        assert!(!covers(&add, "/opt/git", &["git", "add", "-v", "y"], Write));
        assert!(!covers(&add, "/usr/bin/git", &["git", "add", "-v", "y"], Destructive));
        let curl = shape("/usr/bin/curl", &["curl", "a"], Network).unwrap();
        assert!(covers(&curl, "/usr/bin/curl", &["curl", "a"], Network));
        assert!(!covers(&curl, "/usr/bin/curl", &["curl", "b"], Network));
    }

    #[test]
    fn nothing_that_runs_anything_is_remembered() {
        use CommandClass::Write;
        for (path, argv) in [
            ("/usr/bin/bash", &["bash"][..]),
            ("/usr/bin/bash", &["bash", "x.sh"]),
            ("/usr/bin/python3.11", &["python3", "x.py"]),
            ("/usr/bin/env", &["env", "make"]),
            ("/usr/bin/busybox", &["busybox", "rm"]),
            ("/usr/bin/xargs", &["xargs", "rm"]),
            ("/usr/bin/sudo", &["sudo", "make"]),
            ("/w/tool", &["tool"]),
            ("/usr/bin/nosuch", &["nosuch"]),
        ] {
            assert_eq!(shape(path, argv, Write), None, "{argv:?}");
        }
        let text = shape("/usr/bin/bash", &["bash", "-c", "make"], Write).unwrap();
        assert!(covers(&text, "/usr/bin/bash", &["bash", "-c", "make"], Write));
        assert!(!covers(&text, "/usr/bin/bash", &["bash", "-c", "make x"], Write));
    }
}
