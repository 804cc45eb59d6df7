//! AArch64.

use core::arch::asm;

/// Numbers of the system calls that the shim makes.
pub mod number {
    pub const CLOSE: usize = 57;
    pub const READ: usize = 63;
    pub const WRITE: usize = 64;
    pub const PPOLL: usize = 73;
    pub const EXIT_GROUP: usize = 94;
    pub const GETPID: usize = 172;
    pub const SOCKET: usize = 198;
    pub const SOCKETPAIR: usize = 199;
    pub const CONNECT: usize = 203;
    pub const SENDTO: usize = 206;
    pub const SETSOCKOPT: usize = 208;
    pub const SENDMSG: usize = 211;
    pub const MUNMAP: usize = 215;
    pub const EXECVE: usize = 221;
    pub const MMAP: usize = 222;
    pub const EXECVEAT: usize = 281;
}

/// A system call; the kernel's answer, `-errno` for an error.
///
/// # Safety
/// As the call itself demands.
pub unsafe fn syscall(number: usize, arguments: [usize; 6]) -> isize {
    let [a, b, c, d, e, f] = arguments;
    let answer: isize;
    // SAFETY: the kernel changes x0 and what the arguments name; the caller answers for the latter.
    unsafe {
        asm!(
            "svc 0",
            in("x8") number,
            inlateout("x0") a => answer,
            in("x1") b, in("x2") c, in("x3") d, in("x4") e, in("x5") f,
            options(nostack),
        );
    }
    answer
}

/// The address of a symbol that the process may lack, else 0. Bound when the library is loaded.
macro_rules! weak {
    ($symbol:literal) => {{
        let address: usize;
        // SAFETY: reads an entry of the global offset table, which the loader has filled or left 0.
        unsafe {
            core::arch::asm!(
                concat!(".weak ", $symbol),
                concat!("adrp {0}, :got:", $symbol),
                concat!("ldr {0}, [{0}, :got_lo12:", $symbol, "]"),
                out(reg) address,
                options(nostack, preserves_flags),
            );
        }
        address
    }};
}

/// The body of an exported function of `n` words: goes to `$body` with the return address as one word more.
macro_rules! door {
    (1, $body:path) => { core::arch::naked_asm!("mov x1, x30", "b {}", sym $body) };
    (2, $body:path) => { core::arch::naked_asm!("mov x2, x30", "b {}", sym $body) };
    (3, $body:path) => { core::arch::naked_asm!("mov x3, x30", "b {}", sym $body) };
    (5, $body:path) => { core::arch::naked_asm!("mov x5, x30", "b {}", sym $body) };
    (6, $body:path) => { core::arch::naked_asm!("mov x6, x30", "b {}", sym $body) };
}

/// The body of an exported variadic function: goes to `$body(first, rest, site)`, `rest` being the further arguments, one
/// behind the other: the seven in registers are put right below those on the stack.
macro_rules! variadic_door {
    ($body:path) => {
        core::arch::naked_asm!(
            "sub sp, sp, #80",
            "stp x29, x30, [sp]",
            "mov x29, sp",
            "stp x1, x2, [sp, #24]",
            "stp x3, x4, [sp, #40]",
            "stp x5, x6, [sp, #56]",
            "str x7, [sp, #72]",
            "add x1, sp, #24",
            "mov x2, x30",
            "bl {}",
            "ldp x29, x30, [sp]",
            "add sp, sp, #80",
            "ret",
            sym $body
        )
    };
}

pub(crate) use {door, variadic_door, weak};
