//! Variables that make programs load code or start commands.

use super::entry::matches;
use super::schema::RawEnvironment;

/// What a variable means to the programs that see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Meaning<'a> {
    Harmless,
    /// The value is a command line.
    Command,
    /// Code or configuration is loaded.
    Load,
    /// As `Load`, for these programs.
    LoadFor(&'a [Box<str>]),
    /// `PATH`.
    Path,
}

#[derive(Debug, Default)]
pub(super) struct Environment {
    command: Vec<Box<str>>,
    load: Vec<Box<str>>,
    load_for: Vec<(Box<str>, Vec<Box<str>>)>,
    harmless: Vec<Box<str>>,
    sources: Vec<String>,
    sinks: Vec<String>,
}

impl Environment {
    pub(super) fn compile(raw: &RawEnvironment) -> Self {
        let words = |text: &str| text.split_whitespace().map(Into::into).collect::<Vec<Box<str>>>();
        Self {
            command: words(&raw.command),
            load: words(&raw.load),
            load_for: raw.load_for.iter().map(|(name, programs)| (name.as_str().into(), words(programs))).collect(),
            harmless: words(&raw.harmless),
            sources: raw.sources.clone(),
            sinks: raw.sinks.clone(),
        }
    }

    pub(super) fn is_source(&self, path: &str) -> bool {
        self.sources.iter().any(|pattern| is_file(pattern, path))
    }

    pub(super) fn is_sink(&self, path: &str) -> bool {
        self.sinks.iter().any(|pattern| is_file(pattern, path))
    }

    pub(super) fn meaning(&self, name: &str) -> Meaning<'_> {
        let listed = |list: &[Box<str>]| list.iter().any(|pattern| matches(pattern, name));
        if name == "PATH" {
            Meaning::Path
        } else if listed(&self.harmless) {
            Meaning::Harmless
        } else if listed(&self.command) {
            Meaning::Command
        } else if listed(&self.load) {
            Meaning::Load
        } else if let Some((_, programs)) = self.load_for.iter().find(|(pattern, _)| matches(pattern, name)) {
            Meaning::LoadFor(programs)
        } else {
            Meaning::Harmless
        }
    }
}

/// The path has the components of the pattern; `~` in front is a home directory.
fn is_file(pattern: &str, path: &str) -> bool {
    let (pattern, path) = match pattern.strip_prefix("~/") {
        Some(rest) => match below_home(path) {
            Some(path) => (rest, path),
            None => return false,
        },
        None => (pattern, path),
    };
    let parts: Vec<&str> = path.split('/').collect();
    let wanted: Vec<&str> = pattern.split('/').collect();
    parts.len() == wanted.len() && parts.iter().zip(&wanted).all(|(part, want)| component(want, part))
}

fn below_home(path: &str) -> Option<&str> {
    if let Some(rest) = path.strip_prefix("~/").or_else(|| path.strip_prefix("/root/")) {
        return Some(rest);
    }
    let rest = path.strip_prefix("/home/").or_else(|| path.strip_prefix("/Users/"))?;
    rest.split_once('/').map(|(_, rest)| rest)
}

/// `*` stands for any text, at most twice in a component.
fn component(want: &str, part: &str) -> bool {
    if matches!(part, "" | "." | "..") {
        return want == part;
    }
    match want.split('*').collect::<Vec<_>>().as_slice() {
        [whole] => *whole == part,
        [front, back] => part.len() >= front.len() + back.len() && part.starts_with(front) && part.ends_with(back),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_agents() {
        let pattern = "~/.claude/shell-snapshots/snapshot-*.sh";
        assert!(is_file(pattern, "/home/me/.claude/shell-snapshots/snapshot-bash-1.sh"));
        assert!(is_file(pattern, "~/.claude/shell-snapshots/snapshot-1.sh"));
        for path in [
            "/home/me/proj/.claude/shell-snapshots/snapshot-1.sh",
            "/home/me/.claude/shell-snapshots/../snapshot-1.sh",
            "/tmp/.claude/shell-snapshots/snapshot-1.sh",
            "/home/me/.claude/shell-snapshots/x.sh",
            "/home/../.claude/shell-snapshots/snapshot-1.sh/x",
        ] {
            assert!(!is_file(pattern, path), "{path}");
        }
        assert!(is_file("/tmp/*/claude-*-cwd", "/tmp/a/claude-1f-cwd"));
        assert!(!is_file("/tmp/*/claude-*-cwd", "/tmp/../claude-1f-cwd"));
    }
}
