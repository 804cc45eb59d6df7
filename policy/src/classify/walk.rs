//! The tree of a shell text to a class: the maximum over every command that would run, and over every redirection,
//! assignment and substitution on the way.

use std::cell::RefCell;

use super::args;
use super::evaluate::{evaluated, evaluates, subscript};
use super::gather::Reach;
use super::judge::{Feed, Judge, MAX_LEVELS, Raise, Scope, part};
use super::pipeline;
use super::vars::Vars;
use super::vet::Finding;
use crate::shell::{self, Command, Compound, Kind, Piece, Script, Simple, Word};
use crate::{CommandClass, Part, ReasonCode, Shell};

/// Longer text is not read.
const MAX_TEXT: usize = 1 << 20;
/// Functions of a text that are told apart; calls of later ones are unknown programs.
const MAX_FUNCTIONS: usize = 64;

pub(crate) fn opaque(why: &'static str, capped: bool) -> Finding {
    let code = if capped { ReasonCode::TooLong } else { ReasonCode::Opaque };
    Finding::new(CommandClass::Write, code, why)
}

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
        if let Some(name) = script.assigned.iter().find(|name| self.knowledge.meaning(name) != crate::knowledge::Meaning::Harmless) {
            whole.raise(Finding::new(CommandClass::Write, ReasonCode::Environment, format!("{name} is set in an expansion")));
        }
        let free = |name: &str| self.knowledge.program(name).is_none_or(|entry| entry.free || entry.payload.is_some());
        let mut vars = Vars::collect(&script, around, &free);
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
}

pub(crate) struct Walk<'j, 'p> {
    pub judge: &'j Judge<'p>,
    pub script: &'j Script,
}

impl Walk<'_, '_> {
    /// `certain`: every command of the list runs in this very shell, one after the other.
    pub fn list(&self, commands: &[Command], scope: &Scope<'_>, certain: bool, into: &mut Part) {
        for command in commands {
            if !self.judge.spend() {
                into.raise(opaque("more commands than the classifier reads", true));
                return;
            }
            self.command(command, scope, certain, into);
        }
    }

    pub fn command(&self, command: &Command, scope: &Scope<'_>, certain: bool, into: &mut Part) {
        match command {
            Command::Simple(simple) => {
                let child = self.simple(simple, scope);
                into.add(child, self.judge.explain);
            }
            Command::Pipeline(stages) => pipeline::judge(self, stages, scope, into),
            Command::Compound(compound) => self.compound(compound, scope, certain, into),
            Command::Function { name, body } => {
                self.list(body, scope, false, into);
                // Only a definition that certainly happened lets a call of that name be a call of the body.
                if certain && scope.functions.borrow().len() < MAX_FUNCTIONS {
                    scope.functions.borrow_mut().push(name.clone());
                }
                if self.judge.knowledge.program(name).is_some() {
                    into.raise(opaque("a function that takes the name of a program", false));
                }
            }
        }
    }

    fn compound(&self, compound: &Compound, scope: &Scope<'_>, certain: bool, into: &mut Part) {
        for word in &compound.words {
            self.substitutions(word, scope, into);
            if matches!(compound.kind, Kind::Test | Kind::Arith) {
                into.raise_option(subscript(word));
            }
        }
        if compound.kind == Kind::Test && evaluates(&compound.words, scope.vars) {
            into.raise(evaluated());
        }
        if let Some(name) = &compound.variable
            && self.judge.knowledge.meaning(name) != crate::knowledge::Meaning::Harmless
        {
            into.raise(Finding::new(CommandClass::Write, ReasonCode::Environment, "a loop over a variable that programs obey"));
        }
        if compound.variable.as_ref().is_some_and(|name| scope.vars.integer(name) && !scope.vars.is_number(name)) {
            into.raise(evaluated());
        }
        if compound.variable.is_some() {
            self.loop_words(&compound.words, scope);
        }
        let mut scope = scope.clone();
        self.redirections(&compound.redirs, &mut scope, into);
        let certain = certain && !compound.conditional && matches!(compound.kind, Kind::Brace);
        if compound.kind == Kind::Subshell {
            let functions = RefCell::new(scope.known_functions());
            let inner = Scope { functions: &functions, ..scope };
            self.list(&compound.body, &inner, false, into);
        } else {
            self.list(&compound.body, &scope, certain, into);
        }
    }

    /// What a loop goes over is opened in its body, alone or as a part of a path.
    fn loop_words(&self, words: &[Word], scope: &Scope<'_>) {
        if !self.judge.gathers() {
            return;
        }
        for word in words {
            let arg = args::single(word, scope.vars);
            self.judge.collect_arg("for", &arg, Reach::File);
            self.judge.collect_text("for", &arg.text);
        }
    }

    /// One simple command with everything around it.
    pub fn simple(&self, simple: &Simple, scope: &Scope<'_>) -> Part {
        let mut words = Vec::with_capacity(simple.words.len());
        for word in &simple.words {
            args::expand(word, scope.vars, &mut words);
        }
        let mut out = part(self.judge.text(&words));
        let mut scope = scope.clone();
        let mut inner = part(String::new());
        for assign in &simple.assigns {
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
            let value = args::single(&assign.value, scope.vars);
            // In front of `read` it only says how that one line is split.
            let splits = assign.name == "IFS"
                && simple.words.first().and_then(Word::literal).is_some_and(|name| matches!(&*name, "read" | "mapfile" | "readarray"));
            if let Some(found) = self.judge.assignment(&assign.name, &value, &scope).filter(|_| !splits) {
                out.raise(found);
            }
            out.raise_option(subscript(&assign.value));
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
            let program = self.judge.command(&words, &scope);
            merge(&mut out, program, self.judge.explain);
            if substituted >= CommandClass::Network && self.judge.runs_text(&words) {
                out.raise(Finding::new(CommandClass::Install, ReasonCode::DownloadRun, "a download that is run"));
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

    /// What `$(echo …)` prints becomes words, and may be opened.
    fn printed(&self, body: &[Command], scope: &Scope<'_>) {
        let [Command::Simple(simple)] = body else { return };
        let prints = simple.words.first().and_then(Word::literal).is_some_and(|name| matches!(&*name, "echo" | "printf"));
        if prints && self.judge.gathers() {
            for word in &simple.words[1..] {
                self.judge.collect_arg("echo", &args::single(word, scope.vars), Reach::File);
            }
        }
    }

    /// What runs while this word is expanded.
    pub fn substitutions(&self, word: &Word, scope: &Scope<'_>, into: &mut Part) {
        for piece in &word.pieces {
            if let Piece::Evaluated { word, array } = piece {
                let key = array.as_ref().is_some_and(|name| scope.vars.associative(name));
                if !key && !scope.vars.harmless_to_evaluate(word) {
                    into.raise(evaluated());
                }
                self.substitutions(word, scope, into);
            }
            if let Piece::Command { body, .. } | Piece::Process { body } = piece {
                let functions = RefCell::new(scope.known_functions());
                let inner = Scope { functions: &functions, ..scope.clone() };
                self.list(body, &inner, false, into);
                self.printed(body, scope);
                if self.judge.settings.shell == Shell::Strict {
                    into.raise(Finding::new(CommandClass::Write, ReasonCode::Strict, "a substitution, in strict mode"));
                }
            }
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

/// `raise` for a finding that may not be there.
pub(crate) trait RaiseOption {
    fn raise_option(&mut self, finding: Option<Finding>);
}

impl RaiseOption for Part {
    fn raise_option(&mut self, finding: Option<Finding>) {
        if let Some(finding) = finding {
            self.raise(finding);
        }
    }
}
