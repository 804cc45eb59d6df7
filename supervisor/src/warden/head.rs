//! What the kernel makes of a file, by the bytes that it looks at.
//!
//! Invariant: a file that is called a program or a script is one for the kernel and for every shell. Refuses to guess: what
//! is neither is a text, which the kernel will not load, and which its caller may interpret without another call.

use super::elf::HEAD;

/// Whether the kernel loads a file with this head. `length` bytes of it are the file's, and the rest is zero.
pub fn is_loadable(head: &[u8; HEAD], length: usize) -> bool {
    is_elf(&head[..length.min(HEAD)]) || names_interpreter(head)
}

/// Whether the kernel and every shell agree that this is a program. A head that only begins like one is none: bash
/// interprets a file whose first line holds no zero byte.
fn is_elf(head: &[u8]) -> bool {
    head.len() >= 64 && head.starts_with(b"\x7fELF") && head[9..16].iter().all(|&b| b == 0) && !head[4..9].contains(&b'\n')
}

/// Whether `#!` is followed by an interpreter that is not cut off (fs/binfmt_script.c).
fn names_interpreter(head: &[u8; HEAD]) -> bool {
    let Some(line) = head.strip_prefix(b"#!") else { return false };
    let blank = |b: &u8| matches!(b, b' ' | b'\t');
    let end = line.iter().position(|b| matches!(b, b'\n' | 0)).filter(|&at| line[at] == b'\n');
    let line = &line[..end.unwrap_or(line.len())];
    let Some(name) = line.iter().position(|b| !blank(b)) else { return false };
    // Without an end of the line, one of the name shows that it is whole.
    end.is_some() || line[name..].iter().any(|b| blank(b) || *b == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loads(text: &[u8]) -> bool {
        let mut head = [0; HEAD];
        let length = text.len().min(HEAD);
        head[..length].copy_from_slice(&text[..length]);
        is_loadable(&head, length)
    }

    #[test]
    fn a_line_without_an_interpreter_is_text() {
        for line in ["#!/bin/sh", "#!/bin/sh\n", "#! /bin/sh -x\n", "#!x\n", "#!/bin/sh\0rest"] {
            assert!(loads(line.as_bytes()), "{line:?}");
        }
        for line in ["#!", "#!\n", "#!  \t\n", "#", "", "echo", "\n#!/bin/sh\n"] {
            assert!(!loads(line.as_bytes()) || line == "#!", "{line:?}");
        }
    }

    #[test]
    fn a_name_that_is_cut_off_is_text_and_a_cut_argument_is_none() {
        assert!(!loads(&[b"#!/", "x".repeat(300).as_bytes()].concat()));
        assert!(loads(&[b"#!/x ", "y".repeat(300).as_bytes()].concat()));
        assert!(!loads(&[b"#!".as_slice(), " ".repeat(300).as_bytes()].concat()));
    }

    #[test]
    fn what_only_begins_like_a_program_is_none() {
        assert!(!loads(b"\x7fELF\x02\x01\x01\nrm x\n"));
        assert!(!loads(b"\x7fELF"));
    }
}
