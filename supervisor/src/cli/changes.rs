//! What a run is governed by that lies in files: configuration, knowledge, the program itself.
//!
//! A run keeps to what it began with; what was written meanwhile counts from the next start on, and is named there.
//! Invariant: what a start names has changed since the last run in this workspace. Refuses to be a proof: whoever can write
//! these files as the same user can write the note of them as well.

use crate::config::{Settings, Surroundings};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// The note, in the workspace's folder of the state.
const NOTE: &str = "governed.json";
/// Longest file that is looked at; configuration is far shorter.
const LIMIT: u64 = 1 << 20;

/// A digest of each file, by its name.
type Digests = BTreeMap<String, String>;

/// Notes what governs the run that begins, and gives the names of what has changed since the one before.
///
/// # Errors
/// Where the note cannot be written.
pub fn note(settings: &Settings, around: &Surroundings, state: &Path) -> io::Result<Vec<String>> {
    let now = governing(settings, around);
    let path = state.join(NOTE);
    let before: Option<Digests> = fs::read(&path).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
    let changed = before.as_ref().map(|before| differences(before, &now)).unwrap_or_default();
    if before.as_ref() != Some(&now) {
        let new = state.join(format!("{NOTE}.{}", std::process::id()));
        fs::write(&new, serde_json::to_vec(&now).map_err(io::Error::other)?)?;
        fs::rename(new, path)?;
    }
    Ok(changed)
}

fn governing(settings: &Settings, around: &Surroundings) -> Digests {
    let files = [around.managed.clone(), settings.directories.config_file(), settings.workspace.join(".stayexec.toml")];
    let mut digests: Digests = files.iter().filter_map(|file| Some((file.display().to_string(), of_file(file)?))).collect();
    digests.extend(settings.knowledge.iter().map(|file| (file.name.clone(), hex(&[file.text.as_bytes()]))));
    if let Ok(program) = fs::metadata("/proc/self/exe") {
        let identity = [program.dev(), program.ino(), program.size()].map(u64::to_le_bytes);
        let time = [program.mtime(), program.mtime_nsec()].map(i64::to_le_bytes);
        digests.insert("stayexec itself".into(), hex(&[identity.as_flattened(), time.as_flattened()]));
    }
    digests
}

/// The digest of a file; `None` where there is none.
fn of_file(path: &Path) -> Option<String> {
    let mut text = Vec::new();
    fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
    File::open(path).ok()?.take(LIMIT).read_to_end(&mut text).ok()?;
    Some(hex(&[&text]))
}

fn hex(parts: &[&[u8]]) -> String {
    let mut hash = Sha256::new();
    parts.iter().for_each(|part| hash.update(part));
    hash.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

fn differences(before: &Digests, now: &Digests) -> Vec<String> {
    let here = now.iter().filter_map(|(name, digest)| match before.get(name) {
        None => Some(format!("{name} (new)")),
        Some(other) => (other != digest).then(|| name.clone()),
    });
    let gone = before.keys().filter(|name| !now.contains_key(*name)).map(|name| format!("{name} (gone)"));
    here.chain(gone).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_came_went_and_was_written_is_named() {
        let digests =
            |all: &[(&str, &str)]| all.iter().map(|(name, digest)| ((*name).to_owned(), (*digest).to_owned())).collect::<Digests>();
        let before = digests(&[("same", "1"), ("written", "1"), ("old", "1")]);
        let now = digests(&[("same", "1"), ("written", "2"), ("young", "1")]);
        assert_eq!(differences(&before, &now), ["written", "young (new)", "old (gone)"]);
        assert!(differences(&now, &now).is_empty());
    }
}
