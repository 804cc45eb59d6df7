//! A launcher: a small script with the name of an agent that starts the real one behind the gate.
//!
//! Invariant: what it does is all in its text, and its text tells what it is: nothing is kept beside it. Refuses to take
//! for one, or to write over, a file that somebody else made.

use crate::config::make_private;
use crate::error::Failure;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// How every launcher begins.
const HEAD: &str = "#!/bin/sh\n# A launcher of stayexec";
/// What stands before and behind the options in its last line.
const BEFORE: &str = " wrap run ";
const BEHIND: &str = "-- ";

/// The text of a launcher: `stayexec` is the program to start, `options` are those of the run.
pub(super) fn text(stayexec: &Path, options: &[OsString], name: &str) -> String {
    let words: String = options.iter().map(|word| quoted(word) + " ").collect();
    let (program, named) = (quoted(stayexec.as_os_str()), quoted(OsStr::new(name)));
    format!("{HEAD}; `stayexec wrap remove {name}` takes it away.\nexec {program}{BEFORE}{words}{BEHIND}{named} \"$@\"\n")
}

/// Whether a file is a launcher, by what it holds: a link to one or a copy is one as well.
pub(super) fn is_one(path: &Path) -> bool {
    read(path).is_ok_and(|text| text.is_some())
}

/// The options that a launcher gives, as a shell reads them; `None` where the file is none.
pub(super) fn options(path: &Path) -> Option<String> {
    let text = read(path).ok()??;
    let (_, line) = text.split_once(BEFORE)?;
    let (options, _) = line.rsplit_once(BEHIND)?;
    Some(options.trim_end().to_owned())
}

/// The text of a launcher; `None` where it is another file.
fn read(path: &Path) -> io::Result<Option<String>> {
    // Nothing but a plain file is opened: a FIFO in PATH would wait for ever.
    if !path.metadata()?.is_file() {
        return Ok(None);
    }
    let mut file = fs::File::open(path)?.take(1 << 16);
    let mut head = vec![0; HEAD.len()];
    if file.read_exact(&mut head).is_err() || head != HEAD.as_bytes() {
        return Ok(None);
    }
    let mut rest = Vec::new();
    file.read_to_end(&mut rest)?;
    Ok(Some(String::from_utf8_lossy(&rest).into_owned()))
}

/// Puts a launcher into the folder, or a new one in place of an old one.
pub(super) fn put(folder: &Path, name: &str, text: &str, uid: u32) -> Result<PathBuf, Failure> {
    make_private(folder, uid)?;
    let path = folder.join(name);
    ours(&path)?;
    let failed = |cause| Failure::Usage(format!("cannot write the launcher {}: {cause}", path.display()));
    // A name that no launcher has, so that a reader finds the old one or the new one and nothing between.
    let fresh = folder.join(format!(".{name}"));
    let written = fs::File::create(&fresh).and_then(|mut file| {
        file.write_all(text.as_bytes())?;
        file.set_permissions(fs::Permissions::from_mode(0o755))
    });
    written.and_then(|()| fs::rename(&fresh, &path)).map_err(failed)?;
    Ok(path)
}

/// Takes a launcher away, and its folder with the last one.
pub(super) fn take(folder: &Path, name: &str) -> Result<(), Failure> {
    let path = folder.join(name);
    if path.symlink_metadata().is_err() {
        return Err(Failure::Usage(format!("there is no launcher for {name}; `stayexec wrap status` lists them")));
    }
    ours(&path)?;
    fs::remove_file(&path).map_err(|cause| Failure::Usage(format!("cannot remove {}: {cause}", path.display())))?;
    // Another launcher, or a file of somebody else, keeps it.
    let _ = fs::remove_dir(folder);
    Ok(())
}

/// The launchers of a folder by name.
pub(super) fn all(folder: &Path) -> Vec<(String, PathBuf)> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let named = entries.filter_map(|entry| entry.file_name().into_string().ok().map(|name| (name, entry.path())));
    let mut all: Vec<_> = named.filter(|(_, path)| is_one(path)).collect();
    all.sort();
    all
}

/// Refuses a file that is no launcher, and a link: its place is not ours either.
fn ours(path: &Path) -> Result<(), Failure> {
    let refuse = |why: &str| Err(Failure::Usage(format!("{} {why}; move it away first", path.display())));
    match path.symlink_metadata() {
        Err(_) => Ok(()),
        Ok(found) if found.is_symlink() => refuse("is a link that somebody else made"),
        Ok(_) if !is_one(path) => refuse("is no launcher of stayexec"),
        Ok(_) => Ok(()),
    }
}

/// A word as a shell reads it back.
pub(super) fn quoted(word: &OsStr) -> String {
    let text = word.to_string_lossy();
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_./=:,+@%".contains(byte);
    if !word.is_empty() && word.as_bytes().iter().all(plain) { text.into_owned() } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_launcher_tells_what_it_was_given() -> io::Result<()> {
        let dir = tempfile::tempdir()?;
        let path = dir.path().join("it's");
        let given = ["--tier=full".into(), "--writable=/a b".into()];
        fs::write(&path, text(Path::new("/opt/stay exec/stayexec"), &given, "it's"))?;
        assert!(is_one(&path));
        assert_eq!(options(&path).as_deref(), Some("--tier=full '--writable=/a b'"));
        fs::write(&path, "#!/bin/sh\nexec true\n")?;
        assert!(!is_one(&path) && options(&path).is_none() && !is_one(dir.path()) && !is_one(Path::new("/dev/null")));
        Ok(())
    }

    #[test]
    fn other_peoples_files_stay() -> Result<(), Failure> {
        let step = |cause| Failure::Step("prepare", cause);
        let dir = tempfile::tempdir().map_err(step)?;
        let (folder, uid) = (dir.path().join("bin"), nix::unistd::geteuid().as_raw());
        let own = text(Path::new("/s"), &[], "own");
        put(&folder, "own", &own, uid)?;
        put(&folder, "own", &own, uid)?;
        fs::write(folder.join("theirs"), "x").map_err(step)?;
        std::os::unix::fs::symlink(folder.join("own"), folder.join("link")).map_err(step)?;
        for name in ["theirs", "link"] {
            assert!(put(&folder, name, &own, uid).is_err() && take(&folder, name).is_err(), "{name}");
        }
        assert!(take(&folder, "none").is_err());
        take(&folder, "own")?;
        assert!(folder.join("theirs").exists() && !folder.join("own").exists());
        Ok(())
    }
}
