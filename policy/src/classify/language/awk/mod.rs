//! awk programs: Read unless they redirect, pipe, call `system`, load code, or hold something that is not understood.
//!
//! Strings, regular expressions and comments are stepped over; what is left is looked at word by word.

mod tokens;

use crate::CommandClass;
use crate::CommandClass::{Network, Read, Write};

/// The class of an awk program.
pub(in crate::classify) fn classify(program: &str) -> CommandClass {
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
    };
    scan.run();
    // A name of a file that is put together may be that of a connection.
    if scan.built && scan.paths {
        scan.raise(Network);
    }
    scan.class
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
                b'|' => {
                    self.raise(Write);
                    self.operator(1);
                }
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
        ] {
            assert!(classify(program) >= Write, "{program}");
        }
        assert_eq!(classify("BEGIN{s=\"/inet/tcp/0/h/80\"; s |& getline}"), Network);
    }
}
