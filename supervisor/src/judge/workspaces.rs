//! The stores of all workspaces that were met.
//!
//! Invariant: each is opened once, in a folder of its user's own. Refuses a run whose store cannot be opened.

use super::store::{Store, StoreError};
use crate::config;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// One workspace.
#[derive(Debug)]
pub struct Workspace {
    /// Its store.
    pub store: Store,
}

impl Workspace {
    fn open(path: &Path) -> Result<Self, StoreError> {
        Ok(Self { store: Store::open(path)? })
    }
}

/// Every workspace that was met.
#[derive(Debug)]
pub struct Workspaces {
    state_dir: PathBuf,
    open: HashMap<PathBuf, Workspace>,
}

impl Workspaces {
    /// None yet, below this state folder.
    pub fn new(state_dir: PathBuf) -> Self {
        Self { state_dir, open: HashMap::new() }
    }

    /// The folder of a workspace.
    pub fn folder(&self, workspace: &[u8]) -> PathBuf {
        config::workspace_state(&self.state_dir, workspace)
    }

    /// Opens a workspace by its folder; makes its store where there is none.
    ///
    /// # Errors
    /// One line.
    pub fn enter(&mut self, folder: &Path) -> Result<&mut Workspace, String> {
        if !self.open.contains_key(folder) {
            let approval = folder.join("approval");
            let uid = nix::unistd::geteuid().as_raw();
            config::make_private(folder, uid).and_then(|()| config::make_private(&approval, uid)).map_err(|e| e.to_string())?;
            let path = approval.join("approval.db");
            let workspace = Workspace::open(&path).map_err(|e| format!("{}: {e}", path.display()))?;
            self.open.insert(folder.to_owned(), workspace);
        }
        self.open.get_mut(folder).ok_or_else(|| "the store is not open".to_owned())
    }

    /// A workspace that was entered.
    pub fn get(&self, folder: &Path) -> Option<&Workspace> {
        self.open.get(folder)
    }

    /// The same, to be changed.
    pub fn get_mut(&mut self, folder: &Path) -> Option<&mut Workspace> {
        self.open.get_mut(folder)
    }

    /// Waits until everything that was written is on the disk.
    ///
    /// # Errors
    /// One line.
    pub fn sync(&mut self) -> Result<(), String> {
        self.open.values_mut().try_for_each(|workspace| workspace.store.sync()).map_err(|e| e.to_string())
    }

    /// Every workspace that has a store on the disk, entered. One that cannot be is left out, and said in the log.
    pub fn all(&mut self) -> impl Iterator<Item = &Workspace> {
        let entries = std::fs::read_dir(&self.state_dir).into_iter().flatten().filter_map(Result::ok).map(|entry| entry.path());
        let stores: Vec<PathBuf> = entries.filter(|folder| folder.join("approval/approval.db").is_file()).collect();
        for folder in stores {
            if let Err(line) = self.enter(&folder) {
                crate::error::say(&format!("{}: {line}", folder.display()));
            }
        }
        self.open.values()
    }
}
