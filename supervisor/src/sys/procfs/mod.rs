//! The warden's own view of /proc (proc(5)).
//!
//! Invariant: no file read through it can be one that somebody in the tree mounted there. As root it is a procfs instance
//! of the warden's own, attached nowhere (fsmount(2)); otherwise /proc, whose magic number is checked and in which no
//! mount is crossed. Refuses to guess: a field that is missing is an error.

mod maps;

pub use maps::{PAGE, Region};

use super::checked;
use super::path::{self, Lookup, Status};
use std::io;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd, RawFd};

/// PROC_SUPER_MAGIC (linux/magic.h).
const MAGIC: i64 = 0x9fa0;

const INSIDE: Lookup = Lookup { in_root: false, one_mount: true, cached: false, no_follow: false };

/// A trusted procfs.
#[derive(Debug)]
pub struct Procfs(OwnedFd);

impl Procfs {
    /// Opens it.
    ///
    /// # Errors
    /// Whatever fsopen(2) and open(2) say; ENODEV where /proc is no procfs.
    pub fn open() -> io::Result<Self> {
        if let Ok(own) = own_instance() {
            return Ok(Self(own));
        }
        let root: OwnedFd = std::fs::File::open("/proc")?.into();
        if path::file_system(&root)? != MAGIC {
            return Err(io::Error::from_raw_os_error(libc::ENODEV));
        }
        Ok(Self(root))
    }

    /// The folder of a process or thread.
    ///
    /// # Errors
    /// ENOENT where there is none.
    pub fn process(&self, pid: i32) -> io::Result<ProcessDir> {
        path::reference(self.0.as_fd(), pid.to_string().as_bytes(), INSIDE).map(ProcessDir)
    }

    /// The children of a process at this moment (`/proc/PID/task/PID/children`; in kernels without it all processes are
    /// looked at).
    ///
    /// # Errors
    /// EMFILE and the like; InvalidData where the text is not understood.
    pub fn children(&self, pid: i32) -> io::Result<Vec<i32>> {
        let tasks = match path::reference(self.0.as_fd(), format!("{pid}/task").as_bytes(), INSIDE).map(ProcessDir) {
            Err(e) if matches!(e.raw_os_error(), Some(libc::ENOENT | libc::ESRCH)) => return Ok(Vec::new()),
            tasks => tasks?,
        };
        let mut children = Vec::new();
        for task in numbers(&tasks.0)? {
            match tasks.text(&format!("{task}/children")) {
                Ok(text) => {
                    let text = String::from_utf8_lossy(&text).into_owned();
                    let pids = text.split_ascii_whitespace().map(str::parse::<i32>).collect::<Result<Vec<_>, _>>();
                    children.extend(pids.map_err(|_| io::ErrorKind::InvalidData)?);
                }
                // The thread is gone, or no kernel has such a file.
                Err(_) if tasks.text(&format!("{task}/stat")).is_err() => {}
                Err(_) => return self.children_by_parent(pid),
            }
        }
        Ok(children)
    }

    fn children_by_parent(&self, pid: i32) -> io::Result<Vec<i32>> {
        let parent = |child: &i32| self.process(*child).and_then(|process| process.stat()).is_ok_and(|stat| stat.parent == pid);
        Ok(self.pids()?.into_iter().filter(parent).collect())
    }

    /// The processes that there are at this moment.
    ///
    /// # Errors
    /// EMFILE and the like.
    pub fn pids(&self) -> io::Result<Vec<i32>> {
        numbers(&self.0)
    }
}

/// The entries of a folder that are numbers.
fn numbers(folder: &OwnedFd) -> io::Result<Vec<i32>> {
    let entries = nix::dir::Dir::from_fd(path::open_file(folder.as_fd(), b".", INSIDE)?)?.into_iter();
    Ok(entries.flatten().filter_map(|entry| entry.file_name().to_str().ok()?.parse().ok()).collect())
}

fn own_instance() -> io::Result<OwnedFd> {
    const FSOPEN_CLOEXEC: u32 = 1;
    const FSCONFIG_CMD_CREATE: u32 = 6;
    const FSMOUNT_CLOEXEC: u32 = 1;
    // SAFETY: the name is a C string, the flags are numbers; a successful call returns a fresh descriptor.
    let context = unsafe {
        let fd = checked(libc::syscall(libc::SYS_fsopen, c"proc".as_ptr(), FSOPEN_CLOEXEC))?;
        OwnedFd::from_raw_fd(fd as RawFd)
    };
    let none = std::ptr::null::<libc::c_char>();
    // SAFETY: for this command key and value are null.
    checked(unsafe { libc::syscall(libc::SYS_fsconfig, context.as_raw_fd(), FSCONFIG_CMD_CREATE, none, none, 0) })?;
    // SAFETY: numbers only; a successful call returns a fresh descriptor.
    unsafe {
        let fd = checked(libc::syscall(libc::SYS_fsmount, context.as_raw_fd(), FSMOUNT_CLOEXEC, 0))?;
        Ok(OwnedFd::from_raw_fd(fd as RawFd))
    }
}

/// What `stat` says of a process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stat {
    /// Command name.
    pub name: Vec<u8>,
    /// Parent's pid.
    pub parent: i32,
    /// Start time in clock ticks since boot.
    pub start: u64,
}

/// One line of `mountinfo`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mount {
    /// Device as st_dev.
    pub dev: u64,
    /// Kind of file system.
    pub kind: String,
}

/// The /proc folder of one process or thread.
#[derive(Debug)]
pub struct ProcessDir(OwnedFd);

impl ProcessDir {
    fn text(&self, name: &str) -> io::Result<Vec<u8>> {
        let fd = path::open_file(self.0.as_fd(), name.as_bytes(), INSIDE)?;
        read_whole(&fd)
    }

    /// Name, parent and start time.
    ///
    /// # Errors
    /// ENOENT, ESRCH; InvalidData where the text is not understood.
    pub fn stat(&self) -> io::Result<Stat> {
        // One read: the text is made whole, and is far shorter than a page.
        let fd = path::open_file(self.0.as_fd(), b"stat", INSIDE)?;
        let mut bytes = [0; 4096];
        let length = nix::unistd::read(&fd, &mut bytes)?;
        parse_stat(&bytes[..length]).ok_or_else(|| io::ErrorKind::InvalidData.into())
    }

    /// What is mounted in its view (`mountinfo`).
    ///
    /// # Errors
    /// ENOENT, EACCES.
    pub fn mounts(&self) -> io::Result<Vec<Mount>> {
        Ok(self.text("mountinfo")?.split(|&b| b == b'\n').filter_map(parse_mount).collect())
    }

    /// One field of `status`, without its label.
    ///
    /// # Errors
    /// As [`ProcessDir::stat`].
    pub fn status_field(&self, label: &str) -> io::Result<String> {
        let text = String::from_utf8_lossy(&self.text("status")?).into_owned();
        text.lines()
            .find_map(|line| line.strip_prefix(label)?.strip_prefix(':'))
            .map(|value| value.trim().to_owned())
            .ok_or_else(|| io::ErrorKind::InvalidData.into())
    }

    /// A reference to what a magic link (`exe`, `cwd`, `root`, `fd/N`) leads to.
    ///
    /// # Errors
    /// Those of path resolution.
    pub fn follow(&self, link: &str) -> io::Result<OwnedFd> {
        path::reference(self.0.as_fd(), link.as_bytes(), Lookup::default())
    }

    /// Opens for reading what a magic link leads to.
    ///
    /// # Errors
    /// Those of open(2).
    pub fn open(&self, link: &str) -> io::Result<OwnedFd> {
        path::open_file(self.0.as_fd(), link.as_bytes(), Lookup::default())
    }

    /// The status of what a magic link leads to.
    ///
    /// # Errors
    /// Those of statx(2).
    pub fn follow_status(&self, link: &str) -> io::Result<Status> {
        path::status_at(self.0.as_fd(), link.as_bytes(), false)
    }

    /// The text of a magic link.
    ///
    /// # Errors
    /// Those of readlinkat(2).
    pub fn link_text(&self, link: &str) -> io::Result<Vec<u8>> {
        path::read_link(self.0.as_fd(), link.as_bytes())
    }
}

/// Reads a file of /proc. std's read_to_end asks for a size first, which these files do not have.
fn read_whole(fd: &OwnedFd) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; 4096];
    let mut length = 0;
    loop {
        match nix::unistd::read(fd, &mut bytes[length..])? {
            0 => break,
            n => length += n,
        }
        if length == bytes.len() {
            bytes.resize(length * 2, 0);
        }
    }
    bytes.truncate(length);
    Ok(bytes)
}

fn parse_stat(text: &[u8]) -> Option<Stat> {
    // The name is in parentheses and may itself hold any byte, parentheses included.
    let open = text.iter().position(|&b| b == b'(')?;
    let close = text.iter().rposition(|&b| b == b')')?;
    let fields: Vec<&str> = std::str::from_utf8(text.get(close + 1..)?).ok()?.split_ascii_whitespace().collect();
    Some(Stat { name: text.get(open + 1..close)?.to_vec(), parent: fields.get(1)?.parse().ok()?, start: fields.get(19)?.parse().ok()? })
}

fn parse_mount(line: &[u8]) -> Option<Mount> {
    let line = std::str::from_utf8(line).ok()?;
    let (major, minor) = line.split(' ').nth(2)?.split_once(':')?;
    // Optional fields end with a dash of their own; spaces in paths are escaped.
    let kind = line.split_once(" - ")?.1.split(' ').next()?.to_owned();
    Some(Mount { dev: libc::makedev(major.parse().ok()?, minor.parse().ok()?), kind })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_parentheses_hides_no_field() {
        let text = b"7 (a) R 1) (b) S 42 7 7 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 98765 0 0";
        let Some(stat) = parse_stat(text) else { panic!("not parsed") };
        assert_eq!((stat.name.as_slice(), stat.parent, stat.start), (b"a) R 1) (b".as_slice(), 42, 98765));
    }

    #[test]
    fn a_mount_is_its_device_and_its_kind() {
        let line = b"36 35 98:1 /a /mnt\\040x rw,noatime master:1 - ext3 /dev/root rw";
        assert_eq!(parse_mount(line), Some(Mount { dev: libc::makedev(98, 1), kind: "ext3".to_owned() }));
        assert_eq!(parse_mount(b""), None);
    }

    #[test]
    fn our_own_process_is_there() -> io::Result<()> {
        let dir = Procfs::open()?.process(std::process::id() as i32)?;
        assert!(dir.stat()?.start > 0);
        assert_eq!(dir.status_field("Tgid")?, std::process::id().to_string());
        Ok(())
    }
}
