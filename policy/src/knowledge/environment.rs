//! Variables that make programs load code or start commands.

use crate::hash::Map;

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
    /// As `Command`, for these programs.
    CommandFor(&'a [Box<str>]),
    /// `PATH`.
    Path,
}

/// The lists in the order in which they count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum List {
    Harmless,
    Command,
    Load,
    /// Index of the programs.
    LoadFor(usize),
    CommandFor(usize),
}

#[derive(Debug, Default)]
pub(super) struct Environment {
    names: Map<Box<str>, List>,
    patterns: Vec<(Box<str>, List)>,
    programs: Vec<Vec<Box<str>>>,
    tame: Map<Box<str>, Vec<Box<str>>>,
    transport: Vec<Box<str>>,
}

/// Options of less that change nothing but how it shows: letters without a value, numbers, and prompts, which run nothing.
fn only_shows(value: &str) -> bool {
    let mut rest = value;
    while let Some(letter) = rest.chars().next() {
        rest = &rest[letter.len_utf8()..];
        match letter {
            'P' => rest = rest.split_once('$').map_or("", |(_, behind)| behind),
            '-' | ' ' | '0'..='9' => {}
            letter if "aABcCdeEfFgGhiIJKLmMnNqQrRsSuUwWXz~x".contains(letter) => {}
            _ => return false,
        }
    }
    true
}

impl Environment {
    pub(super) fn compile(raw: &RawEnvironment) -> Self {
        let mut out = Self::default();
        let lists = [(&raw.harmless, List::Harmless), (&raw.command, List::Command), (&raw.load, List::Load)];
        for (names, list) in lists {
            names.split_whitespace().for_each(|name| out.insert(name, list));
        }
        let some = raw.load_for.iter().map(|entry| (entry, false)).chain(raw.command_for.iter().map(|entry| (entry, true)));
        for ((names, programs), command) in some {
            let at = out.programs.len();
            let list = if command { List::CommandFor(at) } else { List::LoadFor(at) };
            names.split_whitespace().for_each(|name| out.insert(name, list));
            out.programs.push(programs.split_whitespace().map(Into::into).collect());
        }
        for (name, values) in &raw.tame {
            out.tame.insert(name.as_str().into(), values.split_whitespace().map(Into::into).collect());
        }
        out.transport = raw.transport.split_whitespace().map(Into::into).collect();
        out.patterns.sort_by_key(|(_, list)| *list);
        out
    }

    fn insert(&mut self, name: &str, list: List) {
        if name.contains('*') {
            self.patterns.push((name.into(), list));
        } else {
            self.names.entry(name.into()).or_insert(list);
        }
    }

    /// A value of a variable with which nothing is loaded.
    pub(super) fn is_tame(&self, name: &str, value: &str) -> bool {
        let listed = || self.tame.get(name).is_some_and(|values| values.iter().any(|known| known.as_ref() == value));
        listed()
            || match name {
                "LESS" => only_shows(value),
                "CGO_CFLAGS" | "CGO_CXXFLAGS" | "CGO_FFLAGS" | "CGO_LDFLAGS" => matches!(value, "-g -O2" | "-O2 -g"),
                // Where Go is installed for all, which it tells its tools.
                "GOROOT" | "GOTOOLDIR" => {
                    let folders = ["/usr/lib/go", "/usr/local/go", "/usr/lib/golang"];
                    !value.contains("..") && folders.iter().any(|folder| value.strip_prefix(folder).is_some_and(|rest| !rest.contains(':')))
                }
                // A toolchain by its name, as `cargo +NAME`.
                "RUSTUP_TOOLCHAIN" => value.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.')),
                _ => false,
            }
    }

    /// Its command is the way to a host for a program that is Network by itself wherever it uses it.
    pub(super) fn is_transport(&self, name: &str) -> bool {
        self.transport.iter().any(|known| known.as_ref() == name)
    }

    pub(super) fn meaning(&self, name: &str) -> Meaning<'_> {
        if name == "PATH" {
            return Meaning::Path;
        }
        let exact = self.names.get(name).copied();
        let first = name.as_bytes().first();
        let similar = |pattern: &str| matches!(pattern.as_bytes().first(), Some(b'*')) || pattern.as_bytes().first() == first;
        let pattern = self.patterns.iter().find(|(pattern, _)| similar(pattern) && matches(pattern, name)).map(|(_, list)| *list);
        match exact.into_iter().chain(pattern).min() {
            None | Some(List::Harmless) => Meaning::Harmless,
            Some(List::Command) => Meaning::Command,
            Some(List::Load) => Meaning::Load,
            Some(List::LoadFor(at)) => self.programs.get(at).map_or(Meaning::Load, |programs| Meaning::LoadFor(programs)),
            Some(List::CommandFor(at)) => self.programs.get(at).map_or(Meaning::Command, |programs| Meaning::CommandFor(programs)),
        }
    }
}
