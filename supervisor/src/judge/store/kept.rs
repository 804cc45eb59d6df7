//! What a person has remembered and added: it counts until it is removed.
//!
//! Invariant: whatever comes in or goes here is in the list of what went through a supervisor, under the same commit.

use super::outside::{self, Listed};
use super::{Store, StoreError};
use crate::judge::kept::{Kept, OwnRule};
use crate::judge::remembered::Remembered;
use hmac::Hmac;
use rusqlite::{Transaction, params};
use sha2::Sha256;
use uuid::Uuid;

/// Notes in the list that a row came, or went.
fn list(tx: &Transaction<'_>, key: &Hmac<Sha256>, id: Uuid, row: Option<Listed>) -> rusqlite::Result<()> {
    let mut list = outside::read(tx, key)?;
    match row {
        Some(row) => list.insert(id.to_string(), row),
        None => list.remove(&id.to_string()),
    };
    outside::write(tx, key, &list).map(drop)
}

/// Keeps an approval, with the answer that it belongs to.
pub(super) fn remember(tx: &Transaction<'_>, key: &Hmac<Sha256>, remembered: &Remembered, body: &str) -> rusqlite::Result<usize> {
    list(tx, key, remembered.id, Some(Listed::of(body, &remembered.name())))?;
    tx.execute("INSERT INTO remembered (id, body) VALUES (?1, ?2)", params![remembered.id.to_string(), body])
}

impl Store {
    /// Everything that counts, oldest first.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn kept(&self) -> Result<Kept, StoreError> {
        Ok(Kept { rules: self.rules()?, remembered: self.remembered()?, ..Kept::default() })
    }

    /// Keeps an approval.
    #[cfg(test)]
    pub fn remember(&mut self, key: &Hmac<Sha256>, remembered: &Remembered) -> Result<(), StoreError> {
        let body = serde_json::to_string(remembered)?;
        self.write("write an approval into", |tx| super::kept::remember(tx, key, remembered, &body)).map(drop)
    }

    /// Keeps a rule.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn add_rule(&mut self, key: &Hmac<Sha256>, rule: &OwnRule) -> Result<(), StoreError> {
        let (body, id) = (serde_json::to_string(rule)?, rule.id);
        self.write("write a rule into", |tx| {
            list(tx, key, id, Some(Listed::of(&body, &rule.name())))?;
            tx.execute("INSERT INTO rule (id, body) VALUES (?1, ?2)", params![id.to_string(), body])
        })
        .map(drop)
    }

    /// Removes a rule or an approval; `false` where there is none of this id.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn remove(&mut self, key: &Hmac<Sha256>, id: Uuid) -> Result<bool, StoreError> {
        let removed = self.write("remove a rule or an approval from", |tx| {
            list(tx, key, id, None)?;
            let rules = tx.execute("DELETE FROM rule WHERE id = ?1", [id.to_string()])?;
            Ok(rules + tx.execute("DELETE FROM remembered WHERE id = ?1", [id.to_string()])?)
        })?;
        Ok(removed > 0)
    }

    /// Every remembered approval, oldest first.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn remembered(&self) -> Result<Vec<Remembered>, StoreError> {
        let bodies: Vec<String> = self.rows("SELECT body FROM remembered ORDER BY id", [], |row| row.get(0))?;
        bodies.iter().map(|body| serde_json::from_str(body).map_err(StoreError::from)).collect()
    }

    /// Every rule, oldest first.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn rules(&self) -> Result<Vec<OwnRule>, StoreError> {
        let bodies: Vec<String> = self.rows("SELECT body FROM rule ORDER BY id", [], |row| row.get(0))?;
        bodies.iter().map(|body| serde_json::from_str(body).map_err(StoreError::from)).collect()
    }
}
