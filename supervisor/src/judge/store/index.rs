//! The journals' records, taken in exactly once each.
//!
//! Invariant: a record and the number of the next one are written together: whoever is killed in between begins where it
//! was. Refuses a journal that does not hold: what was whole before the break is taken in, the rest is not.

use super::{Store, StoreError, signed, sql};
use crate::journal::Reading;
use rusqlite::{OptionalExtension, Transaction, TransactionBehavior, params};
use stayexec_protocol::{CLASS_WORDS, Record};
use uuid::Uuid;

/// Records that go into one transaction.
const BATCH: usize = 250;

/// Takes in what a journal holds beyond what is here already; `true` where it has ended.
///
/// # Errors
/// [`StoreError`]; what was taken in before stays.
pub fn ingest(store: &mut Store, run: &str, journal: &mut Reading) -> Result<bool, StoreError> {
    loop {
        let mut records = Vec::new();
        let mut broken = None;
        for next in journal.by_ref().take(BATCH) {
            match next {
                Ok(record) => records.push(record),
                Err(e) => {
                    broken = Some(e);
                    break;
                }
            }
        }
        let full = records.len() == BATCH;
        let ended = take_in(store, run, &records)?;
        match broken {
            Some(e) => return Err(e.into()),
            None if !full => return Ok(ended),
            None => {}
        }
    }
}

fn take_in(store: &mut Store, run: &str, records: &[(u64, Record)]) -> Result<bool, StoreError> {
    let failed = sql("index a journal in");
    let tx = store.connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(&failed)?;
    let known = tx.query_row("SELECT next, ended FROM run WHERE id = ?1", [run], |row| Ok((row.get(0)?, row.get(1)?)));
    let (mut next, mut ended): (i64, bool) = known.optional().map_err(&failed)?.unwrap_or((0, false));
    for (sequence, record) in records {
        if signed(*sequence) < next {
            continue;
        }
        insert(&tx, run, *sequence, record).map_err(&failed)?;
        next = signed(*sequence) + 1;
        ended |= matches!(record, Record::Ended(_));
    }
    let sentence = "INSERT INTO run (id, next, ended) VALUES (?1, ?2, ?3) ON CONFLICT (id) DO UPDATE SET next = ?2, ended = ?3";
    tx.execute(sentence, params![run, next, ended]).map_err(&failed)?;
    tx.commit().map_err(&failed)?;
    Ok(ended)
}

fn insert(tx: &Transaction<'_>, run: &str, sequence: u64, record: &Record) -> rusqlite::Result<usize> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let id = |id: [u8; 16]| Uuid::from_bytes(id).to_string();
    let sentence = "INSERT INTO record (run, sequence, time, kind, call, class, decision, reason, question, command)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";
    let mut statement = tx.prepare_cached(sentence)?;
    let at = signed(sequence);
    match record {
        Record::Started(r) => {
            let command = r.argv.first().map(|word| super::super::text::word(word));
            statement.execute(params![
                run,
                at,
                r.time,
                "started",
                None::<i64>,
                None::<&str>,
                None::<&str>,
                None::<&str>,
                None::<&str>,
                command
            ])
        }
        Record::Judged(r) => {
            let class = CLASS_WORDS.get(usize::from(r.class));
            let (decision, reason) = (r.decision.as_str(), r.reason.as_str());
            let question = r.question.map(id);
            statement.execute(params![run, at, r.time, "judged", signed(r.call), class, decision, reason, question, text(&r.shown)])
        }
        Record::Answered(r) => {
            let (decision, reason) = (r.decision.as_str(), r.reason.as_str());
            statement.execute(params![
                run,
                at,
                r.time,
                "answered",
                signed(r.call),
                None::<&str>,
                decision,
                reason,
                id(r.question),
                None::<&str>
            ])
        }
        Record::Withdrawn(r) => {
            let reason = text(&r.cause);
            statement.execute(params![
                run,
                at,
                r.time,
                "withdrawn",
                signed(r.call),
                None::<&str>,
                None::<&str>,
                reason,
                id(r.question),
                None::<&str>
            ])
        }
        Record::Ended(r) => {
            let status = r.status.to_string();
            statement.execute(params![
                run,
                at,
                r.time,
                "ended",
                None::<i64>,
                None::<&str>,
                None::<&str>,
                status,
                None::<&str>,
                None::<&str>
            ])
        }
    }
}

impl Store {
    /// Whether a run's journal was taken in to its end.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn is_indexed(&self, run: &str) -> Result<bool, StoreError> {
        let ended = self.connection.query_row("SELECT ended FROM run WHERE id = ?1", [run], |row| row.get(0));
        Ok(ended.optional().map_err(sql("read from"))?.unwrap_or(false))
    }

    /// How many records of a run are indexed.
    ///
    /// # Errors
    /// [`StoreError`].
    #[cfg(test)]
    pub fn records(&self, run: &str) -> Result<u64, StoreError> {
        let count: i64 =
            self.connection.query_row("SELECT count(*) FROM record WHERE run = ?1", [run], |row| row.get(0)).map_err(sql("read from"))?;
        Ok(count.cast_unsigned())
    }
}
