//! A text of SQL as its client and its database read it: commands of the client, then statements without strings and
//! comments.
//!
//! Invariant: `None` where databases differ about where a string, a name or a comment ends, and nothing is known of what
//! follows.

use super::Client;

/// What is left of a text: the commands of the client line by line, and the rest with strings and comments blanked.
pub(super) struct Reading {
    pub commands: Vec<String>,
    pub statements: String,
    /// A string that is an address.
    pub addresses: bool,
}

pub(super) fn read(text: &str, client: Client) -> Option<Reading> {
    let mut reading = Reading { commands: Vec::new(), statements: String::with_capacity(text.len()), addresses: false };
    let mut rest = String::with_capacity(text.len());
    for line in text.lines() {
        let bare = line.trim_start();
        let command = match client {
            Client::Postgres => bare.starts_with('\\'),
            Client::Sqlite | Client::Duckdb => bare.starts_with('.'),
            Client::Any => bare.starts_with(['.', '\\']),
            Client::Mysql => starts_with_command(bare),
        };
        if command {
            reading.commands.push(bare.to_owned());
        } else {
            rest.push_str(line);
        }
        rest.push('\n');
    }
    if client == Client::Any && (rest.contains("--") || rest.contains(['#', '$', '`', '[', '\\', '"'])) {
        return None;
    }
    let mut chars = Chars { text: &rest, at: 0 };
    while let Some(c) = chars.next() {
        chars.piece(c, client, &mut reading)?;
    }
    Some(reading)
}

/// Words of the mysql client that end with their line, other than those of SQL.
fn starts_with_command(line: &str) -> bool {
    const COMMANDS: &[&str] = &[
        "?",
        "help",
        "system",
        "source",
        "tee",
        "notee",
        "pager",
        "nopager",
        "edit",
        "delimiter",
        "connect",
        "prompt",
        "charset",
        "print",
        "rehash",
        "status",
        "clear",
        "quit",
        "exit",
        "go",
        "ego",
        "warnings",
        "nowarning",
        "resetconnection",
        "query_attributes",
    ];
    let word = line.split(|c: char| c.is_whitespace() || c == ';').next().unwrap_or_default();
    COMMANDS.iter().any(|command| word.eq_ignore_ascii_case(command))
}

struct Chars<'t> {
    text: &'t str,
    at: usize,
}

impl Chars<'_> {
    fn next(&mut self) -> Option<char> {
        let c = self.rest().chars().next()?;
        self.at += c.len_utf8();
        Some(c)
    }

    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    /// What stands up to `end`, which is passed.
    fn up_to(&mut self, end: &str) -> Option<String> {
        let length = self.rest().find(end)?;
        let inner = self.rest()[..length].to_owned();
        self.at += length + end.len();
        Some(inner)
    }

    fn line(&mut self) {
        self.at += self.rest().find('\n').unwrap_or(self.rest().len());
    }

    fn piece(&mut self, c: char, client: Client, out: &mut Reading) -> Option<()> {
        let before = out.statements.chars().next_back().unwrap_or(' ');
        match c {
            '\'' => {
                let inner = self.up_to("'")?;
                // An escape in one database and in a string with a letter in front, plain in the others.
                if inner.contains('\\') && (client == Client::Mysql || before.is_alphanumeric()) {
                    return None;
                }
                out.addresses |= inner.contains("://");
                out.statements.push_str("''");
            }
            '"' | '`' => {
                let inner = self.up_to(c.encode_utf8(&mut [0; 4]))?;
                let name = inner.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | ' ' | '.' | '-' | ':' | '%' | '$'));
                if !name || inner.contains("--") || (c == '`' && matches!(client, Client::Postgres | Client::Duckdb)) {
                    return None;
                }
                let called = self.rest().trim_start().starts_with('(');
                out.statements.push_str(if called { &inner } else { "x" });
            }
            '[' if client == Client::Sqlite => {
                let inner = self.up_to("]")?;
                if inner.contains(['\'', '"', '`', ';']) || inner.contains("--") {
                    return None;
                }
                out.statements.push('x');
            }
            '#' if client == Client::Mysql => self.line(),
            '-' if self.rest().starts_with('-') => {
                let certain = client != Client::Mysql || self.rest()[1..].chars().next().is_none_or(|c| c.is_whitespace());
                if certain {
                    self.line();
                } else {
                    out.statements.push('-');
                }
            }
            '/' if self.rest().starts_with('*') => {
                self.at += 1;
                let inner = self.up_to("*/")?;
                if inner.contains("/*") || inner.starts_with(['!', '+', 'M']) || client == Client::Any {
                    return None;
                }
                out.statements.push(' ');
            }
            '$' if matches!(client, Client::Postgres | Client::Duckdb) && !before.is_alphanumeric() && before != '_' => {
                let tag = self.rest().find('$').map(|end| self.rest()[..end].to_owned());
                match tag
                    .filter(|tag| tag.chars().all(|c| c.is_alphanumeric() || c == '_') && !tag.starts_with(|c: char| c.is_ascii_digit()))
                {
                    Some(tag) => {
                        self.at += tag.len() + 1;
                        let inner = self.up_to(&format!("${tag}$"))?;
                        out.addresses |= inner.contains("://");
                        out.statements.push_str("''");
                    }
                    None => out.statements.push('$'),
                }
            }
            c => out.statements.push(c),
        }
        Some(())
    }
}
