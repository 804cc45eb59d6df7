//! Looking at files without opening them for use: openat2(2) with O_PATH, statx(2), readlinkat(2).
//!
//! Invariant: nothing here opens a FIFO or a device, and with `cached` nothing here waits for a file system.

use super::checked;
use stayexec_protocol::FileId;
use std::ffi::CString;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

/// How a path is looked up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Lookup {
    /// Treat the base directory as the root: absolute paths, `..` and links cannot leave it.
    pub in_root: bool,
    /// Do not cross into another mount.
    pub one_mount: bool,
    /// Fail with EAGAIN rather than wait for a file system (5.12).
    pub cached: bool,
    /// Do not follow a link in the last component.
    pub no_follow: bool,
}

/// A file's identity and what its trust depends on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Status {
    /// Identity.
    pub id: FileId,
    /// Type and permission bits as st_mode.
    pub mode: u32,
    /// Owner.
    pub uid: u32,
    /// Mount that it is on; ids are unique across mount namespaces.
    pub mount: u64,
    /// Device that it is, for device files.
    pub device: (u32, u32),
}

impl Status {
    /// Whether it is a file of this type (S_IFREG and so on).
    pub fn is(&self, kind: libc::mode_t) -> bool {
        self.mode & libc::S_IFMT == kind
    }
}

fn c_path(path: &[u8]) -> io::Result<CString> {
    CString::new(path).map_err(|_| io::Error::from_raw_os_error(libc::EINVAL))
}

/// Opens `path` below `base` as a mere reference (O_PATH).
///
/// # Errors
/// ENOENT, ENOTDIR and the other errors of path resolution; EXDEV for a magic link in an `in_root` lookup or a mount in a
/// `one_mount` one; EAGAIN where a `cached` lookup would have to wait.
pub fn reference(base: BorrowedFd<'_>, path: &[u8], lookup: Lookup) -> io::Result<OwnedFd> {
    let flags = libc::O_PATH | libc::O_CLOEXEC | if lookup.no_follow { libc::O_NOFOLLOW } else { 0 };
    open_with(base, path, flags, lookup)
}

/// Opens the regular file `path` below `base` for reading.
///
/// # Errors
/// As [`reference`], and the permission errors of open(2).
pub fn open_file(base: BorrowedFd<'_>, path: &[u8], lookup: Lookup) -> io::Result<OwnedFd> {
    // O_NONBLOCK: a FIFO that was put there meanwhile must not stop us.
    open_with(base, path, libc::O_RDONLY | libc::O_CLOEXEC | libc::O_NONBLOCK | libc::O_NOCTTY, lookup)
}

/// Opens a directory for listing or as a base.
///
/// # Errors
/// As [`reference`].
pub fn open_dir(base: BorrowedFd<'_>, path: &[u8], lookup: Lookup) -> io::Result<OwnedFd> {
    open_with(base, path, libc::O_RDONLY | libc::O_DIRECTORY | libc::O_CLOEXEC, lookup)
}

fn open_with(base: BorrowedFd<'_>, path: &[u8], flags: i32, lookup: Lookup) -> io::Result<OwnedFd> {
    let path = c_path(path)?;
    // SAFETY: all fields are integers, for which zero is a value.
    let mut how: libc::open_how = unsafe { std::mem::zeroed() };
    how.flags = flags as u64;
    how.resolve = (if lookup.in_root { libc::RESOLVE_IN_ROOT } else { 0 })
        | (if lookup.one_mount { libc::RESOLVE_NO_XDEV } else { 0 })
        | (if lookup.cached { 0x20 } else { 0 });
    // SAFETY: the path is a C string, the structure is passed with its size.
    let fd =
        checked(unsafe { libc::syscall(libc::SYS_openat2, base.as_raw_fd(), path.as_ptr(), &raw const how, size_of::<libc::open_how>()) })?;
    // SAFETY: a successful call returns a fresh descriptor that nobody else owns.
    Ok(unsafe { OwnedFd::from_raw_fd(fd as RawFd) })
}

/// The status of an open file, from what the kernel has at hand (AT_STATX_DONT_SYNC).
///
/// # Errors
/// Those of statx(2).
pub fn status(fd: impl AsFd) -> io::Result<Status> {
    status_at(fd.as_fd(), b"", true)
}

/// The status of what an absolute path leads to in our own root.
///
/// # Errors
/// Those of statx(2).
pub fn status_here(path: &[u8]) -> io::Result<Status> {
    // SAFETY: AT_FDCWD is no descriptor; an absolute path does not use it.
    status_at(unsafe { BorrowedFd::borrow_raw(libc::AT_FDCWD) }, path, false)
}

/// The status of `path` below `base`; a link in the last component is followed unless `no_follow`.
///
/// # Errors
/// Those of statx(2).
pub fn status_at(base: BorrowedFd<'_>, path: &[u8], no_follow: bool) -> io::Result<Status> {
    let path = c_path(path)?;
    let mut buffer = std::mem::MaybeUninit::<libc::statx>::zeroed();
    let flags =
        libc::AT_STATX_DONT_SYNC | libc::AT_EMPTY_PATH | libc::AT_NO_AUTOMOUNT | if no_follow { libc::AT_SYMLINK_NOFOLLOW } else { 0 };
    let wanted = libc::STATX_BASIC_STATS | libc::STATX_MNT_ID;
    // SAFETY: the path is a C string, the buffer is one struct statx.
    let result = unsafe { libc::statx(base.as_raw_fd(), path.as_ptr(), flags, wanted, buffer.as_mut_ptr()) };
    checked(result.into())?;
    // SAFETY: all fields are integers and the buffer was zeroed before.
    let s = unsafe { buffer.assume_init() };
    let id = FileId {
        dev: libc::makedev(s.stx_dev_major, s.stx_dev_minor),
        ino: s.stx_ino,
        size: s.stx_size,
        ctime: s.stx_ctime.tv_sec * 1_000_000_000 + i64::from(s.stx_ctime.tv_nsec),
    };
    let device = (s.stx_rdev_major, s.stx_rdev_minor);
    Ok(Status { id, mode: u32::from(s.stx_mode), uid: s.stx_uid, mount: s.stx_mnt_id, device })
}

/// Whether this process may execute what is held as a reference (faccessat2(2)).
pub fn is_executable(fd: &OwnedFd) -> bool {
    let flags = libc::AT_EMPTY_PATH | libc::AT_EACCESS;
    // SAFETY: the path is a C string, everything else a number.
    let result = unsafe { libc::syscall(libc::SYS_faccessat2, fd.as_raw_fd(), c"".as_ptr(), libc::X_OK, flags) };
    checked(result).is_ok()
}

/// The kind of file system that an open file is on (f_type of fstatfs(2)).
///
/// # Errors
/// Those of fstatfs(2).
pub fn file_system(fd: &OwnedFd) -> io::Result<i64> {
    // SAFETY: integers: zero is a value.
    let mut fs: libc::statfs = unsafe { std::mem::zeroed() };
    // SAFETY: the kernel writes one statfs.
    checked(unsafe { libc::fstatfs(fd.as_raw_fd(), &raw mut fs) }.into())?;
    Ok(fs.f_type)
}

/// The target of a link below `base`.
///
/// # Errors
/// Those of readlinkat(2); ENAMETOOLONG past PATH_MAX.
pub fn read_link(base: BorrowedFd<'_>, path: &[u8]) -> io::Result<Vec<u8>> {
    let path = c_path(path)?;
    let mut target = [0u8; libc::PATH_MAX as usize];
    // SAFETY: the path is a C string, the buffer is passed with its length.
    let n = unsafe { libc::readlinkat(base.as_raw_fd(), path.as_ptr(), target.as_mut_ptr().cast(), target.len()) };
    match checked(n as libc::c_long)? as usize {
        n if n == target.len() => Err(io::Error::from_raw_os_error(libc::ENAMETOOLONG)),
        n => Ok(target[..n].to_vec()),
    }
}
