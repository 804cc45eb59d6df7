//! One path, followed step by step.
//!
//! Invariant: nothing is opened, and with `cached` nothing waits for another machine or process. What a process calls its
//! own (`/proc/self`, `/dev/fd`) is that of the process that is judged. Refuses to follow more links than the kernel would.

use crate::sys::path::{self, Lookup};
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Most links on the way of one path (path_resolution(7)).
const LINKS: usize = 40;

/// File systems that answer by themselves, by their number in statfs(2): ext, xfs, btrfs, tmpfs, overlayfs, f2fs, zfs,
/// procfs.
const LOCAL: [i64; 8] = [0xef53, 0x5846_5342, 0x9123_683e, 0x0102_1994, 0x794c_7630, 0xf2f5_2010, 0x2fc1_2fc1, 0x9fa0];

/// Why a path was not followed.
#[derive(Debug)]
pub enum Stop {
    /// It would have to be waited for.
    Wait,
    /// It cannot be.
    Lost(&'static str),
}

/// One lookup.
pub struct Way<'a> {
    /// The root folder.
    pub root: &'a File,
    /// The process whose own names are meant.
    pub process: Option<u32>,
    /// Only what needs no waiting.
    pub cached: bool,
}

impl Way<'_> {
    /// Where the path leads; of what is not there, where it would be made.
    pub fn follow(&self, path: &Path) -> Result<PathBuf, Stop> {
        let whole = self.named(path);
        let mut path = whole.clone();
        let mut missing = PathBuf::new();
        let mut links = 0;
        while links <= LINKS {
            let error = match self.reference(&path, false) {
                Ok(found) => return Ok(joined(real(&found)?, &missing)),
                Err(error) => error,
            };
            match error.raw_os_error() {
                Some(libc::EAGAIN) if self.cached => match self.nudge(&path)? {
                    Some(new) => return Ok(joined(new, &missing)),
                    None => {
                        links += 1;
                        continue;
                    }
                },
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
        if self.cached {
            return Err(Stop::Wait);
        }
        match self.reference(&whole, false) {
            // The kernel follows it no further than we do: nothing can be opened by it, and it stands for itself alone.
            Err(e) if e.raw_os_error() == Some(libc::ELOOP) => Ok(whole),
            _ => Err(Stop::Lost("too many links are on its way")),
        }
    }

    fn reference(&self, path: &Path, no_follow: bool) -> io::Result<std::os::fd::OwnedFd> {
        // Below "/" as a root the kernel refuses the links of procfs, and nothing else changes.
        let lookup = Lookup { in_root: true, cached: self.cached, no_follow, ..Lookup::default() };
        path::reference(self.root.as_fd(), path.as_os_str().as_bytes(), lookup)
    }

    /// Has the kernel look up the first part that it has not at hand, where that waits for no other machine or process.
    /// The whole path where that part is not there.
    fn nudge(&self, path: &Path) -> Result<Option<PathBuf>, Stop> {
        let deepest = path.ancestors().skip(1).find_map(|above| Some((above, self.reference(above, false).ok()?)));
        let Some((above, folder)) = deepest else { return Err(Stop::Wait) };
        let (Ok(below), Ok(kind)) = (path.strip_prefix(above), path::file_system(&folder)) else { return Err(Stop::Wait) };
        let Some(part) = below.components().next().filter(|_| LOCAL.contains(&kind)) else { return Err(Stop::Wait) };
        let alone = Lookup { one_mount: true, no_follow: true, ..Lookup::default() };
        match path::reference(folder.as_fd(), part.as_os_str().as_bytes(), alone) {
            Ok(_) => Ok(None),
            Err(e) if e.raw_os_error() == Some(libc::ENOENT) => Ok(Some(joined(real(&folder)?, below))),
            Err(_) => Err(Stop::Wait),
        }
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
