//! Remembered approvals: AlwaysApprove, for this run, for some minutes.
//!
//! Invariant: what is remembered is shown in full before it is saved, and it never covers a class above the approved one.
//! Refuses shells, interpreters, wrappers and multi-call binaries alone, files that are not what their names say, and, for
//! Network and above, anything but the exact argument vector.

use crate::clock::Nanos;
use serde::{Deserialize, Serialize};
use stayexec_policy::CommandClass;
use stayexec_protocol::Event;
use uuid::Uuid;

/// Programs that run what they are told: remembering them alone would remember everything.
const RUNNERS: &[&str] = &[
    "sh",
    "bash",
    "dash",
    "zsh",
    "ksh",
    "fish",
    "busybox",
    "toybox",
    "coreutils",
    "env",
    "nice",
    "nohup",
    "setsid",
    "timeout",
    "stdbuf",
    "time",
    "sudo",
    "doas",
    "su",
    "runuser",
    "xargs",
    "parallel",
    "watch",
    "flock",
    "chroot",
    "taskset",
    "script",
    "unshare",
    "nsenter",
    "strace",
    "ltrace",
    "gdb",
    "python",
    "perl",
    "ruby",
    "node",
    "nodejs",
    "deno",
    "bun",
    "php",
    "lua",
    "awk",
    "gawk",
    "mawk",
    "sed",
    "find",
    "ssh",
    "docker",
    "podman",
    "make",
    "npx",
    "uvx",
    "tclsh",
    "expect",
    "R",
    "Rscript",
    "java",
];

/// Programs whose first words say what they do.
const SUBCOMMANDS: &[&str] =
    &["git", "npm", "pnpm", "yarn", "cargo", "go", "pip", "pip3", "uv", "poetry", "gh", "kubectl", "systemctl", "apt", "apt-get"];

/// Programs of which only options and the kind of work matter, not on which files.
const SIMPLE: &[&str] = &[
    "touch", "mkdir", "cp", "mv", "rm", "rmdir", "ln", "chmod", "tee", "truncate", "patch", "tar", "unzip", "gzip", "rustfmt", "prettier",
];

/// For how long an approval counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// In this workspace, until removed.
    Workspace,
    /// In this run.
    Run(Uuid),
    /// In this workspace, up to this time.
    Until(Nanos),
}

/// The words that a command has to have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Words {
    /// All of them, in order, after the program.
    Exact(Vec<Vec<u8>>),
    /// Its first words and its options; on what it works is free.
    Shape { leading: Vec<Vec<u8>>, options: Vec<Vec<u8>> },
}

/// What is remembered of a command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pattern {
    program: Vec<u8>,
    words: Words,
    script: Option<[u8; 32]>,
    /// Digest of how the environment differs from that of the launch: a variable may make a program load code.
    environment: [u8; 32],
    class: CommandClass,
}

/// A remembered approval.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Remembered {
    /// Its id.
    pub id: Uuid,
    /// What it covers.
    pub pattern: Pattern,
    /// For how long.
    pub scope: Scope,
    /// Who approved, through which face.
    pub by: String,
    /// When.
    pub created: Nanos,
}

impl Pattern {
    /// What an approval of this event can remember; `None`: nothing.
    pub fn of(event: &Event, class: CommandClass, trusted: bool, environment: [u8; 32]) -> Option<Self> {
        if !trusted {
            return None;
        }
        let (_, words) = event.argv.split_first()?;
        let name = name(&event.executable.path);
        let base = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
        let runner = RUNNERS.contains(&name) || RUNNERS.contains(&base);
        let script = match &event.script {
            Some(script) if script.text.is_some() => Some(script.digest),
            Some(_) => return None,
            None if runner => return None,
            None => None,
        };
        let free = script.is_none() && class == CommandClass::Write;
        let words = match name {
            _ if !free => Words::Exact(words.to_vec()),
            name if SUBCOMMANDS.contains(&name) => shape(words, true),
            name if SIMPLE.contains(&name) => shape(words, false),
            _ => Words::Exact(words.to_vec()),
        };
        Some(Self { program: event.executable.path.clone(), words, script, environment, class })
    }

    /// Whether it covers a start of this class.
    pub fn covers(&self, event: &Event, class: CommandClass, trusted: bool, environment: &[u8; 32]) -> bool {
        let same = trusted && event.executable.path == self.program && class <= self.class && self.environment == *environment;
        let known = match (&self.script, &event.script) {
            (Some(digest), Some(script)) => script.text.is_some() && script.digest == *digest,
            (None, None) => true,
            _ => false,
        };
        let words = event.argv.get(1..).unwrap_or_default();
        same && known
            && match &self.words {
                Words::Exact(exact) => words == exact,
                Words::Shape { leading, options } => {
                    let (operands, given) = sorted(words);
                    operands.starts_with(&leading.iter().collect::<Vec<_>>()) && given == options.iter().collect::<Vec<_>>()
                }
            }
    }

    /// The pattern as it is shown before it is saved.
    pub fn shown(&self) -> String {
        let line = |words: &[&Vec<u8>]| {
            let all: Vec<Vec<u8>> = std::iter::once(self.program.clone()).chain(words.iter().map(|word| (*word).clone())).collect();
            super::text::line(&all)
        };
        let what = match &self.words {
            Words::Exact(words) => format!("exactly `{}`", line(&words.iter().collect::<Vec<_>>())),
            Words::Shape { leading, options } => {
                format!("`{}` with these options on anything", line(&leading.iter().chain(options).collect::<Vec<_>>()))
            }
        };
        let script = if self.script.is_some() { ", while the script stays as it is" } else { "" };
        format!("{what}, up to {}{script}", self.class)
    }
}

fn name(path: &[u8]) -> &str {
    std::str::from_utf8(path.rsplit(|&byte| byte == b'/').next().unwrap_or(path)).unwrap_or_default()
}

fn shape(words: &[Vec<u8>], subcommands: bool) -> Words {
    let (operands, options) = sorted(words);
    let word = |word: &&&Vec<u8>| word.iter().all(|byte| byte.is_ascii_lowercase() || *byte == b'-');
    let leading = operands.iter().take(if subcommands { 2 } else { 0 }).take_while(word).map(|word| (*word).clone()).collect();
    Words::Shape { leading, options: options.into_iter().cloned().collect() }
}

/// Operands in their order, and options sorted. What begins with a dash is an option wherever it stands.
fn sorted(words: &[Vec<u8>]) -> (Vec<&Vec<u8>>, Vec<&Vec<u8>>) {
    let (mut options, operands): (Vec<_>, Vec<_>) = words.iter().partition(|word| word.starts_with(b"-"));
    options.sort();
    (operands, options)
}

impl Remembered {
    /// Whether it counts in this run at this time.
    pub fn counts(&self, run: Uuid, now: Nanos) -> bool {
        match self.scope {
            Scope::Workspace => true,
            Scope::Run(of) => of == run,
            Scope::Until(end) => now < end,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::session::testing::event;
    use super::*;
    use stayexec_protocol::{FileId, Script};

    fn pattern(path: &str, words: &[&str], class: CommandClass) -> Option<Pattern> {
        Pattern::of(&event(path, words), class, true, [0; 32])
    }

    fn covers(pattern: &Option<Pattern>, path: &str, words: &[&str], class: CommandClass) -> bool {
        pattern.as_ref().is_some_and(|pattern| pattern.covers(&event(path, words), class, true, &[0; 32]))
    }

    #[test]
    fn subcommand_and_options_are_exact_and_operands_free() {
        use CommandClass::{Destructive, Write};
        let commit = pattern("/usr/bin/git", &["git", "commit", "-m", "one two"], Write);
        assert!(covers(&commit, "/usr/bin/git", &["git", "commit", "-m", "other words"], Write));
        assert!(!covers(&commit, "/usr/bin/git", &["git", "commit", "-m", "x", "--amend"], Write));
        assert!(!covers(&commit, "/usr/bin/git", &["git", "checkout", "-m", "x"], Write));
        assert!(!covers(&commit, "/opt/git", &["git", "commit", "-m", "x"], Write));
        assert!(!covers(&commit, "/usr/bin/git", &["git", "commit", "-m", "x"], Destructive));
        let touch = pattern("/usr/bin/touch", &["touch", "build"], Write);
        assert!(covers(&touch, "/usr/bin/touch", &["touch", "other"], Write));
        assert!(!covers(&touch, "/usr/bin/touch", &["touch", "-r", "other"], Write));
    }

    #[test]
    fn network_and_above_are_exact_and_so_is_the_unknown() {
        let push = pattern("/usr/bin/git", &["git", "push", "origin"], CommandClass::Network);
        assert!(covers(&push, "/usr/bin/git", &["git", "push", "origin"], CommandClass::Network));
        assert!(!covers(&push, "/usr/bin/git", &["git", "push", "other"], CommandClass::Network));
        let unknown = pattern("/usr/bin/frobnicate", &["frobnicate", "x"], CommandClass::Write);
        assert!(!covers(&unknown, "/usr/bin/frobnicate", &["frobnicate", "y"], CommandClass::Write));
    }

    #[test]
    fn runners_and_untrusted_files_are_never_remembered() {
        for path in ["/bin/sh", "/usr/bin/python3.12", "/usr/bin/env", "/bin/busybox", "/usr/bin/sudo"] {
            assert_eq!(pattern(path, &["x", "y"], CommandClass::Write), None, "{path}");
        }
        assert_eq!(Pattern::of(&event("/proj/tool", &["tool"]), CommandClass::Write, false, [0; 32]), None);
    }

    #[test]
    fn a_script_is_remembered_with_its_content() {
        let script = |digest| Script {
            path: b"/usr/bin/npm".to_vec(),
            id: FileId { dev: 0, ino: 0, size: 0, ctime: 0 },
            digest: [digest; 32],
            text: Some(vec![]),
        };
        let start = |digest| Event { script: Some(script(digest)), ..event("/usr/bin/node", &["node", "/usr/bin/npm", "ci"]) };
        let pattern = Pattern::of(&start(1), CommandClass::Install, true, [0; 32]);
        let covered = |event: &Event, trusted, environment| {
            pattern.as_ref().is_some_and(|p| p.covers(event, CommandClass::Install, trusted, &environment))
        };
        assert!(covered(&start(1), true, [0; 32]));
        assert!(!covered(&start(1), false, [0; 32]));
        assert!(!covered(&start(1), true, [1; 32]), "another environment");
        assert!(!covered(&start(2), true, [0; 32]), "another content");
        assert!(!covered(&event("/usr/bin/node", &["node", "/usr/bin/npm", "ci"]), true, [0; 32]));
    }
}
