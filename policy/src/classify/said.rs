//! Names that reach a program as data: what a text says with `echo`, in here-strings, here-documents and values of variables,
//! and who takes it for names of files.
//!
//! Nothing is gathered for a plain classification. A word counts as opened once something takes what flows in for names
//! (`read`, `xargs`, `--files0-from=-`) and something in the same text opens what only the run names.

use std::rc::Rc;

use super::args::{self, Arg, UNKNOWN};
use super::collected::Reach;
use super::judge::{Feed, Judge, Scope};
use super::walk::Walk;
use crate::knowledge::Entry;
use crate::shell::{Command, Piece, Redir, RedirKind, Simple, Word};

/// Lines that flow from one command to the next; more of them count as taken at once.
const MAX_SAID: usize = 32;

/// Lines of text that flow, as far as the text itself says them.
pub(crate) type Said = Option<Rc<Vec<String>>>;

impl Walk<'_, '_> {
    /// The lines that these commands print.
    pub fn said(&self, commands: &[Command], scope: &Scope<'_>) -> Said {
        if !self.judge.gathers() {
            return None;
        }
        let mut lines = Vec::new();
        self.say(commands, scope, &mut lines);
        self.judge.flowing(lines)
    }

    /// What flows out of a stage of a pipe, with `feed` flowing in.
    pub fn said_by(&self, stage: &Command, feed: &Feed, scope: &Scope<'_>) -> Said {
        let own = self.said(std::slice::from_ref(stage), scope);
        let only_says =
            matches!(stage, Command::Simple(simple) if simple.words.first().and_then(Word::literal).is_some_and(|name| says(&name)));
        match (own, &feed.said) {
            (None, Some(said)) if !only_says => Some(Rc::clone(said)),
            (Some(own), Some(said)) if !only_says => self.judge.flowing(own.iter().chain(said.iter()).cloned().collect()),
            (own, _) => own,
        }
    }

    fn say(&self, commands: &[Command], scope: &Scope<'_>, out: &mut Vec<String>) {
        for command in commands {
            match command {
                Command::Simple(simple) => self.say_simple(simple, scope, out),
                Command::Pipeline(stages) => self.say(stages, scope, out),
                Command::Compound(compound) => {
                    self.say_input(&compound.redirs, scope, out);
                    self.say(&compound.body, scope, out);
                }
                Command::Function { .. } => {}
            }
        }
    }

    fn say_simple(&self, simple: &Simple, scope: &Scope<'_>, out: &mut Vec<String>) {
        self.say_input(&simple.redirs, scope, out);
        let Some(name) = simple.words.first().and_then(Word::literal) else { return };
        if says(&name) {
            for word in &simple.words[1..] {
                lines_of(&args::single(word, scope.vars), out);
                for piece in &word.pieces {
                    if let Piece::Command { body, .. } = piece {
                        self.say(body, scope, out);
                    }
                }
            }
        }
        let entry = self.judge.knowledge.program(super::program::base(&name));
        if entry.and_then(|entry| entry.special.as_deref()).is_some_and(|kind| matches!(kind, "awk" | "sed")) {
            for text in simple.words[1..].iter().filter_map(Word::literal) {
                out.extend(quoted_paths(&text).map(str::to_owned));
            }
        }
        if scope.functions.borrow().iter().any(|function| *function == *name) {
            self.judge.function_called();
        }
    }

    /// What redirections have flow in.
    fn say_input(&self, redirs: &[Redir], scope: &Scope<'_>, out: &mut Vec<String>) {
        for redir in redirs {
            match &redir.kind {
                RedirKind::HereString => lines_of(&args::single(&redir.target, scope.vars), out),
                RedirKind::Heredoc(slot) => {
                    if let Some(body) = self.script.heredocs.get(*slot) {
                        lines_of(&args::single(body, scope.vars), out);
                    }
                }
                RedirKind::Input => {
                    for piece in &redir.target.pieces {
                        if let Piece::Process { body } = piece {
                            self.say(body, scope, out);
                        }
                    }
                }
                _ => {}
            }
        }
    }

    /// What the redirection has flow in.
    pub fn said_in(&self, redir: &Redir, scope: &Scope<'_>) -> Said {
        if !self.judge.gathers() {
            return None;
        }
        let mut lines = Vec::new();
        self.say_input(std::slice::from_ref(redir), scope, &mut lines);
        self.judge.flowing(lines)
    }

    /// A function says this wherever it is called.
    pub fn function_says(&self, body: &[Command], scope: &Scope<'_>) {
        if let (Some(said), Some(collected)) = (self.said(body, scope), &self.judge.collected) {
            collected.borrow_mut().functions.extend(said.iter().cloned());
        }
    }

    /// What a substitution prints becomes words. Prose does not: only lines that hold nothing but paths.
    pub fn substituted(&self, body: &[Command], scope: &Scope<'_>) {
        let said = self.said(body, scope);
        let lines = said.iter().chain(&scope.feed.said).flat_map(|lines| lines.iter());
        self.judge.take_names(lines.filter(|line| line.split_whitespace().all(is_path)).map(String::as_str));
    }
}

impl Judge<'_> {
    /// The text gives this value to a variable, or to a parameter of a function.
    pub fn valued(&self, value: &Arg) {
        if self.gathers() {
            self.take_names(std::iter::once(spelled(value).as_str()));
        }
    }

    fn flowing(&self, lines: Vec<String>) -> Said {
        if lines.len() > MAX_SAID {
            self.take_names(lines.iter().map(String::as_str));
            return None;
        }
        (!lines.is_empty()).then(|| Rc::new(lines))
    }

    /// Something takes what a function says: which of them it is makes no difference.
    fn function_called(&self) {
        let said = self.collected.as_ref().map(|collected| std::mem::take(&mut collected.borrow_mut().functions));
        self.take_names(said.iter().flatten().map(String::as_str));
    }

    /// These words may be names of what is opened.
    fn take_names<'a>(&self, lines: impl Iterator<Item = &'a str>) {
        let Some(collected) = &self.collected else { return };
        let mut collected = collected.borrow_mut();
        for word in lines.flat_map(str::split_whitespace).filter(|word| word.chars().any(|c| c != UNKNOWN)) {
            collected.name(word);
        }
    }

    /// A program takes what flows in for names, as its entry says, alone or with an option that is given.
    pub fn takes_names(&self, entry: &Entry, name: &str, args: &[Arg], scope: &Scope<'_>) {
        let Some(said) = scope.feed.said.as_ref().filter(|_| self.gathers() && !entry.names.is_empty()) else { return };
        let lines = || said.iter().map(String::as_str);
        if entry.names.iter().any(|option| **option == *"*") {
            self.take_names(lines());
        } else if args.iter().any(|arg| entry.names.iter().any(|option| arg.text.starts_with(&**option))) {
            lines().flat_map(str::split_whitespace).for_each(|word| self.collect(name, word, Reach::File));
        }
    }
}

/// It prints its own words.
fn says(name: &str) -> bool {
    matches!(name, "echo" | "printf" | "yes" | "print")
}

/// A word as it is written, with the home directory in front.
fn spelled(arg: &Arg) -> String {
    match arg.text.strip_prefix(UNKNOWN) {
        Some(rest) if arg.home => format!("~{rest}"),
        _ => arg.text.clone(),
    }
}

/// The lines that a word makes where it is printed, or flows in: `\n` and its kin count as such.
fn lines_of(arg: &Arg, out: &mut Vec<String>) {
    let text = spelled(arg).replace("\\n", "\n").replace("\\t", "\t").replace("\\0", "\n");
    out.extend(text.lines().filter(|line| !line.trim().is_empty()).map(str::to_owned));
}

/// Strings of a program text that are paths.
fn quoted_paths(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '|' | ',' | ';')).filter(|token| token.starts_with(['/', '~']))
}

fn is_path(word: &str) -> bool {
    word.contains('/') || word.starts_with(['~', '.', UNKNOWN])
}
