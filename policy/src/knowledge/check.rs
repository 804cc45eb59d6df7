//! What every knowledge file is held to, compiled in or a person's own: a name stands once, and options that raise are
//! shown at work.

use std::collections::{BTreeSet, HashSet};

use super::schema::{File, RawEntry};
use crate::CommandClass;

/// A name that stands twice in the file: its header, and the name.
pub(super) fn repeated(file: &File) -> Option<(&str, &str)> {
    let mut seen = HashSet::new();
    file.keys().find_map(|names| names.split('|').find(|name| !seen.insert(*name)).map(|name| (names.as_str(), name)))
}

/// An entry with an option or a word that raises has an example of what it is without, and one that is worse. The name of one that
/// has not.
pub(super) fn unshown(name: &str, entry: &RawEntry) -> Option<String> {
    let class = entry.class.unwrap_or(if entry.payload.is_some() { CommandClass::Read } else { CommandClass::Write });
    let roles = [&entry.sink, &entry.run, &entry.exec].iter().any(|list| !list.is_empty()) && class == CommandClass::Read;
    let raising = [
        (&entry.write, CommandClass::Write),
        (&entry.network, CommandClass::Network),
        (&entry.install, CommandClass::Install),
        (&entry.destructive, CommandClass::Destructive),
    ];
    let raises = roles || !entry.asks.is_empty() || raising.iter().any(|(list, worse)| !list.is_empty() && *worse > class);
    let raises = raises || entry.anywhere.keys().any(|worse| *worse > class);
    let classes: BTreeSet<CommandClass> = entry.examples.values().copied().collect();
    if raises && classes.len() < 2 {
        return Some(name.to_owned());
    }
    entry.sub.iter().find_map(|(below, entry)| unshown(&format!("{name} {below}"), entry))
}
