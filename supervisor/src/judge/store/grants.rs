//! What was granted, to which agent, and answers on their way.
//!
//! Invariant: a grant of a run is here before it counts, so a supervisor that is started anew knows it; and it is believed
//! only under the run's seal. Refuses to keep one longer than its run.

use super::{Seal, Store, StoreError, signed, sql};
use crate::clock;
use crate::judge::grants::{Grant, Grants};
use crate::judge::question::Ended;
use rusqlite::params;
use stayexec_protocol::{Answer, Decision, Reason};
use uuid::Uuid;

/// A call, what its answer grants, and how its question ended.
struct Answered {
    call: i64,
    grant: String,
    body: String,
}

impl Store {
    /// A warden has carried the answer to a call out, or the call is gone.
    ///
    /// # Errors
    /// [`StoreError`]; the answer is then delivered once more, to nobody.
    pub fn settle(&mut self, run: Uuid, call: u64, allowed: bool) -> Result<(), StoreError> {
        // Nothing is lost with this row: it is not worth a wait for the disk.
        let sentence = "UPDATE waiting SET settled = 1, grant_ = CASE WHEN ?3 THEN grant_ END WHERE run = ?1 AND call = ?2";
        let mut statement = self.connection.prepare_cached(sentence).map_err(sql("write to"))?;
        statement.execute(params![run.to_string(), signed(call), allowed]).map(drop).map_err(sql("write to"))
    }

    /// Answers of a run that its warden has not confirmed, by call.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn undelivered(&self, seal: &Seal, run: Uuid) -> Result<Vec<Answer>, StoreError> {
        self.answered(seal, run, true)?
            .into_iter()
            .map(|Answered { call, body, .. }| {
                let ended: Ended = serde_json::from_str(&body)?;
                let allowed = ended.outcome == Decision::Allow.as_str();
                Ok(Answer {
                    call: call.cast_unsigned(),
                    decision: if allowed { Decision::Allow } else { Decision::Deny },
                    reason: [Reason::Expired, Reason::Rule].into_iter().find(|r| ended.reason == r.as_str()).unwrap_or(Reason::Answer),
                    note: ended.note.into_bytes(),
                    by: ended.decided_by.into_bytes(),
                })
            })
            .collect()
    }

    /// The calls of a run whose question was answered, both under its seal; all, or those whose answer is on its way.
    fn answered(&self, seal: &Seal, run: Uuid, unsettled: bool) -> Result<Vec<Answered>, StoreError> {
        let sentence = "SELECT waiting.call, waiting.question, waiting.grant_, question.outcome, answered.seal FROM waiting
            JOIN question ON question.id = waiting.question JOIN answered ON answered.run = waiting.run AND answered.question = waiting.question
            WHERE waiting.run = ?1 AND question.outcome IS NOT NULL AND waiting.grant_ IS NOT NULL AND (waiting.settled = 0 OR NOT ?2)";
        let row = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?));
        let rows: Vec<(i64, String, String, String, String)> = self.rows(sentence, params![run.to_string(), unsettled], row)?;
        let own = |(call, question, grant, body, digits): (i64, String, String, String, String)| {
            let grant = seal.off(&["waiting", &call.to_string(), &question], &grant)?.to_owned();
            seal.fits(&["answered", &question], &body, &digits).then_some(Answered { call, grant, body })
        };
        Ok(rows.into_iter().filter_map(own).collect())
    }

    /// Keeps a grant that needed no answer. It has to outlive this process, not the machine: its processes do neither.
    ///
    /// # Errors
    /// [`StoreError`]; it grants nothing then.
    pub fn grant(&mut self, seal: &Seal, run: Uuid, grant: &Grant) -> Result<(), StoreError> {
        let body = seal.on(&["granted"], &serde_json::to_string(grant)?);
        let sentence = "INSERT OR IGNORE INTO granted (run, body) VALUES (?1, ?2)";
        let mut statement = self.connection.prepare_cached(sentence).map_err(sql("write to"))?;
        statement.execute(params![run.to_string(), body]).map(drop).map_err(sql("write to"))
    }

    /// Keeps what is known of a run's agent. It has to outlive this process, not the machine.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn keep_agent(&mut self, seal: &Seal, run: Uuid, body: &str) -> Result<(), StoreError> {
        let body = seal.on(&["agent"], body);
        let mut statement =
            self.connection.prepare_cached("INSERT OR REPLACE INTO agent (run, body) VALUES (?1, ?2)").map_err(sql("write to"))?;
        statement.execute(params![run.to_string(), body]).map(drop).map_err(sql("write to"))
    }

    /// What is known of a run's agent.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn agent(&self, seal: &Seal, run: Uuid) -> Result<Option<String>, StoreError> {
        let sealed: Option<String> = self.rows("SELECT body FROM agent WHERE run = ?1", [run.to_string()], |row| row.get(0))?.pop();
        Ok(sealed.and_then(|sealed| seal.off(&["agent"], &sealed).map(str::to_owned)))
    }

    /// A run is over: nothing is granted any more, and its agent is gone.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn revoke(&mut self, run: Uuid) -> Result<(), StoreError> {
        let run = run.to_string();
        for sentence in [
            "DELETE FROM granted WHERE run = ?1",
            "DELETE FROM agent WHERE run = ?1",
            "DELETE FROM answered WHERE run = ?1",
            "UPDATE waiting SET grant_ = NULL WHERE run = ?1 AND grant_ IS NOT NULL",
        ] {
            self.connection.execute(sentence, [&run]).map_err(sql("write to"))?;
        }
        Ok(())
    }

    /// Takes out what of a run's grants counts no more.
    ///
    /// # Errors
    /// [`StoreError`]; a supervisor that is started anew may know more than counts.
    pub fn ungrant(&mut self, seal: &Seal, run: Uuid, counting: &Grants) -> Result<(), StoreError> {
        let run = run.to_string();
        let over = |text: &str| serde_json::from_str::<Grant>(text).is_ok_and(|grant| !counting.holds_any_of(&grant));
        for sealed in self.rows::<String>("SELECT body FROM granted WHERE run = ?1", [&run], |row| row.get(0))? {
            if seal.off(&["granted"], &sealed).is_some_and(over) {
                self.connection.execute("DELETE FROM granted WHERE run = ?1 AND body = ?2", [&run, &sealed]).map_err(sql("write to"))?;
            }
        }
        let sentence = "SELECT call, question, grant_ FROM waiting WHERE run = ?1 AND settled = 1 AND grant_ IS NOT NULL";
        let waiting = self.rows::<(i64, String, String)>(sentence, [&run], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
        for (call, question, sealed) in waiting {
            if seal.off(&["waiting", &call.to_string(), &question], &sealed).is_some_and(over) {
                let sentence = "UPDATE waiting SET grant_ = NULL WHERE run = ?1 AND call = ?2";
                self.connection.execute(sentence, params![run, call]).map_err(sql("write to"))?;
            }
        }
        Ok(())
    }

    /// What answers, rules and remembered approvals of a run granted.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn grants(&self, seal: &Seal, run: Uuid) -> Result<Vec<Grant>, StoreError> {
        let granted: Vec<String> = self.rows("SELECT body FROM granted WHERE run = ?1", [run.to_string()], |row| row.get(0))?;
        let own = granted.iter().filter_map(|sealed| seal.off(&["granted"], sealed));
        let mut grants: Vec<Grant> = own.map(serde_json::from_str).collect::<Result<_, _>>()?;
        for Answered { grant, body, .. } in self.answered(seal, run, false)? {
            let ended: Ended = serde_json::from_str(&body)?;
            if !grant.is_empty() && ended.outcome == Decision::Allow.as_str() {
                let grant: Grant = serde_json::from_str(&grant)?;
                // When it was answered is in no sealed row: what was changed until now is asked about.
                grants.push(grant.answered(clock::made(ended.question.audit_id), clock::now()));
            }
        }
        Ok(grants)
    }
}
