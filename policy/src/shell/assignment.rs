//! Words that are assignments, taken apart: name, subscript, value, and the items of an array with their keys.
//!
//! A word that is not certainly an assignment is none.

use super::ast::{Assign, Piece, Word};

/// Where the parts of an assignment stand in its word.
pub(super) struct Parts {
    /// Length of the name.
    name: usize,
    /// Piece and byte of the bracket that closes a subscript.
    pub(super) subscript: Option<(usize, usize)>,
    /// `+=`
    appends: bool,
    /// Piece and byte where the value begins.
    pub(super) value: (usize, usize),
}

/// The word is an assignment: `name=…`, `name+=…`, `name[…]=…`.
pub(super) fn assignment(word: &Word) -> Option<Parts> {
    let Some(Piece::Text { text, quoted: false }) = word.pieces.first() else {
        return None;
    };
    let name = text.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
    if name == 0 || text.as_bytes()[0].is_ascii_digit() {
        return None;
    }
    let subscript = match text.as_bytes().get(name) {
        Some(b'[') => Some(closing(word, name + 1)?),
        _ => None,
    };
    let (piece, mut at) = subscript.map_or((0, name), |(piece, at)| (piece, at + 1));
    let Piece::Text { text, quoted: false } = &word.pieces[piece] else { return None };
    let appends = text.as_bytes().get(at) == Some(&b'+');
    at += usize::from(appends);
    (text.as_bytes().get(at) == Some(&b'=')).then_some(Parts { name, subscript, appends, value: (piece, at + 1) })
}

/// Piece and byte of the first unquoted closing bracket, `from` a byte of the first piece on.
fn closing(word: &Word, from: usize) -> Option<(usize, usize)> {
    let mut open = 0_usize;
    word.pieces.iter().enumerate().find_map(|(index, piece)| {
        let Piece::Text { text, quoted: false } = piece else { return None };
        let skip = if index == 0 { from } else { 0 };
        crate::steps::step(text.len());
        text.bytes().enumerate().skip(skip).find_map(|(at, byte)| match byte {
            b'[' => {
                open += 1;
                None
            }
            b']' if open == 0 => Some((index, at)),
            b']' => {
                open -= 1;
                None
            }
            _ => None,
        })
    })
}

impl Parts {
    pub(super) fn of(&self, mut word: Word, array: bool, items: Vec<Word>) -> Assign {
        let name = match &word.pieces[0] {
            Piece::Text { text, .. } => text[..self.name].to_owned(),
            _ => String::new(),
        };
        let value = split_off(&mut word, self.value);
        let subscript = self.subscript.map(|end| {
            split_off(&mut word, end);
            split_off(&mut word, (0, self.name + 1))
        });
        let appends = self.appends;
        Assign { name, appends, subscript, value, array, items, keys: Vec::new() }
    }
}

/// An item of an array without its subscript.
pub(super) fn keyed(mut item: Word) -> (Option<Word>, Word) {
    let opens = matches!(item.pieces.first(), Some(Piece::Text { text, quoted: false }) if text.starts_with('['));
    let Some(end) = closing(&item, 1).filter(|_| opens) else { return (None, item) };
    let mut value = split_off(&mut item, end);
    if let Some(Piece::Text { text, .. }) = value.pieces.first_mut() {
        *text = text.trim_start_matches(']').trim_start_matches('+').trim_start_matches('=').to_owned();
    }
    (Some(split_off(&mut item, (0, 1))), value)
}

/// What stands from this byte of this piece on.
fn split_off(word: &mut Word, (piece, at): (usize, usize)) -> Word {
    let mut rest = word.pieces.split_off(piece);
    if let Some(Piece::Text { text, quoted }) = rest.first_mut() {
        let tail = text.split_off(at);
        let head = Piece::Text { text: std::mem::replace(text, tail), quoted: *quoted };
        word.pieces.push(head);
        if text.is_empty() {
            rest.remove(0);
        }
    }
    Word { pieces: rest }
}
