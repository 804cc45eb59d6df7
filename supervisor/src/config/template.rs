//! A word of a command line with holes, and what was found in them.
//!
//! | hole | what fits |
//! |---|---|
//! | `{name}` | letters, digits, `.`, `_`, `-`; no `..` |
//! | `{path}` | an absolute path without `..`, of such letters |
//! | `{word}` | anything, as the whole word; no option |
//! | `{sha256:H}` | the whole word, of that digest |
//! | `{words}` | any number of words, as the last of a list |
//! | `{source:P}`, `{sink:P}` | a path that fits P: `*` for any name, `~/` for the home folder, `$TMP/` for a temporary one |
//! | `{quoted}` | the model's command, between single quotes |
//! | `{bare}` | the model's command, one word that needs no quotes |
//! | `{command}` | the model's command, as it is |
//! | `{startup}` | what sources a start-up file of the person's shell, as every login shell does |
//! | `{preamble}` | any text, as short as it can be; it is judged with the rest of the line |
//!
//! Invariant: what stands outside of the holes agrees to the byte, and a quoted hole ends where the shell's word ends.
//! Refuses two holes in a row, and more than one command.

use serde::Deserialize;
use sha2::{Digest, Sha256};

/// Why a template is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TemplateError {
    /// No such hole.
    #[error("`{{{0}}}` is no hole")]
    Unknown(String),
    /// A brace without its fellow.
    #[error("a `{{` is not closed")]
    Open,
    /// Nothing tells where the first ends.
    #[error("two holes follow each other")]
    Adjacent,
    /// Which one would be shown?
    #[error("there is more than one command")]
    Commands,
    /// A quoted command stands between single quotes.
    #[error("`{{quoted}}` stands between single quotes")]
    Unquoted,
}

/// What fits into a hole.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Hole {
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

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Literal(String),
    Hole(Hole),
}

/// A word with holes.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Template(Vec<Piece>);

impl TryFrom<String> for Template {
    type Error = TemplateError;

    fn try_from(text: String) -> Result<Self, TemplateError> {
        Self::parse(&text)
    }
}

/// Where paths of a template lie.
#[derive(Debug, Clone, Copy)]
pub struct Around<'a> {
    /// The home folder.
    pub home: &'a str,
    /// The folders for temporary files.
    pub temp: &'a [Vec<u8>],
}

/// What was found in the holes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Found {
    /// The model's command.
    pub command: Option<String>,
    /// The line with nothing in its place, and without start-up files.
    pub rest: String,
    /// Files that the line sources.
    pub sources: Vec<String>,
    /// Files that it writes.
    pub sinks: Vec<String>,
}

impl Template {
    pub(super) fn parse(text: &str) -> Result<Self, TemplateError> {
        let mut pieces = Vec::new();
        let mut left = text;
        while !left.is_empty() {
            // `{ ` is the shell's own brace.
            let Some(at) = hole_start(left) else {
                pieces.push(Piece::Literal(left.to_owned()));
                break;
            };
            if at > 0 {
                pieces.push(Piece::Literal(left[..at].to_owned()));
            } else if matches!(pieces.last(), Some(Piece::Hole(_))) {
                return Err(TemplateError::Adjacent);
            }
            let end = left[at..].find('}').ok_or(TemplateError::Open)? + at;
            pieces.push(Piece::Hole(Hole::parse(&left[at + 1..end])?));
            left = &left[end + 1..];
        }
        let template = Self(pieces);
        template.check()?;
        Ok(template)
    }

    fn check(&self) -> Result<(), TemplateError> {
        let commands = self.0.iter().filter(|piece| matches!(piece, Piece::Hole(Hole::Quoted | Hole::Bare | Hole::Command))).count();
        if commands > 1 {
            return Err(TemplateError::Commands);
        }
        let literal = |at: Option<usize>| match at.and_then(|at| self.0.get(at)) {
            Some(Piece::Literal(text)) => text.as_str(),
            _ => "",
        };
        for (at, piece) in self.0.iter().enumerate() {
            let between = literal(at.checked_sub(1)).ends_with('\'') && literal(Some(at + 1)).starts_with('\'');
            if *piece == Piece::Hole(Hole::Quoted) && !between {
                return Err(TemplateError::Unquoted);
            }
        }
        Ok(())
    }

    /// Whether it leaves open what a shell would run.
    #[cfg(test)]
    pub(super) fn is_open(&self) -> bool {
        let open = |piece: &Piece| {
            matches!(piece, Piece::Hole(Hole::Quoted | Hole::Bare | Hole::Command | Hole::Preamble | Hole::Startup | Hole::Words))
        };
        self.0.iter().any(open)
    }

    /// Whether any further words fit.
    pub(super) fn is_words(&self) -> bool {
        self.0 == [Piece::Hole(Hole::Words)]
    }

    /// What a word holds where this template has holes; `None` where it does not fit.
    pub fn find(&self, word: &str, around: Around<'_>) -> Option<Found> {
        let whole = || Found { rest: word.to_owned(), ..Found::default() };
        match self.0.as_slice() {
            [Piece::Hole(Hole::Word)] => return (!word.starts_with('-')).then(whole),
            [Piece::Hole(Hole::Digest(digest))] => return (hex(&Sha256::digest(word)) == *digest).then(whole),
            _ => {}
        }
        fit(&self.0, word, around).map(|holes| {
            let mut found = Found::default();
            for (piece, text) in self.0.iter().zip(holes) {
                match piece {
                    Piece::Hole(Hole::Quoted) => found.command = Some(text.replace("'\"'\"'", "'")),
                    Piece::Hole(Hole::Bare | Hole::Command) => found.command = Some(text.to_owned()),
                    Piece::Hole(Hole::Source(_)) => found.sources.push(text.to_owned()),
                    Piece::Hole(Hole::Sink(_)) => found.sinks.push(text.to_owned()),
                    _ => {}
                }
                // An empty command: quoted it is an empty word, and as it is a shell wants one in its place.
                found.rest.push_str(match piece {
                    Piece::Hole(Hole::Quoted | Hole::Bare | Hole::Command | Hole::Startup) => ":",
                    _ => text,
                });
            }
            found
        })
    }
}

/// What a list of words holds, and the words with nothing in the command's place.
pub fn find(templates: &[Template], words: &[Vec<u8>], around: Around<'_>) -> Option<(Found, Vec<String>)> {
    let open = templates.last().is_some_and(Template::is_words);
    let fixed = if open { &templates[..templates.len() - 1] } else { templates };
    if words.len() < fixed.len() || (!open && words.len() > fixed.len()) {
        return None;
    }
    let (mut all, mut rest) = (Found::default(), Vec::new());
    for (at, word) in words.iter().enumerate() {
        let word = std::str::from_utf8(word).ok()?;
        let Some(template) = fixed.get(at) else {
            rest.push(word.to_owned());
            continue;
        };
        let found = template.find(word, around)?;
        all.command = match (all.command, found.command) {
            (Some(_), Some(_)) => return None,
            (one, other) => one.or(other),
        };
        all.sources.extend(found.sources);
        all.sinks.extend(found.sinks);
        rest.push(found.rest);
    }
    Some((all, rest))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn hole_start(text: &str) -> Option<usize> {
    let opens = |at: &usize| text[at + 1..].starts_with(|c: char| c.is_ascii_lowercase());
    text.match_indices('{').map(|(at, _)| at).find(opens)
}

impl Hole {
    fn parse(text: &str) -> Result<Self, TemplateError> {
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
    fn lengths<'t>(&self, text: &'t str, next: &'t str, around: Around<'_>) -> Box<dyn Iterator<Item = usize> + 't> {
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

/// The text of each piece.
fn fit<'t>(pieces: &[Piece], text: &'t str, around: Around<'_>) -> Option<Vec<&'t str>> {
    let Some((piece, behind)) = pieces.split_first() else { return text.is_empty().then(Vec::new) };
    match piece {
        Piece::Literal(literal) => {
            let left = text.strip_prefix(literal.as_str())?;
            let mut found = fit(behind, left, around)?;
            found.insert(0, &text[..literal.len()]);
            Some(found)
        }
        Piece::Hole(hole) => {
            let next = match behind.first() {
                Some(Piece::Literal(literal)) => literal.as_str(),
                _ => "",
            };
            hole.lengths(text, next, around).find_map(|length| {
                let mut found = fit(behind, &text[length..], around)?;
                found.insert(0, &text[..length]);
                Some(found)
            })
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

#[cfg(test)]
#[path = "template_tests.rs"]
mod tests;
