//! Finding the program that a person named, by PATH as a shell does.
//!
//! Invariant: a launcher of ours is never found, through whatever link or copy, so that nothing which was started for a
//! launcher can come back to it. Refuses shells' tricks: the program is found once and named whole.

use super::launcher;
use crate::warden::RunError;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The file of a program, launchers left out. A path is taken as it is.
///
/// # Errors
/// [`RunError::NotFound`], [`RunError::NoSuchFile`] and [`RunError::NotExecutable`].
pub(super) fn program(name: &OsStr, path: Option<&OsStr>) -> Result<PathBuf, RunError> {
    let shown = || name.to_string_lossy().into_owned();
    let named = name.as_bytes().contains(&b'/');
    let mut refused = None;
    for candidate in if named { vec![PathBuf::from(name)] } else { candidates(name, path) } {
        match executable(&candidate) {
            Ok(()) if !named && launcher::is_one(&candidate) => {}
            Ok(()) => return Ok(candidate),
            Err(e) if matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {}
            Err(e) => refused = Some(e),
        }
    }
    Err(match refused {
        Some(cause) => RunError::NotExecutable(shown(), cause),
        None if named => RunError::NoSuchFile(shown()),
        None => RunError::NotFound(shown()),
    })
}

/// What a shell starts by this name, launchers included.
pub(super) fn first(name: &OsStr, path: Option<&OsStr>) -> Option<PathBuf> {
    candidates(name, path).into_iter().find(|candidate| executable(candidate).is_ok())
}

/// A value of PATH without a folder, however that folder is written there; `None` where it does not stand in it.
pub(super) fn without(path: &OsStr, folder: &Path) -> Option<OsString> {
    let folder = folder.canonicalize().ok()?;
    let same = |entry: &PathBuf| entry.canonicalize().is_ok_and(|entry| entry == folder);
    let entries: Vec<PathBuf> = std::env::split_paths(path).collect();
    let kept: Vec<&PathBuf> = entries.iter().filter(|entry| !same(entry)).collect();
    (kept.len() < entries.len()).then(|| std::env::join_paths(kept).ok())?
}

fn candidates(name: &OsStr, path: Option<&OsStr>) -> Vec<PathBuf> {
    let path = path.map_or_else(|| OsString::from("/bin:/usr/bin"), OsString::from);
    std::env::split_paths(&path).map(|dir| if dir.as_os_str().is_empty() { ".".into() } else { dir }.join(name)).collect()
}

fn executable(path: &Path) -> io::Result<()> {
    let metadata = path.metadata()?;
    if metadata.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    if metadata.permissions().mode() & 0o111 == 0 {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    nix::unistd::access(path, nix::unistd::AccessFlags::X_OK).map_err(Into::into)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn missing_and_unexecutable_programs_are_told_apart() -> io::Result<()> {
        let dir = tempfile::tempdir()?;
        fs::write(dir.path().join("plain"), "x")?;
        let path = Some(dir.path().as_os_str());
        assert!(matches!(program(OsStr::new("none"), path), Err(RunError::NotFound(_))));
        assert!(matches!(program(OsStr::new("./none"), path), Err(RunError::NoSuchFile(_))));
        assert!(matches!(program(OsStr::new("plain"), path), Err(RunError::NotExecutable(..))));
        assert!(matches!(program(OsStr::new("/"), path), Err(RunError::NotExecutable(..))));
        assert!(program(OsStr::new("sh"), Some(OsStr::new("/none:/bin"))).is_ok_and(|p| p == Path::new("/bin/sh")));
        Ok(())
    }

    #[test]
    fn launchers_are_left_out_also_through_links_and_as_copies() -> io::Result<()> {
        let dir = tempfile::tempdir()?;
        let [launchers, links, copies, real] = ["launchers", "links", "copies", "real"].map(|name| dir.path().join(name));
        for folder in [&launchers, &links, &copies, &real] {
            fs::create_dir(folder)?;
        }
        let make = |folder: &Path, text: &str| {
            fs::write(folder.join("tool"), text)?;
            fs::set_permissions(folder.join("tool"), fs::Permissions::from_mode(0o755))
        };
        make(&launchers, &launcher::text(Path::new("/usr/bin/stayexec"), &[], "tool"))?;
        symlink(launchers.join("tool"), links.join("tool"))?;
        fs::copy(launchers.join("tool"), copies.join("tool"))?;
        make(&real, "#!/bin/sh\n")?;
        let path = std::env::join_paths([&launchers, &links, &copies, &real]).map_err(io::Error::other)?;
        assert!(program(OsStr::new("tool"), Some(&path)).is_ok_and(|found| found == real.join("tool")));
        assert_eq!(first(OsStr::new("tool"), Some(&path)), Some(launchers.join("tool")));
        let only = std::env::join_paths([&launchers, &links]).map_err(io::Error::other)?;
        assert!(matches!(program(OsStr::new("tool"), Some(&only)), Err(RunError::NotFound(_))));
        symlink(&launchers, dir.path().join("alias"))?;
        let twice = std::env::join_paths([&dir.path().join("alias"), &real, &launchers]).map_err(io::Error::other)?;
        assert_eq!(without(&twice, &launchers).as_deref(), Some(real.as_os_str()));
        assert_eq!(without(real.as_os_str(), &launchers), None);
        Ok(())
    }
}
