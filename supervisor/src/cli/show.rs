//! `config show`.

use super::print;
use crate::config::{self, Overrides, Row, Surroundings};
use crate::error::Failure;
use crate::exit_code;
use std::path::PathBuf;

/// Prints the resolved configuration.
pub fn run(origin: bool, json: bool, workspace: Option<PathBuf>) -> Result<u8, Failure> {
    let settings = config::load(&Overrides { workspace, ..Overrides::default() }, &Surroundings::current()?)?;
    let rows = config::rows(&settings);
    match (json, origin) {
        (true, true) => print::json(&rows)?,
        (true, false) => {
            let plain: Vec<_> = rows.iter().map(|row| serde_json::json!({ "key": row.key, "value": row.value })).collect();
            print::json(&plain)?;
        }
        (false, true) => {
            let cells: Vec<_> = rows.into_iter().map(|Row { key, value, origin }| [key, value.to_string(), origin]).collect();
            print::table(["KEY", "VALUE", "FROM"], &cells)?;
        }
        (false, false) => {
            let cells: Vec<_> = rows.into_iter().map(|Row { key, value, .. }| [key, value.to_string()]).collect();
            print::table(["KEY", "VALUE"], &cells)?;
        }
    }
    Ok(exit_code::OK)
}
