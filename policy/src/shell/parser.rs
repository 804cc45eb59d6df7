//! The state of a parser, and one command: simple, or what begins with a reserved word or a parenthesis.
//!
//! A token that does not belong where it stands is noted as opaque and stepped over, so that what follows is still seen.

use super::MAX_DEPTH;
use super::ast::{Command, Compound, Disputed, Kind, Script, Word};

/// A here-document whose body has not been read yet.
#[derive(Debug)]
pub(super) struct Heredoc {
    pub delimiter: String,
    pub strip: bool,
    pub quoted: bool,
    pub slot: usize,
}

/// Where a list ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    End,
    Paren,
    /// One of these reserved words, which is left in place.
    Word(&'static [&'static str]),
    /// `;;` and its kin, or `esac`; left in place.
    Case,
}

pub(super) struct Parser<'a> {
    pub src: &'a str,
    pub end: usize,
    pub pos: usize,
    pub depth: usize,
    pub nodes: usize,
    pub prescanned: usize,
    pub pending: Vec<Heredoc>,
    pub heredocs: Vec<Word>,
    pub assigned: Vec<String>,
    pub opaque: Option<&'static str>,
    pub capped: bool,
    pub disputed: Disputed,
    pub reopened: bool,
    /// `${…}` around the position.
    pub parameters: usize,
    /// Parentheses and substitutions around it, in which a here-document may end with them.
    pub nested: usize,
}

const STRAY: &[&str] = &["then", "else", "elif", "fi", "do", "done", "esac", "}", "in"];

impl<'a> Parser<'a> {
    pub fn new(src: &'a str, depth: usize) -> Self {
        let nul = src.bytes().position(|byte| byte == 0);
        Self {
            src,
            end: nul.unwrap_or(src.len()),
            pos: 0,
            depth,
            nodes: 0,
            prescanned: 0,
            pending: Vec::new(),
            heredocs: Vec::new(),
            assigned: Vec::new(),
            opaque: nul.map(|_| "a NUL byte"),
            capped: false,
            disputed: Disputed::default(),
            reopened: false,
            parameters: 0,
            nested: 0,
        }
    }

    pub fn script(mut self) -> Script {
        let commands = self.list(Stop::End);
        if !self.pending.is_empty() {
            self.note("here-document without its body");
        }
        Script {
            commands,
            heredocs: self.heredocs,
            assigned: self.assigned,
            opaque: self.opaque,
            capped: self.capped,
            disputed: self.disputed,
            reopened: self.reopened,
        }
    }

    pub fn note(&mut self, why: &'static str) {
        self.opaque.get_or_insert(why);
    }

    pub fn enter(&mut self) -> bool {
        if self.depth >= MAX_DEPTH {
            self.capped = true;
            self.note("nested deeper than the classifier reads");
            return false;
        }
        self.depth += 1;
        true
    }

    pub fn leave(&mut self) {
        self.depth -= 1;
    }

    pub(super) fn command(&mut self) -> Option<Command> {
        self.count();
        if self.peek() == b'(' {
            return self.parenthesised();
        }
        let word = self.keyword();
        let kind = match word {
            "{" | "if" | "while" | "until" | "for" | "select" | "case" | "[[" | "function" | "coproc" => word,
            word if STRAY.contains(&word) => {
                self.note("a reserved word where none may stand");
                self.pos += word.len();
                return self.again();
            }
            _ => return self.simple(),
        };
        self.pos += kind.len();
        if !self.enter() {
            return self.simple();
        }
        let command = match kind {
            "{" => {
                let body = self.list(Stop::Word(&["}"]));
                self.keyword_end("}");
                Some(compound(Kind::Brace, body))
            }
            "if" => Some(self.conditional()),
            "while" | "until" => Some(self.looping()),
            "for" => Some(self.for_loop(Kind::For)),
            "select" => Some(self.for_loop(Kind::Select)),
            "case" => Some(self.case()),
            "[[" => {
                self.disputed.not_posix = true;
                Some(self.test())
            }
            "function" => self.function_keyword(),
            _ => {
                self.note("a co-process");
                self.blanks();
                self.pipeline()
            }
        };
        self.leave();
        self.with_redirections(command)
    }

    /// After a stray word: the command that may follow it, without growing the stack.
    fn again(&mut self) -> Option<Command> {
        self.blanks();
        if self.at_end() || super::lexer::is_meta(self.peek()) || !self.enter() {
            return None;
        }
        let command = self.command();
        self.leave();
        command
    }

    fn parenthesised(&mut self) -> Option<Command> {
        if self.second() == b'(' && self.is_arithmetic(0) {
            let mut word = Word::default();
            self.disputed.not_posix = true;
            self.arithmetic_expansion(&mut word);
            let command = Compound { words: vec![word], ..empty(Kind::Arith) };
            return self.with_redirections(Some(Command::Compound(command)));
        }
        self.bump();
        if !self.enter() {
            return None;
        }
        let body = self.nested_list();
        self.leave();
        self.with_redirections(Some(compound(Kind::Subshell, body)))
    }
}

pub(super) fn empty(kind: Kind) -> Compound {
    Compound { kind, variable: None, words: Vec::new(), body: Vec::new(), redirs: Vec::new(), conditional: false }
}

pub(super) fn compound(kind: Kind, body: Vec<Command>) -> Command {
    Command::Compound(Compound { body, ..empty(kind) })
}
