//! Reading the arguments of a call from its caller's memory.
//!
//! Invariant: what is read here only finds files and names them; a caller can change it after the look. Refuses vectors
//! that no exec could take.

use super::lookup::Request;
use crate::sys::arch::{NATIVE, TABLES, Width};
use crate::sys::memory;
use crate::sys::notify::Notification;
use std::io;

/// Longest path, in bytes without its zero (PATH_MAX).
const PATH_LIMIT: usize = 4095;
/// Most words of a vector that is judged in the call, and most bytes of them together.
const COUNT_LIMIT: usize = 64 << 10;
const BYTES_LIMIT: usize = 2 << 20;
/// Words are fetched by so many bytes of pointers at once.
const PAGE: u64 = 4096;

/// Path and folder of the file that a call asks for.
///
/// # Errors
/// EFAULT and ENAMETOOLONG, which the kernel will find as well; EINVAL for a call that starts no program.
pub fn request(call: &Notification) -> io::Result<Request> {
    let text = |address: u64| memory::read_string(call.tid, address, PATH_LIMIT);
    if is_execveat(call)? {
        let flags = call.args[4] as i32;
        let path = text(call.args[1])?;
        if path.is_empty() && flags & libc::AT_EMPTY_PATH == 0 {
            return Err(io::Error::from_raw_os_error(libc::ENOENT));
        }
        let folder = call.args[0] as i32;
        let base = (folder != libc::AT_FDCWD).then_some(folder);
        return Ok(Request { tid: call.tid, path, base, no_follow: flags & libc::AT_SYMLINK_NOFOLLOW != 0 });
    }
    Ok(Request { tid: call.tid, path: text(call.args[0])?, base: None, no_follow: false })
}

/// The argument vector that the caller passes.
///
/// # Errors
/// EFAULT; E2BIG past the limits.
pub fn vector(call: &Notification) -> io::Result<Vec<Vec<u8>>> {
    strings(call, call.args[if is_execveat(call)? { 2 } else { 1 }])
}

/// The environment that the caller passes.
///
/// # Errors
/// As [`vector`].
pub fn environment(call: &Notification) -> io::Result<Vec<Vec<u8>>> {
    strings(call, call.args[if is_execveat(call)? { 3 } else { 2 }])
}

fn strings(call: &Notification, pointers: u64) -> io::Result<Vec<Vec<u8>>> {
    let width = if call.arch == NATIVE.audit { Width::Wide } else { Width::Narrow };
    let (mut words, mut left, mut at) = (Vec::new(), BYTES_LIMIT, pointers);
    // Linux takes a null vector for an empty one (execve(2)).
    if pointers == 0 {
        return Ok(words);
    }
    loop {
        // A read never crosses into a page that the vector may not reach.
        let room = (PAGE - at % PAGE) as usize;
        let mut piece = memory::read(call.tid, at, room.max(width.pointer()))?;
        piece.truncate(piece.len() / width.pointer() * width.pointer());
        at += piece.len() as u64;
        for raw in piece.chunks_exact(width.pointer()) {
            let mut word = [0; 8];
            word[..raw.len()].copy_from_slice(raw);
            let pointer = u64::from_le_bytes(word);
            if pointer == 0 {
                return Ok(words);
            }
            if words.len() >= COUNT_LIMIT {
                return Err(io::Error::from_raw_os_error(libc::E2BIG));
            }
            let string = memory::read_string(call.tid, pointer, left)?;
            left -= string.len();
            words.push(string);
        }
    }
}

fn is_execveat(call: &Notification) -> io::Result<bool> {
    let table = TABLES.iter().find(|t| t.audit == call.arch);
    match (table, u32::try_from(call.nr)) {
        (Some(table), Ok(nr)) if nr == table.execveat => Ok(true),
        (Some(table), Ok(nr)) if nr == table.execve => Ok(false),
        _ => Err(io::Error::from_raw_os_error(libc::EINVAL)),
    }
}
