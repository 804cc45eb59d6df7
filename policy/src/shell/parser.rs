//! Words to commands: lists, pipelines, compound commands, redirections.
//!
//! A token that does not belong where it stands is noted as opaque and stepped over, so that what follows is still seen.

use super::MAX_DEPTH;
use super::ast::{Assign, Command, Compound, Kind, Redir, RedirKind, Script, Simple, Word};

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
        }
    }

    pub fn script(mut self) -> Script {
        let commands = self.list(Stop::End);
        if !self.pending.is_empty() {
            self.note("here-document without its body");
        }
        Script { commands, heredocs: self.heredocs, assigned: self.assigned, opaque: self.opaque, capped: self.capped }
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

    pub fn list(&mut self, stop: Stop) -> Vec<Command> {
        let mut commands = Vec::new();
        loop {
            self.spaces();
            if self.at_end() {
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
            if let Some(command) = self.pipeline() {
                commands.push(command);
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

    fn pipeline(&mut self) -> Option<Command> {
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

    fn command(&mut self) -> Option<Command> {
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
            "for" | "select" => Some(self.for_loop()),
            "case" => Some(self.case()),
            "[[" => Some(self.test()),
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

    fn with_redirections(&mut self, command: Option<Command>) -> Option<Command> {
        let mut redirs = Vec::new();
        loop {
            self.blanks();
            match self.redirection() {
                Some(redir) => redirs.push(redir),
                None => break,
            }
        }
        if redirs.is_empty() {
            return command;
        }
        Some(match command {
            Some(Command::Compound(mut command)) => {
                command.redirs = redirs;
                Command::Compound(command)
            }
            other => Command::Compound(Compound { redirs, body: other.into_iter().collect(), ..empty(Kind::Brace) }),
        })
    }

    /// Takes the reserved word that must stand here.
    pub fn keyword_end(&mut self, word: &'static str) {
        self.spaces();
        if self.keyword() == word {
            self.pos += word.len();
        } else {
            self.note("a construct without its end");
        }
    }

    fn conditional(&mut self) -> Command {
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

    fn looping(&mut self) -> Command {
        let mut body = self.list(Stop::Word(&["do"]));
        self.keyword_end("do");
        body.extend(self.list(Stop::Word(&["done"])));
        self.keyword_end("done");
        compound(Kind::Loop, body)
    }

    fn for_loop(&mut self) -> Command {
        let mut command = empty(Kind::For);
        self.blanks();
        if self.peek() == b'(' {
            let mut word = Word::default();
            if self.second() == b'(' && self.is_arithmetic(0) {
                self.for_arithmetic(&mut word);
            } else {
                self.note("a loop that is not understood");
            }
            command.words.push(word);
        } else {
            command.variable = self.word().and_then(|word| word.literal());
            self.spaces();
            if self.keyword() == "in" {
                self.pos += 2;
                loop {
                    self.blanks();
                    match self.word() {
                        Some(word) => command.words.push(word),
                        None => break,
                    }
                }
            } else {
                // The positional parameters: known only when it runs.
                command.words.push(Word { pieces: vec![super::ast::Piece::Variable { name: "@".into(), quoted: true, risky: true }] });
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

    /// `((a; b; c))`: three expressions, of which each is walked as arithmetic.
    fn for_arithmetic(&mut self, word: &mut Word) {
        let opaque = self.opaque;
        let start = self.pos;
        self.arithmetic_expansion(word);
        // The semicolons are no arithmetic; everything else in it was walked, so only they are forgiven.
        let text = &self.src[start..self.pos];
        let forgiven = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b" _;=<>!+-*/%()$#{}&|,".contains(&byte));
        if forgiven && !self.capped {
            self.opaque = opaque;
        }
    }

    fn case(&mut self) -> Command {
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
    fn test(&mut self) -> Command {
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

    fn function_keyword(&mut self) -> Option<Command> {
        self.blanks();
        let name = self.word().and_then(|word| word.literal()).unwrap_or_default();
        self.blanks();
        if self.peek() == b'(' && self.second() == b')' {
            self.bump();
            self.bump();
        }
        self.function_body(name)
    }

    fn function_body(&mut self, name: String) -> Option<Command> {
        self.spaces();
        if !self.enter() {
            return None;
        }
        let body = self.command().into_iter().collect();
        self.leave();
        Some(Command::Function { name, body })
    }

    fn simple(&mut self) -> Option<Command> {
        let mut simple = Simple::default();
        loop {
            self.blanks();
            if self.at_end() {
                break;
            }
            if let Some(redir) = self.redirection() {
                simple.redirs.push(redir);
                continue;
            }
            let Some(word) = self.word() else {
                if self.peek() != b'(' {
                    break;
                }
                if simple.words.len() == 1 && simple.assigns.is_empty() && self.is_empty_parens() {
                    let name = simple.words[0].literal().unwrap_or_default();
                    return self.function_body(name);
                }
                self.note("a parenthesis where none may stand");
                break;
            };
            self.place(&mut simple, word);
        }
        let empty = simple.assigns.is_empty() && simple.words.is_empty() && simple.redirs.is_empty();
        (!empty).then_some(Command::Simple(simple))
    }

    fn is_empty_parens(&mut self) -> bool {
        let start = self.pos;
        self.bump();
        self.blanks();
        if self.peek() == b')' {
            self.bump();
            return true;
        }
        self.pos = start;
        false
    }

    /// An assignment in front, or a word; `name=(…)` in both places.
    fn place(&mut self, simple: &mut Simple, word: Word) {
        let array = self.byte(self.pos) == b'(' && !self.at_end();
        let Some((name, value_at)) = assignment(&word) else {
            simple.words.push(word);
            return;
        };
        let mut items = Vec::new();
        if array && word.literal().is_some_and(|text| text.len() == value_at) {
            self.bump();
            loop {
                self.spaces();
                if let Some(item) = self.word() {
                    items.push(item);
                } else if self.peek() == b')' {
                    self.bump();
                    break;
                } else {
                    self.note("an array that is not understood");
                    break;
                }
            }
        }
        if simple.words.is_empty() {
            simple.assigns.push(Assign { name, value: tail(word, value_at), items });
        } else {
            simple.words.push(word);
            simple.words.extend(items);
        }
    }

    /// A redirection, with its descriptor in front.
    fn redirection(&mut self) -> Option<Redir> {
        let start = self.pos;
        self.peek();
        let mut at = self.pos;
        if self.byte(at) == b'{' {
            while at < self.end && (self.byte(at).is_ascii_alphanumeric() || matches!(self.byte(at), b'_' | b'{')) && at - self.pos < 64 {
                at += 1;
            }
            at += usize::from(self.byte(at) == b'}');
        } else {
            while self.byte(at).is_ascii_digit() && at - self.pos < 16 {
                at += 1;
            }
        }
        if at > self.pos {
            let numbered = matches!(self.byte(at), b'<' | b'>') && matches!(self.byte(at - 1), b'0'..=b'9' | b'}');
            if !numbered {
                self.pos = start;
                return None;
            }
            self.pos = at;
        }
        let kind = match (self.peek(), self.second(), self.third()) {
            (b'<' | b'>', b'(', _) if at == start => return None,
            (b'<', b'<', b'<') => self.take(3, RedirKind::HereString),
            (b'<', b'<', b'-') => return Some(self.heredoc(3, true)),
            (b'<', b'<', _) => return Some(self.heredoc(2, false)),
            (b'<' | b'>', b'&', _) => self.take(2, RedirKind::Duplicate),
            (b'<', b'>', _) | (b'>', b'>' | b'|', _) => self.take(2, RedirKind::Output),
            (b'&', b'>', b'>') => self.take(3, RedirKind::Output),
            (b'&', b'>', _) => self.take(2, RedirKind::Output),
            (b'<', _, _) => self.take(1, RedirKind::Input),
            (b'>', _, _) => self.take(1, RedirKind::Output),
            _ => {
                self.pos = start;
                return None;
            }
        };
        self.blanks_only();
        let target = self.word().unwrap_or_default();
        if target.pieces.is_empty() {
            self.note("a redirection without its target");
        }
        Some(Redir { kind, target })
    }

    fn take(&mut self, bytes: usize, kind: RedirKind) -> RedirKind {
        for _ in 0..bytes {
            self.bump();
        }
        kind
    }

    fn blanks_only(&mut self) {
        while matches!(self.peek(), b' ' | b'\t') {
            self.pos += 1;
        }
    }

    fn heredoc(&mut self, bytes: usize, strip: bool) -> Redir {
        self.take(bytes, RedirKind::Input);
        self.blanks_only();
        let start = self.pos;
        let word = self.word().unwrap_or_default();
        let raw = &self.src[start..self.pos];
        let delimiter = word.literal().unwrap_or_else(|| {
            self.opaque.get_or_insert("a here-document whose end is an expansion");
            raw.to_owned()
        });
        let quoted = raw.contains(['\'', '"', '\\']);
        if delimiter.is_empty() || delimiter.contains('\n') {
            self.note("a here-document without a name for its end");
        }
        let slot = self.heredocs.len();
        self.heredocs.push(Word::default());
        self.pending.push(Heredoc { delimiter, strip, quoted, slot });
        Redir { kind: RedirKind::Heredoc(slot), target: Word::default() }
    }
}

fn empty(kind: Kind) -> Compound {
    Compound { kind, variable: None, words: Vec::new(), body: Vec::new(), redirs: Vec::new() }
}

fn compound(kind: Kind, body: Vec<Command>) -> Command {
    Command::Compound(Compound { body, ..empty(kind) })
}

/// Name of the variable and length of the text up to and with `=`, when the word is an assignment.
fn assignment(word: &Word) -> Option<(String, usize)> {
    let Some(super::ast::Piece::Text { text, quoted: false }) = word.pieces.first() else {
        return None;
    };
    let name = text.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
    if name == 0 || text.as_bytes()[0].is_ascii_digit() {
        return None;
    }
    let mut at = name;
    if text.as_bytes().get(at) == Some(&b'[') {
        at += text[at..].find(']')? + 1;
    }
    at += usize::from(text.as_bytes().get(at) == Some(&b'+'));
    (text.as_bytes().get(at) == Some(&b'=')).then(|| (text[..name].to_owned(), at + 1))
}

/// The word without its first `skip` bytes.
fn tail(mut word: Word, skip: usize) -> Word {
    if let Some(super::ast::Piece::Text { text, .. }) = word.pieces.first_mut() {
        text.drain(..skip);
        if text.is_empty() {
            word.pieces.remove(0);
        }
    }
    word
}
