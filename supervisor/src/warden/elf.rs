//! What kind of program a file is, from its ELF headers (elf(5)).
//!
//! Invariant: only what is certain is told: a file that is not of this machine's own width and kind is of another kind.

use std::fs::File;
use std::os::unix::fs::FileExt;

/// The kernel looks at this many bytes to tell what a file is (BINPRM_BUF_SIZE).
pub const HEAD: usize = 256;

/// EM_X86_64 or EM_AARCH64 (elf.h).
const MACHINE: u16 = if cfg!(target_arch = "x86_64") { 62 } else { 183 };
/// Type of the program header that names the loader.
const PT_INTERP: u32 = 3;
/// Most program headers that are looked at, and the longest path of a loader.
const HEADERS: u16 = 64;
const LONGEST: u64 = 4096;

/// A kind of program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// It is loaded alone.
    Static,
    /// A loader, at this path, loads it and its libraries.
    Dynamic(Vec<u8>),
    /// Of another machine or width, or no program.
    Other,
}

/// The kind of `file`, which begins with `head`.
pub fn kind(file: &File, head: &[u8]) -> Kind {
    let half = |at: usize| head.get(at..at + 2).map(|b| u16::from_le_bytes([b[0], b[1]]));
    let (Some(machine), Some(size), Some(count)) = (half(18), half(54), half(56)) else { return Kind::Other };
    // 64-bit, little-endian, this machine.
    if !head.starts_with(b"\x7fELF\x02\x01") || machine != MACHINE || size < 56 || count > HEADERS {
        return Kind::Other;
    }
    let word = |bytes: &[u8], at: usize| bytes.get(at..at + 8).and_then(|b| b.try_into().ok()).map(u64::from_le_bytes);
    let Some(table) = word(head, 32) else { return Kind::Other };
    for n in 0..count {
        let mut header = [0; 56];
        let place = table.checked_add(u64::from(n) * u64::from(size));
        if place.is_none_or(|place| file.read_exact_at(&mut header, place).is_err()) {
            return Kind::Other;
        }
        if !header.starts_with(&PT_INTERP.to_le_bytes()) {
            continue;
        }
        let (Some(offset), Some(length)) = (word(&header, 8), word(&header, 32)) else { return Kind::Other };
        let mut path = vec![0; length.min(LONGEST) as usize];
        if file.read_exact_at(&mut path, offset).is_err() {
            return Kind::Other;
        }
        path.truncate(path.iter().position(|&b| b == 0).unwrap_or(path.len()));
        return Kind::Dynamic(path);
    }
    Kind::Static
}

/// The interpreter that a `#!` line names, and the argument that the kernel hands it.
pub fn interpreter(text: &[u8]) -> Option<(Vec<u8>, Option<Vec<u8>>)> {
    let head = text.get(..HEAD).unwrap_or(text);
    let line = head.strip_prefix(b"#!")?.split(|&b| b == b'\n' || b == 0).next()?.trim_ascii();
    let end = line.iter().position(|&b| b == b' ' || b == b'\t').unwrap_or(line.len());
    let (path, rest) = line.split_at(end);
    let argument = rest.trim_ascii_start();
    (!path.is_empty()).then(|| (path.to_vec(), (!argument.is_empty()).then(|| argument.to_vec())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{self, Read};

    #[test]
    fn a_shell_is_dynamic_and_a_text_is_nothing() -> io::Result<()> {
        let mut file = File::open("/bin/sh")?;
        let mut head = [0; HEAD];
        let n = file.read(&mut head)?;
        assert!(matches!(kind(&file, &head[..n]), Kind::Dynamic(loader) if loader.starts_with(b"/")));
        assert_eq!(kind(&file, b"#!/bin/sh"), Kind::Other);
        assert_eq!(kind(&file, &head[..20]), Kind::Other);
        Ok(())
    }

    #[test]
    fn a_line_has_one_argument_at_most() {
        let named = |line: &str| interpreter(line.as_bytes());
        assert_eq!(named("#!/bin/sh\necho"), Some((b"/bin/sh".to_vec(), None)));
        assert_eq!(named("#!  /usr/bin/env  node -x \n"), Some((b"/usr/bin/env".to_vec(), Some(b"node -x".to_vec()))));
        assert_eq!(named("#!\n"), None);
        assert_eq!(named("echo"), None);
    }
}
