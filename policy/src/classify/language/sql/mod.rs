//! SQL and the commands of database clients.
//!
//! A statement is Read only when it begins with a word that observes, holds none that writes a file or calls out, and calls
//! functions that are known to do neither.

mod calls;
mod pragma;
mod reading;

use crate::CommandClass;
use crate::CommandClass::{Destructive, Network, Read, Write};
use crate::knowledge::Sql;

/// Who reads the text: databases differ about quotes and comments, clients about commands of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::classify) enum Client {
    Postgres,
    Mysql,
    Sqlite,
    Duckdb,
    /// Any of them.
    Any,
}

impl Client {
    /// By the name of the program.
    pub fn of(name: &str) -> Self {
        match name {
            "psql" | "pgcli" | "cockroach-sql" | "vsql" | "gsql" => Self::Postgres,
            "mysql" | "mariadb" | "mycli" => Self::Mysql,
            "duckdb" => Self::Duckdb,
            name if name.starts_with("sqlite") || name == "litecli" => Self::Sqlite,
            _ => Self::Any,
        }
    }
}

/// The class of a text of statements.
pub(in crate::classify) fn classify(text: &str, client: Client, known: &Sql) -> CommandClass {
    let Some(reading) = reading::read(text, client) else {
        let lower = text.to_ascii_lowercase();
        return if ["drop", "truncate", "delete"].iter().any(|word| lower.contains(word)) { Destructive } else { Write };
    };
    let commands = reading.commands.iter().map(|line| command(line, client));
    let statements = reading.statements.split(';').map(|statement| one(statement, client, known));
    let class = commands.chain(statements).max().unwrap_or(Read);
    // What is opened by its address is fetched.
    if reading.addresses && client == Client::Duckdb { class.max(Network) } else { class }
}

/// A command of the client itself, which ends with its line.
fn command(line: &str, client: Client) -> CommandClass {
    const DOT: &[&str] = &[
        ".tables",
        ".schema",
        ".databases",
        ".indexes",
        ".indices",
        ".mode",
        ".headers",
        ".header",
        ".help",
        ".width",
        ".quit",
        ".exit",
        ".dump",
        ".fullschema",
        ".show",
        ".stats",
        ".timer",
        ".separator",
        ".nullvalue",
    ];
    let plain = !line.contains(['\'', '`', '|']) && line.matches('"').count().is_multiple_of(2);
    let reads = match client {
        Client::Mysql => {
            let first = line.split(|c: char| !c.is_ascii_alphanumeric() && c != '?').next().unwrap_or_default().to_ascii_lowercase();
            !line.contains('\\')
                && matches!(
                    first.as_str(),
                    "help" | "?" | "status" | "quit" | "exit" | "warnings" | "nowarning" | "rehash" | "go" | "ego" | "clear"
                )
        }
        _ if line.starts_with('.') => DOT.contains(&line.split_whitespace().next().unwrap_or_default()),
        // One line may hold several.
        _ => line.split('\\').skip(1).all(|part| {
            let command = part.split(|c: char| c.is_whitespace() || c == ';').next().unwrap_or_default();
            (command.starts_with('d') && !command.starts_with("do"))
                || matches!(command, "l" | "l+" | "conninfo" | "x" | "z" | "timing" | "pset" | "q" | "encoding" | "sf" | "sv")
        }),
    };
    if plain && reads { Read } else { Write }
}

fn one(statement: &str, client: Client, known: &Sql) -> CommandClass {
    // `\G` and `\g` at the end are other semicolons.
    let text = statement.trim();
    let text = text.strip_suffix("\\G").or_else(|| text.strip_suffix("\\g")).unwrap_or(text);
    let lower = text.to_ascii_lowercase();
    let words: Vec<&str> = lower
        .split(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '.' || c == '\\' || c == '@'))
        .filter(|word| !word.is_empty())
        .collect();
    let Some(&first) = words.first() else { return Read };
    let has = |word: &str| words.contains(&word);
    if lower.contains('\\') {
        return if has("drop") || has("truncate") { Destructive } else { Write };
    }
    match first {
        "drop" | "truncate" => Destructive,
        "delete" if !has("where") => Destructive,
        "alter" if has("drop") => Destructive,
        // Logs and positions of a server that restores lean on.
        "purge" => Destructive,
        "reset" if has("master") || has("slave") || has("replica") || has("logs") || has("persist") => Destructive,
        "install" if client == Client::Duckdb => CommandClass::Install,
        "set" if !known.is_setting(&words[1..]) => Write,
        "from" | "summarize" if client != Client::Duckdb => Write,
        "select" | "with" | "values" | "table" | "show" | "describe" | "desc" | "explain" | "use" | "help" | "pragma" | "begin"
        | "commit" | "rollback" | "end" | "set" | "from" | "summarize" => {
            let changes = [
                "insert", "update", "delete", "drop", "truncate", "create", "alter", "merge", "replace", "grant", "revoke", "attach",
                "vacuum", "copy", "prepared",
            ];
            let reaches = ["outfile", "dumpfile", "into"];
            let whole = |statement: &str| statement.contains("delete") && !statement.contains("where");
            let deletes = (first == "with" || first == "explain" && has("analyze")) && has("delete") && lower.split(['(', ')']).any(whole);
            if has("drop") && first != "show" || has("truncate") && first == "with" || deletes {
                Destructive
            } else if changes.iter().any(|word| has(word) && !(first == "show" || (*word == "replace" && lower.contains("replace("))))
                || reaches.iter().any(|word| has(word))
                || (first == "pragma" && !pragma::reads(&lower))
                || (first != "pragma" && !calls::known(&lower, known))
            {
                Write
            } else {
                Read
            }
        }
        _ => Write,
    }
}

#[cfg(test)]
mod tests;
