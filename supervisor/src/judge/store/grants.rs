//! What was granted, to which agent, and answers on their way.
//!
//! Invariant: a grant of a run is here before it counts, so a supervisor that is started anew knows it. Refuses to keep
//! one longer than its run.

use super::{Store, StoreError, signed, sql};
use crate::clock;
use crate::judge::grants::Grant;
use crate::judge::question::Ended;
use rusqlite::params;
use stayexec_protocol::{Answer, Decision, Reason};
use uuid::Uuid;

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
                    reason: [Reason::Expired, Reason::Rule].into_iter().find(|r| ended.reason == r.as_str()).unwrap_or(Reason::Answer),
                    note: ended.note.into_bytes(),
                    by: ended.decided_by.into_bytes(),
                })
            })
            .collect()
    }

    /// Keeps a grant that needed no answer. It has to outlive this process, not the machine: its processes do neither.
    ///
    /// # Errors
    /// [`StoreError`]; it grants nothing then.
    pub fn grant(&mut self, run: Uuid, grant: &Grant) -> Result<(), StoreError> {
        let body = serde_json::to_string(grant)?;
        let sentence = "INSERT OR IGNORE INTO granted (run, body) VALUES (?1, ?2)";
        let mut statement = self.connection.prepare_cached(sentence).map_err(sql("write to"))?;
        statement.execute(params![run.to_string(), body]).map(drop).map_err(sql("write to"))
    }

    /// Keeps what is known of a run's agent. It has to outlive this process, not the machine.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn keep_agent(&mut self, run: Uuid, body: &str) -> Result<(), StoreError> {
        let mut statement =
            self.connection.prepare_cached("INSERT OR REPLACE INTO agent (run, body) VALUES (?1, ?2)").map_err(sql("write to"))?;
        statement.execute(params![run.to_string(), body]).map(drop).map_err(sql("write to"))
    }

    /// What is known of a run's agent.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn agent(&self, run: Uuid) -> Result<Option<String>, StoreError> {
        Ok(self.rows("SELECT body FROM agent WHERE run = ?1", [run.to_string()], |row| row.get(0))?.pop())
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
            "UPDATE waiting SET grant_ = NULL WHERE run = ?1 AND grant_ IS NOT NULL",
        ] {
            self.connection.execute(sentence, [&run]).map_err(sql("write to"))?;
        }
        Ok(())
    }

    /// What answers, rules and remembered approvals of a run granted.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn grants(&self, run: Uuid) -> Result<Vec<Grant>, StoreError> {
        let sentence =
            "SELECT waiting.grant_, question.outcome, question.ended FROM waiting JOIN question ON question.id = waiting.question
            WHERE waiting.run = ?1 AND waiting.grant_ IS NOT NULL AND question.outcome IS NOT NULL";
        let rows: Vec<(String, String, i64)> = self.rows(sentence, [run.to_string()], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
        let granted: Vec<String> = self.rows("SELECT body FROM granted WHERE run = ?1", [run.to_string()], |row| row.get(0))?;
        let mut grants: Vec<Grant> = granted.iter().map(|body| serde_json::from_str(body)).collect::<Result<_, _>>()?;
        for (grant, outcome, ended) in rows {
            let outcome: Ended = serde_json::from_str(&outcome)?;
            if outcome.outcome == Decision::Allow.as_str() {
                let grant: Grant = serde_json::from_str(&grant)?;
                grants.push(grant.answered(clock::made(outcome.question.audit_id), ended));
            }
        }
        Ok(grants)
    }
}
