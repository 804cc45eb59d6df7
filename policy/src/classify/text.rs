//! A shell text to a part: parsed, its variables collected, its commands walked.
//!
//! Invariant: a text past the caps, or of which a part is not understood, is at least Write. A text with variables that may
//! hold something else than it says is walked both ways.

use std::cell::RefCell;

use super::judge::{Feed, Judge, MAX_LEVELS, Raise, Scope, part};
use super::vars::Vars;
use super::vet::Finding;
use super::walk::{RaiseOption, Walk, opaque};
use crate::shell::{self, Disputed};
use crate::{CommandClass, Part, ReasonCode};

/// Longer text is not read.
const MAX_TEXT: usize = 1 << 20;

impl Judge<'_> {
    /// A text on its own.
    pub fn text_part(&self, text: &str, around: Option<&Vars>, level: usize, feed: &Feed) -> Part {
        let shown = if self.explain { text.to_owned() } else { String::new() };
        let mut whole = part(shown);
        if text.len() > MAX_TEXT || level > MAX_LEVELS || !self.read(text) {
            whole.raise(opaque("longer or deeper than the classifier reads", true));
            return whole;
        }
        let script = shell::parse_at(text, level);
        self.dispute(script.disputed);
        if let Some(why) = script.opaque {
            whole.raise(opaque(why, script.capped));
        }
        let mut vars = Vars::collect(&script, around);
        whole.raise_option(self.sets(&vars));
        let twice = vars.is_unsure() && around.is_none_or(|around| !around.is_unsure());
        let functions = RefCell::new(Vec::new());
        let scope = Scope { vars: &vars, functions: &functions, level, feed: feed.clone() };
        let walk = Walk { judge: self, script: &script };
        self.shown(|| walk.list(&script.commands, &scope, true, &mut whole));
        if twice {
            vars.strict = true;
            let (functions, mut strict) = (RefCell::new(Vec::new()), part(String::new()));
            let scope = Scope { vars: &vars, functions: &functions, level, feed: feed.clone() };
            self.shown(|| walk.list(&script.commands, &scope, true, &mut strict));
            whole.add(strict, false);
        }
        self.reopened.set(self.reopened.get() || script.reopened);
        if self.reopened.get() && self.descriptors.get() {
            whole.raise(opaque("a path that opens a descriptor again, for writing", false));
        }
        if whole.class == CommandClass::Read && whole.reason.is_empty() {
            (whole.code, whole.reason) = match whole.parts.as_slice() {
                [] if script.commands.is_empty() => (ReasonCode::Empty, "nothing to run".into()),
                _ => (ReasonCode::Parts, "only reads".into()),
            };
        }
        whole
    }

    /// Variables that programs obey, and that the text sets by something else than an assignment: those are judged by their
    /// values, where they stand.
    fn sets(&self, vars: &Vars) -> Option<Finding> {
        use crate::knowledge::Meaning;
        let environment = |reason: String| Finding::new(CommandClass::Write, ReasonCode::Environment, reason);
        // Each program that PATH leads to is judged by its file when it starts.
        let path = |name: &str| self.knowledge.meaning(name) == Meaning::Path && !self.starts;
        let obeyed = |name: &&str| path(name) || !matches!(self.knowledge.meaning(name), Meaning::Harmless | Meaning::Path);
        let of_zsh = vars.set_unjudged().any(super::special::obeyed_by_zsh);
        self.dispute(Disputed { zsh: of_zsh, keyed: vars.any_associative(), ..Disputed::default() });
        if let Some(name) = vars.set_unjudged().find(obeyed) {
            return Some(environment(format!("{name} is set, which programs obey")));
        }
        if vars.set_empty().any(path) {
            return Some(environment("without PATH names mean files of the working directory".into()));
        }
        let unnamed = || Finding::new(CommandClass::Write, ReasonCode::UnknownOperand, "a variable that is only known when it runs");
        vars.unnamed.then(unnamed)
    }
}
