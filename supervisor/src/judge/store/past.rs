//! Questions that ended, page by page.
//!
//! Invariant: whoever goes on behind the last one of a page meets each older question once, whatever ends meanwhile.
//! Refuses to look through everything for a search: the judge waits for it.

use super::{Store, StoreError, sql};
use crate::clock::Nanos;
use crate::judge::question::Ended;
use rusqlite::{OptionalExtension, params};
use stayexec_policy::CommandClass;
use uuid::Uuid;

/// How many questions a search looks through, from its place on.
const SOUGHT: i64 = 5_000;

/// A place among the ended questions: when, and which of those that ended then.
pub type Place = (Nanos, String);

/// Which ended questions are wanted.
#[derive(Debug, Clone, Default)]
pub struct Sought {
    /// A part of the command.
    pub search: Option<String>,
    /// The class.
    pub class: Option<CommandClass>,
    /// Only those behind this place.
    pub behind: Option<Place>,
}

impl Store {
    /// The place of an ended question; `None` where it is not here, or open.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn place(&self, id: Uuid) -> Result<Option<Place>, StoreError> {
        let sentence = "SELECT ended, id FROM question WHERE id = ?1 AND ended IS NOT NULL";
        let place = self.connection.query_row(sentence, [id.to_string()], |row| Ok((row.get(0)?, row.get(1)?)));
        place.optional().map_err(sql("read from"))
    }

    /// The questions that ended last, latest first, each with its place.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn recent(&self, limit: usize, sought: &Sought) -> Result<Vec<(Place, Ended)>, StoreError> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let (time, id) = sought.behind.clone().unwrap_or((Nanos::MAX, String::new()));
        let read = |row: &rusqlite::Row<'_>| Ok(((row.get(0)?, row.get(1)?), row.get::<_, String>(2)?));
        let rows = if sought.search.is_none() && sought.class.is_none() {
            let sentence = "SELECT ended, id, outcome FROM question WHERE ended IS NOT NULL AND (ended, id) < (?2, ?3)
                ORDER BY ended DESC, id DESC LIMIT ?1";
            self.rows(sentence, params![limit, time, id], read)?
        } else {
            let sentence = "SELECT ended, id, outcome FROM (SELECT ended, id, outcome FROM question
                    WHERE ended IS NOT NULL AND (ended, id) < (?2, ?3) ORDER BY ended DESC, id DESC LIMIT ?4)
                WHERE (?5 IS NULL OR instr(lower(outcome ->> '$.command'), lower(?5)) > 0) AND (?6 IS NULL OR outcome ->> '$.class' = ?6)
                ORDER BY ended DESC, id DESC LIMIT ?1";
            let class = sought.class.map(|class| class.to_string());
            self.rows(sentence, params![limit, time, id, SOUGHT, sought.search, class], read)?
        };
        rows.into_iter().map(|(place, body)| Ok((place, serde_json::from_str(&body)?))).collect()
    }
}
