//! The initial stack of an image, as the kernel lays it out: argument count, argument pointers, environment pointers,
//! auxiliary vector (fs/binfmt_elf.c, create_elf_tables).
//!
//! Invariant: argument vector and environment are complete or there is an error; nothing is cut. Refuses pointers that
//! lead off the stack.

use crate::sys::arch::Width;
use crate::sys::memory;
use std::io;

/// Most that is read, in bytes: the kernel caps argv and environment at 6 MiB together (execve(2)).
const LIMIT: usize = 8 << 20;
/// First read, in bytes; most stacks fit.
const FIRST: usize = 16 << 10;

const AT_UID: u64 = 11;
const AT_EUID: u64 = 12;
const AT_EXECFN: u64 = 31;

/// What the kernel gave an image to start with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Initial {
    /// Argument vector.
    pub argv: Vec<Vec<u8>>,
    /// Environment.
    pub environment: Vec<Vec<u8>>,
    /// Real user id.
    pub uid: u32,
    /// Effective user id.
    pub euid: u32,
    /// The path that was executed, as it was given.
    pub executed: Vec<u8>,
}

/// The bytes from the stack pointer upwards.
struct Bytes {
    /// Address of the first byte.
    base: u64,
    bytes: Vec<u8>,
}

enum Problem {
    /// More has to be read.
    Beyond,
    /// No such stack is made by the kernel.
    Malformed,
}

/// Reads the initial stack of a stopped image.
///
/// # Errors
/// EFAULT and InvalidData where it is not what the kernel builds; EPERM, ESRCH.
pub fn read(pid: i32, sp: u64, width: Width) -> io::Result<Initial> {
    let mut size = FIRST;
    loop {
        let mut bytes = vec![0; size];
        let n = memory::read_some(pid, sp, &mut bytes)?;
        bytes.truncate(n);
        let stack = Bytes { base: sp, bytes };
        match parse(&stack, width) {
            Ok(initial) => return Ok(initial),
            Err(Problem::Beyond) if n == size && size < LIMIT => size *= 4,
            Err(_) => return Err(io::ErrorKind::InvalidData.into()),
        }
    }
}

impl Bytes {
    fn word(&self, at: usize, width: Width) -> Result<u64, Problem> {
        let raw = self.bytes.get(at..at + width.pointer()).ok_or(Problem::Beyond)?;
        let mut word = [0; 8];
        word[..raw.len()].copy_from_slice(raw);
        Ok(u64::from_le_bytes(word))
    }

    fn string(&self, address: u64) -> Result<Vec<u8>, Problem> {
        let offset = address.checked_sub(self.base).ok_or(Problem::Malformed)?;
        let tail = usize::try_from(offset).ok().and_then(|o| self.bytes.get(o..)).ok_or(Problem::Beyond)?;
        let end = tail.iter().position(|&b| b == 0).ok_or(Problem::Beyond)?;
        Ok(tail[..end].to_vec())
    }

    /// The strings behind a null-terminated vector of pointers at `at`, which is moved behind it.
    fn strings(&self, at: &mut usize, width: Width) -> Result<Vec<Vec<u8>>, Problem> {
        let mut strings = Vec::new();
        loop {
            let pointer = self.word(*at, width)?;
            *at += width.pointer();
            if pointer == 0 {
                return Ok(strings);
            }
            strings.push(self.string(pointer)?);
        }
    }
}

fn parse(stack: &Bytes, width: Width) -> Result<Initial, Problem> {
    let count = stack.word(0, width)?;
    let mut at = width.pointer();
    let argv = stack.strings(&mut at, width)?;
    if argv.len() as u64 != count {
        return Err(Problem::Malformed);
    }
    let environment = stack.strings(&mut at, width)?;
    let (mut uid, mut euid, mut executed) = (None, None, None);
    loop {
        let (key, value) = (stack.word(at, width)?, stack.word(at + width.pointer(), width)?);
        at += 2 * width.pointer();
        match key {
            0 => break,
            AT_UID => uid = Some(value as u32),
            AT_EUID => euid = Some(value as u32),
            AT_EXECFN => executed = Some(stack.string(value)?),
            _ => {}
        }
    }
    let (Some(uid), Some(euid), Some(executed)) = (uid, euid, executed) else { return Err(Problem::Malformed) };
    Ok(Initial { argv, environment, uid, euid, executed })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A stack as the kernel would build it at `base`.
    fn built(argv: &[&[u8]], environment: &[&[u8]], width: Width) -> Bytes {
        let base = 0x7000_0000u64;
        let words = 1 + argv.len() + 1 + environment.len() + 1 + 8;
        let mut strings = Vec::new();
        let at = base + (words * width.pointer()) as u64;
        let mut place = |s: &[u8]| {
            let address = at + strings.len() as u64;
            strings.extend_from_slice(s);
            strings.push(0);
            address
        };
        let mut table = vec![argv.len() as u64];
        table.extend(argv.iter().map(|s| place(s)));
        table.push(0);
        table.extend(environment.iter().map(|s| place(s)));
        table.push(0);
        let executed = place(b"./prog");
        table.extend([AT_UID, 1000, AT_EUID, 0, AT_EXECFN, executed, 0, 0]);
        let mut bytes: Vec<u8> = table.iter().flat_map(|w| w.to_le_bytes()[..width.pointer()].to_vec()).collect();
        bytes.extend(strings);
        Bytes { base, bytes }
    }

    #[test]
    fn both_widths_come_back_whole() {
        for width in [Width::Wide, Width::Narrow] {
            let stack = built(&[b"rm", b"", b"\xff"], &[b"A=1"], width);
            let Ok(initial) = parse(&stack, width) else { panic!("not parsed") };
            assert_eq!(initial.argv, [b"rm".to_vec(), vec![], vec![0xff]]);
            assert_eq!(initial.environment, [b"A=1".to_vec()]);
            assert_eq!((initial.uid, initial.euid, initial.executed.as_slice()), (1000, 0, b"./prog".as_slice()));
        }
    }

    #[test]
    fn a_stack_cut_anywhere_is_never_taken_for_whole() {
        let stack = built(&[b"rm", b"-rf", b"victim"], &[b"A=1"], Width::Wide);
        for n in 0..stack.bytes.len() {
            let cut = Bytes { base: stack.base, bytes: stack.bytes[..n].to_vec() };
            assert!(matches!(parse(&cut, Width::Wide), Err(Problem::Beyond)), "cut at {n}");
        }
    }

    #[test]
    fn a_count_that_lies_and_a_pointer_off_the_stack_are_refused() {
        let mut stack = built(&[b"ls"], &[], Width::Wide);
        stack.bytes[0] = 2;
        assert!(matches!(parse(&stack, Width::Wide), Err(Problem::Malformed)));
        let mut stack = built(&[b"ls"], &[], Width::Wide);
        stack.bytes[8..16].copy_from_slice(&0x1000u64.to_le_bytes());
        assert!(matches!(parse(&stack, Width::Wide), Err(Problem::Malformed)));
    }
}
