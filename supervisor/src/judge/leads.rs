//! Where operands lead: symbolic links are followed, and nothing is opened.
//!
//! Invariant: what the kernel has at hand is looked up here and now; everything else on a thread of its own, which a file
//! system that never answers may keep for ever. Refuses to guess: a path of which nobody can say in time where it leads
//! makes its command unreadable.

use super::way::{Stop, Way};
use stayexec_protocol::Event;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Most paths of one start that are looked up on the judge's thread.
const HERE: usize = 256;

/// Whose paths they are.
#[derive(Debug, Clone)]
pub struct View {
    process: Option<u32>,
    root: PathBuf,
}

impl View {
    /// Of a start: its own `/proc/self`, its own root.
    pub fn of(event: &Event) -> Self {
        Self { process: Some(event.process.pid), root: PathBuf::from(OsStr::from_bytes(&event.root)) }
    }

    /// Ours.
    pub fn own() -> Self {
        Self { process: None, root: "/".into() }
    }
}

/// For each path the places that it may lead to, besides itself; or the path that nobody can tell of, and why.
pub type Leads = Result<HashMap<PathBuf, Vec<PathBuf>>, String>;

/// Where the paths lead, as far as that needs no waiting; `None` where it does.
pub fn at_once(view: &View, paths: &[PathBuf]) -> Option<Leads> {
    if paths.len() > HERE {
        return None;
    }
    match all(view, paths, true) {
        Ok(leads) => Some(Ok(leads)),
        Err((_, Stop::Wait)) => None,
        Err((path, Stop::Lost(why))) => Some(Err(lost(&path, why))),
    }
}

/// Where the paths lead, however long that takes.
pub fn in_time(view: &View, paths: &[PathBuf]) -> Leads {
    all(view, paths, false).map_err(|(path, stop)| match stop {
        Stop::Wait => lost(&path, "its file system does not answer"),
        Stop::Lost(why) => lost(&path, why),
    })
}

fn lost(path: &Path, why: &str) -> String {
    format!("where {} leads cannot be told: {why}", super::text::word(path.as_os_str().as_bytes()))
}

fn all(view: &View, paths: &[PathBuf], cached: bool) -> Result<HashMap<PathBuf, Vec<PathBuf>>, (PathBuf, Stop)> {
    let root = File::open("/").map_err(|_| (PathBuf::from("/"), Stop::Lost("there is no root folder")))?;
    let lead = |of: &Path| Way { root: &root, process: view.process, cached }.follow(of);
    let mut leads = HashMap::new();
    for path in paths.iter().filter(|path| path.is_absolute()) {
        let failed = |stop| (path.clone(), stop);
        let mut places = vec![lead(path).map_err(failed)?];
        // In another root the same words mean another file; both count.
        if let (true, Ok(below)) = (view.root.as_os_str() != "/", path.strip_prefix("/")) {
            let there = view.root.join(below);
            places.push(lead(&there).map_err(failed)?);
            places.push(there);
        }
        leads.insert(path.clone(), places);
    }
    Ok(leads)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

    fn places(view: &View, path: &Path) -> Result<Vec<PathBuf>> {
        let path = path.to_owned();
        Ok(in_time(view, std::slice::from_ref(&path))?.remove(&path).unwrap_or_default())
    }

    #[test]
    fn links_are_followed_also_where_they_dangle() -> Result<()> {
        let dir = tempfile::tempdir()?;
        let dir = dir.path().canonicalize()?;
        std::fs::create_dir(dir.join("store"))?;
        symlink(dir.join("store"), dir.join("link"))?;
        symlink("store/new", dir.join("dangling"))?;
        symlink("b", dir.join("a"))?;
        symlink("a", dir.join("b"))?;
        for (path, place) in [
            ("link", "store"),
            ("link/not/there", "store/not/there"),
            ("dangling", "store/new"),
            ("dangling/x", "store/new/x"),
            ("none", "none"),
            // A circle can be opened by nobody: it stands for itself.
            ("a", "a"),
        ] {
            assert_eq!(places(&View::own(), &dir.join(path))?, [dir.join(place)], "{path}");
        }
        Ok(())
    }

    #[test]
    fn what_a_process_calls_its_own_is_not_ours() -> Result<()> {
        let dir = tempfile::tempdir()?;
        let dir = dir.path().canonicalize()?;
        let mut child = std::process::Command::new("/bin/cat").current_dir(&dir).stdin(std::process::Stdio::piped()).spawn()?;
        let view = View { process: Some(child.id()), root: "/".into() };
        symlink("/proc/self/cwd", dir.join("here"))?;
        let found: Vec<_> = ["/proc/self/cwd/x", "/proc/thread-self/cwd/x", &format!("{}/x", dir.join("here").display())]
            .iter()
            .map(|path| places(&view, Path::new(path)))
            .collect();
        let pipe = places(&view, Path::new("/dev/stdin"));
        drop(child.stdin.take());
        child.wait()?;
        for places in found {
            assert_eq!(places?, [dir.join("x")]);
        }
        assert!(pipe?[0].starts_with("/proc"));
        Ok(())
    }

    #[test]
    fn in_another_root_both_files_count() -> Result<()> {
        let view = View { process: None, root: "/srv/jail".into() };
        let found = places(&view, Path::new("/nowhere/x"))?;
        assert_eq!(found, [PathBuf::from("/nowhere/x"), "/srv/jail/nowhere/x".into(), "/srv/jail/nowhere/x".into()]);
        Ok(())
    }
}
