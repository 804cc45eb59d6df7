//! Words of the parsed text to arguments, as far as they are known before anything runs.
//!
//! Invariant: an argument that is not fully known is *open*, and only its beginning is taken for known. It is *risky*
//! when what it will be could begin with a dash.

use super::patterns::{glob, is_pattern, may_match_a_dash};
use super::vars::{Value, Vars, is_one_word, is_plain, may_hold_blanks};
use crate::shell::{Piece, Word};
use crate::steps::step;

/// Stands for text that is only known when it runs.
pub(crate) const UNKNOWN: char = '\u{e000}';

/// One argument.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Arg {
    /// The text, with [`UNKNOWN`] where it is not known.
    pub text: String,
    /// Length of the beginning that is known.
    pub known: usize,
    /// The unknown rest could make it an option.
    pub risky: bool,
    /// Any text at all, of any number of words, may stand here.
    pub free: bool,
    /// Its beginning, or a further word, comes from a variable that the text never sets, or may be any name of a file.
    pub outside: bool,
    pub splits: bool,
    pub shifts: bool,
    /// What is not known of it is a number.
    pub number: bool,
    /// It begins with the home directory.
    pub home: bool,
    /// What is not known begins with the value of PATH.
    pub path: bool,
    /// An operator makes another value of a variable's: nothing about it is known.
    pub altered: bool,
}

impl Arg {
    pub fn closed(text: impl Into<String>) -> Self {
        let text = text.into();
        Self { known: text.len(), text, ..Self::default() }
    }

    /// Nothing of it is known.
    pub fn open(risky: bool) -> Self {
        Self { text: UNKNOWN.to_string(), risky, free: risky, ..Self::default() }
    }

    pub fn is_open(&self) -> bool {
        self.known < self.text.len()
    }

    /// A part of it, or what replaces it.
    pub fn with(&self, text: String, known: usize) -> Self {
        Self { text, known, number: false, home: false, ..*self }
    }

    /// The part that is known.
    pub fn head(&self) -> &str {
        &self.text[..self.known]
    }

    /// The whole text, when it is known.
    pub fn full(&self) -> Option<&str> {
        (!self.is_open()).then_some(self.text.as_str())
    }
}

pub(crate) fn expand(word: &Word, vars: &Vars, out: &mut Vec<Arg>) {
    if let [Piece::Variable { name, quoted: false, risky, altered: false, .. }] = word.pieces.as_slice()
        && (!risky || vars.is_bound(name))
        && let Some(Value::Known(text)) = vars.get(name)
        && splits_at_blanks(text, vars)
    {
        out.extend(text.split_whitespace().map(|part| if is_pattern(part) { glob(part) } else { Arg::closed(part) }));
        return;
    }
    out.push(single(word, vars));
}

/// The word as one argument.
pub(crate) fn single(word: &Word, vars: &Vars) -> Arg {
    if let [Piece::Text { text, quoted }] = word.pieces.as_slice()
        && (*quoted || !text.contains(['*', '?', '[']) || text == "[")
    {
        step(text.len());
        return Arg::closed(text.clone());
    }
    let mut arg = Arg::default();
    let (mut open, mut nothing) = (false, true);
    for piece in &word.pieces {
        step(1);
        let before = arg.text.len();
        let was_open = open;
        // Everything in front of this piece may be nothing.
        let empty = was_open && arg.known == 0 && nothing;
        nothing &= may_be_nothing(piece);
        match piece {
            Piece::Text { text, quoted: true } => {
                arg.outside |= empty && text.starts_with('-');
                arg.text.push_str(text);
            }
            Piece::Text { text, quoted: false } => {
                let active = text.find(['*', '?', '[']);
                arg.outside |= empty && text.starts_with('-');
                arg.text.push_str(text);
                arg.shifts |= active.is_some();
                if let (Some(at), false) = (active, open) {
                    arg.known = before + at;
                    arg.outside |= before + at == 0 && may_match_a_dash(text);
                    open = true;
                }
            }
            Piece::Variable { name, quoted, risky, altered, list, items, .. } => match vars.get(name) {
                Some(Value::Known(text))
                    if !list
                        && !altered
                        && (!risky || vars.is_bound(name))
                        && (*quoted || !vars.doubtful() && !text.contains([' ', '\t', '\n', '*', '?', '['])) =>
                {
                    arg.text.push_str(text)
                }
                value => {
                    // What it holds is known where it is a parameter of a function, or all of an array, that stands in the text.
                    let bound = (!altered || *items) && vars.is_bound(name);
                    let (risky, altered) = (*risky && !bound, *altered && !*items);
                    let unsafe_value = risky
                        || !quoted && vars.doubtful()
                        || match value {
                            Some(Value::Known(text)) => {
                                text.split_whitespace().any(|part| part.starts_with('-')) || altered && text.contains('-')
                            }
                            Some(Value::Open { risky, .. }) => *risky,
                            None => vars.doubtful(),
                        };
                    let placed = before == 0 || !*quoted;
                    let from_outside = altered || outside(name, value, vars) || !*quoted && may_hold_blanks(name);
                    arg.shifts |= *list || !*quoted && !is_one_word(name);
                    arg.altered |= altered;
                    arg.outside |= placed && from_outside;
                    arg.splits |= !*quoted && from_outside;
                    arg.home |= before == 0 && name == "HOME" && !risky && vars.untouched(name);
                    arg.path |= !open && name == "PATH" && !risky && !altered;
                    open_here(&mut arg, &mut open, unsafe_value && placed);
                }
            },
            Piece::Command { body, quoted } => {
                let tame = vars.tame(body) || vars.counts(body);
                arg.shifts |= !*quoted;
                open_here(&mut arg, &mut open, !tame && (before == 0 || !*quoted));
            }
            Piece::Process { .. } => {
                // It becomes /dev/fd/N.
                open_here(&mut arg, &mut open, false);
            }
            Piece::Number => open_here(&mut arg, &mut open, false),
            Piece::Sequence { dash, .. } => {
                arg.shifts = true;
                open_here(&mut arg, &mut open, *dash && before == 0);
            }
            Piece::Keys { quoted, .. } => {
                arg.shifts = true;
                open_here(&mut arg, &mut open, before == 0 || !*quoted);
            }
            Piece::Evaluated { .. } => {}
        }
        step(1 + arg.text.len() - before);
        if open && !was_open && arg.known == 0 {
            arg.known = before.max(arg.known);
        }
    }
    arg.number = open && vars.number_word(word);
    // Nothing but empty values without quotes: no word.
    arg.shifts |= arg.text.is_empty() && !word.pieces.iter().any(|piece| matches!(piece, Piece::Text { .. }));
    if !open {
        arg.known = arg.text.len();
    } else if arg.known == arg.text.len() {
        // Everything before an empty expansion is known, the rest is not.
        arg.text.push(UNKNOWN);
    }
    arg
}

fn outside(name: &str, value: Option<&Value>, vars: &Vars) -> bool {
    match value {
        Some(Value::Known(_)) => false,
        Some(Value::Open { outside, .. }) => *outside,
        None => vars.doubtful() || !(is_plain(name) || vars.outside_is_word(name)),
    }
}

fn open_here(arg: &mut Arg, open: &mut bool, risky: bool) {
    if !*open {
        arg.known = arg.text.len();
        *open = true;
    }
    arg.text.push(UNKNOWN);
    arg.risky |= risky;
    arg.free |= risky;
}

fn may_be_nothing(piece: &Piece) -> bool {
    match piece {
        Piece::Text { text, .. } => text.is_empty(),
        Piece::Variable { name, .. } => !is_one_word(name),
        Piece::Command { .. } | Piece::Keys { .. } | Piece::Evaluated { .. } => true,
        Piece::Process { .. } | Piece::Number | Piece::Sequence { .. } => false,
    }
}

/// A value that is known stands without quotes, and has blanks in it.
pub(crate) fn splits_a_value(word: &Word, vars: &Vars) -> bool {
    word.pieces.iter().any(|piece| match piece {
        Piece::Variable { name, quoted: false, .. } => {
            matches!(vars.get(name), Some(Value::Known(text)) if text.contains(char::is_whitespace))
        }
        _ => false,
    })
}

/// A value without quotes becomes the words that stand between its blanks.
fn splits_at_blanks(text: &str, vars: &Vars) -> bool {
    !vars.doubtful() && (!vars.coarse() || !text.contains(char::is_whitespace))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shell::{Command, parse};

    fn args(text: &str) -> Vec<Arg> {
        let script = parse(text);
        let vars = Vars::collect(&script, None);
        let mut out = Vec::new();
        if let Some(Command::Simple(simple)) = script.commands.last() {
            simple.words.iter().for_each(|word| expand(word, &vars, &mut out));
        }
        out
    }

    #[test]
    fn known_text_is_closed() {
        assert_eq!(args(r#"g'i't e\xec $'\x72\x6d' "a b""#), ["git", "exec", "rm", "a b"].map(Arg::closed));
    }

    #[test]
    fn values_that_the_text_sets_are_followed() {
        assert_eq!(args("x='-o out'; sort $x"), ["sort", "-o", "out"].map(Arg::closed));
        assert_eq!(args("x=-o; sort \"$x\""), ["sort", "-o"].map(Arg::closed));
        assert!(args("x=-o; x=-u; sort $x")[1].risky);
        assert!(!args("sort $HOME/x")[1].risky);
        assert!(args("sort $(echo -o)")[1].risky);
        assert_eq!(args("sort {-o,x}"), ["sort", "-o", "x"].map(Arg::closed));
        assert_eq!(args("sort {a,b}.txt"), ["sort", "a.txt", "b.txt"].map(Arg::closed));
        assert_eq!(args("sort -k$n")[1].head(), "-k");
    }
}
