//! Whether a program's loader would take the shim in.
//!
//! Invariant: only what is certain counts: a dynamic program of this machine's own width and kind, without privilege of its
//! own, readable. Any other starts without the shim's variables: a static program would hand them to its children, and a
//! loader of another width would complain on the program's standard error.

use super::super::elf::{self, HEAD, Kind};
use std::fs::File;
use std::io::Read;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Deepest chain of `#!` lines that the kernel follows.
const CHAIN: usize = 5;

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
        if !head.starts_with(b"#!") {
            return matches!(elf::kind(&file, &head[..n]), Kind::Dynamic(_));
        }
        let Some((next, _)) = elf::interpreter(&head[..n]) else { return false };
        path = std::ffi::OsString::from_vec(next).into();
    }
    false
}

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
