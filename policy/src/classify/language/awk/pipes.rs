//! Pipes of an awk program to and from commands.
//!
//! Invariant: a command that is not one string without escapes, alone on its side of the pipe, makes the program Write.

use super::Scan;
use crate::CommandClass::Write;

impl Scan<'_> {
    /// `print … | "COMMAND"`, `"COMMAND" | getline`.
    pub(super) fn pipe(&mut self) {
        let before = self.at;
        self.operator(1);
        let command = if self.print { self.printed_to() } else { self.read_from(before) };
        match command {
            Some(command) => self.commands.push(command),
            None => self.raise(Write),
        }
    }

    /// The string behind the pipe, where the statement ends with it.
    fn printed_to(&self) -> Option<String> {
        let rest = self.bytes.get(self.at..)?.trim_ascii_start().strip_prefix(b"\"").filter(|_| self.depth == 0)?;
        let end = rest.iter().position(|byte| *byte == b'"')?;
        let after = rest[end + 1..].iter().find(|byte| !matches!(byte, b' ' | b'\t'));
        literal(&rest[..end]).filter(|_| matches!(after, None | Some(b'}' | b';' | b'\n')))
    }

    /// The string in front of the pipe, where the expression begins with it and `getline` follows.
    fn read_from(&self, before: usize) -> Option<String> {
        let rest = self.bytes.get(self.at..)?.trim_ascii_start().strip_prefix(b"getline")?;
        let ends = rest.first().is_none_or(|byte| !(byte.is_ascii_alphanumeric() || *byte == b'_' || *byte >= 0x80));
        let alone = self.bytes[self.string.end..before].trim_ascii().is_empty() && !self.string.is_empty();
        let begins = self.bytes[..self.string.start].trim_ascii_end().last();
        let text = self.bytes.get(self.string.start + 1..self.string.end - usize::from(alone))?;
        literal(text).filter(|_| ends && alone && matches!(begins, None | Some(b'{' | b'}' | b';' | b'(')))
    }
}

/// A string that is what it looks like.
fn literal(text: &[u8]) -> Option<String> {
    std::str::from_utf8(text).ok().filter(|text| !text.contains(['\\', '\n'])).map(str::to_owned)
}
