//! Knowledge files of the machine, of the user and of the workspace.
//!
//! Invariant: a file counts as the person's own only where nobody else can write it; what lies in the workspace only
//! raises. An invalid file is an error with file and line. Refuses to build any knowledge where there is no such file:
//! a warden has no use for the memory.

use super::layers::read_regular;
use super::{ConfigError, Directories, Overrides, Surroundings, workspace};
use serde::{Deserialize, Serialize};
use stayexec_policy::{Knowledge, KnowledgeError, KnowledgeFile, Origin, SecurityPolicy, Tier};
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Most files of all folders, and most bytes that they have together.
const MOST: usize = 200;
const LONGEST: usize = 1 << 20;

/// A knowledge file, as it was when it was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KnowledgeText {
    /// Its path, as it is shown.
    pub name: String,
    /// What it says.
    pub text: String,
    /// It lies in the workspace, and only raises.
    pub workspace: bool,
}

/// The knowledge files that count here, without the rest of the configuration.
///
/// # Errors
/// Any [`ConfigError`] of theirs.
pub fn knowledge(overrides: &Overrides, around: &Surroundings) -> Result<Vec<KnowledgeText>, ConfigError> {
    let named = overrides.workspace.clone().or_else(|| around.variable("STAYEXEC_WORKSPACE").map(PathBuf::from));
    read(around, &Directories::resolve(around)?, &workspace::find(named.as_deref(), around)?)
}

/// The classifier and gate of a tier with these files.
///
/// # Errors
/// [`ConfigError::Parse`] for the first file that is not understood.
pub fn policy(tier: Tier, files: &[KnowledgeText]) -> Result<SecurityPolicy, ConfigError> {
    let policy = SecurityPolicy::new(tier);
    Ok(match compile(files)? {
        Some(knowledge) => policy.with_knowledge(knowledge),
        None => policy,
    })
}

/// The files of all three folders, checked; of two entries of the same name the one that comes later holds.
pub(super) fn read(around: &Surroundings, directories: &Directories, workspace: &Path) -> Result<Vec<KnowledgeText>, ConfigError> {
    let mut files = Vec::new();
    folder(&directories.config.join("knowledge"), Some(around.uid), &mut files)?;
    if let Some(machine) = around.managed.parent() {
        folder(&machine.join("knowledge"), Some(0), &mut files)?;
    }
    folder(&workspace.join(".stayexec/knowledge"), None, &mut files)?;
    compile(&files)?;
    Ok(files)
}

/// The knowledge with these files; `None` where there are none.
///
/// # Errors
/// [`ConfigError::Parse`] for the first file that is not understood.
fn compile(files: &[KnowledgeText]) -> Result<Option<Knowledge>, ConfigError> {
    if files.is_empty() {
        return Ok(None);
    }
    let origin = |file: &KnowledgeText| if file.workspace { Origin::Workspace } else { Origin::Own };
    let all: Vec<_> = files.iter().map(|file| KnowledgeFile { name: &file.name, text: &file.text, origin: origin(file) }).collect();
    let wrong = |KnowledgeError { file, line, what }| ConfigError::Parse { path: file.into(), line: line as usize, message: what };
    Knowledge::with_files(&all).map(Some).map_err(wrong)
}

/// Adds the `*.toml` files of a folder, by name; `owner`: who besides root may have written them, or anybody.
fn folder(folder: &Path, owner: Option<u32>, files: &mut Vec<KnowledgeText>) -> Result<(), ConfigError> {
    let fails = |path: &Path| {
        let path = path.to_owned();
        move |cause| ConfigError::Read { path, cause }
    };
    let entries = match fs::read_dir(folder) {
        Err(e) if matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => return Ok(()),
        other => other.map_err(fails(folder))?,
    };
    let mut paths = Vec::new();
    for entry in entries {
        let path = entry.map_err(fails(folder))?.path();
        if path.extension().is_some_and(|ending| ending == "toml") {
            paths.push(path);
        }
    }
    paths.sort();
    for path in paths {
        if let Some(owner) = owner {
            for own in [folder, &path] {
                others_cannot_write(own, owner).map_err(fails(own))?;
            }
        }
        // It was taken away since the folder was listed.
        let Some(text) = read_regular(&path)? else { continue };
        let bytes = text.len() + files.iter().map(|file| file.text.len()).sum::<usize>();
        if files.len() >= MOST || bytes > LONGEST {
            return Err(fails(&path)(io::Error::other(format!("there are more than {MOST} knowledge files, or 1 MiB of them"))));
        }
        files.push(KnowledgeText { name: path.to_string_lossy().into_owned(), text, workspace: owner.is_none() });
    }
    Ok(())
}

/// What may lower a class belongs to root or the person, and is not for everyone to change.
fn others_cannot_write(path: &Path, owner: u32) -> io::Result<()> {
    let file = fs::metadata(path)?;
    if file.uid() != 0 && file.uid() != owner {
        return Err(io::Error::other(format!("it may lower a class and belongs to user {}; chown it", file.uid())));
    }
    if file.mode() & 0o002 != 0 {
        return Err(io::Error::other("it may lower a class and everyone can write it; chmod o-w it"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

    const SHOW: &str = "[frob]\nclass = \"read\"\n";

    struct Place(tempfile::TempDir);

    impl Place {
        fn new() -> Result<Self> {
            let place = Self(tempfile::tempdir()?);
            fs::create_dir(place.0.path().join("work"))?;
            Ok(place)
        }

        fn write(&self, name: &str, text: &str) -> Result<PathBuf> {
            let path = self.0.path().join(name);
            fs::create_dir_all(path.parent().ok_or("no folder")?)?;
            fs::write(&path, text)?;
            Ok(path)
        }

        fn read(&self) -> std::result::Result<Vec<KnowledgeText>, ConfigError> {
            let home = self.0.path().join("home").display().to_string();
            let around = Surroundings::with(&self.0.path().join("work"), &self.0.path().join("etc/managed.toml"), &[("HOME", &home)]);
            knowledge(&Overrides::default(), &around)
        }
    }

    #[test]
    fn all_three_folders_count_in_their_order() -> Result<()> {
        let place = Place::new()?;
        assert_eq!(place.read()?, []);
        for name in ["work/.stayexec/knowledge/w.toml", "etc/knowledge/m.toml", "home/.config/stayexec/knowledge/b.toml"] {
            place.write(name, SHOW)?;
        }
        place.write("home/.config/stayexec/knowledge/a.toml", SHOW)?;
        place.write("home/.config/stayexec/knowledge/notes.md", "no TOML")?;
        let files = place.read()?;
        let told: Vec<_> = files.iter().map(|file| (file.name.rsplit('/').next().unwrap_or_default(), file.workspace)).collect();
        assert_eq!(told, [("a.toml", false), ("b.toml", false), ("m.toml", false), ("w.toml", true)]);
        assert!(compile(&files)?.is_some() && compile(&[])?.is_none());
        Ok(())
    }

    #[test]
    fn a_flaw_is_an_error_with_its_line() -> Result<()> {
        let place = Place::new()?;
        for name in ["work/.stayexec/knowledge/w.toml", "etc/knowledge/m.toml", "home/.config/stayexec/knowledge/b.toml"] {
            let path = place.write(name, "[frob]\nclas = \"read\"\n")?;
            let error = place.read().err().map(|error| error.to_string()).unwrap_or_default();
            assert!(error.starts_with(&format!("{}:2: unknown field", path.display())) && !error.contains('\n'), "{error}");
            fs::remove_file(path)?;
        }
        Ok(())
    }

    #[test]
    fn what_lowers_belongs_to_nobody_else() -> Result<()> {
        let place = Place::new()?;
        let own = place.write("home/.config/stayexec/knowledge/b.toml", SHOW)?;
        fs::set_permissions(&own, fs::Permissions::from_mode(0o666))?;
        assert!(place.read().err().is_some_and(|error| error.to_string().contains("everyone can write it")));
        fs::set_permissions(&own, fs::Permissions::from_mode(0o644))?;
        place.read()?;
        if nix::unistd::geteuid().is_root() {
            nix::unistd::chown(&own, Some(nix::unistd::Uid::from_raw(65534)), None)?;
            assert!(place.read().err().is_some_and(|error| error.to_string().contains("belongs to user 65534")));
        }
        fs::remove_file(own)?;
        // Anybody may raise.
        let below = place.write("work/.stayexec/knowledge/w.toml", SHOW)?;
        fs::set_permissions(&below, fs::Permissions::from_mode(0o666))?;
        assert_eq!(place.read()?.len(), 1);
        Ok(())
    }
}
