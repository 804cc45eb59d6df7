//! x86-64, with its 32-bit (i386) images.
//!
//! Numbers: arch/x86/entry/syscalls/syscall_64.tbl and syscall_32.tbl.

use super::{Forced, Table, Width};
use crate::sys::checked;
use std::io;

/// The kernel's own table. Refused: process_vm_writev, adjtimex, settimeofday, clock_settime, clock_adjtime, userfaultfd.
pub const NATIVE: Table = Table {
    audit: 0xC000_003E,
    execve: 59,
    execveat: 322,
    ioctl: 16,
    prlimit64: 302,
    clone: 56,
    clone3: 435,
    prctl: 157,
    perf_event_open: 298,
    fanotify_init: 300,
    refused: &[311, 159, 164, 227, 305, 323, 321],
};

/// Every table that a process can enter on this processor. Refused in the 32-bit one, besides: stime, clock_settime64,
/// clock_adjtime64.
pub const TABLES: &[Table] = &[
    NATIVE,
    Table {
        audit: 0x4000_0003,
        execve: 11,
        execveat: 358,
        ioctl: 54,
        prlimit64: 340,
        clone: 120,
        clone3: 435,
        prctl: 172,
        perf_event_open: 336,
        fanotify_init: 338,
        refused: &[348, 124, 79, 264, 343, 374, 25, 404, 405, 357],
    },
];

/// Bit of the x32 numbers in the native table; all of them are refused.
pub const X32_BIT: Option<u32> = Some(0x4000_0000);

/// Code segment selector of 32-bit user code (__USER32_CS).
const USER32_CS: u64 = 0x23;

/// General registers of a stopped image.
#[derive(Clone, Copy)]
pub struct Registers(libc::user_regs_struct);

impl PartialEq for Registers {
    fn eq(&self, other: &Self) -> bool {
        let key = |r: &libc::user_regs_struct| {
            (
                [r.r15, r.r14, r.r13, r.r12, r.rbp, r.rbx, r.r11, r.r10, r.r9, r.r8, r.rax, r.rcx, r.rdx, r.rsi, r.rdi, r.orig_rax],
                [r.rip, r.cs, r.eflags, r.rsp, r.ss, r.fs_base, r.gs_base, r.ds, r.es, r.fs, r.gs],
            )
        };
        key(&self.0) == key(&other.0)
    }
}

impl std::fmt::Debug for Registers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Registers {{ ip: {:#x}, sp: {:#x} }}", self.0.rip, self.0.rsp)
    }
}

impl Registers {
    /// Reads the registers of a stopped thread: PTRACE_GETREGS.
    ///
    /// # Errors
    /// ESRCH where the thread is not stopped under this tracer.
    pub fn read(tid: i32) -> io::Result<Self> {
        let mut regs = std::mem::MaybeUninit::<libc::user_regs_struct>::uninit();
        // SAFETY: the kernel writes one user_regs_struct to a buffer of that type.
        checked(unsafe { libc::ptrace(libc::PTRACE_GETREGS, tid, 0usize, regs.as_mut_ptr()) })?;
        // SAFETY: the call succeeded, so the whole structure was written.
        Ok(Self(unsafe { regs.assume_init() }))
    }

    /// Writes them: PTRACE_SETREGS.
    ///
    /// # Errors
    /// As [`Registers::read`].
    pub fn write(&self, tid: i32) -> io::Result<()> {
        // SAFETY: the kernel reads one user_regs_struct from a reference to one.
        checked(unsafe { libc::ptrace(libc::PTRACE_SETREGS, tid, 0usize, &raw const self.0) }).map(drop)
    }

    /// Whether the image runs 32-bit code.
    pub fn width(&self) -> Width {
        if self.0.cs == USER32_CS { Width::Narrow } else { Width::Wide }
    }

    /// Instruction pointer.
    pub fn ip(&self) -> u64 {
        self.0.rip
    }

    /// Stack pointer.
    pub fn sp(&self) -> u64 {
        self.0.rsp
    }

    /// Result of the system call that the thread has just left.
    pub fn result(&self) -> i64 {
        self.0.rax as i64
    }

    /// The same registers with another result.
    pub fn with_result(mut self, result: i64) -> Self {
        self.0.rax = result as u64;
        self
    }

    /// Whether `later` is what these registers are once the system call has returned: nothing else has changed.
    pub fn differ_in_result_alone(&self, later: &Self) -> bool {
        let mut now = *self;
        (now.0.rax, now.0.orig_rax) = (later.0.rax, later.0.orig_rax);
        now == *later
    }

    /// The bytes of the instruction that enters the kernel, `syscall` or `int $0x80`.
    pub fn entry_code(&self) -> [u8; 2] {
        match self.width() {
            Width::Wide => [0x0f, 0x05],
            Width::Narrow => [0xcd, 0x80],
        }
    }

    /// Number and arguments of a forced call, in the image's own table.
    pub fn call_of(&self, forced: Forced) -> (u64, Vec<u64>) {
        match (self.width(), forced) {
            (Width::Wide, Forced::Write { address, length }) => (1, vec![2, address, length]),
            (Width::Narrow, Forced::Write { address, length }) => (4, vec![2, address, length]),
            (Width::Wide, Forced::Exit { status }) => (231, vec![status]),
            (Width::Narrow, Forced::Exit { status }) => (252, vec![status]),
        }
    }

    /// Registers with which the entry code at `ip` makes the forced call.
    pub fn forcing(mut self, ip: u64, forced: Forced) -> Self {
        let (number, arguments) = self.call_of(forced);
        let argument = |i: usize| arguments.get(i).copied().unwrap_or(0);
        let regs = &mut self.0;
        regs.rip = ip;
        regs.rax = number;
        // -1: the kernel must not take what follows for a call to restart.
        regs.orig_rax = u64::MAX;
        if regs.cs == USER32_CS {
            (regs.rbx, regs.rcx, regs.rdx) = (argument(0), argument(1), argument(2));
        } else {
            (regs.rdi, regs.rsi, regs.rdx) = (argument(0), argument(1), argument(2));
        }
        self
    }
}
