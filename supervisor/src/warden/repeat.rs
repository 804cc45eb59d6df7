//! Judgements that the warden may give again by itself.
//!
//! Invariant: only an automatic verdict is kept, and it is given again only to a start that agrees in everything that the
//! judgement could have looked at. Refuses to grow: past its bound the store is emptied.

use sha2::{Digest, Sha256};
use stayexec_protocol::{Decision, Event, Verdict, Wire};
use std::collections::HashMap;

/// Most judgements that are kept.
const BOUND: usize = 2048;

/// Digest of everything about a start that a judgement may depend on.
pub type Likeness = [u8; 32];

/// The store.
#[derive(Debug, Default)]
pub struct Repeats(HashMap<Likeness, Verdict>);

impl Repeats {
    /// The verdict for a start like this, under the number of its own call.
    pub fn get(&self, likeness: &Likeness, call: u64) -> Option<Verdict> {
        self.0.get(likeness).map(|verdict| Verdict { call, ..verdict.clone() })
    }

    /// Keeps a verdict, if it may be repeated.
    pub fn keep(&mut self, likeness: Likeness, verdict: &Verdict) {
        if !verdict.repeatable || verdict.decision == Decision::Hold {
            return;
        }
        if self.0.len() >= BOUND {
            self.0.clear();
        }
        self.0.insert(likeness, verdict.clone());
    }
}

/// Keyed digest of argument vector and environment: tells starts apart without keeping their secrets.
pub fn digest(key: &[u8; 32], event: &Event) -> [u8; 32] {
    let mut hasher = Sha256::new_with_prefix(key);
    for list in [&event.argv, &event.environment] {
        hasher.update((list.len() as u64).to_le_bytes());
        for item in list {
            hasher.update((item.len() as u64).to_le_bytes());
            hasher.update(item);
        }
    }
    hasher.finalize().into()
}

/// Digest over everything else as well.
pub fn likeness(digest: &[u8; 32], event: &Event) -> Likeness {
    let mut rest = Vec::with_capacity(512);
    event.stage.put(&mut rest);
    event.launch.put(&mut rest);
    event.uid.put(&mut rest);
    event.euid.put(&mut rest);
    event.executable.put(&mut rest);
    event.cwd.put(&mut rest);
    event.root.put(&mut rest);
    event.stdin.put(&mut rest);
    event.asked.put(&mut rest);
    event.filters.put(&mut rest);
    event.script.is_some().put(&mut rest);
    if let Some(script) = &event.script {
        script.path.put(&mut rest);
        script.id.put(&mut rest);
        script.digest.put(&mut rest);
        script.text.is_some().put(&mut rest);
    }
    Sha256::new_with_prefix(digest).chain_update(&rest).finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use stayexec_protocol::{Asked, Executable, FileId, Process, Reason, Stage, Stdin};

    fn event() -> Event {
        let id = FileId { dev: 1, ino: 2, size: 3, ctime: 4 };
        Event {
            call: 1,
            stage: Stage::Loaded,
            launch: false,
            process: Process { pid: 9, start: 8, name: b"ls".to_vec() },
            ancestry: vec![],
            elders: None,
            agent: None,
            uid: 0,
            euid: 0,
            executable: Executable {
                path: b"/bin/ls".to_vec(),
                id,
                root_owned: true,
                chain_root_owned: true,
                unchanged: true,
                same_view: true,
                linker_trusted: true,
                dated: true,
            },
            argv: vec![b"ls".to_vec(), b"a".to_vec()],
            environment: vec![b"X=1".to_vec()],
            cwd: b"/".to_vec(),
            root: b"/".to_vec(),
            script: None,
            stdin: Stdin::Null,
            asked: None,
            filters: 0,
        }
    }

    fn like(event: &Event) -> Likeness {
        likeness(&digest(&[7; 32], event), event)
    }

    #[test]
    fn each_difference_that_a_judgement_can_see_makes_another_start() {
        let changes: [fn(&mut Event); 10] = [
            |e| e.argv = vec![b"lsa".to_vec()],
            |e| e.argv.push(vec![]),
            |e| e.environment.clear(),
            |e| e.executable.id.ctime = 5,
            |e| e.executable.same_view = false,
            |e| e.cwd = b"/tmp".to_vec(),
            |e| e.euid = 1,
            |e| e.stdin = Stdin::Pipe,
            |e| e.stage = Stage::Text,
            |e| e.asked = Some(Asked { function: b"system".to_vec(), target: b"ls a; make".to_vec(), site: vec![] }),
        ];
        for (n, change) in changes.iter().enumerate() {
            let mut other = event();
            change(&mut other);
            assert_ne!(like(&event()), like(&other), "change {n}");
        }
        let mut same = event();
        (same.call, same.process.pid) = (77, 10);
        assert_eq!(like(&event()), like(&same));
    }

    #[test]
    fn a_held_or_unrepeatable_verdict_is_not_kept() {
        let verdict = Verdict {
            call: 1,
            decision: Decision::Allow,
            class: 0,
            reason: Reason::Matrix,
            shown: vec![],
            argv: vec![],
            note: vec![],
            question: None,
            repeatable: true,
            asked: None,
            agent: false,
            keeps: false,
            ignores_hangup: false,
        };
        let mut repeats = Repeats::default();
        repeats.keep([1; 32], &Verdict { repeatable: false, ..verdict.clone() });
        repeats.keep([1; 32], &Verdict { decision: Decision::Hold, ..verdict.clone() });
        assert_eq!(repeats.get(&[1; 32], 5), None);
        repeats.keep([1; 32], &verdict);
        assert_eq!(repeats.get(&[1; 32], 5), Some(Verdict { call: 5, ..verdict }));
    }
}
