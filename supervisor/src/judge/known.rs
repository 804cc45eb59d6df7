//! What was added and remembered in a workspace, for who asks without a supervisor.
//!
//! Invariant: a command counts as approved only where each part of it that would be asked about is, and nothing else
//! happens in it. Refuses approvals of scripts: their content is not looked at here.

use super::forbidden;
use super::remembered::{Remembered, Scope};
use super::store::Store;
use crate::clock;
use crate::config::{Frozen, PlacedRule, Rule};
use hmac::{Hmac, Mac};
use sha2::Sha256;
use stayexec_policy::remember::Shape;
use stayexec_policy::rule::{self, Token};
use stayexec_policy::{CommandClass, Exec, FileFacts, GateDecision, Part, Places, SecurityPolicy, Stdin};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Added rules and remembered approvals.
#[derive(Debug)]
pub struct Known {
    /// The rules.
    pub rules: Vec<PlacedRule>,
    approvals: Vec<Remembered>,
    mac: Hmac<Sha256>,
    /// The folders of PATH.
    path: Vec<Vec<u8>>,
}

impl Known {
    /// Reads the store in the folder of a workspace below `state`; `path` is the value of PATH.
    ///
    /// # Errors
    /// One line.
    pub fn read(state: &Path, folder: &Path, path: &[u8]) -> Result<Self, String> {
        // Without the key nothing that was remembered can be told from anything else.
        let key = match std::fs::read(state.join("digest.key")) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => None,
            other => Some(other.map_err(|e| format!("cannot read the key for digests: {e}"))?),
        };
        let mac = Hmac::new_from_slice(key.as_deref().unwrap_or_default()).map_err(|e| e.to_string())?;
        let path = path.split(|&byte| byte == b':').filter(|dir| dir.starts_with(b"/")).map(<[u8]>::to_vec).collect();
        let (mut rules, mut approvals) = (Vec::new(), Vec::new());
        let database = folder.join("approval/approval.db");
        if database.is_file() {
            let store = Store::open(&database).map_err(|e| e.to_string())?;
            rules = store.rules().map_err(|e| e.to_string())?.into_iter().map(|own| own.placed).collect();
            if key.is_some() {
                approvals = store.remembered().map_err(|e| e.to_string())?;
            }
        }
        let now = clock::now();
        approvals.retain(|approval| match approval.scope {
            Scope::Workspace => true,
            Scope::Until(end) => now < end,
            Scope::Run(_) => false,
        });
        Ok(Self { rules, approvals, mac, path })
    }

    /// What was remembered that lets this command run, declared to be of at least this class; `None` where nothing does.
    pub fn approving(&self, frozen: &Frozen, policy: &SecurityPolicy, text: &str, declared: CommandClass, part: &Part) -> Option<String> {
        if self.approvals.is_empty() {
            return None;
        }
        let commands = forbidden::operands(frozen, policy, text).commands;
        let mut shown = Vec::new();
        for words in &commands {
            let class = policy.classify_words(words).max(declared);
            if policy.gate_decision(class) != GateDecision::Allow {
                shown.push(self.covering(frozen, policy, words, class)?);
            }
        }
        // The policy knows whether a text holds anything besides its commands: it says so where a rule allows each of them.
        let programs = commands.iter().filter_map(|words| words.first());
        let rules: Vec<Rule> = programs.map(|program| allowing(program)).collect();
        rule::decide(&rules, policy, &commands, part)?;
        Some(shown.join("; "))
    }

    fn covering(&self, frozen: &Frozen, policy: &SecurityPolicy, words: &[String], class: CommandClass) -> Option<String> {
        let file = self.file(words.first()?, &frozen.places.workspace.path())?.into_os_string().into_vec();
        let argv: Vec<Vec<u8>> = words.iter().map(|word| word.clone().into_bytes()).collect();
        let facts =
            FileFacts { path: &file, root_owned: true, chain_root_owned: true, unchanged: true, same_view: true, linker_trusted: true };
        let exec = Exec {
            argv: &argv,
            environment: &[],
            baseline: &[],
            cwd: frozen.places.workspace.bytes(),
            file: facts,
            script: None,
            stdin: Stdin::Unknown,
        };
        let trust_dirs: Vec<Vec<u8>> = frozen.trust_dirs.iter().map(|dir| dir.bytes().to_vec()).collect();
        let places = Places {
            launch_path: &self.path,
            trust_dirs: &trust_dirs,
            workspace: frozen.places.workspace.bytes(),
            temp: &[],
            home: frozen.places.home.bytes(),
            own_files: stayexec_policy::OwnFiles::default(),
        };
        let shape = |class| Shape::of(policy, &exec, &places, class);
        let found = self.approvals.iter().find(|approval| approval.pattern.covers_shape(&self.mac, class, shape))?;
        Some(found.pattern.shown())
    }

    /// The file that a name leads to.
    fn file(&self, name: &str, workspace: &Path) -> Option<PathBuf> {
        let runs = |path: &PathBuf| std::fs::metadata(path).is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0);
        let found = if name.contains('/') {
            Some(workspace.join(name)).filter(runs)
        } else {
            self.path.iter().map(|dir| Path::new(std::ffi::OsStr::from_bytes(dir)).join(name)).find(runs)
        };
        found?.canonicalize().ok()
    }
}

fn allowing(program: &str) -> Rule {
    let pattern = vec![Token::One(program.to_owned())];
    Rule { pattern, decision: GateDecision::Allow, message: None, examples: vec![], counter_examples: vec![] }
}
