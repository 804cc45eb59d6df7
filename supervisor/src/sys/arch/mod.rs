//! What differs between processors: syscall numbers, registers, the few bytes that enter the kernel.

#[cfg(target_arch = "aarch64")]
mod aarch64;
#[cfg(target_arch = "x86_64")]
mod x86_64;

#[cfg(target_arch = "aarch64")]
pub use aarch64::{NATIVE, Registers, TABLES, X32_BIT};
#[cfg(target_arch = "x86_64")]
pub use x86_64::{NATIVE, Registers, TABLES, X32_BIT};

/// The numbers of one syscall table (audit architecture) that the filter looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Table {
    /// AUDIT_ARCH value, as seccomp_data reports it (linux/audit.h).
    pub audit: u32,
    /// execve.
    pub execve: u32,
    /// execveat.
    pub execveat: u32,
    /// ioctl.
    pub ioctl: u32,
    /// prlimit64.
    pub prlimit64: u32,
    /// clone.
    pub clone: u32,
    /// clone3.
    pub clone3: u32,
    /// prctl.
    pub prctl: u32,
    /// perf_event_open.
    pub perf_event_open: u32,
    /// fanotify_init.
    pub fanotify_init: u32,
    /// Calls that no program in a tree has any business with, whatever their arguments: process_vm_writev (into processes
    /// that were judged), what sets the clock (by which *unchanged since before the run* is told), userfaultfd (memory
    /// behind it keeps whoever reads it waiting), and bpf (root's programs in the kernel read and write every process).
    pub refused: &'static [u32],
}

impl Table {
    /// The table of this architecture.
    pub fn of(audit: u32) -> Option<&'static Self> {
        TABLES.iter().find(|table| table.audit == audit)
    }
}

/// Width of an image's pointers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Width {
    /// 8-byte pointers.
    Wide,
    /// 4-byte pointers.
    Narrow,
}

impl Width {
    /// Bytes of a pointer.
    pub const fn pointer(self) -> usize {
        match self {
            Self::Wide => 8,
            Self::Narrow => 4,
        }
    }
}

/// A system call that a stopped image is made to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Forced {
    /// write(2) of `length` bytes at `address` to the standard error.
    Write {
        /// Address in the image.
        address: u64,
        /// Bytes.
        length: u64,
    },
    /// exit_group(2) with this status.
    Exit {
        /// Exit status.
        status: u64,
    },
}
