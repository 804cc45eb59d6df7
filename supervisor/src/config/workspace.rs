//! Which folder a run is about.
//!
//! Invariant: the result is a resolved folder that can be entered. Refuses to climb to the home folder or above it, and
//! to climb at all outside it: a stray `.git` in a shared folder makes no workspace.

use super::{ConfigError, Surroundings};
use std::io;
use std::path::{Path, PathBuf};

/// The workspace: `named`, else the nearest folder from the working directory up, strictly below the home folder, that
/// holds `.stayexec.toml` or `.git`, else the working directory.
///
/// # Errors
/// [`ConfigError::Workspace`].
pub fn find(named: Option<&Path>, around: &Surroundings) -> Result<PathBuf, ConfigError> {
    let wrong = |path: &Path| {
        let path = path.to_owned();
        move |cause| ConfigError::Workspace { path, cause }
    };
    let path = match named {
        Some(path) => around.cwd.join(path),
        None => climb(&around.cwd, around.home().and_then(|home| home.canonicalize().ok()).as_deref()),
    };
    let workspace = path.canonicalize().map_err(wrong(&path))?;
    if !workspace.is_dir() {
        return Err(wrong(&workspace)(io::ErrorKind::NotADirectory.into()));
    }
    std::fs::read_dir(&workspace).map_err(wrong(&workspace))?;
    Ok(workspace)
}

fn climb(cwd: &Path, home: Option<&Path>) -> PathBuf {
    let (Ok(resolved), Some(home)) = (cwd.canonicalize(), home) else { return cwd.to_owned() };
    let marked = |dir: &&Path| [".stayexec.toml", ".git"].iter().any(|mark| dir.join(mark).symlink_metadata().is_ok());
    resolved
        .ancestors()
        .take_while(|dir| dir.starts_with(home) && *dir != home)
        .find(marked)
        .map_or_else(|| resolved.clone(), Path::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_mark_below_home_counts() -> Result<(), Box<dyn std::error::Error>> {
        let dir = tempfile::tempdir()?;
        let home = dir.path().canonicalize()?.join("home");
        let deep = home.join("proj/src/deep");
        std::fs::create_dir_all(&deep)?;
        std::fs::create_dir_all(home.join("other"))?;
        std::fs::create_dir(home.join("proj/.git"))?;
        std::fs::create_dir(home.join(".git"))?;
        std::fs::create_dir(dir.path().join(".git"))?;
        let home_name = home.display().to_string();
        let at = |cwd: &Path| Surroundings::with(cwd, Path::new("/nowhere"), &[("HOME", &home_name)]);
        assert_eq!(find(None, &at(&deep))?, home.join("proj"));
        assert_eq!(find(None, &at(&home.join("other")))?, home.join("other"));
        assert_eq!(find(None, &at(&home))?, home);
        assert_eq!(find(Some(Path::new("..")), &at(&deep))?, home.join("proj/src"));
        assert!(find(Some(Path::new("missing")), &at(&deep)).is_err());
        Ok(())
    }
}
