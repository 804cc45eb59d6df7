//! SQL and the dot and backslash commands of database clients.
//!
//! A statement is Read only when it begins with a word that observes and holds none that writes a file or calls out.

use crate::CommandClass;
use crate::CommandClass::{Destructive, Read, Write};

/// The class of a text of statements.
pub(in crate::classify) fn classify(text: &str) -> CommandClass {
    let plain = without_strings(text);
    plain
        .split(';')
        .flat_map(|statement| statement.split('\n').fold(Vec::new(), join_lines))
        .map(|statement| one(&statement))
        .max()
        .unwrap_or(Read)
}

/// Lines of one statement belong together; dot and backslash commands end with their line.
fn join_lines(mut out: Vec<String>, line: &str) -> Vec<String> {
    let command = |line: &str| line.trim_start().starts_with(['.', '\\']);
    match out.last_mut() {
        Some(last) if !command(last) && !command(line) => {
            last.push(' ');
            last.push_str(line);
        }
        _ => out.push(line.to_owned()),
    }
    out
}

/// The text with string literals and comments blanked.
fn without_strings(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\'' => {
                out.push('\'');
                for inner in chars.by_ref() {
                    if inner == '\\' {
                        // Escaped in one database, plain in another.
                        out.push('\\');
                    }
                    if inner == '\'' {
                        break;
                    }
                }
                out.push('\'');
            }
            '-' if chars.peek() == Some(&'-') => {
                while chars.peek().is_some_and(|c| *c != '\n') {
                    chars.next();
                }
            }
            c => out.push(c),
        }
    }
    out
}

fn one(statement: &str) -> CommandClass {
    // `\G` and `\g` at the end are other semicolons.
    let text = statement.trim();
    let text = text.strip_suffix("\\G").or_else(|| text.strip_suffix("\\g")).unwrap_or(text);
    let lower = text.to_ascii_lowercase();
    let words: Vec<&str> =
        lower.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '.' || c == '\\')).filter(|word| !word.is_empty()).collect();
    let Some(&first) = words.first() else { return Read };
    let has = |word: &str| words.contains(&word);
    if lower.contains("/*") || lower.contains('\\') && !first.starts_with('\\') {
        return if has("drop") || has("truncate") { Destructive } else { Write };
    }
    if first.starts_with('.') {
        let known = [
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
        return if known.contains(&first) { Read } else { Write };
    }
    if let Some(command) = first.strip_prefix('\\') {
        let observes = (command.starts_with('d') && !command.starts_with("do"))
            || matches!(command, "l" | "l+" | "conninfo" | "x" | "z" | "timing" | "pset" | "q" | "encoding" | "sf" | "sv");
        return if observes && !lower.contains('`') && !lower.contains('|') { Read } else { Write };
    }
    match first {
        "drop" | "truncate" => Destructive,
        "delete" if !has("where") => Destructive,
        "alter" if has("drop") => Destructive,
        "select" | "with" | "values" | "table" | "show" | "describe" | "desc" | "explain" | "use" | "help" | "pragma" | "begin"
        | "commit" | "rollback" | "end" | "set" => {
            let changes = [
                "insert", "update", "delete", "drop", "truncate", "create", "alter", "merge", "replace", "grant", "revoke", "attach",
                "vacuum", "copy",
            ];
            let reaches = [
                "outfile",
                "dumpfile",
                "into",
                "load_file",
                "load_extension",
                "writefile",
                "readfile",
                "edit",
                "pg_read_file",
                "pg_write_file",
                "lo_export",
                "lo_import",
                "dblink",
                "pg_terminate_backend",
                "setval",
                "nextval",
                "sys_exec",
                "sys_eval",
                "xp_cmdshell",
                "pg_sleep",
            ];
            if has("drop") && first != "show" || has("truncate") && first == "with" {
                Destructive
            } else if changes.iter().any(|word| has(word) && !(first == "show" || (*word == "replace" && lower.contains("replace("))))
                || reaches.iter().any(|word| has(word))
                || (first == "pragma" && !pragma_reads(&lower))
                || (first == "set" && (has("global") || has("persist")))
            {
                Write
            } else {
                Read
            }
        }
        _ => Write,
    }
}

/// A pragma without a value, or one whose argument only says what is shown.
fn pragma_reads(lower: &str) -> bool {
    const SHOWING: &[&str] = &[
        "table_info",
        "table_xinfo",
        "table_list",
        "index_list",
        "index_info",
        "index_xinfo",
        "foreign_key_list",
        "foreign_key_check",
        "integrity_check",
        "quick_check",
    ];
    const PLAIN: &[&str] = &[
        "application_id",
        "auto_vacuum",
        "busy_timeout",
        "cache_size",
        "collation_list",
        "compile_options",
        "database_list",
        "data_version",
        "encoding",
        "foreign_keys",
        "freelist_count",
        "function_list",
        "journal_mode",
        "journal_size_limit",
        "locking_mode",
        "max_page_count",
        "mmap_size",
        "module_list",
        "page_count",
        "page_size",
        "pragma_list",
        "recursive_triggers",
        "schema_version",
        "secure_delete",
        "synchronous",
        "temp_store",
        "threads",
        "user_version",
        "wal_autocheckpoint",
        "query_only",
    ];
    let Some((_, rest)) = lower.split_once("pragma") else { return false };
    let end = rest.find(['(', '=']).unwrap_or(rest.len());
    let name = rest[..end].trim().trim_matches(['"', '`', '[', ']']);
    let name = name.rsplit('.').next().unwrap_or(name).trim();
    match rest[end..].chars().next() {
        Some('=') => false,
        Some(_) => SHOWING.contains(&name),
        None => SHOWING.contains(&name) || PLAIN.contains(&name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes() {
        for (text, class) in [
            ("SELECT * FROM t WHERE a = 'DROP TABLE t'", Read),
            ("select 1; select 2;", Read),
            ("SHOW CREATE TABLE t", Read),
            ("SHOW PROCESSLIST\\G", Read),
            ("SHOW PROCESSLIST\\! id", Write),
            ("EXPLAIN SELECT 1", Read),
            ("EXPLAIN ANALYZE DELETE FROM t", Write),
            (".tables", Read),
            (".schema t", Read),
            (".shell rm x", Write),
            (".output f", Write),
            ("\\dt", Read),
            ("\\! rm x", Write),
            ("\\copy t to 'f'", Write),
            ("INSERT INTO t VALUES (1)", Write),
            ("DELETE FROM t WHERE id = 1", Write),
            ("DELETE FROM t", Destructive),
            ("select 1; DROP TABLE t", Destructive),
            ("TRUNCATE t", Destructive),
            ("SELECT * INTO OUTFILE '/tmp/x' FROM t", Write),
            ("WITH x AS (DELETE FROM t RETURNING *) SELECT * FROM x", Write),
            ("", Read),
            ("PRAGMA table_info(t)", Read),
            ("PRAGMA journal_mode=wal", Write),
            ("PRAGMA journal_mode(wal)", Write),
            ("PRAGMA main.user_version", Read),
            ("PRAGMA optimize", Write),
            ("select 'a\\'; drop table t; --'", Destructive),
        ] {
            assert_eq!(classify(text), class, "{text}");
        }
    }
}
