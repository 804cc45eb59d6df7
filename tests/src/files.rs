//! The files of a scene: what is in its work folder, and what must stay there.
//!
//! Invariant: every file is the scene's user's own.

use crate::fixture::{built, install};
use crate::{Mark, Scene, Victim};
use anyhow::{Context, Result};
use nix::unistd::{Uid, chown};
use std::fs;
use std::path::{Path, PathBuf};

impl Scene {
    /// Makes a file of the scene's user in the work folder; missing folders above it too.
    ///
    /// # Errors
    /// Whatever the file system says.
    pub fn file(&self, name: &str, content: impl AsRef<[u8]>) -> Result<PathBuf> {
        let path = self.work().join(name);
        let mut made = Vec::new();
        for above in path.ancestors().skip(1).take_while(|p| !p.exists()) {
            made.push(above.to_owned());
        }
        fs::create_dir_all(path.parent().context("a file has a folder")?)?;
        fs::write(&path, content)?;
        made.push(path.clone());
        for one in made {
            self.give(&one)?;
        }
        Ok(path)
    }

    /// Writes the user's configuration file, and returns its path.
    ///
    /// # Errors
    /// Whatever the file system says.
    pub fn configure(&self, text: &str) -> Result<PathBuf> {
        self.file("../config/stayexec/config.toml", text)?;
        Ok(self.path("config/stayexec/config.toml"))
    }

    /// Makes an executable file in the work folder.
    ///
    /// # Errors
    /// Whatever the file system says.
    pub fn program(&self, name: &str, content: impl AsRef<[u8]>) -> Result<PathBuf> {
        let source = self.file(&format!("{name}.source"), content)?;
        let path = self.work().join(name);
        install(&source, &path)?;
        fs::remove_file(source)?;
        self.give(&path)?;
        Ok(path)
    }

    /// Puts the fixture `name` into the work folder, and returns the name to start it by.
    ///
    /// # Errors
    /// It cannot be copied.
    pub fn fixture(&self, name: &str) -> Result<String> {
        self.copy(&built(name), name)
    }

    /// Copies a program into the work folder as `name`, and returns the name to start it by.
    ///
    /// # Errors
    /// It cannot be copied.
    pub fn copy(&self, from: &Path, name: &str) -> Result<String> {
        let to = self.work().join(name);
        install(from, &to)?;
        self.give(&to)?;
        Ok(format!("{}/{name}", self.work().display()))
    }

    /// A folder in the work folder that nobody may remove.
    ///
    /// # Errors
    /// Whatever the file system says.
    pub fn victim(&self, name: &str) -> Result<Victim> {
        self.file(&format!("{name}/inner/kept"), "kept")?;
        Ok(Victim::new(self.work().join(name)))
    }

    /// A file in the work folder that is not there yet.
    #[must_use]
    pub fn mark(&self, name: &str) -> Mark {
        Mark::new(self.work().join(name))
    }

    /// Gives `path` to the scene's user.
    ///
    /// # Errors
    /// Whatever chown(2) says.
    pub fn give(&self, path: &Path) -> Result<()> {
        if let Some(id) = self.switch() {
            chown(path, Some(Uid::from_raw(id)), Some(id.into()))?;
        }
        Ok(())
    }
}
