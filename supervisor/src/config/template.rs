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

use super::hole::Hole;
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

#[cfg(test)]
#[path = "template_tests.rs"]
mod tests;
