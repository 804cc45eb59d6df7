//! Lists and pipelines: commands between `;`, `&`, `&&`, `||` and `|`, up to where the construct around them ends.
//!
//! Invariant: each round moves on or returns. What may not run (behind `&&` and `||`) is marked conditional.

use super::ast::{Command, Compound, Kind};
use super::parser::{Parser, Stop, compound, empty};

impl Parser<'_> {
    pub fn list(&mut self, stop: Stop) -> Vec<Command> {
        let mut commands = Vec::new();
        // Where the chain of `&&` begins that is being read, unless it holds `||`.
        let (mut chain, mut joined) = (Some(0_usize), false);
        loop {
            self.spaces();
            if self.at_end() {
                if let Some(chain) = chain {
                    commands[chain..].iter_mut().for_each(release);
                }
                if stop != Stop::End {
                    self.note("a construct without its end");
                }
                return commands;
            }
            let before = self.pos;
            match self.peek() {
                b')' => {
                    if stop == Stop::Paren {
                        self.bump();
                        return commands;
                    }
                    self.stray();
                    continue;
                }
                b';' if matches!(self.second(), b';' | b'&') && stop == Stop::Case => return commands,
                b';' | b'&' | b'|' if !(self.byte(self.pos) == b'&' && self.second() == b'>') => {
                    self.stray();
                    continue;
                }
                _ => {}
            }
            let word = self.keyword();
            match stop {
                Stop::Word(words) if words.contains(&word) => return commands,
                Stop::Case if word == "esac" => return commands,
                _ => {}
            }
            if !joined {
                chain = Some(commands.len());
            }
            if let Some(mut command) = self.pipeline() {
                match &mut command {
                    Command::Simple(simple) => simple.conditional = joined,
                    Command::Compound(compound) => compound.conditional = joined,
                    Command::Function { .. } if joined => {
                        command = Command::Compound(Compound { conditional: true, ..braced(command) });
                    }
                    _ => {}
                }
                commands.push(command);
            }
            self.blanks();
            joined = matches!((self.peek(), self.second()), (b'&', b'&') | (b'|', b'|'));
            // Behind `||` nothing is certain any more.
            if joined && self.peek() == b'|' {
                chain = None;
            }
            self.separator(&mut commands, stop);
            if self.pos == before {
                self.stray();
            }
        }
    }

    /// Steps over a token that stands where none may.
    fn stray(&mut self) {
        self.note("an operator without its command");
        let length = self.src[self.pos..self.end].chars().next().map_or(1, char::len_utf8);
        self.pos += length;
    }

    fn separator(&mut self, commands: &mut Vec<Command>, stop: Stop) {
        self.blanks();
        match (self.peek(), self.second()) {
            (b'&', b'&') | (b'|', b'|') => {
                self.bump();
                self.bump();
                self.spaces();
                if self.at_end() {
                    self.note("an operator without its command");
                }
            }
            (b';', b';' | b'&') if stop == Stop::Case => {}
            (b';', b';' | b'&') => {
                self.stray();
                self.stray();
            }
            (b';', _) => self.bump(),
            (b'&', _) => {
                self.bump();
                if let Some(last) = commands.pop() {
                    commands.push(compound(Kind::Background, vec![last]));
                }
            }
            _ => {}
        }
    }

    pub(super) fn pipeline(&mut self) -> Option<Command> {
        let mut stages = Vec::new();
        loop {
            self.blanks();
            loop {
                match self.keyword() {
                    "!" => self.pos += 1,
                    "time" => {
                        self.pos += 4;
                        self.blanks();
                        while matches!(self.keyword(), "-p" | "--") {
                            self.pos += 2;
                            self.blanks();
                        }
                    }
                    _ => break,
                }
                self.blanks();
            }
            stages.extend(self.command());
            self.blanks();
            if self.peek() != b'|' || self.second() == b'|' {
                break;
            }
            self.bump();
            if self.peek() == b'&' {
                self.bump();
            }
            self.spaces();
            if self.at_end() {
                self.note("an operator without its command");
            }
        }
        if stages.len() > 1 { Some(Command::Pipeline(stages)) } else { stages.pop() }
    }
}

/// What stands at the end of a text behind `&&` alone: nothing is reached without it.
fn release(command: &mut Command) {
    match command {
        Command::Simple(simple) => simple.conditional = false,
        Command::Compound(compound) => compound.conditional = false,
        _ => {}
    }
}

fn braced(command: Command) -> Compound {
    Compound { body: vec![command], ..empty(Kind::Brace) }
}
