//! What outlives a supervisor: questions, answers, remembered approvals, and an index over the journals.
//!
//! One SQLite file a workspace, outside of it. Invariant: what was written survives this process at once, and the machine
//! after [`Store::sync`], which waits for the disk once for everything before it; a question is answered once. Refuses to
//! be the audit: that is the journal, and what is indexed here can be made again from it.

mod grants;
mod index;
mod kept;
mod outside;
mod past;
mod schema;
mod seal;

pub use index::ingest;
pub use past::Sought;
pub use seal::Seal;

use super::grants::Grant;
use super::question::Ended;
use super::question::Question;
use super::remembered::Remembered;
use crate::clock::Nanos;
use hmac::Hmac;
use rusqlite::{Connection, ErrorCode, OptionalExtension, TransactionBehavior, params};
use sha2::Sha256;
use std::ffi::OsString;
use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use uuid::Uuid;

/// Why something is not in the store.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// SQLite refused.
    #[error("cannot {0} the store: {1}")]
    Sql(&'static str, rusqlite::Error),
    /// The file is not at its path any more.
    #[error("the store {0} was removed or replaced")]
    Gone(PathBuf),
    /// The disk refused.
    #[error("cannot wait for the store to be on the disk: {0}")]
    Sync(std::io::Error),
    /// A row does not hold what it should.
    #[error("the store holds a row that cannot be understood: {0}")]
    Row(#[from] serde_json::Error),
    /// The file was made by another version.
    #[error("the store has format {0}, and this version knows {1}")]
    Format(i64, i64),
    /// The journal beside it.
    #[error("cannot index a journal: {0}")]
    Journal(#[from] crate::journal::JournalError),
}

fn sql(step: &'static str) -> impl Fn(rusqlite::Error) -> StoreError {
    move |cause| StoreError::Sql(step, cause)
}

/// An open store.
#[derive(Debug)]
pub struct Store {
    path: PathBuf,
    /// Device and inode of the file that is open.
    file: (u64, u64),
    connection: Connection,
    /// Where the write-ahead log is, and the log once it was synced; `None` where every commit waits for the disk.
    log: Option<(PathBuf, Option<File>)>,
    unsynced: bool,
}

impl Store {
    /// Opens the store at `path`, or makes it.
    ///
    /// # Errors
    /// [`StoreError::Sql`] and [`StoreError::Format`].
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let connection = Connection::open(path).map_err(sql("open"))?;
        let logged = schema::prepare(&connection)?;
        let mut log = OsString::from(path);
        log.push("-wal");
        let file = identity(path)?;
        // Whoever wrote here before may have died before it synced.
        Ok(Self { path: path.to_owned(), file, connection, log: logged.then(|| (log.into(), None)), unsynced: true })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Waits until everything that was written is on the disk.
    ///
    /// # Errors
    /// [`StoreError::Sync`] and [`StoreError::Gone`]: nobody may be told of what was written.
    pub fn sync(&mut self) -> Result<(), StoreError> {
        if !std::mem::take(&mut self.unsynced) {
            return Ok(());
        }
        // What is written into a file without a name is lost with this process.
        if identity(&self.path)? != self.file {
            return Err(StoreError::Gone(self.path.clone()));
        }
        let Some((path, log)) = &mut self.log else { return Ok(()) };
        // The log is no file that SQLite locks, so a descriptor of our own takes no lock away; while a connection is open
        // the log is written anew and never replaced.
        let file = match log {
            Some(file) => file,
            None => match File::open(&*path) {
                Ok(file) => log.insert(file),
                // Nothing has been written since the log was last taken into the store.
                Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(()),
                Err(e) => return Err(StoreError::Sync(e)),
            },
        };
        file.sync_data().map_err(StoreError::Sync)
    }

    /// Keeps a question and the call that waits for it.
    ///
    /// # Errors
    /// [`StoreError`]; the question is then not to be asked.
    pub fn ask(&mut self, seal: &Seal, question: &Question, waiting: (u64, Option<&Grant>), deadline: Nanos) -> Result<(), StoreError> {
        let body = serde_json::to_string(question)?;
        let (call, grant) = (signed(waiting.0), waiting.1.map(serde_json::to_string).transpose()?);
        let (id, run) = (question.audit_id.to_string(), question.run.to_string());
        let grant = seal.on(&["waiting", &call.to_string(), &id], &grant.unwrap_or_default());
        self.write("write a question into", |tx| {
            tx.execute(
                "INSERT OR IGNORE INTO question (id, run, body, deadline) VALUES (?1, ?2, ?3, ?4)",
                params![id, run, body, deadline],
            )?;
            tx.execute(
                "INSERT OR REPLACE INTO waiting (run, call, question, grant_) VALUES (?1, ?2, ?3, ?4)",
                params![run, call, id, grant],
            )
        })?;
        Ok(())
    }

    /// Keeps how a question ended, and what its answer has remembered, both or neither; `false` where it had ended before.
    ///
    /// # Errors
    /// [`StoreError`]; nothing has been answered then.
    pub fn end(
        &mut self,
        seal: &Seal,
        ended: &Ended,
        remembered: Option<(&Hmac<Sha256>, &Remembered)>,
        time: Nanos,
    ) -> Result<bool, StoreError> {
        let remembered = remembered.map(|(key, one)| Ok::<_, StoreError>((key, one, serde_json::to_string(one)?))).transpose()?;
        let body = serde_json::to_string(ended)?;
        let id = ended.question.audit_id.to_string();
        let (run, sealed) = (ended.question.run.to_string(), seal.of(&["answered", &id], &body));
        let changed = self.write("write an answer into", |tx| {
            let sentence = "UPDATE question SET ended = ?2, outcome = ?3 WHERE id = ?1 AND ended IS NULL";
            let changed = tx.execute(sentence, params![id, time, body])?;
            if changed == 1 {
                tx.execute("INSERT OR REPLACE INTO answered (run, question, seal) VALUES (?1, ?2, ?3)", params![run, id, sealed])?;
                if let Some((key, one, body)) = &remembered {
                    kept::remember(tx, key, one, body)?;
                }
            }
            Ok(changed)
        })?;
        Ok(changed == 1)
    }

    /// How a question ended; `None` where it is not here, or open.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn ended(&self, id: Uuid) -> Result<Option<Ended>, StoreError> {
        let sentence = "SELECT outcome FROM question WHERE id = ?1 AND outcome IS NOT NULL";
        let body: Option<String> =
            self.connection.query_row(sentence, [id.to_string()], |row| row.get(0)).optional().map_err(sql("read from"))?;
        body.map(|body| serde_json::from_str(&body)).transpose().map_err(StoreError::from)
    }

    /// Ids of ended questions that end so, at most two.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn ended_so(&self, suffix: &str) -> Result<Vec<String>, StoreError> {
        let sentence = "SELECT id FROM question WHERE ended IS NOT NULL AND substr(id, -length(?1)) = ?1 LIMIT 2";
        self.rows(sentence, [suffix], |row| row.get(0))
    }

    /// A question as it was kept, and when it has to be answered; `None` where it is not here.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn asked(&self, id: Uuid) -> Result<Option<(Question, Nanos)>, StoreError> {
        let sentence = "SELECT body, deadline FROM question WHERE id = ?1";
        let row = |row: &rusqlite::Row<'_>| Ok((row.get::<_, String>(0)?, row.get(1)?));
        let found = self.connection.query_row(sentence, [id.to_string()], row).optional().map_err(sql("read from"))?;
        found.map(|(body, deadline)| Ok((serde_json::from_str(&body)?, deadline))).transpose()
    }

    /// Keeps an open question as it is now.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn rewrite(&mut self, question: &Question) -> Result<(), StoreError> {
        let body = serde_json::to_string(question)?;
        let sentence = "UPDATE question SET body = ?2 WHERE id = ?1 AND ended IS NULL";
        self.write("write a question into", |tx| tx.execute(sentence, params![question.audit_id.to_string(), body])).map(drop)
    }

    fn rows<T>(
        &self,
        sentence: &str,
        values: impl rusqlite::Params,
        read: impl FnMut(&rusqlite::Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, StoreError> {
        let mut statement = self.connection.prepare_cached(sentence).map_err(sql("read from"))?;
        let rows = statement.query_map(values, read).map_err(sql("read from"))?;
        rows.collect::<rusqlite::Result<_>>().map_err(sql("read from"))
    }

    fn write(
        &mut self,
        step: &'static str,
        work: impl Fn(&rusqlite::Transaction<'_>) -> rusqlite::Result<usize>,
    ) -> Result<usize, StoreError> {
        let mut attempt = self.attempt(&work);
        if matches!(&attempt, Err(e) if e.sqlite_error_code() == Some(ErrorCode::ReadOnly)) {
            // A connection that was opened while nobody could write here stays without the right to.
            let Self { connection, log, .. } = Self::open(&self.path)?;
            (self.connection, self.log) = (connection, log);
            attempt = self.attempt(&work);
        }
        let changed = attempt.map_err(sql(step))?;
        self.unsynced = true;
        Ok(changed)
    }

    fn attempt(&mut self, work: impl Fn(&rusqlite::Transaction<'_>) -> rusqlite::Result<usize>) -> rusqlite::Result<usize> {
        let tx = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let changed = work(&tx)?;
        tx.commit()?;
        Ok(changed)
    }
}

/// Device and inode of the file at `path`.
fn identity(path: &Path) -> Result<(u64, u64), StoreError> {
    let status = std::fs::metadata(path).map_err(|_| StoreError::Gone(path.to_owned()))?;
    Ok((status.dev(), status.ino()))
}

/// SQLite's numbers are signed; a call's number keeps its bits.
fn signed(number: u64) -> i64 {
    number.cast_signed()
}

#[cfg(test)]
mod tests;
