//! sed programs: Read unless they write (`w`), run something (`e`), or hold something that is not understood.

mod scan;

use scan::Scan;

use crate::CommandClass;
use crate::CommandClass::{Read, Write};
use crate::classify::args::UNKNOWN;

/// The class of a sed program.
pub(in crate::classify) fn classify(program: &str) -> CommandClass {
    let chars: Vec<char> = program.chars().collect();
    let mut scan = Scan::of(&chars);
    match scan.run() {
        Some(()) if !scan.writes => Read,
        _ => Write,
    }
}

/// The files that a program reads or writes, as far as it is understood.
pub(in crate::classify) fn files(program: &str) -> Vec<String> {
    let chars: Vec<char> = program.chars().collect();
    let mut scan = Scan::of(&chars);
    scan.run();
    scan.files
}

/// `None`: it writes, runs something, or is not understood.
impl Scan<'_> {
    fn run(&mut self) -> Option<()> {
        loop {
            self.skip(|c| c.is_whitespace() || c == ';');
            if self.peek().is_none() {
                return Some(());
            }
            self.address()?;
            self.skip(|c| c == ' ' || c == '\t');
            if self.peek() == Some(',') {
                self.at += 1;
                self.skip(|c| c == ' ' || c == '\t');
                self.address()?;
            }
            self.skip(|c| matches!(c, ' ' | '\t' | '!'));
            self.command()?;
        }
    }

    fn command(&mut self) -> Option<()> {
        match self.next()? {
            '{' => Some(()),
            '}' | '=' | 'd' | 'D' | 'g' | 'G' | 'h' | 'H' | 'n' | 'N' | 'p' | 'P' | 'x' | 'z' | 'F' => self.end(),
            'q' | 'Q' | 'l' | 'L' => {
                self.skip(|c| c == ' ');
                self.skip(|c| c.is_ascii_digit() || c == UNKNOWN);
                self.end()
            }
            's' => self.substitute(),
            'y' => {
                let mark = self.next().filter(|c| !c.is_alphanumeric() && *c != '\\' && *c != '\n')?;
                self.replacement(mark)?;
                self.replacement(mark)?;
                self.end()
            }
            'b' | 't' | 'T' | ':' => {
                // GNU sed ends a label at white space and at `;`, others at the end of the line: both readings count.
                self.skip(|c| c == ' ' || c == '\t');
                self.skip(|c| !c.is_whitespace() && c != ';' && c != '}');
                self.end()
            }
            'a' | 'i' | 'c' => self.text(),
            'r' | 'R' => {
                self.file();
                Some(())
            }
            'w' | 'W' => {
                self.written();
                Some(())
            }
            '#' => {
                self.skip(|c| c != '\n');
                Some(())
            }
            _ => None,
        }
    }

    fn substitute(&mut self) -> Option<()> {
        let mark = self.next().filter(|c| *c != '\\' && *c != '\n' && *c != UNKNOWN)?;
        self.delimited(mark)?;
        // A sed that ends the expression in the bracket refuses it, but opens the file of a `w` first.
        if let Some(at) = self.early {
            let mut early = Scan { at, ..Scan::of(self.chars) };
            if early.replacement(mark).is_some() {
                early.flags();
                early.skip(|c| c == 'e');
                early.flags();
                (early.peek() != Some('w')).then_some(())?;
            }
        }
        self.replacement(mark)?;
        self.flags();
        if self.peek() == Some('w') {
            self.at += 1;
            self.written();
            return Some(());
        }
        self.end()
    }

    fn flags(&mut self) {
        self.skip(|c| c.is_ascii_digit() || matches!(c, 'g' | 'p' | 'i' | 'I' | 'm' | 'M'));
    }

    /// A file that is written; its own output is none.
    fn written(&mut self) {
        self.file();
        self.writes |= !self.files.last().is_some_and(|file| matches!(file.as_str(), "/dev/stdout" | "/dev/stderr"));
    }

    /// The name of a file: the rest of the line.
    fn file(&mut self) {
        self.skip(|c| c == ' ' || c == '\t');
        let start = self.at.min(self.chars.len());
        self.skip(|c| c != '\n');
        self.files.push(self.chars[start..self.at.min(self.chars.len())].iter().collect());
    }

    /// Text up to the end of the line, longer behind a backslash.
    fn text(&mut self) -> Option<()> {
        loop {
            match self.next() {
                None => return Some(()),
                Some('\n') => return Some(()),
                Some('\\') => self.at += 1,
                Some(_) => {}
            }
        }
    }

    /// Nothing may follow but the end of the command.
    fn end(&mut self) -> Option<()> {
        self.skip(|c| c == ' ' || c == '\t');
        match self.peek() {
            None | Some('\n' | ';' | '#') => Some(()),
            Some('}') => Some(()),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads() {
        for program in [
            "1,5p",
            "/^$/d",
            "s/a/b/g",
            "s|/usr|/opt|",
            "s/git reset --hard/safe/",
            "$!N;P;D",
            "/start/,/end/p",
            "/x/{s/a/b/;p}",
            "10q",
            "s/\\/w/e/",
            "s/[^/]*x//p",
            "s/[^/]*$//",
            "s/.*\\/\\([^/]*\\)$/\\1/",
            "s/[]/]x//;s/[[:alpha:]/]*$/x/",
            "/[/]x/d",
            "s#[^#]*##",
            "1i\\\nhello w e",
            "y/abc/def/",
            ":a;N;$!ba;s/\\n/ /g",
            "\u{e000},\u{e000}p",
            "\\,x,d",
            "0~4p",
            "s/[[:space:]]*$//",
            "a text with w and e",
            "s/a/b/w /dev/stdout",
            "/x/w /dev/stderr",
        ] {
            assert_eq!(classify(program), Read, "{program}");
        }
    }

    #[test]
    fn writes() {
        for program in [
            "w out",
            "1e",
            "1e date",
            "s/a/b/e",
            "s/a/b/w out",
            "s/a/b/gw out",
            "s/a/b/w /dev/stdout2",
            "w /dev/stdout\nw out",
            "/x/w y",
            "p;w f",
            "{w f\n}",
            "s/a/b/ e",
            "1!e",
            "\u{e000}",
            "s\u{e000}",
            "s/a",
            "/x",
            "p\u{e000}",
            "s/[/]/w out/w out",
            "s/[/]/w out/",
            "s/[/]/x/;w out",
            "s/[/x/w out",
            "s/[/x/w out/]/y/",
            "s/[\\]/]/w out/",
            "s/[/\\]/x/w out",
            "s/[[.].]/]/w out/",
            "s/[\u{e000}/]/x/",
        ] {
            assert_eq!(classify(program), Write, "{program}");
        }
    }
}
