//! Remembered approvals: AlwaysApprove, for this run, for some minutes.
//!
//! Invariant: what is remembered is shown in full before it is saved, and it never covers a class above the approved one.
//! Refuses shells, interpreters, wrappers and multi-call binaries alone, files that are not what their names say, and, for
//! Network and above, anything but the exact argument vector.

use crate::clock::Nanos;
use hmac::{Hmac, Mac};
use serde::{Deserialize, Serialize};
use sha2::Sha256;
use stayexec_policy::{CommandClass, redact};
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

/// What is remembered of a command. Its words are kept as a digest: they may hold secrets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pattern {
    program: Vec<u8>,
    /// How many operands count besides the options; absent: every word counts, in its order.
    leading: Option<usize>,
    /// Keyed digest of the words that count.
    words: [u8; 32],
    script: Option<[u8; 32]>,
    /// Digest of how the environment differs from that of the launch: a variable may make a program load code.
    environment: [u8; 32],
    class: CommandClass,
    shown: String,
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
    pub fn of(event: &Event, class: CommandClass, trusted: bool, environment: [u8; 32], mac: &Hmac<Sha256>) -> Option<Self> {
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
        let leading =
            if free && SUBCOMMANDS.contains(&name) { Some(subcommands(words)) } else { (free && SIMPLE.contains(&name)).then_some(0) };
        let shown = shown(&event.executable.path, words, leading, class, script.is_some());
        let words = digest(words, leading, mac);
        Some(Self { program: event.executable.path.clone(), leading, words, script, environment, class, shown })
    }

    /// Whether it covers a start of this class.
    pub fn covers(&self, event: &Event, class: CommandClass, trusted: bool, environment: &[u8; 32], mac: &Hmac<Sha256>) -> bool {
        let same = trusted && event.executable.path == self.program && class <= self.class && self.environment == *environment;
        let known = match (&self.script, &event.script) {
            (Some(digest), Some(script)) => script.text.is_some() && script.digest == *digest,
            (None, None) => true,
            _ => false,
        };
        same && known && digest(event.argv.get(1..).unwrap_or_default(), self.leading, mac) == self.words
    }

    /// The pattern as it is shown before it is saved.
    pub fn shown(&self) -> String {
        self.shown.clone()
    }
}

fn name(path: &[u8]) -> &str {
    std::str::from_utf8(path.rsplit(|&byte| byte == b'/').next().unwrap_or(path)).unwrap_or_default()
}

/// How many of the first operands say what is done.
fn subcommands(words: &[Vec<u8>]) -> usize {
    let plain = |word: &&&Vec<u8>| word.iter().all(|byte| byte.is_ascii_lowercase() || *byte == b'-');
    sorted(words).0.iter().take(2).take_while(plain).count()
}

/// Operands in their order, and options sorted. What begins with a dash is an option wherever it stands.
fn sorted(words: &[Vec<u8>]) -> (Vec<&Vec<u8>>, Vec<&Vec<u8>>) {
    let (mut options, operands): (Vec<_>, Vec<_>) = words.iter().partition(|word| word.starts_with(b"-"));
    options.sort();
    (operands, options)
}

fn counting(words: &[Vec<u8>], leading: Option<usize>) -> Vec<&Vec<u8>> {
    let Some(leading) = leading else { return words.iter().collect() };
    let (operands, options) = sorted(words);
    operands.into_iter().take(leading).chain(options).collect()
}

fn digest(words: &[Vec<u8>], leading: Option<usize>, mac: &Hmac<Sha256>) -> [u8; 32] {
    let mut mac = mac.clone();
    for word in counting(words, leading) {
        mac.update(&(word.len() as u64).to_le_bytes());
        mac.update(word);
    }
    mac.finalize().into_bytes().into()
}

fn shown(program: &[u8], words: &[Vec<u8>], leading: Option<usize>, class: CommandClass, script: bool) -> String {
    let words = counting(words, leading).into_iter().cloned();
    let line = super::text::line(&redact::argv(&std::iter::once(program.to_vec()).chain(words).collect::<Vec<_>>()));
    let what = if leading.is_some() { format!("`{line}` with these options on anything") } else { format!("exactly `{line}`") };
    format!("{what}, up to {class}{}", if script { ", while the script stays as it is" } else { "" })
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
    use stayexec_protocol::Script;

    fn mac() -> Option<Hmac<Sha256>> {
        Hmac::new_from_slice(b"key").ok()
    }

    fn made(event: &Event, class: CommandClass, trusted: bool) -> Option<Pattern> {
        Pattern::of(event, class, trusted, [0; 32], &mac()?)
    }

    fn covered(pattern: &Option<Pattern>, event: &Event, class: CommandClass, trusted: bool, environment: [u8; 32]) -> bool {
        pattern.as_ref().zip(mac()).is_some_and(|(pattern, mac)| pattern.covers(event, class, trusted, &environment, &mac))
    }

    fn pattern(path: &str, words: &[&str], class: CommandClass) -> Option<Pattern> {
        made(&event(path, words), class, true)
    }

    fn covers(pattern: &Option<Pattern>, path: &str, words: &[&str], class: CommandClass) -> bool {
        covered(pattern, &event(path, words), class, true, [0; 32])
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
        assert_eq!(made(&event("/proj/tool", &["tool"]), CommandClass::Write, false), None);
    }

    #[test]
    fn a_script_is_remembered_with_its_content() {
        let unread = Script::unreadable(b"/usr/bin/npm".to_vec(), false);
        let script = |digest| Script { digest: [digest; 32], text: Some(vec![]), ..unread.clone() };
        let start = |digest| Event { script: Some(script(digest)), ..event("/usr/bin/node", &["node", "/usr/bin/npm", "ci"]) };
        let pattern = made(&start(1), CommandClass::Install, true);
        let covers = |event: &Event, trusted, environment| covered(&pattern, event, CommandClass::Install, trusted, environment);
        assert!(covers(&start(1), true, [0; 32]));
        assert!(!covers(&start(1), false, [0; 32]));
        assert!(!covers(&start(1), true, [1; 32]), "another environment");
        assert!(!covers(&start(2), true, [0; 32]), "another content");
        assert!(!covers(&event("/usr/bin/node", &["node", "/usr/bin/npm", "ci"]), true, [0; 32]));
    }

    #[test]
    fn secrets_are_in_no_pattern() -> Result<(), serde_json::Error> {
        let pattern =
            pattern("/usr/bin/curl", &["curl", "--oauth2-bearer", "ghp_verysecretverysecretverysecretvery", "h"], CommandClass::Network);
        assert!(pattern.is_some());
        assert!(!serde_json::to_string(&pattern)?.contains("verysecret"));
        Ok(())
    }
}
