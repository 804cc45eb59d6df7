//! The tables, and how a connection is set up.

use super::{StoreError, sql};
use rusqlite::Connection;
use std::time::Duration;

/// Number of this format, kept as `user_version`.
const FORMAT: i64 = 4;
/// How long another supervisor of the same store is waited for.
const PATIENCE: Duration = Duration::from_secs(5);

/// Page cache of a connection, in KiB (SQLite takes a negative number so).
const CACHE: i64 = -1_024;

const TABLES: &str = "
    BEGIN IMMEDIATE;
    CREATE TABLE IF NOT EXISTS question (
        id TEXT PRIMARY KEY, run TEXT NOT NULL, body TEXT NOT NULL, deadline INTEGER NOT NULL, ended INTEGER, outcome TEXT
    ) STRICT;
    CREATE INDEX IF NOT EXISTS question_ended ON question (ended) WHERE ended IS NOT NULL;
    CREATE TABLE IF NOT EXISTS waiting (
        run TEXT NOT NULL, call INTEGER NOT NULL, question TEXT NOT NULL REFERENCES question (id), grant_ TEXT,
        settled INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (run, call)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS granted (run TEXT NOT NULL, body TEXT NOT NULL, PRIMARY KEY (run, body)) STRICT, WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS agent (run TEXT PRIMARY KEY, body TEXT NOT NULL) STRICT;
    CREATE TABLE IF NOT EXISTS remembered (id TEXT PRIMARY KEY, body TEXT NOT NULL) STRICT;
    CREATE TABLE IF NOT EXISTS rule (id TEXT PRIMARY KEY, body TEXT NOT NULL) STRICT;
    CREATE TABLE IF NOT EXISTS answered (run TEXT NOT NULL, question TEXT NOT NULL, seal TEXT NOT NULL, PRIMARY KEY (run, question))
        STRICT, WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS listed (one INTEGER PRIMARY KEY CHECK (one = 1), body TEXT NOT NULL, seal BLOB NOT NULL) STRICT;
    CREATE TABLE IF NOT EXISTS run (id TEXT PRIMARY KEY, next INTEGER NOT NULL DEFAULT 0, ended INTEGER NOT NULL DEFAULT 0) STRICT;
    CREATE TABLE IF NOT EXISTS record (
        run TEXT NOT NULL, sequence INTEGER NOT NULL, time INTEGER NOT NULL, call INTEGER, kind TEXT NOT NULL, class TEXT,
        decision TEXT, reason TEXT, question TEXT, command TEXT, PRIMARY KEY (run, sequence)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS record_time ON record (time);
    PRAGMA user_version = 4;
    COMMIT;";

/// Sets a connection up and makes what is missing; whether it keeps a write-ahead log, whose commits then wait for no disk.
pub(super) fn prepare(connection: &Connection) -> Result<bool, StoreError> {
    let set = sql("set up");
    connection.busy_timeout(PATIENCE).map_err(&set)?;
    let mode: String = connection.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0)).map_err(&set)?;
    let logged = mode.eq_ignore_ascii_case("wal");
    connection.pragma_update(None, "synchronous", if logged { "NORMAL" } else { "FULL" }).map_err(&set)?;
    connection.pragma_update(None, "foreign_keys", true).map_err(&set)?;
    connection.pragma_update(None, "cache_size", CACHE).map_err(&set)?;
    let found: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0)).map_err(&set)?;
    match found {
        // Each later format adds tables.
        0..FORMAT => connection.execute_batch(TABLES).map_err(&set)?,
        FORMAT => {}
        other => return Err(StoreError::Format(other, FORMAT)),
    }
    Ok(logged)
}
