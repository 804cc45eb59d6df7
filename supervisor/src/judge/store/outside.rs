//! Which rules and remembered approvals came into the store, or left it, without a supervisor.
//!
//! A list of what went through one, under the state folder's key, lies beside them. Invariant: what differs from the list
//! is named at the next start of a run, once. Refuses to be a proof: whoever can read that key as the same user can write
//! the list as well.

use super::{Store, StoreError, sql};
use hmac::{Hmac, Mac};
use rusqlite::{Connection, OptionalExtension, params};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Longest name of a rule or an approval in the list.
const NAME: usize = 100;

/// A row that counts, and how a person knows it.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(super) struct Listed {
    digest: String,
    name: String,
}

impl Listed {
    pub(super) fn of(body: &str, name: &str) -> Self {
        let mut digest = String::new();
        for byte in Sha256::digest(body.as_bytes()) {
            // Writing into a string does not fail.
            let _ = write!(digest, "{byte:02x}");
        }
        Self { digest, name: crate::judge::shown(name).chars().take(NAME).collect() }
    }
}

pub(super) type List = BTreeMap<String, Listed>;

/// The list; empty where there is none under this key.
pub(super) fn read(connection: &Connection, key: &Hmac<Sha256>) -> rusqlite::Result<List> {
    let row = connection.query_row("SELECT body, seal FROM listed", [], |row| Ok((row.get(0)?, row.get(1)?)));
    let row: Option<(String, Vec<u8>)> = row.optional()?;
    let own = row.filter(|(body, seal)| key.clone().chain_update(body).verify_slice(seal).is_ok());
    Ok(own.and_then(|(body, _)| serde_json::from_str(&body).ok()).unwrap_or_default())
}

/// Writes the list.
pub(super) fn write(connection: &Connection, key: &Hmac<Sha256>, list: &List) -> rusqlite::Result<usize> {
    let body = serde_json::to_string(list).map_err(|e| rusqlite::Error::ToSqlConversionFailure(Box::new(e)))?;
    let seal = key.clone().chain_update(&body).finalize().into_bytes();
    connection.execute("INSERT OR REPLACE INTO listed (one, body, seal) VALUES (1, ?1, ?2)", params![body, seal.as_slice()])
}

impl Store {
    /// What has changed without a supervisor since the last call, by name; from here on it is in the list.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn changed_outside(&mut self, key: &Hmac<Sha256>) -> Result<Vec<String>, StoreError> {
        let before = read(&self.connection, key).map_err(sql("read from"))?;
        let now = self.listing()?;
        if before == now {
            return Ok(Vec::new());
        }
        self.write("write a list into", |tx| write(tx, key, &now))?;
        Ok(differences(&before, &now))
    }

    /// Ids of what is not in the list as it is.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn unlisted(&self, key: &Hmac<Sha256>) -> Result<Vec<String>, StoreError> {
        let list = read(&self.connection, key).map_err(sql("read from"))?;
        Ok(self.listing()?.into_iter().filter(|(id, row)| list.get(id) != Some(row)).map(|(id, _)| id).collect())
    }

    fn listing(&self) -> Result<List, StoreError> {
        let rules = self.rules()?.into_iter().map(|rule| (rule.id, serde_json::to_string(&rule), rule.name()));
        let approvals = self.remembered()?.into_iter().map(|one| (one.id, serde_json::to_string(&one), one.name()));
        rules.chain(approvals).map(|(id, body, name)| Ok((id.to_string(), Listed::of(&body?, &name)))).collect()
    }
}

fn differences(before: &List, now: &List) -> Vec<String> {
    let here = now.iter().filter_map(|(id, row)| match before.get(id) {
        None => Some(format!("{} (new)", row.name)),
        Some(other) => (other != row).then(|| row.name.clone()),
    });
    let gone = before.iter().filter(|(id, _)| !now.contains_key(*id)).map(|(_, row)| format!("{} (gone)", row.name));
    here.chain(gone).collect()
}
