//! The tree of a shell text to a class: the maximum over every command that would run, and over what loops, tests and
//! substitutions run on the way.

use std::cell::RefCell;

use super::args;
use super::collected::Reach;
use super::evaluate::{evaluated, evaluates, subscript, takes_numbers};
use super::judge::{Judge, Raise, Scope};
use super::pipeline;
use super::vet::Finding;
use crate::shell::{Command, Compound, Kind, Piece, Script, Word};
use crate::{CommandClass, Part, ReasonCode, Shell};

/// Functions of a text that are told apart; calls of later ones are unknown programs.
const MAX_FUNCTIONS: usize = 64;

pub(crate) fn opaque(why: &'static str, capped: bool) -> Finding {
    let code = if capped { ReasonCode::TooLong } else { ReasonCode::Opaque };
    Finding::new(CommandClass::Write, code, why)
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
                self.function_says(body, scope);
                let vars = scope.vars.in_function(name);
                let inner = Scope { vars: vars.as_ref().unwrap_or(scope.vars), ..scope.clone() };
                self.list(body, &inner, false, into);
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
        if compound.variable.as_ref().is_some_and(|name| scope.vars.integer(name) && !scope.vars.is_number(name)) {
            into.raise(evaluated());
        }
        if compound.variable.as_deref().is_some_and(takes_numbers) && !compound.words.iter().all(|word| scope.vars.number_word(word)) {
            into.raise(evaluated());
        }
        if compound.variable.is_some() {
            self.split(&compound.words, scope);
            self.loop_words(&compound.words, scope);
        }
        let mut scope = scope.clone();
        self.redirections(&compound.redirs, &mut scope, into);
        let bound = compound.variable.as_ref().filter(|_| compound.kind == Kind::For).and_then(|name| scope.vars.in_loop(name));
        let scope = Scope { vars: bound.as_ref().unwrap_or(scope.vars), ..scope };
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
                self.substituted(body, scope);
                if self.judge.settings.shell == Shell::Strict {
                    into.raise(Finding::new(CommandClass::Write, ReasonCode::Strict, "a substitution, in strict mode"));
                }
            }
        }
    }
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
