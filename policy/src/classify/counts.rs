//! Words of which only the run knows how many they are: none, one, or several. `find . -name $(true) -name -delete`
//! deletes, `timeout $(ls) x` starts what the second file is called.
//!
//! Invariant: a command is judged for each number of words; with more such places than are tried it is Write, unless nothing
//! that stands behind them can make it worse.

use super::args::{Arg, UNKNOWN};
use super::judge::{Judge, Raise, Scope};
use super::vet::Finding;
use crate::knowledge::Entry;
use crate::shell::Disputed;
use crate::{CommandClass, Part, ReasonCode};

/// Places that are tried in every combination.
const MAX_PLACES: usize = 3;

/// How many words stand in one place.
#[derive(Clone, Copy)]
enum Count {
    Written,
    None,
    One,
    More,
}

impl Judge<'_> {
    /// Raises what `words` come to if some are none or several; `braced` words are one to some shells.
    pub fn counted(&self, words: &[Arg], braced: bool, scope: &Scope<'_>, out: &mut Part) {
        let entry = words.first().and_then(Arg::full).and_then(|name| self.knowledge.program(super::program::base(name)));
        if !entry.is_some_and(depends) {
            return;
        }
        if braced {
            self.dispute(Disputed { not_posix: true, ..Disputed::default() });
        }
        let places = places(words);
        if places.is_empty() || out.class == CommandClass::Destructive || self.gathers() {
            return;
        }
        if places.len() > MAX_PLACES {
            let reason = "several words of which only the run knows how many they are";
            out.raise(Finding::new(CommandClass::Write, ReasonCode::UnknownOperand, reason));
            return;
        }
        let counts = |place: &(usize, usize)| match place.1 - place.0 {
            1 => &[Count::Written, Count::None, Count::More][..],
            _ => &[Count::Written, Count::None, Count::One, Count::More],
        };
        let mut variants: Vec<Vec<Count>> = vec![Vec::new()];
        for place in &places {
            variants = variants.iter().flat_map(|variant| counts(place).iter().map(|count| [&variant[..], &[*count]].concat())).collect();
        }
        for variant in &variants[1..] {
            let part = self.command(&with(words, &places, variant), scope);
            if part.class > out.class {
                out.raise(Finding::new(part.class, part.code, part.reason));
            }
        }
    }
}

/// What a word means depends on those in front of it.
fn depends(entry: &Entry) -> bool {
    let builtin = matches!(entry.special.as_deref(), Some("subscript" | "setter" | "unset" | "declare" | "options"));
    let plain = entry.inert || builtin || !entry.guarded && entry.special.is_none();
    !plain || entry.has_sub() || entry.payload.is_some() || entry.writes.is_some() || entry.max.is_some()
}

/// Where such words stand, side by side or alone.
fn places(words: &[Arg]) -> Vec<(usize, usize)> {
    let mut out: Vec<(usize, usize)> = Vec::new();
    for (at, _) in words.iter().enumerate().skip(1).filter(|(_, word)| word.shifts) {
        match out.last_mut() {
            Some((_, end)) if *end == at => *end = at + 1,
            _ => out.push((at, at + 1)),
        }
    }
    out
}

fn with(words: &[Arg], places: &[(usize, usize)], counts: &[Count]) -> Vec<Arg> {
    let (mut out, mut from) = (Vec::with_capacity(words.len() + places.len()), 0);
    for (&(start, end), count) in places.iter().zip(counts) {
        out.extend_from_slice(&words[from..start]);
        let run = &words[start..end];
        out.extend_from_slice(match count {
            Count::None => &[],
            Count::One => &run[..1],
            Count::Written | Count::More => run,
        });
        if let (Count::More, Some(last)) = (count, run.last()) {
            // Another name that a pattern matches is like it.
            let pattern = !last.text.contains(UNKNOWN);
            out.push(if pattern { last.clone() } else { Arg { text: UNKNOWN.to_string(), known: 0, ..last.clone() } });
        }
        from = end;
    }
    out.extend_from_slice(&words[from..]);
    out
}
