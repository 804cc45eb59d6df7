//! Standard output.
//!
//! Invariant: a reader that goes away ends the command quietly. Refuses to print what was not made safe to show: callers
//! pass text that the judge has escaped, or JSON.

use crate::error::Failure;
use serde::Serialize;
use std::io::{self, Write};

/// Prints text as it is.
pub fn text(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(|cause| match cause.kind() {
        io::ErrorKind::BrokenPipe => Failure::Pipe,
        _ => Failure::Step("write to standard output", cause),
    })
}

/// Prints a line.
pub fn line(line: &str) -> Result<(), Failure> {
    text(&format!("{line}\n"))
}

/// Prints JSON on one line.
pub fn json(value: &impl Serialize) -> Result<(), Failure> {
    line(&serde_json::to_string(value).map_err(|e| Failure::Step("write JSON", e.into()))?)
}

/// Widest column that others are aligned behind, in characters.
const WIDEST: usize = 200;

/// Prints rows under a heading, each column as wide as its widest cell but for the last.
pub fn table<const N: usize>(heading: [&str; N], rows: &[[String; N]]) -> Result<(), Failure> {
    let width = |at: usize| rows.iter().map(|row| row[at].chars().count()).chain([heading[at].len()]).max().unwrap_or(0).min(WIDEST);
    let widths: [usize; N] = std::array::from_fn(width);
    let mut out = String::new();
    for row in std::iter::once(&heading.map(str::to_owned)).chain(rows) {
        let cells: Vec<String> = row.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}")).collect();
        out.push_str(cells.join("  ").trim_end());
        out.push('\n');
    }
    text(&out)
}
