//! awk programs: Read unless they redirect, call `system`, load code, or hold something that is not understood. The commands
//! that a pipe of theirs starts are read where they stand there as one string, `print | "sort"`; any other pipe is Write.
//!
//! Strings, regular expressions and comments are stepped over; what is left is looked at word by word.

mod pipes;
mod tokens;

pub(in crate::classify) use tokens::connects;

use crate::CommandClass;
use crate::CommandClass::{Network, Read, Write};

/// What an awk program does by itself, and the texts that it gives to a shell.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::classify) struct Program {
    pub class: CommandClass,
    pub commands: Vec<String>,
}

pub(in crate::classify) fn read(program: &str) -> Program {
    let mut scan = Scan {
        bytes: program.as_bytes(),
        at: 0,
        value: false,
        closed: false,
        print: false,
        depth: 0,
        class: Read,
        read: false,
        built: false,
        paths: false,
        string: 0..0,
        commands: Vec::new(),
    };
    scan.run();
    // A name of a file that is put together may be that of a connection.
    if scan.built && scan.paths {
        scan.raise(Network);
    }
    Program { class: scan.class, commands: scan.commands }
}

struct Scan<'a> {
    bytes: &'a [u8],
    at: usize,
    /// The token before this one ends a value, so that `/` divides.
    value: bool,
    /// A closing parenthesis was the last token: a slash behind it divides, or begins a regular expression.
    closed: bool,
    /// Inside the arguments of `print` or `printf`.
    print: bool,
    depth: usize,
    class: CommandClass,
    /// `getline` stood somewhere before.
    read: bool,
    /// It reads from a file whose name is no literal.
    built: bool,
    /// A string holds a part of a path, or what stands for one.
    paths: bool,
    /// Where the last string stands, with its quotes.
    string: std::ops::Range<usize>,
    commands: Vec<String>,
}

impl Scan<'_> {
    fn byte(&self, ahead: usize) -> u8 {
        self.bytes.get(self.at + ahead).copied().unwrap_or(0)
    }

    fn raise(&mut self, class: CommandClass) {
        self.class = self.class.max(class);
    }

    fn run(&mut self) {
        while self.at < self.bytes.len() {
            let byte = self.byte(0);
            let closed = self.closed && matches!(byte, b' ' | b'\t' | b'\r' | b'/' | b'\\' | b'\n' | b'+' | b'-');
            self.closed = closed;
            if closed && byte == b'/' && !self.harmless_rest() {
                self.raise(Write);
            }
            match byte {
                b' ' | b'\t' | b'\r' => self.at += 1,
                b'\n' | b';' | b'}' | b'{' => {
                    self.print = false;
                    // No value ends with a brace: a slash behind one begins a regular expression.
                    self.value = false;
                    self.depth = 0;
                    self.at += 1;
                }
                b'#' => {
                    while self.at < self.bytes.len() && self.byte(0) != b'\n' {
                        self.at += 1;
                    }
                }
                b'"' => self.string(),
                b'/' if !self.value => self.regex(),
                b'\\' if self.byte(1) == b'\n' => self.at += 2,
                b'(' | b'[' => {
                    self.depth += 1;
                    self.value = false;
                    self.at += 1;
                }
                b')' | b']' => {
                    self.depth = self.depth.saturating_sub(1);
                    self.value = true;
                    self.closed = byte == b')';
                    self.at += 1;
                }
                b'|' if self.byte(1) == b'|' => self.operator(2),
                b'|' => self.pipe(),
                b'<' if self.byte(1) != b'=' => {
                    self.operator(1);
                    let literal = self.bytes[self.at..].trim_ascii_start().first() == Some(&b'"');
                    self.built |= !literal && self.read;
                }
                b'>' if self.byte(1) == b'=' => self.operator(2),
                b'>' => self.redirect(),
                b'@' | b'`' => {
                    self.raise(Write);
                    self.operator(1);
                }
                b'+' | b'-' if self.byte(1) == byte => {
                    // `x++ / 2` divides: what stood before still is a value.
                    self.at += 2;
                }
                byte if byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'.' || byte >= 0x80 => self.word(),
                b'+' | b'-' | b'*' | b'%' | b'^' | b'!' | b'<' | b'=' | b'~' | b'&' | b'?' | b':' | b',' | b'$' | b'/' => self.operator(1),
                _ => {
                    self.raise(Write);
                    self.operator(1);
                }
            }
        }
        if self.depth > 0 {
            self.raise(Write);
        }
    }

    /// Whichever way the slash is read here, nothing in what follows can be more than a read.
    fn harmless_rest(&self) -> bool {
        let rest = &self.bytes[self.at + 1..];
        !rest.iter().any(|byte| matches!(byte, b'/' | b'>' | b'|' | b'@' | b'`')) && !rest.windows(6).any(|word| word == b"system")
    }

    fn operator(&mut self, length: usize) {
        self.at += length;
        self.value = false;
    }

    fn redirect(&mut self) {
        let append = usize::from(self.byte(1) == b'>');
        self.at += 1 + append;
        self.value = false;
        if !self.print || (self.depth > 0 && append == 0) {
            // A comparison, unless it is an append, which compares nothing.
            if append == 1 {
                self.raise(Write);
            }
            return;
        }
        let rest = self.bytes[self.at.min(self.bytes.len())..].trim_ascii_start();
        let harmless = [&b"\"/dev/stderr\""[..], b"\"/dev/stdout\"", b"\"/dev/null\""].iter().any(|target| {
            rest.strip_prefix(*target).is_some_and(|after| matches!(after.trim_ascii_start().first(), None | Some(b'}' | b';' | b'\n')))
        });
        if !harmless {
            self.raise(Write);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn classify(program: &str) -> CommandClass {
        let Program { class, commands } = read(program);
        if commands.is_empty() { class } else { Write }
    }

    #[test]
    fn commands_that_stand_there() {
        for (program, command) in [
            ("{print $1 | \"sort\"}", "sort"),
            ("{ printf(\"%s\", $1) | \"sort -u\" } END { close(\"sort -u\") }", "sort -u"),
            ("{ if ($1 > 2) print | \"rm x\"; else print }", "rm x"),
            ("BEGIN { \"date +%s\" | getline t; print t }", "date +%s"),
            ("BEGIN { while ((\"ls\" | getline f) > 0) print f }", "ls"),
        ] {
            assert_eq!(read(program), Program { class: Read, commands: vec![command.into()] }, "{program}");
        }
        for program in [
            "{print $1 | \"sort\" $2}",
            "{print $1 | \"sort \\x2do x\"}",
            "{print $1 | cmd}",
            "{print $1 | (\"sort\")}",
            "{print $1 |& \"sort\"}",
            "BEGIN { \"da\" \"te\" | getline }",
            "BEGIN { x \"date\" | getline }",
            "BEGIN { \"date\" | getlines }",
            "{ print \"date\" | getline }",
            "{ (\"x\" | \"sort\") }",
        ] {
            assert_eq!(read(program).class, Write, "{program}");
        }
    }

    #[test]
    fn reads() {
        for program in [
            "{print $1}",
            "$1 > 5",
            "NR>=3 && NR<=9 {print NR\": \"$0}",
            "/a|b/ {print}",
            "{s+=$1} END {print s/NR}",
            "{ if ($1 ~ \"x|y\") print (a > b) }",
            "!seen[$0]++",
            "{printf \"%s|%s\\n\", $1, $2}",
            "{print > \"/dev/stderr\"}",
            "{x = $1 / 2; y = x++ / 3} # > out | sh",
            "BEGIN { while ((getline line < \"f\") > 0) n++; print n }",
            "/[[:space:]]+/ {print $NF}",
            "a || b",
            "/inet /{print $2}",
            "/\\/inet/",
            "{gsub(/[^/]*\\//, \"\"); print}",
            "match($0, /[^/]+$/) {print substr($0, RSTART)}",
            "/[]/]|[[:digit:]/]/ {print $NF / 2}",
        ] {
            assert_eq!(classify(program), Read, "{program}");
        }
    }

    #[test]
    fn writes() {
        for program in [
            "{print > \"out\"}",
            "{print $1 >> $2}",
            "{print | \"sh\"}",
            "{ system(\"rm x\") }",
            "BEGIN { \"date\" | getline d }",
            "{print >\"/dev/stderr\" \"x\"}",
            "@load \"filefuncs\"",
            "{ @f() }",
            "{print (1) > \"x\"}",
            "{ printf(\"%s\", $1) > \"x\" }",
            "\"unclosed",
            "x |& getline",
            "/[/]/ {print > \"x\"} /]/",
            "/[\\]/]/; print > \"x\" /",
            "/[[/]x/",
            "/[^/]/ {system(x)}",
        ] {
            assert!(classify(program) >= Write, "{program}");
        }
        assert_eq!(classify("BEGIN{s=\"/inet/tcp/0/h/80\"; s |& getline}"), Network);
        assert_eq!(classify("BEGIN{getline x < \"\\57\\x69net/tcp/0/h/80\"}"), Network);
        assert_eq!(classify("BEGIN{getline x < \"\\/inet/tcp/0/h/80\"}"), Network);
    }
}
