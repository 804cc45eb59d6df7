//! Where operands lead: symbolic links are followed, and nothing is opened.
//!
//! Invariant: what the kernel has at hand is looked up here and now; everything else on a thread of its own, which a file
//! system that never answers may keep for ever. Refuses to guess: a path of which nobody can say in time where it leads
//! makes its command unreadable.

use crate::sys::path::{self, Lookup};
use nix::libc;
use stayexec_protocol::Event;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Most paths of one start that are looked up on the judge's thread.
const HERE: usize = 256;
/// Most links on the way of one path (path_resolution(7)).
const LINKS: usize = 40;

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

/// Why a path was not followed.
enum Stop {
    /// It would have to be waited for.
    Wait,
    /// It cannot be.
    Lost(&'static str),
}

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

/// One lookup.
struct Way<'a> {
    root: &'a File,
    process: Option<u32>,
    cached: bool,
}

impl Way<'_> {
    fn follow(&self, path: &Path) -> Result<PathBuf, Stop> {
        let mut path = self.named(path);
        let mut missing = PathBuf::new();
        let mut links = 0;
        while links <= LINKS {
            let error = match self.reference(&path, false) {
                Ok(found) => return Ok(joined(real(&found)?, &missing)),
                Err(error) => error,
            };
            match error.raw_os_error() {
                Some(libc::EAGAIN) if self.cached => return Err(Stop::Wait),
                // A link of procfs, which leads elsewhere for us than for the process that is judged.
                Some(libc::EXDEV) if self.cached => return Err(Stop::Wait),
                Some(libc::EXDEV) => match self.through(&path)? {
                    Some(next) => path = self.named(&next),
                    None => return Ok(joined(path, &missing)),
                },
                Some(libc::EAGAIN | libc::ENOENT | libc::ENOTDIR | libc::EACCES | libc::ELOOP | libc::ENAMETOOLONG) => {
                    if let Some(target) = self.target(&path)? {
                        path = self.named(&path.parent().unwrap_or(Path::new("/")).join(target));
                    } else {
                        // What is not there is made where its folder leads.
                        let (Some(above), Some(name)) = (path.parent(), path.file_name()) else {
                            return Err(Stop::Lost("it goes up from a folder that is not there"));
                        };
                        missing = joined(PathBuf::from(name), &missing);
                        path = above.to_owned();
                        continue;
                    }
                }
                _ => return Err(Stop::Lost("its file system refuses")),
            }
            links += 1;
        }
        Err(Stop::Lost("too many links are on its way"))
    }

    fn reference(&self, path: &Path, no_follow: bool) -> io::Result<std::os::fd::OwnedFd> {
        // Below "/" as a root the kernel refuses the links of procfs, and nothing else changes.
        let lookup = Lookup { in_root: true, cached: self.cached, no_follow, ..Lookup::default() };
        path::reference(self.root.as_fd(), path.as_os_str().as_bytes(), lookup)
    }

    /// The target of a link that leads nowhere; `None` where this is no link.
    fn target(&self, path: &Path) -> Result<Option<PathBuf>, Stop> {
        let link = match self.reference(path, true) {
            Ok(link) => link,
            Err(e) if self.cached && e.raw_os_error() == Some(libc::EAGAIN) => return Err(Stop::Wait),
            Err(_) => return Ok(None),
        };
        match path::status(&link) {
            // The text of a link may have to be fetched.
            Ok(status) if status.is(libc::S_IFLNK) && self.cached => Err(Stop::Wait),
            Ok(status) if status.is(libc::S_IFLNK) => Ok(path::read_link(link.as_fd(), b"").ok().map(as_path)),
            _ => Ok(None),
        }
    }

    /// The names that a process has for itself, with its number.
    fn named(&self, path: &Path) -> PathBuf {
        let Some(process) = self.process else { return path.to_owned() };
        let own = format!("/proc/{}", std::process::id());
        for (alias, name) in [("/proc/self", ""), ("/proc/thread-self", ""), (&own, ""), ("/dev/fd", "/fd")] {
            if let Ok(below) = path.strip_prefix(alias) {
                return joined(PathBuf::from(format!("/proc/{process}{name}")), below);
            }
        }
        let streams = ["/dev/stdin", "/dev/stdout", "/dev/stderr"];
        match streams.iter().position(|stream| path == Path::new(stream)) {
            Some(number) => PathBuf::from(format!("/proc/{process}/fd/{number}")),
            None => path.to_owned(),
        }
    }

    /// The path with its first link of procfs replaced by where that leads; `None` where it leads to no file.
    fn through(&self, path: &Path) -> Result<Option<PathBuf>, Stop> {
        let mut above = PathBuf::from("/");
        let mut components = path.components();
        components.next();
        while let Some(part) = components.next() {
            let at = above.join(part);
            match self.reference(&at, false) {
                Err(e) if e.raw_os_error() == Some(libc::EXDEV) => {
                    let unknown = |_| Stop::Lost("it leads through /proc");
                    let folder = self.named(&real(&self.reference(&above, false).map_err(unknown)?)?);
                    let target = std::fs::read_link(folder.join(part)).map_err(unknown)?;
                    // `pipe:[1]`, `socket:[1]`, `anon_inode:x`.
                    if folder.starts_with("/proc") && target.is_relative() && target.as_os_str().as_bytes().contains(&b':') {
                        return Ok(None);
                    }
                    return Ok(Some(joined(folder.join(target), components.as_path())));
                }
                _ => above = at,
            }
        }
        Err(Stop::Lost("it leads through /proc"))
    }
}

fn as_path(bytes: Vec<u8>) -> PathBuf {
    PathBuf::from(OsStr::from_bytes(&bytes))
}

/// `join` without the slash that an empty rest would add.
fn joined(path: PathBuf, rest: &Path) -> PathBuf {
    if rest.as_os_str().is_empty() { path } else { path.join(rest) }
}

fn real(found: &impl AsRawFd) -> Result<PathBuf, Stop> {
    std::fs::read_link(format!("/proc/self/fd/{}", found.as_raw_fd())).map_err(|_| Stop::Lost("/proc is not there"))
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
        ] {
            assert_eq!(places(&View::own(), &dir.join(path))?, [dir.join(place)], "{path}");
        }
        assert!(places(&View::own(), &dir.join("a")).is_err(), "a circle");
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
