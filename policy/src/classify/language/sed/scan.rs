//! The characters of a sed program: addresses, regular expressions and replacements up to their marks.
//!
//! `None`: it does not end, or ends in different places for different seds.

use crate::classify::args::UNKNOWN;

pub(super) struct Scan<'a> {
    pub(super) chars: &'a [char],
    pub(super) at: usize,
    pub(super) files: Vec<String>,
    /// It writes a file.
    pub(super) writes: bool,
    /// Where the last regular expression ends to a sed that does not look at brackets.
    pub(super) early: Option<usize>,
}

impl<'a> Scan<'a> {
    pub(super) fn of(chars: &'a [char]) -> Self {
        Self { chars, at: 0, files: Vec::new(), writes: false, early: None }
    }
}

impl Scan<'_> {
    pub(super) fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    pub(super) fn next(&mut self) -> Option<char> {
        let c = self.peek();
        self.at += 1;
        c
    }

    pub(super) fn skip(&mut self, what: impl Fn(char) -> bool) {
        while self.peek().is_some_and(&what) {
            self.at += 1;
        }
    }

    /// A line number, `$`, a regular expression, `first~step`, `+N`, `~N`; or none.
    pub(super) fn address(&mut self) -> Option<()> {
        match self.peek() {
            Some(c) if c.is_ascii_digit() || matches!(c, UNKNOWN | '+' | '~') => {
                self.skip(|c| c.is_ascii_digit() || matches!(c, UNKNOWN | '+' | '~'));
            }
            Some('$') => self.at += 1,
            Some('/') => {
                self.at += 1;
                self.delimited('/')?;
                self.skip(|c| matches!(c, 'I' | 'M'));
            }
            Some('\\') => {
                self.at += 1;
                let mark = self.next()?;
                self.delimited(mark)?;
                self.skip(|c| matches!(c, 'I' | 'M'));
            }
            _ => {}
        }
        Some(())
    }

    /// Up to the next `mark`. In a bracket it is plain to most seds. To others the expression ends there, in an open bracket,
    /// which no sed takes: `early` says where. A bracket that ends in different places for different seds is not understood.
    pub(super) fn delimited(&mut self, mark: char) -> Option<()> {
        let start = self.at;
        let (mut bracket, mut unsure) = (false, false);
        self.early = None;
        loop {
            match self.next()? {
                '\\' => {
                    unsure |= bracket && self.peek() == Some(']');
                    self.next()?;
                }
                c if c == mark && bracket && matches!(mark, '/' | '#' | '|' | ',' | ';' | '@' | '!' | '%' | '~' | '_' | '+') => {
                    self.early = self.early.or(Some(self.at));
                }
                c if c == mark => {
                    let doubtful = self.early.is_some() && (unsure || self.chars[start..self.at].contains(&UNKNOWN));
                    return (!doubtful && (!bracket || mark == ']')).then_some(());
                }
                '\n' => return None,
                '[' if !bracket => {
                    bracket = true;
                    if self.peek() == Some('^') {
                        self.at += 1;
                    }
                    if self.peek() == Some(']') && mark != ']' {
                        self.at += 1;
                    }
                }
                '[' if self.peek() == Some(':') => {
                    self.skip(|c| c != ']' && c != mark);
                    unsure |= self.peek() != Some(']');
                    self.at += usize::from(self.peek() == Some(']'));
                }
                '[' => unsure |= matches!(self.peek(), Some('.' | '=')),
                ']' => bracket = false,
                _ => {}
            }
        }
    }

    /// The replacement of `s`: brackets mean nothing in it, and lines may go on behind a backslash.
    pub(super) fn replacement(&mut self, mark: char) -> Option<()> {
        loop {
            match self.next()? {
                '\\' => {
                    self.next()?;
                }
                c if c == mark => return Some(()),
                '\n' => return None,
                _ => {}
            }
        }
    }
}
