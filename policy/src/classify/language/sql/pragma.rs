//! Pragmas of SQLite: those that show and those that set.
//!
//! Invariant: one that is not listed is no read.

/// A pragma without a value, or one whose argument only says what is shown.
pub(super) fn reads(lower: &str) -> bool {
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
