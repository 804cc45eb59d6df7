//! What outlives a supervisor: questions, answers, remembered approvals, and an index over the journals.
//!
//! One SQLite file a workspace, outside of it. Invariant: a question is on the disk before anyone is asked, its answer
//! before anyone is told, and a question is answered once. Refuses to be the audit: that is the journal, and what is
//! indexed here can be made again from it.

mod index;
mod schema;

pub use index::ingest;

use super::grants::Grant;
use super::question::Question;
use super::questions::Ended;
use super::remembered::Remembered;
use super::workspaces::OwnRule;
use crate::clock::Nanos;
use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};
use stayexec_protocol::{Answer, Decision, Reason};
use std::path::Path;
use uuid::Uuid;

/// Why something is not in the store.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// SQLite refused.
    #[error("cannot {0} the store: {1}")]
    Sql(&'static str, rusqlite::Error),
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
    connection: Connection,
}

impl Store {
    /// Opens the store at `path`, or makes it.
    ///
    /// # Errors
    /// [`StoreError::Sql`] and [`StoreError::Format`].
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let connection = Connection::open(path).map_err(sql("open"))?;
        schema::prepare(&connection)?;
        Ok(Self { connection })
    }

    /// Opens the store at `path` for an index over the journals, which can be made again: it waits for no disk.
    ///
    /// # Errors
    /// As [`Store::open`].
    pub fn open_for_index(path: &Path) -> Result<Self, StoreError> {
        let store = Self::open(path)?;
        store.connection.pragma_update(None, "synchronous", "NORMAL").map_err(sql("set up"))?;
        Ok(store)
    }

    /// Keeps a question and the call that waits for it.
    ///
    /// # Errors
    /// [`StoreError`]; the question is then not to be asked.
    pub fn ask(&mut self, question: &Question, call: u64, grant: Option<&Grant>, deadline: Nanos) -> Result<(), StoreError> {
        let body = serde_json::to_string(question)?;
        let grant = grant.map(serde_json::to_string).transpose()?;
        let (id, run) = (question.audit_id.to_string(), question.run.to_string());
        self.write("write a question into", |tx| {
            tx.execute(
                "INSERT OR IGNORE INTO question (id, run, body, deadline) VALUES (?1, ?2, ?3, ?4)",
                params![id, run, body, deadline],
            )?;
            tx.execute(
                "INSERT OR REPLACE INTO waiting (run, call, question, grant_) VALUES (?1, ?2, ?3, ?4)",
                params![run, signed(call), id, grant],
            )
        })?;
        Ok(())
    }

    /// Keeps how a question ended; `false` where it had ended before.
    ///
    /// # Errors
    /// [`StoreError`]; nothing has been answered then.
    pub fn end(&mut self, ended: &Ended, time: Nanos) -> Result<bool, StoreError> {
        let body = serde_json::to_string(ended)?;
        let id = ended.question.audit_id.to_string();
        let changed = self.write("write an answer into", |tx| {
            tx.execute("UPDATE question SET ended = ?2, outcome = ?3 WHERE id = ?1 AND ended IS NULL", params![id, time, body])
        })?;
        Ok(changed == 1)
    }

    /// A warden has carried the answer to a call out, or the call is gone.
    ///
    /// # Errors
    /// [`StoreError`]; the answer is then delivered once more, to nobody.
    pub fn settle(&mut self, run: Uuid, call: u64, allowed: bool) -> Result<(), StoreError> {
        // Nothing is lost with this row: it is not worth a wait for the disk.
        let sentence = "UPDATE waiting SET settled = 1, grant_ = CASE WHEN ?3 THEN grant_ END WHERE run = ?1 AND call = ?2";
        self.connection.pragma_update(None, "synchronous", "NORMAL").map_err(sql("set up"))?;
        let done = self.connection.execute(sentence, params![run.to_string(), signed(call), allowed]).map_err(sql("write to"));
        self.connection.pragma_update(None, "synchronous", "FULL").map_err(sql("set up"))?;
        done.map(drop)
    }

    /// Answers of a run that its warden has not confirmed, by call.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn undelivered(&self, run: Uuid) -> Result<Vec<Answer>, StoreError> {
        let sentence = "SELECT waiting.call, question.outcome FROM waiting JOIN question ON question.id = waiting.question
            WHERE waiting.run = ?1 AND waiting.settled = 0 AND question.outcome IS NOT NULL";
        let rows: Vec<(i64, String)> = self.rows(sentence, [run.to_string()], |row| Ok((row.get(0)?, row.get(1)?)))?;
        rows.into_iter()
            .map(|(call, body)| {
                let ended: Ended = serde_json::from_str(&body)?;
                let allowed = ended.outcome == Decision::Allow.as_str();
                Ok(Answer {
                    call: call.cast_unsigned(),
                    decision: if allowed { Decision::Allow } else { Decision::Deny },
                    reason: if ended.reason == Reason::Expired.as_str() { Reason::Expired } else { Reason::Answer },
                    note: ended.note.into_bytes(),
                    by: ended.decided_by.into_bytes(),
                })
            })
            .collect()
    }

    /// Grants that answers of a run gave.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn grants(&self, run: Uuid) -> Result<Vec<Grant>, StoreError> {
        let sentence = "SELECT waiting.grant_, question.outcome FROM waiting JOIN question ON question.id = waiting.question
            WHERE waiting.run = ?1 AND waiting.grant_ IS NOT NULL AND question.outcome IS NOT NULL";
        let rows: Vec<(String, String)> = self.rows(sentence, [run.to_string()], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let mut grants = Vec::new();
        for (grant, outcome) in rows {
            if serde_json::from_str::<Ended>(&outcome)?.outcome == Decision::Allow.as_str() {
                grants.push(serde_json::from_str(&grant)?);
            }
        }
        Ok(grants)
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

    /// When a question that came back had to be answered; `None` where it is not here.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn deadline(&self, id: Uuid) -> Result<Option<Nanos>, StoreError> {
        let sentence = "SELECT deadline FROM question WHERE id = ?1";
        self.connection.query_row(sentence, [id.to_string()], |row| row.get(0)).optional().map_err(sql("read from"))
    }

    /// The questions that ended last, latest first.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn recent(&self, limit: usize) -> Result<Vec<Ended>, StoreError> {
        let sentence = "SELECT outcome FROM question WHERE ended IS NOT NULL ORDER BY ended DESC LIMIT ?1";
        let bodies: Vec<String> = self.rows(sentence, [i64::try_from(limit).unwrap_or(i64::MAX)], |row| row.get(0))?;
        bodies.iter().map(|body| serde_json::from_str(body).map_err(StoreError::from)).collect()
    }

    /// Keeps an approval.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn remember(&mut self, remembered: &Remembered) -> Result<(), StoreError> {
        let body = serde_json::to_string(remembered)?;
        self.write("write an approval into", |tx| {
            tx.execute("INSERT INTO remembered (id, body) VALUES (?1, ?2)", params![remembered.id.to_string(), body])
        })
        .map(drop)
    }

    /// Forgets an approval; `false` where there is none of this id.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn forget(&mut self, id: Uuid) -> Result<bool, StoreError> {
        self.write("remove an approval from", |tx| tx.execute("DELETE FROM remembered WHERE id = ?1", [id.to_string()])).map(|n| n == 1)
    }

    /// Every remembered approval, oldest first.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn remembered(&self) -> Result<Vec<Remembered>, StoreError> {
        let bodies: Vec<String> = self.rows("SELECT body FROM remembered ORDER BY id", [], |row| row.get(0))?;
        bodies.iter().map(|body| serde_json::from_str(body).map_err(StoreError::from)).collect()
    }

    /// Keeps a rule.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn add_rule(&mut self, rule: &OwnRule) -> Result<(), StoreError> {
        let body = serde_json::to_string(rule)?;
        let id = rule.id.to_string();
        self.write("write a rule into", |tx| tx.execute("INSERT INTO rule (id, body) VALUES (?1, ?2)", params![id, body])).map(drop)
    }

    /// Removes a rule; `false` where there is none of this id.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn remove_rule(&mut self, id: Uuid) -> Result<bool, StoreError> {
        self.write("remove a rule from", |tx| tx.execute("DELETE FROM rule WHERE id = ?1", [id.to_string()])).map(|n| n == 1)
    }

    /// Every rule, oldest first.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn rules(&self) -> Result<Vec<OwnRule>, StoreError> {
        let bodies: Vec<String> = self.rows("SELECT body FROM rule ORDER BY id", [], |row| row.get(0))?;
        bodies.iter().map(|body| serde_json::from_str(body).map_err(StoreError::from)).collect()
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
        work: impl FnOnce(&rusqlite::Transaction<'_>) -> rusqlite::Result<usize>,
    ) -> Result<usize, StoreError> {
        let tx = self.connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(sql(step))?;
        let changed = work(&tx).map_err(sql(step))?;
        tx.commit().map_err(sql(step))?;
        Ok(changed)
    }
}

/// SQLite's numbers are signed; a call's number keeps its bits.
fn signed(number: u64) -> i64 {
    number.cast_signed()
}

#[cfg(test)]
mod tests;
