//! The launch: what a person named on the command line starts unasked.
//!
//! Invariant: it covers one process, and in it the named file and the interpreter of that file's own `#!/usr/bin/env X`
//! line, nothing else: whatever that process becomes later is judged. It carries no grant.

use stayexec_protocol::{Event, Process};

/// Longest chain of `#!/usr/bin/env` lines that is still part of a launch.
const CHAIN: u8 = 4;

/// What of a run's launch was seen.
#[derive(Debug, Default, Clone)]
pub struct Launch {
    process: Option<(u32, u64)>,
    /// What `env` is about to start in that process.
    next: Option<Vec<Vec<u8>>>,
    links: u8,
}

fn key(process: &Process) -> (u32, u64) {
    (process.pid, process.start)
}

impl Launch {
    /// Whether this event is part of the launch. Each part is so once.
    pub fn covers(&mut self, event: &Event) -> bool {
        let process = key(&event.process);
        if event.launch {
            if self.process.is_some_and(|known| known != process) {
                return false;
            }
            *self = Self { process: Some(process), next: env_line(event), links: 0 };
            return true;
        }
        if self.process != Some(process) {
            return false;
        }
        let Some(expected) = self.next.take() else { return false };
        if !same_command(&expected, event) {
            return false;
        }
        self.links += 1;
        self.next = if self.links < CHAIN { env_line(event) } else { None };
        true
    }
}

/// The command that `/usr/bin/env` will start for a script's first line; `None` where this is something else.
fn env_line(event: &Event) -> Option<Vec<Vec<u8>>> {
    event.script.as_ref().filter(|script| !script.operand)?;
    if event.executable.path.rsplit(|&byte| byte == b'/').next() != Some(b"env") {
        return None;
    }
    let (first, rest) = event.argv.get(1..)?.split_first()?;
    let split = first.strip_prefix(b"-S").map(|text| text.trim_ascii_start());
    let words: Vec<Vec<u8>> = match split {
        // Quotes, escapes and variables in a split line are env's own language: such a line is judged like any other.
        Some(text) if text.iter().any(|byte| b"'\"\\$#".contains(byte)) => return None,
        Some(text) => text.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).map(<[u8]>::to_vec).collect(),
        None => vec![first.clone()],
    };
    let program = words.first()?;
    if program.is_empty() || program.starts_with(b"-") || program.contains(&b'=') {
        return None;
    }
    Some(words.into_iter().chain(rest.iter().cloned()).collect())
}

/// The image was started with these words, directly or through a `#!` line of its own.
fn same_command(expected: &[Vec<u8>], event: &Event) -> bool {
    let Some(script) = event.script.as_ref().filter(|script| !script.operand).map(|script| &script.path) else {
        return event.argv == expected;
    };
    // The kernel puts interpreter, its argument and the script's path before the caller's arguments.
    let Some((_, arguments)) = expected.split_first() else { return false };
    let Some(head) = event.argv.len().checked_sub(arguments.len()) else { return false };
    (2..=3).contains(&head) && event.argv[head..] == *arguments && event.argv.get(head - 1) == Some(script)
}

#[cfg(test)]
mod tests {
    use super::super::session::testing::{argv, event};
    use super::*;
    use stayexec_protocol::Script;

    fn script(path: &str) -> Option<Script> {
        Some(Script::unreadable(path.into(), false))
    }

    fn step(path: &str, words: &[&str], of: Option<Script>) -> Event {
        Event { script: of, ..event(path, words) }
    }

    #[test]
    fn the_named_program_alone_is_covered_once() {
        let mut launch = Launch::default();
        let named = Event { launch: true, ..event("/usr/bin/bash", &["bash", "-c", "rm x"]) };
        assert!(launch.covers(&named));
        assert!(!launch.covers(&event("/usr/bin/rm", &["rm", "x"])));
        let other = Event { process: Process { pid: 99, ..named.process.clone() }, ..named };
        assert!(!launch.covers(&other));
    }

    #[test]
    fn the_interpreter_of_an_env_line_is_covered_and_nothing_behind_it() {
        let mut launch = Launch::default();
        let env = step("/usr/bin/env", &["/usr/bin/env", "node", "/x/agent", "-v"], script("/x/agent"));
        assert!(launch.covers(&Event { launch: true, ..env }));
        assert!(launch.covers(&event("/usr/bin/node", &["node", "/x/agent", "-v"])));
        assert!(!launch.covers(&event("/usr/bin/node", &["node", "/x/agent", "-v"])));
    }

    #[test]
    fn another_command_ends_the_launch() {
        let mut launch = Launch::default();
        let env = step("/usr/bin/env", &["/usr/bin/env", "node", "/x/agent"], script("/x/agent"));
        assert!(launch.covers(&Event { launch: true, ..env }));
        assert!(!launch.covers(&event("/usr/bin/rm", &["rm", "/x/agent"])));
        assert!(!launch.covers(&event("/usr/bin/node", &["node", "/x/agent"])));
    }

    #[test]
    fn split_lines_and_chains() {
        let mut launch = Launch::default();
        let env = step("/usr/bin/env", &["/usr/bin/env", "-S tsx --flag", "/x/agent"], script("/x/agent"));
        assert!(launch.covers(&Event { launch: true, ..env }));
        let chained = step("/usr/bin/env", &["/usr/bin/env", "node", "/bin/tsx", "--flag", "/x/agent"], script("/bin/tsx"));
        assert!(launch.covers(&chained));
        assert!(launch.covers(&event("/usr/bin/node", &["node", "/bin/tsx", "--flag", "/x/agent"])));
        for line in ["-S sh -c 'rm'", "A=b", "-i", "-S", "-S $X"] {
            assert_eq!(env_line(&step("/usr/bin/env", &["/usr/bin/env", line, "/x"], script("/x"))), None, "{line}");
        }
        assert_eq!(env_line(&event("/usr/bin/env", &["env", "rm", "x"])), None);
        assert_eq!(env_line(&step("/usr/bin/env", &["/usr/bin/env", "node", "/x"], script("/x"))), Some(argv(&["node", "/x"])));
    }
}
