//! What fits into the holes of templates.
//!
//! Invariant: a hole says which beginnings of a text it takes, the first to be tried first; a path has no `..`, and a quoted
//! command ends where the shell's word ends. Refuses what could be read as anything else.

use super::template::{Around, TemplateError};

/// What fits into a hole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Hole {
    Name,
    Path,
    Word,
    Digest(String),
    Words,
    Source(String),
    Sink(String),
    Quoted,
    Bare,
    Command,
    Startup,
    Preamble,
}

impl Hole {
    pub(super) fn parse(text: &str) -> Result<Self, TemplateError> {
        match (text, text.split_once(':')) {
            ("name", _) => Ok(Self::Name),
            ("path", _) => Ok(Self::Path),
            ("word", _) => Ok(Self::Word),
            ("words", _) => Ok(Self::Words),
            ("quoted", _) => Ok(Self::Quoted),
            ("bare", _) => Ok(Self::Bare),
            ("command", _) => Ok(Self::Command),
            ("startup", _) => Ok(Self::Startup),
            ("preamble", _) => Ok(Self::Preamble),
            (_, Some(("source", pattern))) => Ok(Self::Source(pattern.to_owned())),
            (_, Some(("sha256", digest))) if digest.len() == 64 => Ok(Self::Digest(digest.to_owned())),
            (_, Some(("sink", pattern))) => Ok(Self::Sink(pattern.to_owned())),
            _ => Err(TemplateError::Unknown(text.to_owned())),
        }
    }

    /// The lengths that a beginning of `text` may have to fit, the first that is to be tried first.
    pub(super) fn lengths<'t>(&self, text: &'t str, next: &'t str, around: Around<'_>) -> Box<dyn Iterator<Item = usize> + 't> {
        let run = |fits: fn(char) -> bool| text.find(|c| !fits(c)).unwrap_or(text.len());
        let name = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
        let path = |c: char| c.is_ascii_alphanumeric() || "._-+@/".contains(c);
        let one = |length: usize, fits: bool| Box::new((fits && length > 0).then_some(length).into_iter());
        let ends =
            move |end: &usize| text.is_char_boundary(*end) && text[*end..].starts_with(next) && (!next.is_empty() || *end == text.len());
        match self {
            Self::Name => {
                let length = run(name);
                // A name may end in what follows it: `snapshot-{name}.sh`.
                let ends = (1..=length).rev().filter(move |end| text[*end..].starts_with(next) && !text[..*end].contains(".."));
                Box::new(ends)
            }
            Self::Bare => {
                let length = run(|c: char| c.is_ascii_alphanumeric() || "@%_+=:,./-".contains(c));
                one(length, !text.starts_with('-'))
            }
            Self::Path => {
                let length = run(path);
                one(length, is_path(&text[..length]))
            }
            Self::Source(pattern) | Self::Sink(pattern) => {
                let length = run(path);
                one(length, lies(&text[..length], pattern, around))
            }
            Self::Quoted => Box::new(quoted(text).into_iter()),
            Self::Startup => Box::new(startup(text, around.home).into_iter()),
            // What the model says comes last in a line: the first place that fits is the agent's.
            Self::Preamble => Box::new((0..=text.len()).filter(ends)),
            // Nothing of the model's may be left outside.
            Self::Command => Box::new((0..=text.len()).rev().filter(ends)),
            Self::Word | Self::Digest(_) | Self::Words => one(0, false),
        }
    }
}

/// How long the command is that sources a start-up file of the person's shell.
fn startup(text: &str, home: &str) -> Option<usize> {
    let behind = text.strip_prefix(". ").or_else(|| text.strip_prefix("source "))?;
    let (behind, quote) = behind.strip_prefix('"').map_or((behind, ""), |behind| (behind, "\""));
    let tilde = if quote.is_empty() { "~" } else { "$HOME" };
    let behind = [home, "$HOME", tilde].iter().find_map(|home| behind.strip_prefix(home).filter(|_| !home.is_empty()))?;
    let names = ["/.bashrc", "/.bash_profile", "/.profile", "/.zshrc"];
    let behind = names.iter().find_map(|name| behind.strip_prefix(name))?.strip_prefix(quote)?;
    Some(text.len() - behind.len())
}

/// Where the content of a single-quoted word ends; `'"'"'` in it is a quote.
fn quoted(text: &str) -> Option<usize> {
    let mut at = 0;
    loop {
        at += text[at..].find('\'')?;
        match text[at..].strip_prefix("'\"'\"'") {
            Some(_) => at += 5,
            None => return Some(at),
        }
    }
}

fn is_path(text: &str) -> bool {
    text.starts_with('/') && text.split('/').all(|part| !matches!(part, "." | ".."))
}

/// Whether a path fits a pattern, component by component; `*` stands for a part of one.
fn lies(path: &str, pattern: &str, around: Around<'_>) -> bool {
    let below = |folder: &str, rest: &str| {
        let folder = folder.trim_end_matches('/');
        !folder.is_empty() && path.strip_prefix(folder).and_then(|path| path.strip_prefix('/')).is_some_and(|path| components(path, rest))
    };
    if !is_path(path) {
        return false;
    }
    match (pattern.strip_prefix("~/"), pattern.strip_prefix("$TMP/")) {
        (Some(rest), _) => below(around.home, rest),
        (_, Some(rest)) => around.temp.iter().filter_map(|dir| std::str::from_utf8(dir).ok()).any(|dir| below(dir, rest)),
        _ => path.strip_prefix('/').is_some_and(|path| pattern.strip_prefix('/').is_some_and(|rest| components(path, rest))),
    }
}

fn components(path: &str, pattern: &str) -> bool {
    let (path, pattern): (Vec<&str>, Vec<&str>) = (path.split('/').collect(), pattern.split('/').collect());
    path.len() == pattern.len() && path.iter().zip(&pattern).all(|(part, want)| component(part, want))
}

/// Whether the last components of a path fit a pattern.
pub fn ends_so(path: &[u8], pattern: &str) -> bool {
    let Ok(path) = std::str::from_utf8(path) else { return false };
    let (path, pattern): (Vec<&str>, Vec<&str>) = (path.split('/').collect(), pattern.split('/').collect());
    let Some(above) = path.len().checked_sub(pattern.len()).filter(|above| *above > 0) else { return false };
    path[above..].iter().zip(&pattern).all(|(part, want)| component(part, want))
}

fn component(part: &str, want: &str) -> bool {
    match want.split_once('*') {
        None => part == want,
        Some((front, back)) => part.len() > front.len() + back.len() && part.starts_with(front) && part.ends_with(back),
    }
}
