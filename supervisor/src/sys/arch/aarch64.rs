//! aarch64, with its 32-bit (ARM) images.
//!
//! Numbers: include/uapi/asm-generic/unistd.h and arch/arm/tools/syscall.tbl.

use super::{Forced, Table, Width};
use crate::sys::checked;
use std::io;

/// The kernel's own table. Refused: process_vm_writev, adjtimex, settimeofday, clock_settime, clock_adjtime, userfaultfd.
pub const NATIVE: Table = Table {
    audit: 0xC000_00B7,
    execve: 221,
    execveat: 281,
    ioctl: 29,
    prlimit64: 261,
    clone: 220,
    clone3: 435,
    prctl: 167,
    perf_event_open: 241,
    fanotify_init: 262,
    refused: &[271, 171, 170, 112, 266, 282, 280],
};

/// Every table that a process can enter on this processor. Refused in the 32-bit one, besides: clock_settime64 and
/// clock_adjtime64.
pub const TABLES: &[Table] = &[
    NATIVE,
    Table {
        audit: 0x4000_0028,
        execve: 11,
        execveat: 387,
        ioctl: 54,
        prlimit64: 369,
        clone: 120,
        clone3: 435,
        prctl: 172,
        perf_event_open: 364,
        fanotify_init: 367,
        refused: &[377, 124, 79, 262, 372, 388, 404, 405, 386],
    },
];

/// There is no x32 here.
pub const X32_BIT: Option<u32> = None;

/// PSTATE bit of 32-bit execution.
const PSR_MODE32: u64 = 0x10;

/// General registers of a stopped image: x0 to x30, sp, pc, pstate.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Registers([u64; 34]);

impl std::fmt::Debug for Registers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Registers {{ ip: {:#x}, sp: {:#x} }}", self.ip(), self.sp())
    }
}

fn vector(regs: *mut u64) -> libc::iovec {
    libc::iovec { iov_base: regs.cast(), iov_len: size_of::<[u64; 34]>() }
}

impl Registers {
    /// Reads the registers of a stopped thread: PTRACE_GETREGSET.
    ///
    /// # Errors
    /// ESRCH where the thread is not stopped under this tracer; ENOTSUP for a 32-bit image, which this version cannot judge.
    pub fn read(tid: i32) -> io::Result<Self> {
        let mut regs = [0u64; 34];
        let mut iov = vector(regs.as_mut_ptr());
        // SAFETY: the kernel writes at most iov_len bytes to the array behind the vector.
        checked(unsafe { libc::ptrace(libc::PTRACE_GETREGSET, tid, 1usize, &raw mut iov) })?;
        if iov.iov_len != size_of_val(&regs) {
            return Err(io::Error::from_raw_os_error(libc::ENOTSUP));
        }
        Ok(Self(regs))
    }

    /// Writes them: PTRACE_SETREGSET.
    ///
    /// # Errors
    /// As [`Registers::read`].
    pub fn write(&self, tid: i32) -> io::Result<()> {
        let mut copy = self.0;
        let mut iov = vector(copy.as_mut_ptr());
        // SAFETY: the kernel reads iov_len bytes from the array behind the vector.
        checked(unsafe { libc::ptrace(libc::PTRACE_SETREGSET, tid, 1usize, &raw mut iov) }).map(drop)
    }

    /// Whether the image runs 32-bit code.
    pub fn width(&self) -> Width {
        if self.0[33] & PSR_MODE32 == 0 { Width::Wide } else { Width::Narrow }
    }

    /// Instruction pointer.
    pub fn ip(&self) -> u64 {
        self.0[32]
    }

    /// Stack pointer.
    pub fn sp(&self) -> u64 {
        self.0[31]
    }

    /// Result of the system call that the thread has just left.
    pub fn result(&self) -> i64 {
        self.0[0] as i64
    }

    /// The same registers with another result.
    pub fn with_result(mut self, result: i64) -> Self {
        self.0[0] = result as u64;
        self
    }

    /// Whether `later` is what these registers are once the system call has returned: nothing else has changed.
    pub fn differ_in_result_alone(&self, later: &Self) -> bool {
        self.0[1..] == later.0[1..]
    }

    /// The bytes of the instruction that enters the kernel, `svc #0`.
    pub fn entry_code(&self) -> [u8; 4] {
        [0x01, 0x00, 0x00, 0xd4]
    }

    /// Number and arguments of a forced call.
    pub fn call_of(&self, forced: Forced) -> (u64, Vec<u64>) {
        match forced {
            Forced::Write { address, length } => (64, vec![2, address, length]),
            Forced::Exit { status } => (94, vec![status]),
        }
    }

    /// Registers with which the entry code at `ip` makes the forced call.
    pub fn forcing(mut self, ip: u64, forced: Forced) -> Self {
        let (number, arguments) = self.call_of(forced);
        self.0[..arguments.len()].copy_from_slice(&arguments);
        self.0[8] = number;
        self.0[32] = ip;
        self
    }
}
