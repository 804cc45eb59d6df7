//! System calls, raw: no errno, no cancellation point, nothing that another thread could hold.
//!
//! Invariant: a descriptor that is made here is closed on exec, and by its owner before the real function is called.

use crate::arch::{number, syscall, weak};
use crate::text::{Text, Vector};
use core::ffi::c_int;

pub const EINTR: i32 = 4;
pub const E2BIG: i32 = 7;
pub const EPERM: i32 = 1;
pub const ENOSYS: i32 = 38;
pub const ENOTSOCK: i32 = 88;

const AF_UNIX: usize = 1;
const SOCK_STREAM: usize = 1;
const SOCK_CLOEXEC: usize = 0o2_000_000;
const SOCK_NONBLOCK: usize = 0o4000;
const SOL_SOCKET: usize = 1;
const SO_SNDTIMEO: usize = 21;
const MSG_DONTWAIT: usize = 0x40;
const MSG_NOSIGNAL: usize = 0x4000;
const SCM_RIGHTS: i32 = 1;
const POLLOUT: i16 = 4;

/// An error number of the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Errno(pub i32);

fn checked(answer: isize) -> Result<usize, Errno> {
    usize::try_from(answer).map_err(|_| Errno(i32::try_from(answer.unsigned_abs()).unwrap_or(ENOSYS)))
}

/// The same call again for as long as a signal handler ends it.
fn retried(number: usize, arguments: [usize; 6]) -> Result<usize, Errno> {
    loop {
        // SAFETY: every caller in this file passes addresses that are valid for the call.
        match checked(unsafe { syscall(number, arguments) }) {
            Err(Errno(EINTR)) => {}
            answer => return answer,
        }
    }
}

/// A descriptor of the shim's own, closed when dropped.
#[derive(Debug)]
pub struct Descriptor(usize);

impl Drop for Descriptor {
    fn drop(&mut self) {
        // SAFETY: close(2) takes no address. Its answer changes nothing: the descriptor is gone.
        unsafe { syscall(number::CLOSE, [self.0, 0, 0, 0, 0, 0]) };
    }
}

/// `struct iovec`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Piece {
    base: *const u8,
    length: usize,
}

impl Piece {
    /// No bytes.
    pub const EMPTY: Self = Self { base: core::ptr::null(), length: 0 };

    /// These bytes, which have to stay until they are sent.
    pub const fn of(bytes: &[u8]) -> Self {
        Self { base: bytes.as_ptr(), length: bytes.len() }
    }

    /// How many bytes there are.
    pub const fn length(self) -> usize {
        self.length
    }

    /// Without the first `n` bytes.
    pub const fn after(self, n: usize) -> Self {
        Self { base: self.base.wrapping_add(n), length: self.length.saturating_sub(n) }
    }
}

/// `struct msghdr`, as the kernel has it on 64-bit processors.
#[repr(C)]
struct Message {
    name: usize,
    name_length: u32,
    pieces: *const Piece,
    count: usize,
    control: *const Rights,
    control_length: usize,
    flags: i32,
}

/// `struct cmsghdr` with one descriptor.
#[repr(C)]
struct Rights {
    length: usize,
    level: i32,
    kind: i32,
    descriptor: i32,
    padding: i32,
}

/// A stream socket.
pub fn socket(blocking: bool) -> Result<Descriptor, Errno> {
    let kind = SOCK_STREAM | SOCK_CLOEXEC | if blocking { 0 } else { SOCK_NONBLOCK };
    retried(number::SOCKET, [AF_UNIX, kind, 0, 0, 0, 0]).map(Descriptor)
}

/// Connects to the address, a `struct sockaddr_un`.
pub fn connect(socket: &Descriptor, address: &[u8]) -> Result<(), Errno> {
    retried(number::CONNECT, [socket.0, address.as_ptr() as usize, address.len(), 0, 0, 0]).map(drop)
}

/// A pair of connected stream sockets.
pub fn socket_pair(blocking: bool) -> Result<(Descriptor, Descriptor), Errno> {
    let kind = SOCK_STREAM | SOCK_CLOEXEC | if blocking { 0 } else { SOCK_NONBLOCK };
    let mut pair = [0_i32; 2];
    retried(number::SOCKETPAIR, [AF_UNIX, kind, 0, pair.as_mut_ptr() as usize, 0, 0])?;
    let [a, b] = pair.map(|fd| Descriptor(fd as usize));
    Ok((a, b))
}

/// Limits how long a connect or a send may take.
pub fn limit_sending(socket: &Descriptor, seconds: i64) -> Result<(), Errno> {
    let time = [seconds, 0];
    let arguments = [socket.0, SOL_SOCKET, SO_SNDTIMEO, time.as_ptr() as usize, size_of_val(&time), 0];
    retried(number::SETSOCKOPT, arguments).map(drop)
}

/// Sends `descriptor` over `channel`, a descriptor of the process.
pub fn pass(channel: i32, descriptor: &Descriptor, blocking: bool) -> Result<(), Errno> {
    let word = [Piece::of(b"a")];
    let rights = Rights { length: 20, level: SOL_SOCKET as i32, kind: SCM_RIGHTS, descriptor: descriptor.0 as i32, padding: 0 };
    let message = Message {
        name: 0,
        name_length: 0,
        pieces: word.as_ptr(),
        count: 1,
        control: &raw const rights,
        control_length: size_of::<Rights>(),
        flags: 0,
    };
    let flags = MSG_NOSIGNAL | if blocking { 0 } else { MSG_DONTWAIT };
    retried(number::SENDMSG, [channel as usize, &raw const message as usize, flags, 0, 0, 0]).map(drop)
}

/// Sends what `pieces` name; how much of it went.
pub fn send(socket: &Descriptor, pieces: &[Piece]) -> Result<usize, Errno> {
    let message = Message {
        name: 0,
        name_length: 0,
        pieces: pieces.as_ptr(),
        count: pieces.len(),
        control: core::ptr::null(),
        control_length: 0,
        flags: 0,
    };
    retried(number::SENDMSG, [socket.0, &raw const message as usize, MSG_NOSIGNAL, 0, 0, 0])
}

/// Reads into `to`; 0 at the end.
pub fn receive(socket: &Descriptor, to: &mut [u8]) -> Result<usize, Errno> {
    retried(number::READ, [socket.0, to.as_mut_ptr() as usize, to.len(), 0, 0, 0])
}

/// Writes `line` to standard error, whole or not at all, and never waits: a reader that is gone or asleep delays nothing and
/// raises no SIGPIPE.
pub fn tell(line: &[u8]) {
    let sent = retried(number::SENDTO, [2, line.as_ptr() as usize, line.len(), MSG_NOSIGNAL | MSG_DONTWAIT, 0, 0]);
    if sent != Err(Errno(ENOTSOCK)) {
        return;
    }
    // A pipe that is ready takes a page, which is more than a line. Any other event is an error: POLLERR has no reader.
    let mut poll = Poll { descriptor: 2, events: POLLOUT, happened: 0 };
    let now = [0_i64; 2];
    let ready = retried(number::PPOLL, [&raw mut poll as usize, 1, now.as_ptr() as usize, 0, 0, 0]);
    if ready == Ok(1) && poll.happened == POLLOUT {
        let _ = retried(number::WRITE, [2, line.as_ptr() as usize, line.len(), 0, 0, 0]);
    }
}

/// `struct pollfd`.
#[repr(C)]
struct Poll {
    descriptor: i32,
    events: i16,
    happened: i16,
}

/// Fresh memory of `length` bytes, or none.
pub fn map(length: usize) -> Option<*mut u8> {
    const READ_WRITE: usize = 3;
    const PRIVATE_ANONYMOUS: usize = 0x22;
    retried(number::MMAP, [0, length, READ_WRITE, PRIVATE_ANONYMOUS, usize::MAX, 0]).ok().map(|address| address as *mut u8)
}

/// Gives memory of [`map`] back.
///
/// # Safety
/// Nothing uses it any more.
pub unsafe fn unmap(address: *mut u8, length: usize) {
    // SAFETY: the caller's promise.
    unsafe { syscall(number::MUNMAP, [address as usize, length, 0, 0, 0, 0]) };
}

/// execve(2) itself, where the C library's function is missing. Sets errno.
///
/// # Safety
/// As execve(2).
pub unsafe fn execve(path: Text, argv: Vector, envp: Vector) -> c_int {
    // SAFETY: the caller's promise.
    returned(unsafe { syscall(number::EXECVE, [path as usize, argv as usize, envp as usize, 0, 0, 0]) })
}

/// execveat(2) itself, which musl has no function for. Sets errno.
///
/// # Safety
/// As execveat(2).
pub unsafe fn execveat(folder: c_int, path: Text, argv: Vector, envp: Vector, flags: c_int) -> c_int {
    let arguments = [folder as usize, path as usize, argv as usize, envp as usize, flags as usize, 0];
    // SAFETY: the caller's promise.
    returned(unsafe { syscall(number::EXECVEAT, arguments) })
}

fn returned(answer: isize) -> c_int {
    match checked(answer) {
        Ok(_) => 0,
        Err(Errno(errno)) => failed(errno),
    }
}

/// The process, as the kernel has it now: in a child of vfork not the one that it shares its memory with.
pub fn process() -> u32 {
    retried(number::GETPID, [0; 6]).ok().and_then(|pid| u32::try_from(pid).ok()).unwrap_or(0)
}

/// Ends the process.
#[cfg_attr(not(stayexec_shim), expect(dead_code, reason = "the library's panic handler alone ends a process"))]
pub fn end(status: usize) -> ! {
    loop {
        // SAFETY: exit_group(2) takes no address.
        unsafe { syscall(number::EXIT_GROUP, [status, 0, 0, 0, 0, 0]) };
    }
}

/// Sets errno, and is -1.
pub fn failed(errno: i32) -> c_int {
    let address = weak!("__errno_location");
    if address != 0 {
        // SAFETY: both C libraries define it so; it does no more than compute the thread's address of errno.
        let location = unsafe { core::mem::transmute::<usize, extern "C" fn() -> *mut c_int>(address) };
        let place = location();
        // SAFETY: errno of this thread.
        unsafe { *place = errno };
    }
    -1
}
