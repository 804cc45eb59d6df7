//! What reserved words begin: conditions, loops, `case`, `[[`, functions.
//!
//! A construct without its end is noted as opaque; what stands in it is walked all the same.

use super::ast::{Command, Kind, Piece, Word};
use super::parser::{Parser, Stop, compound, empty};

impl Parser<'_> {
    /// Takes the reserved word that must stand here.
    pub fn keyword_end(&mut self, word: &'static str) {
        self.spaces();
        if self.keyword() == word {
            self.pos += word.len();
        } else {
            self.note("a construct without its end");
        }
    }

    pub(super) fn conditional(&mut self) -> Command {
        let mut body = self.list(Stop::Word(&["then"]));
        self.keyword_end("then");
        loop {
            body.extend(self.list(Stop::Word(&["elif", "else", "fi"])));
            match self.keyword() {
                "elif" => {
                    self.pos += 4;
                    body.extend(self.list(Stop::Word(&["then"])));
                    self.keyword_end("then");
                }
                "else" => self.pos += 4,
                "fi" => {
                    self.pos += 2;
                    break;
                }
                _ => break,
            }
        }
        compound(Kind::If, body)
    }

    pub(super) fn looping(&mut self) -> Command {
        let mut body = self.list(Stop::Word(&["do"]));
        self.keyword_end("do");
        body.extend(self.list(Stop::Word(&["done"])));
        self.keyword_end("done");
        compound(Kind::Loop, body)
    }

    pub(super) fn for_loop(&mut self, kind: Kind) -> Command {
        let mut command = empty(kind);
        self.blanks();
        if self.peek() == b'(' {
            let mut word = Word::default();
            if self.second() == b'(' && self.is_arithmetic(0) {
                self.arithmetic(&mut word, true);
            } else {
                self.note("a loop that is not understood");
            }
            command.words.push(word);
        } else {
            command.variable = self.word().and_then(|word| Some(word.literal()?.into_owned()));
            self.spaces();
            if self.keyword() == "in" {
                self.pos += 2;
                loop {
                    self.blanks();
                    match self.word() {
                        Some(word) => command.words.extend(self.braces(word)),
                        None => break,
                    }
                }
            } else {
                // The positional parameters: known only when it runs.
                command.words.push(Word {
                    pieces: vec![Piece::Variable {
                        name: "@".into(),
                        quoted: true,
                        risky: true,
                        changed: true,
                        altered: true,
                        list: true,
                        items: false,
                    }],
                });
            }
        }
        self.blanks();
        if self.peek() == b';' {
            self.bump();
        }
        self.spaces();
        let (open, close) = if self.keyword() == "{" { ("{", "}") } else { ("do", "done") };
        self.keyword_end(open);
        command.body = self.list(if close == "}" { Stop::Word(&["}"]) } else { Stop::Word(&["done"]) });
        self.keyword_end(close);
        Command::Compound(command)
    }

    pub(super) fn case(&mut self) -> Command {
        let mut command = empty(Kind::Case);
        self.blanks();
        command.words.extend(self.word());
        self.keyword_end("in");
        loop {
            self.spaces();
            if self.at_end() {
                self.note("a construct without its end");
                break;
            }
            if self.keyword() == "esac" {
                self.pos += 4;
                break;
            }
            if self.peek() == b'(' {
                self.bump();
            }
            if !self.patterns(&mut command.words) {
                break;
            }
            command.body.extend(self.list(Stop::Case));
            if self.peek() == b';' {
                self.bump();
                while matches!(self.peek(), b';' | b'&') && !self.at_end() {
                    self.bump();
                }
            }
        }
        Command::Compound(command)
    }

    /// `a | b)`; false when no pattern stands here.
    fn patterns(&mut self, words: &mut Vec<Word>) -> bool {
        loop {
            self.blanks();
            match self.word() {
                Some(word) => words.push(word),
                None if self.peek() == b'|' => self.bump(),
                None if self.peek() == b')' => {
                    self.bump();
                    return true;
                }
                None => {
                    self.note("a pattern that is not understood");
                    return false;
                }
            }
        }
    }

    /// `[[ … ]]`: only what is expanded in it matters.
    pub(super) fn test(&mut self) -> Command {
        let mut command = empty(Kind::Test);
        let mut open = 0_usize;
        let mut regex = false;
        loop {
            self.spaces();
            if self.at_end() {
                self.note("[[ without its end");
                break;
            }
            if self.keyword() == "]]" {
                self.pos += 2;
                break;
            }
            let start = self.pos;
            if let Some(word) = self.word() {
                regex = word.bare() == Some("=~");
                command.words.push(word);
                // The rest of a pattern may stand right behind it.
                regex |= matches!(self.byte(self.pos), b'(' | b'|' | b')');
                continue;
            }
            match (self.peek(), self.second()) {
                (b'&', b'&') | (b'|', b'|') => {
                    self.bump();
                    self.bump();
                }
                (b'(', _) => {
                    open += 1;
                    self.bump();
                }
                (b')', _) => {
                    open = open.saturating_sub(1);
                    self.bump();
                }
                (b'<' | b'>', _) => self.bump(),
                (b'|', _) if regex || open > 0 => self.bump(),
                _ => {
                    self.note("[[ without its end");
                    break;
                }
            }
            if self.pos == start {
                break;
            }
        }
        Command::Compound(command)
    }

    pub(super) fn function_keyword(&mut self) -> Option<Command> {
        self.blanks();
        let name = self.word().and_then(|word| Some(word.literal()?.into_owned())).unwrap_or_default();
        self.blanks();
        if self.peek() == b'(' && self.second() == b')' {
            self.bump();
            self.bump();
        }
        self.function_body(name)
    }

    pub(super) fn function_body(&mut self, name: String) -> Option<Command> {
        self.spaces();
        if !self.enter() {
            return None;
        }
        let body = self.command().into_iter().collect();
        self.leave();
        Some(Command::Function { name, body })
    }
}
