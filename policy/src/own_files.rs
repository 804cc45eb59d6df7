//! Files that an agent keeps for itself and touches in every line that wraps a command: a snapshot of its shell's state
//! that it sources, a note of the working directory that it writes.
//!
//! The agent writes them without a program, so a line that uses one gives it nothing that it does not have. Invariant: a
//! file that may be written without a question is never one that may be sourced without one.

/// Patterns of paths: `*` stands for any part of one component, `~/` in front for the home directory.
#[derive(Debug, Clone, Copy, Default)]
pub struct OwnFiles<'a> {
    /// Files that the agent sources.
    pub sources: &'a [Vec<u8>],
    /// Files that it writes.
    pub sinks: &'a [Vec<u8>],
}

impl OwnFiles<'_> {
    pub(crate) fn is_source(&self, path: &str, home: &[u8]) -> bool {
        listed(self.sources, path, home) && !listed(self.sinks, path, home)
    }

    pub(crate) fn is_sink(&self, path: &str, home: &[u8]) -> bool {
        listed(self.sinks, path, home) && !listed(self.sources, path, home)
    }
}

fn listed(patterns: &[Vec<u8>], path: &str, home: &[u8]) -> bool {
    patterns.iter().filter_map(|pattern| std::str::from_utf8(pattern).ok()).any(|pattern| matches(pattern, path, home))
}

fn matches(pattern: &str, path: &str, home: &[u8]) -> bool {
    let (pattern, path) = match pattern.strip_prefix("~/") {
        Some(rest) => match below_home(path, home) {
            Some(path) => (rest, path),
            None => return false,
        },
        None => (pattern, path),
    };
    let parts: Vec<&str> = path.split('/').collect();
    let wanted: Vec<&str> = pattern.split('/').collect();
    parts.len() == wanted.len() && parts.iter().zip(&wanted).all(|(part, want)| component(want, part))
}

fn below_home<'p>(path: &'p str, home: &[u8]) -> Option<&'p str> {
    let home = std::str::from_utf8(home).ok().filter(|home| home.len() > 1)?;
    path.strip_prefix("~/").or_else(|| path.strip_prefix(home.trim_end_matches('/'))?.strip_prefix('/'))
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
    fn every_component_counts() {
        let (sources, sinks) = ([b"~/.agent/snapshot-*.sh".to_vec()], [b"/tmp/*/agent-*-cwd".to_vec()]);
        let own = OwnFiles { sources: &sources, sinks: &sinks };
        assert!(own.is_source("/home/me/.agent/snapshot-bash-1.sh", b"/home/me"));
        assert!(own.is_source("~/.agent/snapshot-1.sh", b"/home/me"));
        for path in [
            "/home/me/proj/.agent/snapshot-1.sh",
            "/home/me/.agent/../snapshot-1.sh",
            "/home/you/.agent/snapshot-1.sh",
            "/home/me/.agent/x.sh",
            "/home/me/.agent/snapshot-1.sh/x",
            "/tmp/a/agent-1f-cwd",
        ] {
            assert!(!own.is_source(path, b"/home/me"), "{path}");
        }
        assert!(own.is_sink("/tmp/a/agent-1f-cwd", b"/home/me"));
        assert!(!own.is_sink("/tmp/../agent-1f-cwd", b"/home/me"));
        let both = OwnFiles { sources: &sinks, ..own };
        assert!(!both.is_sink("/tmp/a/agent-1f-cwd", b"/home/me") && !both.is_source("/tmp/a/agent-1f-cwd", b"/home/me"));
        assert!(!OwnFiles::default().is_source("~/.agent/snapshot-1.sh", b"/home/me"));
    }
}
