//! What is known of a run's agent, for the supervisor that comes after this one.
//!
//! Invariant: what could have been written since it was kept is not believed afterwards. Refuses nothing: what cannot be
//! understood is left out, and asked about.

use super::images::{Agents, Image};
use super::snapshots::{Known, Snapshots};
use crate::clock::Nanos;
use crate::config::Profile;
use serde::{Deserialize, Serialize};
use stayexec_protocol::FileId;

type File = (u64, u64, u64, i64);

#[derive(Serialize, Deserialize)]
struct Running {
    pid: u32,
    start: u64,
    executable: File,
    script: Option<File>,
    profile: Option<String>,
    #[serde(default)]
    path: Vec<u8>,
}

#[derive(Serialize, Deserialize)]
struct Kept {
    images: Vec<Running>,
    /// Pid, start, profile and entry of what is the agent's own doing.
    own: Vec<(u32, u64, String, usize)>,
    snapshots: Vec<Known>,
    written: i64,
}

fn file(id: &FileId) -> File {
    (id.dev, id.ino, id.size, id.ctime)
}

fn id((dev, ino, size, ctime): File) -> FileId {
    FileId { dev, ino, size, ctime }
}

impl Agents {
    /// All of it as JSON, where it has changed since the last time.
    pub fn news(&mut self, now: Nanos) -> Option<String> {
        if !(std::mem::take(&mut self.changed) | std::mem::take(&mut self.snapshots.changed)) {
            return None;
        }
        let images = self.images.iter().map(|((pid, start), image)| Running {
            pid: *pid,
            start: *start,
            executable: file(&image.executable),
            script: image.script.as_ref().map(file),
            profile: image.profile.map(|profile| profile.name().to_owned()),
            path: image.path.clone(),
        });
        let own = self.own.iter().map(|((pid, start), (profile, entry))| (*pid, *start, profile.name().to_owned(), *entry));
        let (snapshots, written) = self.snapshots.kept(now);
        serde_json::to_string(&Kept { images: images.collect(), own: own.collect(), snapshots, written }).ok()
    }

    /// What was kept.
    pub fn restored(json: &str) -> Self {
        let Ok(kept) = serde_json::from_str::<Kept>(json) else { return Self::default() };
        let image = |image: Running| {
            let profile = image.profile.as_deref().and_then(Profile::started_as);
            let (executable, script, path) = (id(image.executable), image.script.map(id), image.path);
            ((image.pid, image.start), Image { executable, script, profile, path })
        };
        let own = |(pid, start, profile, entry): (u32, u64, String, usize)| Some(((pid, start), (Profile::started_as(&profile)?, entry)));
        Self {
            images: kept.images.into_iter().map(image).collect(),
            own: kept.own.into_iter().filter_map(own).collect(),
            snapshots: Snapshots::restored(kept.snapshots, kept.written),
            changed: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::session::testing::event;
    use stayexec_protocol::{Process, Script};

    #[test]
    fn an_agent_is_the_same_to_the_next_supervisor_and_nothing_newer_is_believed() {
        let mut agents = Agents::default();
        assert_eq!(agents.news(1), None);
        agents.snapshots.begin();
        let launch = event("/x/node_modules/@openai/codex-linux-x64/vendor/y/bin/codex", &["codex"]);
        agents.enter(&launch);
        let json = agents.news(1_000_000_000).unwrap_or_default();
        assert_eq!(agents.news(1_000_000_000), None, "nothing has changed since");
        let restored = Agents::restored(&json);
        let process = |start| Process { start, ..launch.process.clone() };
        assert_eq!(restored.profile(&process(launch.process.start)).map(Profile::name), Some("codex"));
        assert!(restored.profile(&process(999)).is_none());
        let snapshot = |ctime| {
            let id = FileId { dev: 1, ino: 1, size: 1, ctime };
            Script { id, resolved: b"/s".to_vec(), digest: [1; 32], same_view: true, ..Script::unreadable(b"/s".to_vec(), true) }
        };
        assert!(agents.snapshots.believes(&snapshot(1_000_000_000)));
        assert!(restored.snapshots.believes(&snapshot(1)) && !restored.snapshots.believes(&snapshot(1_000_000_000)));
        assert!(!Agents::restored("{}").snapshots.believes(&snapshot(1)), "a run whose beginning was not seen");
    }
}
