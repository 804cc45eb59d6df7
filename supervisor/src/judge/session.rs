//! One run, as the judge knows it.
//!
//! Invariant: everything here comes from the warden's word at the start, and a supervisor that was started anew gets the
//! same word again. Refuses a configuration that cannot be understood: such a run is not judged at all.

use super::agent::Agents;
use super::environment::Harmless;
use super::grants::Grants;
use super::kept::Kept;
use super::launch::Launch;
use super::store::Seal;
use super::within::Inner;
use crate::config::{ConfigError, Frozen};
use crate::control::{ConnectionId, Outbox};
use hmac::Hmac;
use sha2::Sha256;
use stayexec_policy::SecurityPolicy;
use stayexec_policy::forbidden::Forbidding;
use stayexec_protocol::Enlist;
use std::path::PathBuf;
use uuid::Uuid;

/// One run.
#[derive(Debug)]
pub struct Session {
    /// Its id.
    pub run: Uuid,
    /// The folder of its workspace's store.
    pub folder: PathBuf,
    /// The warden's connection.
    pub connection: ConnectionId,
    /// The way to the warden.
    pub outbox: Outbox,
    /// The warden's pid, as the kernel says.
    pub warden: u32,
    /// The frozen configuration.
    pub frozen: Frozen,
    /// Classifier and gate for it.
    pub policy: SecurityPolicy,
    /// The environment at launch.
    pub baseline: Vec<Vec<u8>>,
    /// The folders of PATH at launch.
    pub launch_path: Vec<Vec<u8>>,
    /// `[trust] dirs`.
    pub trust_dirs: Vec<Vec<u8>>,
    /// Folders for temporary files.
    pub temp: Vec<Vec<u8>>,
    /// The name of the launched program.
    pub agent: String,
    /// What of the launch was seen.
    pub launch: Launch,
    /// What is known of the agent.
    pub agents: Agents,
    /// Runs inside it.
    pub inner: Inner,
    /// Variables that have no program load code.
    pub harmless: Harmless,
    /// What approvals cover.
    pub grants: Grants,
    /// What is refused whatever anybody says.
    pub forbidding: Forbidding,
    /// Keyed, for digests of what is not to be stored.
    pub mac: Hmac<Sha256>,
    /// Rules and remembered approvals.
    pub kept: Kept,
    /// Seals what is stored of it.
    pub seal: Seal,
}

impl Session {
    /// Takes the warden's word.
    ///
    /// # Errors
    /// [`ConfigError::Frozen`].
    pub fn new(
        frozen: Frozen,
        folder: PathBuf,
        mac: Hmac<Sha256>,
        enlist: Enlist,
        (connection, outbox, warden): (ConnectionId, Outbox, u32),
    ) -> Result<Self, ConfigError> {
        let variable = |name: &[u8]| {
            let value = |entry: &&Vec<u8>| entry.strip_prefix(name).is_some_and(|rest| rest.starts_with(b"="));
            enlist.environment.iter().find(value).map(|entry| entry[name.len() + 1..].to_vec())
        };
        let mut temp = vec![b"/tmp".to_vec(), b"/var/tmp".to_vec(), b"/dev/shm".to_vec()];
        temp.extend(variable(b"TMPDIR").filter(|dir| dir.starts_with(b"/") && dir.len() > 1));
        let path = variable(b"PATH").unwrap_or_default();
        let launched = enlist.argv.first().map_or(&b""[..], Vec::as_slice);
        Ok(Self {
            seal: Seal::under(&enlist.secret).ok_or_else(|| ConfigError::Frozen("there is no secret to seal with".into()))?,
            kept: Kept::default(),
            connection,
            outbox,
            warden,
            policy: frozen.policy()?,
            launch_path: path.split(|&byte| byte == b':').filter(|dir| dir.starts_with(b"/")).map(<[u8]>::to_vec).collect(),
            trust_dirs: frozen.trust_dirs.iter().map(|dir| dir.bytes().to_vec()).collect(),
            temp,
            agent: super::text::word(launched.rsplit(|&byte| byte == b'/').next().unwrap_or(launched)),
            launch: Launch::default(),
            agents: Agents::default(),
            grants: Grants::default(),
            inner: Inner::default(),
            harmless: Harmless::default(),
            run: Uuid::from_bytes(enlist.run),
            folder,
            forbidding: super::forbidden::forbidding(&frozen),
            mac,
            baseline: enlist.environment,
            frozen,
        })
    }
}

#[cfg(test)]
pub mod testing {
    //! Runs and events for tests.

    use super::*;
    use crate::config::{Overrides, Settings, Surroundings, load};
    use crossbeam_channel::Receiver;
    use hmac::Mac;
    use stayexec_protocol::{Event, Executable, FileId, Message, Process, Stage, Stdin};
    use std::path::Path;

    pub fn argv(words: &[&str]) -> Vec<Vec<u8>> {
        words.iter().map(|word| word.as_bytes().to_vec()).collect()
    }

    pub fn event(path: &str, words: &[&str]) -> Event {
        Event {
            call: 1,
            stage: Stage::Loaded,
            launch: false,
            process: Process { pid: 10, start: 20, name: b"x".to_vec() },
            ancestry: vec![],
            elders: Some(vec![]),
            agent: None,
            uid: 0,
            euid: 0,
            executable: Executable {
                path: path.into(),
                id: FileId { dev: 1, ino: 2, size: 3, ctime: 4 },
                root_owned: true,
                chain_root_owned: true,
                unchanged: true,
                same_view: true,
                linker_trusted: true,
                dated: true,
            },
            argv: argv(words),
            environment: vec![],
            cwd: b"/home/dev/proj".to_vec(),
            root: b"/".to_vec(),
            script: None,
            stdin: Stdin::Null,
            asked: None,
            filters: 0,
        }
    }

    pub fn settings() -> Result<Settings, ConfigError> {
        let around = Surroundings::with(Path::new("/"), Path::new("/nowhere"), &[("HOME", "/home/dev")]);
        load(&Overrides::default(), &around)
    }

    pub fn enlist(frozen: &Frozen) -> Result<Enlist, ConfigError> {
        Ok(Enlist {
            run: [7; 16],
            config: frozen.to_json()?,
            warden: 1,
            started: 0,
            argv: argv(&["/usr/bin/bash"]),
            cwd: b"/".to_vec(),
            environment: argv(&["PATH=/usr/bin:/bin"]),
            secret: [9; 32],
            kept: vec![],
        })
    }

    pub fn session(with: impl FnOnce(&mut Frozen)) -> Result<(Session, Receiver<Message>), Box<dyn std::error::Error>> {
        let mut frozen = Frozen::of(&settings()?, false, false);
        with(&mut frozen);
        let (outbox, messages, _other) = Outbox::for_test()?;
        let enlist = enlist(&frozen)?;
        Ok((Session::new(frozen, PathBuf::from("/nowhere"), Hmac::new_from_slice(b"key")?, enlist, (1, outbox, 1))?, messages))
    }
}
