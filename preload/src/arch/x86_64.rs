//! x86-64.

use core::arch::asm;

/// Numbers of the system calls that the shim makes.
pub mod number {
    pub const READ: usize = 0;
    pub const WRITE: usize = 1;
    pub const CLOSE: usize = 3;
    pub const PPOLL: usize = 271;
    pub const MMAP: usize = 9;
    pub const MUNMAP: usize = 11;
    pub const GETPID: usize = 39;
    pub const SOCKET: usize = 41;
    pub const CONNECT: usize = 42;
    pub const SENDTO: usize = 44;
    pub const SENDMSG: usize = 46;
    pub const SOCKETPAIR: usize = 53;
    pub const SETSOCKOPT: usize = 54;
    pub const EXECVE: usize = 59;
    pub const EXIT_GROUP: usize = 231;
    pub const EXECVEAT: usize = 322;
}

/// A system call; the kernel's answer, `-errno` for an error.
///
/// # Safety
/// As the call itself demands.
pub unsafe fn syscall(number: usize, arguments: [usize; 6]) -> isize {
    let [a, b, c, d, e, f] = arguments;
    let answer: isize;
    // SAFETY: the kernel changes rax, rcx, r11 and what the arguments name; the caller answers for the latter.
    unsafe {
        asm!(
            "syscall",
            inlateout("rax") number => answer,
            in("rdi") a, in("rsi") b, in("rdx") c, in("r10") d, in("r8") e, in("r9") f,
            lateout("rcx") _, lateout("r11") _,
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
                concat!("mov {0}, qword ptr [rip + ", $symbol, "@GOTPCREL]"),
                out(reg) address,
                options(nostack, preserves_flags),
            );
        }
        address
    }};
}

/// The body of an exported function of `n` words: goes to `$body` with the return address as one word more.
macro_rules! door {
    (2, $body:path) => { core::arch::naked_asm!("mov rdx, [rsp]", "jmp {}", sym $body) };
    (3, $body:path) => { core::arch::naked_asm!("mov rcx, [rsp]", "jmp {}", sym $body) };
    (1, $body:path) => { core::arch::naked_asm!("mov rsi, [rsp]", "jmp {}", sym $body) };
    (5, $body:path) => { core::arch::naked_asm!("mov r9, [rsp]", "jmp {}", sym $body) };
    // The seventh word goes on the stack, which the push also aligns.
    (6, $body:path) => {
        core::arch::naked_asm!(
            ".cfi_startproc",
            "push qword ptr [rsp]",
            ".cfi_adjust_cfa_offset 8",
            "call {}",
            "add rsp, 8",
            ".cfi_adjust_cfa_offset -8",
            "ret",
            ".cfi_endproc",
            sym $body
        )
    };
}

/// The body of an exported variadic function: goes to `$body(first, rest, site)`, `rest` being the further arguments, one
/// behind the other: the five in registers are put right below those on the stack, over the return address, which waits
/// below them and is put back for `ret`, so that shadow stacks agree.
macro_rules! variadic_door {
    ($body:path) => {
        core::arch::naked_asm!(
            "pop rax",
            "push r9",
            "push r8",
            "push rcx",
            "push rdx",
            "push rsi",
            "mov rsi, rsp",
            "mov rdx, rax",
            "push rax",
            "call {}",
            "pop rcx",
            "add rsp, 40",
            "push rcx",
            "ret",
            sym $body
        )
    };
}

pub(crate) use {door, variadic_door, weak};
