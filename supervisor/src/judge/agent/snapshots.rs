//! Files that an agent keeps for the lines around each command, and sources there: who wrote them?
//!
//! Invariant: such a file is believed as it was when the run first used it, and only where it was made in this run, before
//! anything that could have written it was let run. Any other is read like a script, and counts as what it says.

use stayexec_protocol::Script;
use std::collections::HashMap;

/// How far the stamps of file systems may lie behind the clock, in nanoseconds.
const COARSE: i64 = 20_000_000;
/// Most files that are remembered.
const MOST: usize = 256;

/// A file that is believed, by path and digest.
pub(super) type Known = (Vec<u8>, [u8; 32]);

/// The files of a run that are believed.
#[derive(Debug)]
pub struct Snapshots {
    of: HashMap<Vec<u8>, [u8; 32]>,
    /// When something that is no read was first let run.
    written: Option<i64>,
    pub(super) changed: bool,
}

/// Of a run whose beginning was not seen nothing is known.
impl Default for Snapshots {
    fn default() -> Self {
        Self { of: HashMap::new(), written: Some(i64::MIN), changed: false }
    }
}

impl Snapshots {
    /// The run begins: nothing but its agent was let run so far.
    pub fn begin(&mut self) {
        self.written = None;
    }

    /// What is known, and since when another file could have been written, at the latest.
    pub(super) fn kept(&self, now: i64) -> (Vec<Known>, i64) {
        let of = self.of.iter().map(|(path, digest)| (path.clone(), *digest)).collect();
        (of, self.written.unwrap_or_else(|| now.saturating_sub(COARSE)))
    }

    pub(super) fn restored(of: Vec<Known>, written: i64) -> Self {
        Self { of: of.into_iter().collect(), written: Some(written), changed: false }
    }

    /// Something that may write is let run from now on.
    pub fn something_writes(&mut self, now: i64) {
        self.written.get_or_insert(now.saturating_sub(COARSE));
    }

    /// Whether a file is as the agent wrote it.
    pub fn believes(&self, file: &Script) -> bool {
        if file.digest == [0; 32] || !file.same_view || file.resolved != file.path {
            return false;
        }
        match self.of.get(&file.path) {
            Some(known) => *known == file.digest,
            None => {
                let early = self.written.is_none_or(|written| file.id.ctime < written);
                (!file.unchanged && early) || self.of.values().any(|known| *known == file.digest)
            }
        }
    }

    /// From now on it is believed as it is here.
    pub fn keep(&mut self, file: &Script) {
        if self.of.len() < MOST && self.believes(file) {
            self.changed |= self.of.insert(file.path.clone(), file.digest).is_none();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, content: u8, ctime: i64) -> Script {
        let id = stayexec_protocol::FileId { dev: 1, ino: 2, size: 3, ctime };
        let resolved = path.as_bytes().to_vec();
        Script { resolved, digest: [content; 32], same_view: true, id, ..Script::unreadable(path.into(), true) }
    }

    #[test]
    fn what_was_there_before_anything_could_write_is_believed_as_it_was() {
        let mut snapshots = Snapshots::default();
        snapshots.begin();
        let first = file("/s/1", 1, 100);
        assert!(snapshots.believes(&first));
        snapshots.keep(&first);
        assert!(!snapshots.believes(&file("/s/1", 2, 110)), "its content has changed");
        snapshots.something_writes(200 + COARSE);
        assert!(snapshots.believes(&first) && snapshots.believes(&file("/s/2", 3, 199)));
        assert!(!snapshots.believes(&file("/s/2", 3, 200)), "a command could have written it");
        assert!(snapshots.believes(&file("/s/3", 1, 300)), "the same content");
    }

    #[test]
    fn links_old_files_and_unread_ones_are_not() {
        let mut snapshots = Snapshots::default();
        let good = file("/s/1", 1, 100);
        assert!(!snapshots.believes(&good), "who knows what ran before");
        snapshots.begin();
        assert!(!snapshots.believes(&Script { unchanged: true, ..good.clone() }), "an earlier run could have left it");
        assert!(!snapshots.believes(&Script { resolved: b"/t".to_vec(), ..good.clone() }));
        assert!(!snapshots.believes(&Script { same_view: false, ..good.clone() }));
        assert!(!snapshots.believes(&Script::unreadable(b"/s/1".to_vec(), true)));
    }
}
