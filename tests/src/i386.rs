//! A 32-bit program, assembled by hand: no 32-bit C library is needed to have one refused.

const BASE: u32 = 0x0804_8000;
const HEADERS: u32 = 52 + 32;

/// An i386 ELF file that makes the file `made` in its working directory and ends with 0.
///
/// # Panics
/// Where the name is longer than 200 bytes.
#[must_use]
pub fn i386_mark(made: &str) -> Vec<u8> {
    assert!(made.len() < 200);
    let entry = BASE + HEADERS;
    let mut code = vec![0xb8, 8, 0, 0, 0, 0xbb]; // mov eax, creat; mov ebx, name
    let name = entry + 27;
    code.extend_from_slice(&name.to_le_bytes());
    code.extend_from_slice(&[0xb9, 0xa4, 1, 0, 0, 0xcd, 0x80]); // mov ecx, 0644; int 0x80
    code.extend_from_slice(&[0xb8, 1, 0, 0, 0, 0x31, 0xdb, 0xcd, 0x80, 0x90]); // mov eax, exit; xor ebx, ebx; int 0x80; nop
    code.extend_from_slice(made.as_bytes());
    code.push(0);
    let size = HEADERS + u32::try_from(code.len()).unwrap_or(0);
    let mut file = vec![0x7f, b'E', b'L', b'F', 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 3, 0];
    for word in [1, entry, 52, 0, 0] {
        file.extend_from_slice(&word.to_le_bytes()); // version, entry, program headers, section headers, flags
    }
    for half in [52_u16, 32, 1, 0, 0, 0] {
        file.extend_from_slice(&half.to_le_bytes());
    }
    for word in [1, 0, BASE, BASE, size, size, 5, 4096] {
        file.extend_from_slice(&word.to_le_bytes()); // one segment, readable and executable
    }
    file.extend_from_slice(&code);
    file
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_does_its_deed() -> anyhow::Result<()> {
        let dir = tempfile::tempdir()?;
        std::fs::write(dir.path().join("source"), i386_mark("made"))?;
        crate::install(&dir.path().join("source"), &dir.path().join("program"))?;
        match std::process::Command::new(dir.path().join("program")).current_dir(dir.path()).status() {
            Ok(status) => assert!(status.success() && dir.path().join("made").exists(), "{status}"),
            Err(cause) => crate::cannot_run(&format!("no 32-bit programs: {cause}")),
        }
        Ok(())
    }
}
