//! One simple command with everything around it: assignments, substitutions, redirections, and the program.

use super::args;
use super::evaluate::{evaluated, subscript, takes_numbers};
use super::judge::{Raise, Scope, part};
use super::vet::Finding;
use super::walk::{RaiseOption, Walk, opaque};
use crate::shell::{Disputed, Piece, Simple, Word};
use crate::{CommandClass, Part, ReasonCode, Shell};

impl Walk<'_, '_> {
    /// One simple command with everything around it.
    pub fn simple(&self, simple: &Simple, scope: &Scope<'_>) -> Part {
        let mut words = Vec::with_capacity(simple.words.len());
        for word in &simple.words {
            args::expand(word, scope.vars, &mut words);
        }
        self.split(&simple.words, scope);
        let mut out = part(self.judge.text(&words));
        let mut scope = scope.clone();
        let mut inner = part(String::new());
        for assign in simple.assigns.iter().chain(&simple.arrays) {
            self.substitutions(&assign.value, &scope, &mut inner);
            for item in assign.items.iter().chain(&assign.keys).chain(&assign.subscript) {
                self.substitutions(item, &scope, &mut inner);
            }
            let mut subscripts = assign.keys.iter().chain(&assign.subscript);
            if !scope.vars.associative(&assign.name) && !subscripts.all(|word| scope.vars.harmless_to_evaluate(word)) {
                out.raise(evaluated());
            }
            if scope.vars.integer(&assign.name) && !scope.vars.is_number(&assign.name) {
                out.raise(evaluated());
            }
            let values = || std::iter::once(&assign.value).chain(&assign.items);
            if takes_numbers(&assign.name) && !values().all(|value| scope.vars.number_word(value)) {
                out.raise(evaluated());
            }
            let value = std::iter::once(&assign.value).filter(|_| assign.items.is_empty());
            for word in value.chain(&assign.items) {
                let value = args::single(word, scope.vars);
                self.judge.valued(&value);
                out.raise_option(self.judge.assignment(&assign.name, &value, &scope));
                out.raise_option(subscript(word));
            }
        }
        for word in &simple.words {
            self.substitutions(word, &scope, &mut inner);
        }
        let lets = simple.words.first().and_then(Word::literal).is_some_and(|name| name == "let");
        if lets && !simple.words[1..].iter().all(|word| scope.vars.harmless_to_evaluate(word)) {
            out.raise(evaluated());
        }
        let substituted = inner.class;
        self.redirections(&simple.redirs, &mut scope, &mut inner);
        if self.judge.settings.shell == Shell::Strict && simple.words.iter().any(is_expanded) {
            out.raise(Finding::new(CommandClass::Write, ReasonCode::Strict, "an expansion, in strict mode"));
        }
        if let Some(first) = simple.words.first() {
            if words.is_empty() {
                words.push(args::single(first, scope.vars));
            }
            let choices = scope.vars.choices(first);
            // The program may be any of the words that its name is known to be one of. Where it may be others as well, it is judged
            // as what it is, and these count besides.
            let unknown = choices.is_none().then_some(None);
            let besides = if choices.is_none() { scope.vars.candidates(first) } else { &[] };
            let names = choices.iter().flat_map(|names| names.iter()).chain(besides);
            for turn in unknown.into_iter().chain(names.map(Some)) {
                if let Some(name) = turn {
                    words[0] = args::Arg::closed(name);
                }
                if first.literal().is_none() && words[0].full().is_some_and(|name| scope.vars.unfollowed(name)) {
                    out.raise(opaque("a function that is called by a name which is no literal", false));
                }
                let program = self.judge.command(&words, &scope);
                merge(&mut out, program, self.judge.explain);
                self.judge.counted(&words, simple.braced, &scope, &mut out);
                if substituted >= CommandClass::Network && self.judge.runs_text(&words) {
                    out.raise(Finding::new(CommandClass::Install, ReasonCode::DownloadRun, "a download that is run"));
                }
            }
        }
        if inner.class > CommandClass::Read || self.judge.explain {
            let raises = inner.class > out.class;
            if raises {
                out.class = inner.class;
                out.code = if inner.parts.is_empty() { inner.code } else { ReasonCode::Parts };
                out.reason = inner.reason;
                out.entry = inner.entry;
            }
            if raises || self.judge.explain {
                out.parts.extend(inner.parts);
            }
        }
        if out.reason.is_empty() && self.judge.explain {
            out.reason = "only reads".into();
        }
        out
    }

    /// A value that becomes several words here is a single one to zsh.
    pub fn split(&self, words: &[Word], scope: &Scope<'_>) {
        if words.iter().any(|word| args::splits_a_value(word, scope.vars)) {
            self.judge.dispute(Disputed { zsh: true, ..Disputed::default() });
        }
    }
}

/// Takes over class and reason of the program, and shows its parts as this part's own.
fn merge(out: &mut Part, program: Part, explain: bool) {
    if program.class > out.class || (program.class == CommandClass::Read && out.class == CommandClass::Read) {
        out.class = program.class;
        out.code = program.code;
        out.reason = program.reason;
        out.entry = program.entry;
        out.parts.extend(program.parts);
    } else if explain {
        out.parts.extend(program.parts);
    }
}

fn is_expanded(word: &Word) -> bool {
    word.pieces.iter().any(|piece| !matches!(piece, Piece::Text { .. }))
}
