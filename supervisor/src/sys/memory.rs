//! Another process's memory.
//!
//! Invariant: a short read is an error. Refuses to follow pointers: callers say where and how much.

use super::checked;
use std::io;
use std::os::unix::fs::FileExt;

/// Reads exactly `length` bytes at `address`: process_vm_readv(2).
///
/// # Errors
/// EFAULT where a part is not mapped; EPERM, ESRCH.
pub fn read(pid: i32, address: u64, length: usize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; length];
    if read_some(pid, address, &mut bytes)? < length { Err(io::Error::from_raw_os_error(libc::EFAULT)) } else { Ok(bytes) }
}

/// Reads as much of `into` as is mapped from `address` on, and says how much.
///
/// # Errors
/// EFAULT where nothing is mapped there; EPERM, ESRCH.
pub fn read_some(pid: i32, address: u64, into: &mut [u8]) -> io::Result<usize> {
    let local = libc::iovec { iov_base: into.as_mut_ptr().cast(), iov_len: into.len() };
    let remote = libc::iovec { iov_base: address as *mut _, iov_len: into.len() };
    // SAFETY: the kernel writes at most `into.len()` bytes to `into`; the remote address is only a number here.
    let n = unsafe { libc::process_vm_readv(pid, &raw const local, 1, &raw const remote, 1, 0) };
    match checked(n as libc::c_long) {
        // A container's filter that refuses the call leaves the file, whose permissions are the same.
        Err(e) if matches!(e.raw_os_error(), Some(libc::EPERM | libc::ENOSYS)) => {
            std::fs::File::open(format!("/proc/{pid}/mem")).and_then(|file| file.read_at(into, address)).map_err(|_| e)
        }
        other => other.map(|n| n as usize),
    }
}

/// Reads a string up to its zero byte, at most `limit` bytes without it.
///
/// # Errors
/// EFAULT where it runs into unmapped memory, ENAMETOOLONG past the limit; EPERM, ESRCH.
pub fn read_string(pid: i32, address: u64, limit: usize) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    let mut chunk = [0; 256];
    while text.len() <= limit {
        let at = address.wrapping_add(text.len() as u64);
        // A chunk never crosses into a page that the string may not reach.
        let in_page = 4096 - (at % 4096) as usize;
        let room = chunk.len().min(in_page);
        let n = read_some(pid, at, &mut chunk[..room])?;
        if let Some(end) = chunk[..n].iter().position(|&b| b == 0) {
            text.extend_from_slice(&chunk[..end]);
            return Ok(text);
        }
        text.extend_from_slice(&chunk[..n]);
    }
    Err(io::Error::from_raw_os_error(libc::ENAMETOOLONG))
}

/// Writes `bytes` at `address`: process_vm_writev(2). Pages have to be writable for the process itself.
///
/// # Errors
/// EFAULT, EPERM, ESRCH.
pub fn write(pid: i32, address: u64, bytes: &[u8]) -> io::Result<()> {
    let local = libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() };
    let remote = libc::iovec { iov_base: address as *mut _, iov_len: bytes.len() };
    // SAFETY: the kernel reads `bytes.len()` bytes from `bytes`.
    let n = checked(unsafe { libc::process_vm_writev(pid, &raw const local, 1, &raw const remote, 1, 0) } as libc::c_long)?;
    if n as usize == bytes.len() { Ok(()) } else { Err(io::Error::from_raw_os_error(libc::EFAULT)) }
}
