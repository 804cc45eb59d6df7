//! The seccomp program of the gated tree, and its installation.
//!
//! Invariant: for every architecture a process can enter, each way to start a program is notified or refused; an unknown
//! architecture is killed (seccomp(2), `man 2 seccomp_unotify`). Refuses pointer arguments: only registers are looked at,
//! since what a pointer leads to can change after the look. seccompiler 0.5 has neither USER_NOTIF nor listeners nor
//! several architectures, so the program is written here.

use super::arch::{TABLES, Table, X32_BIT};
use super::checked;
use std::io;
use std::os::fd::{FromRawFd, OwnedFd, RawFd};

/// One instruction of classic BPF.
pub type Instruction = libc::sock_filter;

/// AT_EXECVE_CHECK (linux/fcntl.h, 6.14): asks whether a file may be executed, and starts nothing.
const AT_EXECVE_CHECK: u32 = 0x1_0000;
/// Offsets in struct seccomp_data, little-endian low words.
const OFFSET_NR: u32 = 0;
const OFFSET_ARCH: u32 = 4;
const fn argument(index: u32) -> u32 {
    16 + 8 * index
}

const LOAD: u16 = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16;
const EQUAL: u16 = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16;
const AT_LEAST: u16 = (libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K) as u16;
const ANY_BIT: u16 = (libc::BPF_JMP | libc::BPF_JSET | libc::BPF_K) as u16;
const RETURN: u16 = (libc::BPF_RET | libc::BPF_K) as u16;

/// ioctl requests that type into a terminal: TIOCSTI and TIOCLINUX (asm-generic/ioctls.h).
const TYPING: [u32; 2] = [0x5412, 0x541C];
/// The ioctl request by which /dev/userfaultfd gives what the call of that name gives: USERFAULTFD_IOC_NEW
/// (linux/userfaultfd.h).
const SERVING: u32 = 0xAA00;
/// The clone flag by which a child is given the caller's parent as its own: CLONE_PARENT (linux/sched.h).
const SIBLING: u32 = 0x8000;
/// The classes of fanotify whose groups are asked before a file is opened, by anybody: FAN_CLASS_CONTENT and
/// FAN_CLASS_PRE_CONTENT (linux/fanotify.h). Who does not answer keeps the gate waiting, on any file system.
const PERMITTING: u32 = 0x4 | 0x8;
/// What a process hands to TIOCSTI to learn whether this filter is around it: "stay". It types nothing either way.
const ASKING: u32 = 0x7374_6179;
/// What the filter answers then. No kernel says that of an ioctl on no descriptor.
const INSIDE: i32 = libc::EALREADY;

const ALLOW: Instruction = ret(libc::SECCOMP_RET_ALLOW);
const NOTIFY: Instruction = ret(libc::SECCOMP_RET_USER_NOTIF);
const KILL: Instruction = ret(libc::SECCOMP_RET_KILL_PROCESS);

const fn ret(value: u32) -> Instruction {
    Instruction { code: RETURN, jt: 0, jf: 0, k: value }
}

const fn refuse(errno: i32) -> Instruction {
    ret(libc::SECCOMP_RET_ERRNO | errno as u32)
}

const fn load(offset: u32) -> Instruction {
    Instruction { code: LOAD, jt: 0, jf: 0, k: offset }
}

const fn unless(code: u16, k: u32, skip: u8) -> Instruction {
    Instruction { code, jt: 0, jf: skip, k }
}

/// The whole program, for a tree in which somebody may be root.
pub fn program(privileged: bool) -> Vec<Instruction> {
    let mut program = vec![load(OFFSET_ARCH)];
    for table in TABLES {
        let block = table_block(table, privileged);
        // A block ends in a return on every path, so only a mismatch falls through to the next.
        program.push(unless(EQUAL, table.audit, block.len() as u8));
        program.extend(block);
    }
    program.push(KILL);
    program
}

fn table_block(table: &Table, privileged: bool) -> Vec<Instruction> {
    let mut block = vec![load(OFFSET_NR)];
    if let Some(bit) = X32_BIT {
        block.extend([unless(AT_LEAST, bit, 1), refuse(libc::ENOSYS)]);
    }
    block.extend([unless(EQUAL, table.execve, 1), NOTIFY]);
    block.extend([unless(EQUAL, table.execveat, 4), load(argument(4)), unless(ANY_BIT, AT_EXECVE_CHECK, 1), ALLOW, NOTIFY]);
    block.extend([
        unless(EQUAL, table.ioctl, 11),
        load(argument(1)),
        unless(EQUAL, TYPING[0], 4),
        load(argument(2)),
        unless(EQUAL, ASKING, 1),
        refuse(INSIDE),
        refuse(libc::EPERM),
    ]);
    block.extend(refuse_each(&[TYPING[1], SERVING]));
    block.push(ALLOW);
    block.extend(foreign_limit(table.prlimit64));
    block.extend(true_parent(table));
    block.extend(own_events(table.perf_event_open, privileged));
    block.extend([unless(EQUAL, table.fanotify_init, 4), load(argument(0)), unless(ANY_BIT, PERMITTING, 1), refuse(libc::EPERM), ALLOW]);
    block.extend(refuse_each(table.refused));
    block.push(ALLOW);
    block
}

/// Refuses where the accumulator holds one of `values`.
fn refuse_each(values: &[u32]) -> impl Iterator<Item = Instruction> {
    values.iter().flat_map(|&value| [unless(EQUAL, value, 1), refuse(libc::EPERM)])
}

/// prlimit64 with a pid and a new limit: RLIMIT_CPU = 0 on the warden would end it. The pointer's two halves are looked
/// at for zero alone.
fn foreign_limit(prlimit64: u32) -> [Instruction; 10] {
    [
        unless(EQUAL, prlimit64, 9),
        load(argument(0)),
        unless(EQUAL, 0, 1),
        ALLOW,
        load(argument(2)),
        unless(EQUAL, 0, 3),
        load(argument(2) + 4),
        unless(EQUAL, 0, 1),
        ALLOW,
        refuse(libc::EPERM),
    ]
}

/// A process is the child of the one that forked it: whose start it is follows from that. Where it will not be, the warden is
/// told: a child for the caller's parent, or a process that takes up orphans. clone3 has its flags in memory, so it is unknown
/// here; C libraries and runtimes then use clone, as they do on kernels without it.
fn true_parent(table: &Table) -> [Instruction; 12] {
    [
        unless(EQUAL, table.clone3, 1),
        refuse(libc::ENOSYS),
        unless(EQUAL, table.clone, 4),
        load(argument(0)),
        unless(ANY_BIT, SIBLING, 1),
        NOTIFY,
        ALLOW,
        unless(EQUAL, table.prctl, 4),
        load(argument(0)),
        unless(EQUAL, libc::PR_SET_CHILD_SUBREAPER as u32, 1),
        NOTIFY,
        ALLOW,
    ]
}

/// What a notified call is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Told {
    /// A program start.
    Start,
    /// A child for the caller's parent.
    Sibling,
    /// The caller takes up orphans from now on, or does no more.
    Adopts,
}

/// What the call of this number is about.
pub fn told(audit: u32, number: i32) -> Told {
    match Table::of(audit) {
        Some(table) if table.clone as i32 == number => Told::Sibling,
        Some(table) if table.prctl as i32 == number => Told::Adopts,
        _ => Told::Start,
    }
}

/// perf_event_open of a whole processor (pid -1) samples the stacks of every process, the gate's own among them. That of
/// another process is the kernel's to allow, which asks as it does for a tracer; but not root.
fn own_events(perf_event_open: u32, privileged: bool) -> Vec<Instruction> {
    let answer = if privileged {
        [unless(EQUAL, 0, 1), ALLOW, refuse(libc::EPERM)]
    } else {
        [unless(EQUAL, u32::MAX, 1), refuse(libc::EPERM), ALLOW]
    };
    [unless(EQUAL, perf_event_open, 4), load(argument(1))].into_iter().chain(answer).collect()
}

/// Whether the calling process is in a gated tree, by what the kernel says: nothing in an environment decides it.
pub fn is_around() -> bool {
    // SAFETY: descriptor -1 names no file, so the call changes nothing, and the argument is a number and no pointer.
    let result = unsafe { libc::syscall(libc::SYS_ioctl, -1, libc::c_ulong::from(TYPING[0]), libc::c_ulong::from(ASKING)) };
    result == -1 && io::Error::last_os_error().raw_os_error() == Some(INSIDE)
}

/// Installs the program on the calling thread and gives its listener. A call that was received can then be interrupted by
/// a fatal signal alone (WAIT_KILLABLE_RECV, 5.19), on which the order of the warden's steps relies.
///
/// # Errors
/// EACCES without CAP_SYS_ADMIN or no_new_privs; EBUSY where an outer filter has a listener already; EINVAL before 5.19.
pub fn install(program: &[Instruction]) -> io::Result<OwnedFd> {
    install_with(program, libc::SECCOMP_FILTER_FLAG_NEW_LISTENER | libc::SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV)
}

/// Adds a filter that lets everything pass to the calling thread: it and all that come from it have one more from then on.
///
/// # Errors
/// EACCES without CAP_SYS_ADMIN or no_new_privs; ENOMEM where there are too many.
pub fn add_layer() -> io::Result<()> {
    let program = [ALLOW];
    let code = libc::sock_fprog { len: 1, filter: program.as_ptr().cast_mut() };
    // SAFETY: the kernel copies one instruction from where there is one, and keeps no pointer.
    checked(unsafe { libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, 0, &raw const code) }).map(drop)
}

fn install_with(program: &[Instruction], flags: libc::c_ulong) -> io::Result<OwnedFd> {
    let length = u16::try_from(program.len()).map_err(io::Error::other)?;
    let code = libc::sock_fprog { len: length, filter: program.as_ptr().cast_mut() };
    // SAFETY: the kernel copies `length` instructions from a slice of that length and keeps no pointer.
    let fd = checked(unsafe { libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, flags, &raw const code) })?;
    // SAFETY: with NEW_LISTENER a successful call returns a fresh descriptor that nobody else owns.
    Ok(unsafe { OwnedFd::from_raw_fd(fd as RawFd) })
}

#[cfg(test)]
mod tests;
