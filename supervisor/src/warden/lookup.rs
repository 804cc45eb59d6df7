//! Finding the file of a call as its caller would: its root, its working directory, its descriptors.
//!
//! Invariant: only a certain absence is called absent, and no FIFO, device or directory is ever opened. Refuses to be the
//! last word: what the kernel loads in the end is looked at again.

use super::devices::Devices;
use super::elf::HEAD;
use super::head;
use crate::sys::path::{self, Lookup};
use crate::sys::procfs::{ProcessDir, Procfs};
use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::sync::Mutex;

use sha2::{Digest, Sha256};
use stayexec_protocol::{FileId, Script};

/// Longest text that is handed to the judgement, in bytes; a longer one is known by its digest alone.
pub const TEXT_LIMIT: u64 = 1 << 20;

/// Folders whose files are there whenever the machine works: looking at one does not wait for a mount of somebody's own.
const SYSTEM: [&[u8]; 4] = [b"/usr/", b"/bin/", b"/sbin/", b"/lib/"];

/// What a call asks to be executed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// The calling thread.
    pub tid: i32,
    /// The path argument.
    pub path: Vec<u8>,
    /// The descriptor argument of execveat; `None` for the working directory.
    pub base: Option<i32>,
    /// AT_SYMLINK_NOFOLLOW was given.
    pub no_follow: bool,
}

/// What was found.
#[derive(Debug)]
pub enum Found {
    /// Nothing, for certain: the call returns this errno.
    Absent(i32),
    /// A file that the kernel will load, or that it will refuse by itself.
    Loadable,
    /// A readable file that the kernel will not load; its caller may interpret it.
    Text(Script),
    /// A file that may be executed and not read: nobody without privilege can look at what the kernel would load.
    Closed,
    /// It could not be told; the loaded image will be looked at.
    Unsure,
}

/// Files whose heads were looked at and are a program's or a script's. A changed file has another identity.
#[derive(Debug, Default)]
pub struct Heads(Mutex<HashSet<FileId>>);

/// Most heads that are remembered.
const BOUND: usize = 4096;

impl Heads {
    fn knows(&self, id: &FileId) -> bool {
        self.0.lock().is_ok_and(|seen| seen.contains(id))
    }

    fn keep(&self, id: FileId) {
        if let Ok(mut seen) = self.0.lock() {
            if seen.len() >= BOUND {
                seen.clear();
            }
            seen.insert(id);
        }
    }
}

/// Looks for the file of a call. With `cached`, `None` says that a file system would have to be waited for.
pub fn find(procfs: &Procfs, devices: &Devices, heads: &Heads, request: &Request, cached: bool) -> Option<Found> {
    // A known program at this path in our own view: most callers have no other. If this one has, it makes no difference:
    // what is loaded is looked at, and the kernel says what is absent.
    // A way up could lead anywhere.
    let is_system = |prefix: &&[u8]| request.path.starts_with(prefix) && !request.path.windows(3).any(|part| part == b"/..");
    if SYSTEM.iter().any(is_system) && path::status_here(&request.path).is_ok_and(|s| heads.knows(&s.id)) {
        return Some(Found::Loadable);
    }
    match locate(procfs, devices, request, cached) {
        Ok(fd) => examine(procfs, devices, heads, &fd, &request.path, cached),
        Err(e) => match e.raw_os_error() {
            Some(libc::EAGAIN) if cached => None,
            Some(errno @ (libc::ENOENT | libc::ENOTDIR)) => Some(Found::Absent(errno)),
            _ => Some(Found::Unsure),
        },
    }
}

/// Opens the file of a call as a reference, as its caller would find it. With `cached`, only if nothing is waited for.
///
/// # Errors
/// As [`resolve`]; EAGAIN where a `cached` look is not enough.
pub fn locate(procfs: &Procfs, devices: &Devices, request: &Request, cached: bool) -> io::Result<OwnedFd> {
    let process = procfs.process(request.tid).map_err(unsure)?;
    let base = match request.base {
        None => "cwd".to_owned(),
        Some(number) => format!("fd/{number}"),
    };
    if request.path.is_empty() && request.base.is_some() {
        return process.follow(&base).map_err(unsure);
    }
    let lookup = Lookup { in_root: true, cached, no_follow: request.no_follow, ..Lookup::default() };
    resolve(devices, &process, &request.path, &base, lookup)
}

/// An error that proves nothing about the file.
fn unsure(_: io::Error) -> io::Error {
    io::Error::from_raw_os_error(libc::EXDEV)
}

/// Opens `path` as a reference, as the process would: below its root, and from `base` (a magic link) where it is relative.
///
/// # Errors
/// Those of path resolution; EXDEV for magic links other than the process's own descriptors and image.
pub fn resolve(devices: &Devices, process: &ProcessDir, path: &[u8], base: &str, lookup: Lookup) -> io::Result<OwnedFd> {
    if path.is_empty() {
        return Err(io::Error::from_raw_os_error(libc::ENOENT));
    }
    let root = process.follow("root").map_err(unsure)?;
    if let Some(link) = own_magic_link(path)
        && has_own_names(devices, &root, path, lookup.cached)?
    {
        return process.follow(&link).map_err(unsure);
    }
    if path.starts_with(b"/") {
        return path::reference(root.as_fd(), path, lookup);
    }
    // openat2 knows a root or a starting point, not both: the starting point is spelled out below the root.
    let (top, start) = (process.link_text("root").map_err(unsure)?, process.link_text(base).map_err(unsure)?);
    let below = if top == b"/" { Some(start.as_slice()) } else { start.strip_prefix(top.as_slice()) };
    let below = below.filter(|b| b.starts_with(b"/") || b.is_empty()).ok_or_else(|| io::Error::from_raw_os_error(libc::EXDEV))?;
    if below.ends_with(b" (deleted)") {
        return Err(io::Error::from_raw_os_error(libc::EXDEV));
    }
    path::reference(root.as_fd(), &[below, b"/", path].concat(), lookup)
}

/// `/proc/self/exe`, `/proc/self/fd/N` and `/dev/fd/N` mean the process's own; they are looked up in its own folder.
fn own_magic_link(path: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(path).ok()?;
    let number = |n: &str| n.parse::<u32>().ok().map(|n| format!("fd/{n}"));
    if let Some(n) = text.strip_prefix("/dev/fd/") {
        return number(n);
    }
    match text.strip_prefix("/proc/self/").or_else(|| text.strip_prefix("/proc/thread-self/"))? {
        "exe" => Some("exe".to_owned()),
        other => number(other.strip_prefix("fd/")?),
    }
}

/// Whether these names mean in the process's root what they mean everywhere: root in the tree can mount its own /dev or /proc.
fn has_own_names(devices: &Devices, root: &OwnedFd, path: &[u8], cached: bool) -> io::Result<bool> {
    let one = Lookup { in_root: true, cached: true, ..Lookup::default() };
    // Compared with our own /proc by its device: asking a file system what it is could wait for whoever serves it.
    let theirs = path::reference(root.as_fd(), b"proc", one).and_then(path::status);
    let same = theirs.is_ok_and(|theirs| path::status_here(b"/proc").is_ok_and(|ours| ours.id.dev == theirs.id.dev));
    if !same || !path.starts_with(b"/dev/") {
        return Ok(same);
    }
    let link = path::reference(root.as_fd(), b"dev/fd", Lookup { cached, no_follow: true, ..one })?;
    let dev = path::status(&link)?.id.dev;
    if !cached && !devices.is_known(dev) {
        devices.learn(&link, dev);
    }
    if cached && !devices.is_quick(dev) {
        return Err(io::Error::from_raw_os_error(libc::EAGAIN));
    }
    Ok(path::read_link(link.as_fd(), b"").is_ok_and(|target| target == b"/proc/self/fd"))
}

/// Tells from its head what the kernel would do with a file.
fn examine(procfs: &Procfs, devices: &Devices, heads: &Heads, reference: &OwnedFd, path: &[u8], cached: bool) -> Option<Found> {
    let Ok(status) = path::status(reference) else { return Some(Found::Unsure) };
    if !status.is(libc::S_IFREG) || heads.knows(&status.id) {
        return Some(Found::Loadable);
    }
    let dev = status.id.dev;
    if cached && !devices.is_quick(dev) {
        return None;
    }
    if !devices.is_known(dev) {
        devices.learn(reference, dev);
    }
    let Ok(file) = reopen(procfs, reference) else {
        // What may not be executed either the kernel refuses, with its own errno.
        return Some(if path::is_executable(reference) { Found::Closed } else { Found::Loadable });
    };
    let mut head = [0; HEAD];
    let Ok(n) = file.read_at(&mut head, 0) else { return Some(Found::Unsure) };
    if head::is_loadable(&head, n) {
        heads.keep(status.id);
        return Some(Found::Loadable);
    }
    Some(Found::Text(script(procfs, reference, path)))
}

/// Opens for reading the regular file at `path` in the warden's own view.
pub fn reopen_path(path: &[u8]) -> Option<File> {
    path::status_here(path).ok().filter(|status| status.is(libc::S_IFREG))?;
    File::open(<std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(path)).ok()
}

/// Opens for reading what is held as a reference.
///
/// # Errors
/// EACCES, and the others of open(2).
pub fn reopen(procfs: &Procfs, reference: &OwnedFd) -> io::Result<File> {
    use std::os::fd::AsRawFd;
    let own = procfs.process(std::process::id() as i32)?;
    own.open(&format!("fd/{}", reference.as_raw_fd())).map(File::from)
}

/// The script behind a reference. What cannot be read has no text and a digest of zeroes, which nothing matches.
pub fn script(procfs: &Procfs, reference: &OwnedFd, path: &[u8]) -> Script {
    let unreadable = Script::unreadable(path.to_vec(), false);
    let Ok(status) = path::status(reference) else { return unreadable };
    let unreadable = Script { id: status.id.clone(), ..unreadable };
    if !status.is(libc::S_IFREG) {
        return unreadable;
    }
    let Ok(file) = reopen(procfs, reference) else { return unreadable };
    // Longer than any judgement reads, and perhaps than any disk: it is not looked into.
    let mut text = Vec::new();
    if status.id.size > TEXT_LIMIT || file.take(TEXT_LIMIT + 1).read_to_end(&mut text).is_err() || text.len() as u64 > TEXT_LIMIT {
        return unreadable;
    }
    Script { digest: Sha256::digest(&text).into(), text: Some(text), ..unreadable }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(path: &str) -> Request {
        Request { tid: std::process::id() as i32, path: path.into(), base: None, no_follow: false }
    }

    #[test]
    fn absence_is_certain_and_programs_are_told_from_texts() -> io::Result<()> {
        let procfs = Procfs::open()?;
        let dir = tempfile::tempdir()?;
        let name = |n: &str| dir.path().join(n).to_string_lossy().into_owned();
        std::fs::write(name("text"), "echo hi\n")?;
        std::fs::write(name("fake"), "\x7fELF\x02\x01\x01\nrm x\n".to_owned() + &" ".repeat(100))?;
        std::fs::write(name("script"), "#!/bin/sh\n")?;
        let look = |n: &str| find(&procfs, &Devices::default(), &Heads::default(), &request(n), false);
        assert!(matches!(look(&name("none")), Some(Found::Absent(libc::ENOENT))));
        assert!(matches!(look(&name("text/x")), Some(Found::Absent(libc::ENOTDIR))));
        assert!(matches!(look(&name("script")), Some(Found::Loadable)));
        assert!(matches!(look("/proc/self/exe"), Some(Found::Loadable)));
        assert!(matches!(look("/dev/null"), Some(Found::Loadable)));
        for text in ["text", "fake"] {
            let Some(Found::Text(script)) = look(&name(text)) else { panic!("{text} is a text") };
            assert_eq!(script.text, Some(std::fs::read(name(text))?));
        }
        Ok(())
    }

    #[test]
    fn a_relative_path_starts_at_the_working_directory() -> io::Result<()> {
        let procfs = Procfs::open()?;
        assert!(matches!(find(&procfs, &Devices::default(), &Heads::default(), &request("Cargo.toml"), false), Some(Found::Text(_))));
        assert!(matches!(
            find(&procfs, &Devices::default(), &Heads::default(), &request("../supervisor/none"), false),
            Some(Found::Absent(libc::ENOENT))
        ));
        Ok(())
    }
}
