//! The warden's own view of /proc (proc(5)).
//!
//! Invariant: no file read through it can be one that somebody in the tree mounted there. As root it is a procfs instance
//! of the warden's own, attached nowhere (fsmount(2)); otherwise /proc, whose magic number is checked and in which no
//! mount is crossed. Refuses to guess: a field that is missing is an error.

use super::checked;
use super::path::{self, Lookup, Status};
use std::io;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd, RawFd};

/// PROC_SUPER_MAGIC (linux/magic.h).
const MAGIC: i64 = 0x9fa0;

/// Size of a page, in bytes, on the kernels that this runs on.
pub const PAGE: u64 = 4096;

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

    /// The processes that there are at this moment.
    ///
    /// # Errors
    /// EMFILE and the like.
    pub fn pids(&self) -> io::Result<Vec<i32>> {
        let folder = path::open_file(self.0.as_fd(), b".", INSIDE)?;
        let entries = nix::dir::Dir::from_fd(folder)?.into_iter();
        Ok(entries.flatten().filter_map(|entry| entry.file_name().to_str().ok()?.parse().ok()).collect())
    }
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

/// The region of a process's memory around an address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Region {
    /// Device as st_dev.
    pub dev: u64,
    /// Inode.
    pub ino: u64,
    /// Path, as the kernel prints it.
    pub path: Vec<u8>,
    /// Its first address.
    pub start: u64,
    /// Where in the file it begins.
    pub offset: u64,
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

    /// Addresses of the process's pages that are no file's: its stack and data, and every page of code that somebody has
    /// written (`pagemap`, Documentation/admin-guide/mm/pagemap.rst).
    ///
    /// # Errors
    /// ENOENT, ESRCH, EACCES; InvalidData where the text is not understood.
    pub fn own_pages(&self) -> io::Result<Vec<u64>> {
        const FILE: u64 = 1 << 61;
        const SWAPPED_OR_PRESENT: u64 = 3 << 62;
        let pagemap = std::fs::File::from(path::open_file(self.0.as_fd(), b"pagemap", INSIDE)?);
        let maps = self.text("maps")?;
        let mut pages = Vec::new();
        for line in maps.split(|&b| b == b'\n').filter(|line| !line.is_empty()) {
            let (from, to) = parse_range(line).ok_or(io::ErrorKind::InvalidData)?;
            // The kernel's own data page can be read by the process alone, and written by nobody; the fixed page of old
            // system calls lies beyond what pagemap covers.
            if line.windows(5).any(|name| name == b"[vvar") || from > i64::MAX as u64 {
                continue;
            }
            let mut entries = vec![0; ((to - from) / PAGE) as usize * 8];
            std::os::unix::fs::FileExt::read_exact_at(&pagemap, &mut entries, from / PAGE * 8)?;
            for (index, entry) in entries.as_chunks::<8>().0.iter().enumerate() {
                let entry = u64::from_le_bytes(*entry);
                if entry & SWAPPED_OR_PRESENT != 0 && entry & FILE == 0 {
                    pages.push(from + index as u64 * PAGE);
                }
            }
        }
        Ok(pages)
    }

    /// The mapped region around `address`; `None` where nothing is mapped there.
    ///
    /// # Errors
    /// ENOENT, ESRCH, EACCES.
    pub fn region(&self, address: u64) -> io::Result<Option<Region>> {
        let maps = path::open_file(self.0.as_fd(), b"maps", INSIDE)?;
        match query_region(&maps, address) {
            Err(e) if e.raw_os_error() == Some(libc::ENOTTY) => {
                Ok(read_whole(&maps)?.split(|&b| b == b'\n').find_map(|line| parse_region(line, address)))
            }
            Err(e) if e.raw_os_error() == Some(libc::ENOENT) => Ok(None),
            other => other.map(Some),
        }
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

/// Asks an open `maps` for one region (PROCMAP_QUERY, 6.11).
fn query_region(maps: &OwnedFd, address: u64) -> io::Result<Region> {
    /// struct procmap_query (linux/fs.h).
    #[repr(C)]
    #[derive(Default)]
    struct Query {
        size: u64,
        query_flags: u64,
        query_addr: u64,
        vma_start: u64,
        vma_end: u64,
        vma_flags: u64,
        vma_page_size: u64,
        vma_offset: u64,
        inode: u64,
        dev_major: u32,
        dev_minor: u32,
        vma_name_size: u32,
        build_id_size: u32,
        vma_name_addr: u64,
        build_id_addr: u64,
    }
    const PROCMAP_QUERY: u64 = 0xC000_0000 | (size_of::<Query>() as u64) << 16 | (b'f' as u64) << 8 | 17;
    let mut name = [0u8; libc::PATH_MAX as usize];
    let mut query = Query {
        size: size_of::<Query>() as u64,
        query_addr: address,
        vma_name_size: name.len() as u32,
        vma_name_addr: name.as_mut_ptr() as u64,
        ..Query::default()
    };
    // SAFETY: the request's number and `size` carry the structure's size; the name buffer is passed with its length.
    checked(unsafe { libc::ioctl(maps.as_raw_fd(), PROCMAP_QUERY as _, &raw mut query) }.into())?;
    let length = (query.vma_name_size as usize).saturating_sub(1);
    let path = name.get(..length).unwrap_or_default().to_vec();
    Ok(Region {
        dev: libc::makedev(query.dev_major, query.dev_minor),
        ino: query.inode,
        path,
        start: query.vma_start,
        offset: query.vma_offset,
    })
}

fn parse_stat(text: &[u8]) -> Option<Stat> {
    // The name is in parentheses and may itself hold any byte, parentheses included.
    let open = text.iter().position(|&b| b == b'(')?;
    let close = text.iter().rposition(|&b| b == b')')?;
    let fields: Vec<&str> = std::str::from_utf8(text.get(close + 1..)?).ok()?.split_ascii_whitespace().collect();
    Some(Stat { name: text.get(open + 1..close)?.to_vec(), parent: fields.get(1)?.parse().ok()?, start: fields.get(19)?.parse().ok()? })
}

fn parse_range(line: &[u8]) -> Option<(u64, u64)> {
    let range = std::str::from_utf8(line.split(|&b| b == b' ').next()?).ok()?;
    let (from, to) = range.split_once('-')?;
    Some((u64::from_str_radix(from, 16).ok()?, u64::from_str_radix(to, 16).ok()?))
}

fn parse_mount(line: &[u8]) -> Option<Mount> {
    let line = std::str::from_utf8(line).ok()?;
    let (major, minor) = line.split(' ').nth(2)?.split_once(':')?;
    // Optional fields end with a dash of their own; spaces in paths are escaped.
    let kind = line.split_once(" - ")?.1.split(' ').next()?.to_owned();
    Some(Mount { dev: libc::makedev(major.parse().ok()?, minor.parse().ok()?), kind })
}

fn parse_region(line: &[u8], address: u64) -> Option<Region> {
    let (from, to) = parse_range(line)?;
    if !(from..to).contains(&address) {
        return None;
    }
    let mut fields = line.splitn(6, |&b| b == b' ');
    let offset = u64::from_str_radix(std::str::from_utf8(fields.nth(2)?).ok()?, 16).ok()?;
    let device = std::str::from_utf8(fields.next()?).ok()?;
    let (major, minor) = device.split_once(':')?;
    let dev = libc::makedev(u32::from_str_radix(major, 16).ok()?, u32::from_str_radix(minor, 16).ok()?);
    let ino = std::str::from_utf8(fields.next()?).ok()?.parse().ok()?;
    let path = fields.next().unwrap_or_default().trim_ascii_start().to_vec();
    Some(Region { dev, ino, path, start: from, offset })
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
    fn a_region_is_found_by_any_address_in_it() {
        let line = b"7f00-7f80 r-xp 00001000 fe:01 1234                       /usr/lib/ld linux.so";
        let Some(region) = parse_region(line, 0x7f7f) else { panic!("not found") };
        assert_eq!((region.ino, region.path.as_slice()), (1234, b"/usr/lib/ld linux.so".as_slice()));
        assert_eq!((region.start, region.offset), (0x7f00, 0x1000));
        assert_eq!(parse_region(line, 0x7f80), None);
    }

    #[test]
    fn a_mount_is_its_device_and_its_kind() {
        let line = b"36 35 98:1 /a /mnt\\040x rw,noatime master:1 - ext3 /dev/root rw";
        assert_eq!(parse_mount(line), Some(Mount { dev: libc::makedev(98, 1), kind: "ext3".to_owned() }));
        assert_eq!(parse_mount(b""), None);
    }

    static MAPPED: &str = "mapped from the executable";

    #[test]
    fn our_own_process_is_there() -> io::Result<()> {
        let dir = Procfs::open()?.process(std::process::id() as i32)?;
        assert!(dir.stat()?.start > 0);
        assert_eq!(dir.status_field("Tgid")?, std::process::id().to_string());
        let here = MAPPED.as_ptr() as u64;
        let exe = dir.follow_status("exe")?;
        assert_eq!(dir.region(here)?.map(|r| r.ino), Some(exe.id.ino));
        Ok(())
    }
}
