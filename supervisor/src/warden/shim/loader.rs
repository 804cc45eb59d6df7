//! Whether a program's loader would take the shim in.
//!
//! Invariant: only what is certain counts: a dynamic program of this machine's own width and kind, without privilege of its
//! own, readable. Any other starts without the shim's variables: a static program would hand them to its children, and a
//! loader of another width would complain on the program's standard error.

use std::fs::File;
use std::io::Read;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

/// Deepest chain of `#!` lines that the kernel follows.
const CHAIN: usize = 5;
/// The kernel looks at this many bytes to tell what a file is (BINPRM_BUF_SIZE).
const HEAD: usize = 256;
/// Type of the program header that names the loader (elf(5)).
const PT_INTERP: u32 = 3;
/// Most program headers that are looked at.
const HEADERS: u16 = 64;

/// Whether the program at `path`, or the interpreter that the kernel loads for it, would load the shim.
pub fn takes_shim(path: &Path) -> bool {
    let mut path = path.to_owned();
    for _ in 0..CHAIN {
        let Ok(mut file) = File::open(&path) else { return false };
        if !file.metadata().is_ok_and(|m| m.is_file() && m.mode() & (libc::S_ISUID | libc::S_ISGID) == 0) {
            return false;
        }
        let mut head = [0; HEAD];
        let Ok(n) = file.read(&mut head) else { return false };
        match head[..n].strip_prefix(b"#!") {
            Some(line) => match interpreter(line) {
                Some(next) => path = next,
                None => return false,
            },
            None => return has_loader(&file, &head[..n]),
        }
    }
    false
}

fn interpreter(line: &[u8]) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStrExt;
    let line = line.split(|&b| b == b'\n').next()?.trim_ascii_start();
    let word = line.split(|b| b" \t\0".contains(b)).next().filter(|word| !word.is_empty())?;
    Some(PathBuf::from(std::ffi::OsStr::from_bytes(word)))
}

/// Whether it is an ELF file of our own machine that names a loader.
fn has_loader(file: &File, head: &[u8]) -> bool {
    let half = |at: usize| head.get(at..at + 2).map(|b| u16::from_le_bytes([b[0], b[1]]));
    let (Some(machine), Some(size), Some(count)) = (half(18), half(54), half(56)) else { return false };
    // 64-bit, little-endian, this machine.
    if !head.starts_with(b"\x7fELF\x02\x01") || machine != MACHINE || size < 4 {
        return false;
    }
    let Some(at) = head.get(32..40).and_then(|b| b.try_into().ok()).map(u64::from_le_bytes) else { return false };
    (0..count.min(HEADERS)).any(|n| {
        let mut kind = [0; 4];
        let place = at.checked_add(u64::from(n) * u64::from(size));
        place.is_some_and(|place| file.read_exact_at(&mut kind, place).is_ok()) && u32::from_le_bytes(kind) == PT_INTERP
    })
}

/// EM_X86_64 or EM_AARCH64 (elf.h).
const MACHINE: u16 = if cfg!(target_arch = "x86_64") { 62 } else { 183 };

#[cfg(test)]
mod tests {
    use super::*;
    use std::io;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_dynamic_program_and_a_script_of_one_take_it_and_nothing_else_does() -> io::Result<()> {
        let dir = tempfile::tempdir()?;
        let file = |name: &str, text: &str| std::fs::write(dir.path().join(name), text).map(|()| dir.path().join(name));
        assert!(takes_shim(Path::new("/bin/sh")));
        assert!(takes_shim(&file("script", "#! /bin/sh -e\n")?));
        for text in ["", "echo", "#!", "#!/none/sh\n", "\x7fELF\x02\x01"] {
            assert!(!takes_shim(&file("other", text)?), "{text:?}");
        }
        let own = dir.path().join("own");
        std::fs::copy("/bin/sh", &own)?;
        assert!(takes_shim(&own));
        std::fs::set_permissions(&own, std::fs::Permissions::from_mode(0o4755))?;
        assert!(!takes_shim(&own));
        let round = dir.path().join("round");
        std::fs::write(&round, format!("#!{}\n", round.display()))?;
        assert!(!takes_shim(&round) && !takes_shim(dir.path()) && !takes_shim(Path::new("/none")));
        Ok(())
    }
}
