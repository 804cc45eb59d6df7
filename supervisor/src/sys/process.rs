//! The calling process and its children.

use super::checked;
use std::ffi::CString;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};

/// A process after fork(2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fork {
    /// In the parent: the child's pid.
    Parent(i32),
    /// In the child.
    Child,
}

/// fork(2).
///
/// # Errors
/// EAGAIN, ENOMEM.
///
/// # Panics
/// Never; but the calling process must have one thread only, since the child goes on with all that std keeps.
pub fn fork() -> io::Result<Fork> {
    // SAFETY: callers fork before they start any thread, so no lock is held by a thread that the child lacks.
    match checked(unsafe { libc::fork() }.into())? {
        0 => Ok(Fork::Child),
        pid => Ok(Fork::Parent(pid as i32)),
    }
}

/// Ends the calling process without running anything on the way.
pub fn exit_now(status: i32) -> ! {
    // SAFETY: _exit never returns and touches nothing.
    unsafe { libc::_exit(status) }
}

/// Closes every descriptor of this process but one (close_range(2)).
pub fn close_all_but(kept: RawFd) {
    let kept = kept.unsigned_abs();
    if let Some(last) = kept.checked_sub(1) {
        close_range(0, last);
    }
    close_range(kept + 1, u32::MAX);
}

/// Closes every descriptor of this process but the three standard streams. To be called before it opens its own.
pub fn close_all_but_streams() {
    close_range(3, u32::MAX);
}

fn close_range(first: u32, last: u32) {
    // SAFETY: numbers only; callers own none of these descriptors any more.
    let _ = unsafe { libc::syscall(libc::SYS_close_range, first, last, 0) };
}

/// execve(2); returns only with an error.
pub fn execute(program: &CString, arguments: &[CString], environment: &[CString]) -> io::Error {
    let pointers = |list: &[CString]| list.iter().map(|s| s.as_ptr()).chain([std::ptr::null()]).collect::<Vec<_>>();
    let (argv, envp) = (pointers(arguments), pointers(environment));
    // SAFETY: both vectors end in null and point to C strings that outlive the call.
    unsafe { libc::execve(program.as_ptr(), argv.as_ptr(), envp.as_ptr()) };
    io::Error::last_os_error()
}

/// Whether others of the same user may look into this process (PR_SET_DUMPABLE).
///
/// # Errors
/// Never, on any kernel with prctl.
pub fn set_dumpable(dumpable: bool) -> io::Result<()> {
    prctl(libc::PR_SET_DUMPABLE, u64::from(dumpable))
}

/// No exec gains privilege from here on (PR_SET_NO_NEW_PRIVS).
///
/// # Errors
/// EINVAL before Linux 3.5.
pub fn set_no_new_privs() -> io::Result<()> {
    prctl(libc::PR_SET_NO_NEW_PRIVS, 1)
}

/// This process becomes another user, for good, and may still be looked into by its tracer.
///
/// # Errors
/// EPERM without privilege; EINVAL for ids that the user namespace does not know.
pub fn become_user(uid: u32, gid: u32, groups: &[u32]) -> io::Result<()> {
    use nix::unistd::{Gid, Uid, setgroups, setresgid, setresuid};
    let (uid, gid) = (Uid::from_raw(uid), Gid::from_raw(gid));
    setgroups(&groups.iter().copied().map(Gid::from_raw).collect::<Vec<_>>())?;
    setresgid(gid, gid, gid)?;
    setresuid(uid, uid, uid)?;
    // The kernel has hidden it with the change.
    set_dumpable(true)
}

/// Orphans below this process become its children (PR_SET_CHILD_SUBREAPER).
///
/// # Errors
/// EINVAL before Linux 3.4.
pub fn become_subreaper() -> io::Result<()> {
    prctl(libc::PR_SET_CHILD_SUBREAPER, 1)
}

/// This process gets `signal` when the thread that forked it ends (PR_SET_PDEATHSIG).
///
/// # Errors
/// EINVAL for a bad signal.
pub fn die_with_parent(signal: i32) -> io::Result<()> {
    prctl(libc::PR_SET_PDEATHSIG, signal as u64)
}

fn prctl(option: i32, value: u64) -> io::Result<()> {
    // SAFETY: for the options above all arguments are numbers.
    checked(unsafe { libc::prctl(option, value, 0, 0, 0) }.into()).map(drop)
}

/// Whether the calling thread has this capability in effect (capabilities(7)).
pub fn has_capability(number: u32) -> bool {
    let Ok(status) = std::fs::read_to_string("/proc/thread-self/status") else { return false };
    status
        .lines()
        .find_map(|line| line.strip_prefix("CapEff:"))
        .and_then(|hex| u64::from_str_radix(hex.trim(), 16).ok())
        .is_some_and(|set| set >> number & 1 == 1)
}

/// Whether a seccomp filter is around this process; one that cannot be told of is none.
pub fn is_filtered() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    status.lines().find_map(|line| line.strip_prefix("Seccomp:")).is_some_and(|mode| mode.trim() == "2")
}

/// SIGPIPE as a program expects it; Rust alone has ignored it.
pub fn reset_broken_pipe() {
    // SAFETY: the default disposition runs no code of ours.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
}

/// CAP_SYS_ADMIN.
pub const CAP_SYS_ADMIN: u32 = 21;

/// A mount namespace of this process's own, in which nobody else's mounts arrive.
///
/// # Errors
/// EPERM without CAP_SYS_ADMIN.
pub fn own_mount_namespace() -> io::Result<()> {
    // SAFETY: the flag is a number.
    checked(unsafe { libc::unshare(libc::CLONE_NEWNS) }.into())?;
    let none = std::ptr::null();
    // SAFETY: strings are C strings or null.
    checked(unsafe { libc::mount(none, c"/".as_ptr(), none, libc::MS_REC | libc::MS_PRIVATE, none.cast()) }.into()).map(drop)
}

/// Waits for any child of this process: exits, stops and continuations. `None` where there is no child.
///
/// # Errors
/// EINTR.
pub fn wait_any() -> io::Result<Option<(i32, i32)>> {
    let mut status = 0;
    // SAFETY: the kernel writes one int.
    match checked(unsafe { libc::waitpid(-1, &raw mut status, libc::WUNTRACED | libc::WCONTINUED | libc::__WALL) }.into()) {
        Ok(pid) => Ok(Some((pid as i32, status))),
        Err(e) if e.raw_os_error() == Some(libc::ECHILD) => Ok(None),
        Err(e) => Err(e),
    }
}

/// kill(2) of one process.
///
/// # Errors
/// ESRCH, EPERM.
pub fn kill(pid: i32, signal: i32) -> io::Result<()> {
    // SAFETY: numbers only.
    checked(unsafe { libc::kill(pid, signal) }.into()).map(drop)
}

/// Whether there is a process of this id, dead ones that nobody has reaped included.
pub fn exists(pid: i32) -> bool {
    !matches!(kill(pid, 0), Err(e) if e.raw_os_error() == Some(libc::ESRCH))
}

/// A limit of open descriptors, soft and hard (RLIMIT_NOFILE).
pub type DescriptorLimit = (u64, u64);

/// Raises the soft limit of open descriptors to the hard one, and says what they were.
///
/// # Errors
/// EPERM where a filter forbids it.
pub fn raise_descriptor_limit() -> io::Result<DescriptorLimit> {
    use nix::sys::resource::{Resource, getrlimit, setrlimit};
    let given = getrlimit(Resource::RLIMIT_NOFILE)?;
    setrlimit(Resource::RLIMIT_NOFILE, given.1, given.1)?;
    Ok(given)
}

/// Sets it back. Where that fails the program starts with more than it was given, which takes nothing from it.
pub fn set_descriptor_limit(limit: DescriptorLimit) {
    use nix::sys::resource::{Resource, setrlimit};
    let _ = setrlimit(Resource::RLIMIT_NOFILE, limit.0, limit.1);
}

/// Whether the thread `tid` is the leader of its process: tgkill(2) of nothing finds it under its own number.
pub fn is_leader(tid: i32) -> bool {
    // SAFETY: numbers only; signal 0 is never sent.
    unsafe { libc::syscall(libc::SYS_tgkill, tid, tid, 0) == 0 }
}

/// Nanoseconds since the epoch, by the clock that file systems stamp with (CLOCK_REALTIME_COARSE).
pub fn file_clock() -> i64 {
    clock(libc::CLOCK_REALTIME_COARSE)
}

/// Nanoseconds since the epoch.
pub fn now() -> i64 {
    clock(libc::CLOCK_REALTIME)
}

fn clock(id: libc::clockid_t) -> i64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the kernel writes one timespec; these clocks always exist.
    unsafe { libc::clock_gettime(id, &raw mut time) };
    time.tv_sec * 1_000_000_000 + time.tv_nsec
}

/// Duplicates a descriptor of another process into this one (pidfd_getfd(2)).
///
/// # Errors
/// EBADF where it has none of that number; EPERM.
pub fn borrow_descriptor(pidfd: BorrowedFd<'_>, number: i32) -> io::Result<std::os::fd::OwnedFd> {
    // SAFETY: numbers only; a successful call returns a fresh descriptor.
    unsafe {
        let fd = checked(libc::syscall(libc::SYS_pidfd_getfd, pidfd.as_raw_fd(), number, 0))?;
        Ok(std::os::fd::FromRawFd::from_raw_fd(fd as i32))
    }
}
