//! What a person has remembered and added: it counts until it is removed.

use super::{Store, StoreError};
use crate::judge::remembered::Remembered;
use crate::judge::workspaces::OwnRule;
use rusqlite::params;
use uuid::Uuid;

impl Store {
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
}
