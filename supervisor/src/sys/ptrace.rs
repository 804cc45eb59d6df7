//! The tracer's calls (ptrace(2)), for one thread at a time.
//!
//! Invariant: everything here is called by the thread that seized; the kernel answers ESRCH to any other. Waiting is by
//! tid and never blocks.

use super::checked;
use std::io;

/// What `wait` found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// Nothing yet.
    None,
    /// No such tracee any more: after exec a non-leader has become its leader.
    Gone,
    /// Stopped at PTRACE_EVENT_EXEC.
    Loaded,
    /// Stopped on entry to, or exit from, a system call.
    Syscall,
    /// Stopped at our INTERRUPT.
    Interrupted,
    /// Stopped because its group was stopped by this signal.
    GroupStop(i32),
    /// Stopped before this signal is delivered.
    Signal(i32),
    /// Ended, with this wait status; reaped.
    Ended(i32),
}

fn request(request: libc::c_uint, tid: i32, address: usize, data: usize) -> io::Result<libc::c_long> {
    // SAFETY: for the requests used here address and data are numbers or addresses in the tracee.
    checked(unsafe { libc::ptrace(request, tid, address, data) })
}

/// Attaches without stopping. The tracee dies with the tracer.
///
/// # Errors
/// EPERM where somebody else traces it or privilege is missing; ESRCH.
pub fn seize(tid: i32) -> io::Result<()> {
    let options = libc::PTRACE_O_TRACEEXEC | libc::PTRACE_O_EXITKILL | libc::PTRACE_O_TRACESYSGOOD;
    request(libc::PTRACE_SEIZE, tid, 0, options as usize).map(drop)
}

/// Asks the tracee to stop; an exec that succeeds comes to its own stop first.
///
/// # Errors
/// ESRCH.
pub fn interrupt(tid: i32) -> io::Result<()> {
    request(libc::PTRACE_INTERRUPT, tid, 0, 0).map(drop)
}

/// Lets a stopped tracee go, delivering `signal` if it is not 0.
///
/// # Errors
/// ESRCH where it is not stopped or has died.
pub fn detach(tid: i32, signal: i32) -> io::Result<()> {
    request(libc::PTRACE_DETACH, tid, 0, signal as usize).map(drop)
}

/// Resumes to the next entry or exit of a system call, delivering `signal` if it is not 0.
///
/// # Errors
/// As [`detach`].
pub fn to_syscall(tid: i32, signal: i32) -> io::Result<()> {
    request(libc::PTRACE_SYSCALL, tid, 0, signal as usize).map(drop)
}

/// Lets a group-stopped tracee stay stopped while its signals and SIGCONT are still noticed.
///
/// # Errors
/// As [`detach`].
pub fn listen(tid: i32) -> io::Result<()> {
    request(libc::PTRACE_LISTEN, tid, 0, 0).map(drop)
}

/// Writes `code` over the tracee's memory at `address`, read-only pages included: PTRACE_POKETEXT.
///
/// # Errors
/// EIO or EFAULT where nothing is mapped; ESRCH.
pub fn write_code(tid: i32, address: u64, code: &[u8]) -> io::Result<()> {
    let mut word = super::memory::read(tid, address, size_of::<usize>())?;
    let length = code.len().min(word.len());
    word[..length].copy_from_slice(&code[..length]);
    let mut raw = [0; size_of::<usize>()];
    raw.copy_from_slice(&word);
    request(libc::PTRACE_POKETEXT, tid, address as usize, usize::from_ne_bytes(raw)).map(drop)
}

/// The system call that a tracee is about to enter: number and six arguments. `None` where it is leaving one.
///
/// # Errors
/// ESRCH.
pub fn entering(tid: i32) -> io::Result<Option<(u64, [u64; 6])>> {
    // SAFETY: integers and a union of integers: zero is a value.
    let mut info: libc::ptrace_syscall_info = unsafe { std::mem::zeroed() };
    let size = size_of_val(&info);
    // SAFETY: the kernel writes at most `size` bytes.
    checked(unsafe { libc::ptrace(libc::PTRACE_GET_SYSCALL_INFO, tid, size, &raw mut info) })?;
    if info.op != libc::PTRACE_SYSCALL_INFO_ENTRY {
        return Ok(None);
    }
    // SAFETY: `op` says that the entry member was written.
    let entry = unsafe { info.u.entry };
    Ok(Some((entry.nr, entry.args)))
}

/// Looks, without waiting, for a change of the tracee `tid`.
pub fn wait(tid: i32) -> Change {
    let mut status = 0;
    // SAFETY: the kernel writes one int.
    let got = unsafe { libc::waitpid(tid, &raw mut status, libc::WNOHANG | libc::__WALL) };
    match got {
        0 => Change::None,
        -1 if io::Error::last_os_error().kind() == io::ErrorKind::Interrupted => Change::None,
        -1 => Change::Gone,
        _ => decode(status),
    }
}

fn decode(status: i32) -> Change {
    if !libc::WIFSTOPPED(status) {
        return Change::Ended(status);
    }
    let (signal, event) = (libc::WSTOPSIG(status), status >> 16);
    match (event, signal) {
        (libc::PTRACE_EVENT_EXEC, _) => Change::Loaded,
        (libc::PTRACE_EVENT_STOP, libc::SIGTRAP) => Change::Interrupted,
        (libc::PTRACE_EVENT_STOP, stop) => Change::GroupStop(stop),
        (0, trap) if trap == libc::SIGTRAP | 0x80 => Change::Syscall,
        (_, other) => Change::Signal(other),
    }
}

/// Signals that wait for the process, of its group and of its thread `tid`: PTRACE_PEEKSIGINFO.
///
/// # Errors
/// ESRCH.
pub fn pending_signals(tid: i32) -> io::Result<Vec<i32>> {
    const SHARED: u32 = 1;
    let mut all = Vec::new();
    for flags in [0, SHARED] {
        let mut signals = Vec::new();
        loop {
            // SAFETY: siginfo_t is plain data: zero is a value.
            let mut found: [libc::siginfo_t; 8] = unsafe { std::mem::zeroed() };
            let args = libc::ptrace_peeksiginfo_args { off: signals.len() as u64, flags, nr: found.len() as i32 };
            // SAFETY: the kernel reads the arguments and writes at most `nr` structures.
            let n = checked(unsafe { libc::ptrace(libc::PTRACE_PEEKSIGINFO, tid, &raw const args, found.as_mut_ptr()) })? as usize;
            signals.extend(found.iter().take(n).map(|info| info.si_signo));
            if n < found.len() {
                break;
            }
        }
        all.extend(signals);
    }
    Ok(all)
}
