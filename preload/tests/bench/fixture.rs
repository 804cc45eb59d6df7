//! Fixtures, compiled once a test program, for each C library.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, OnceLock};

/// How a fixture is linked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Libc {
    Glibc,
    Musl,
    /// Without a loader, and so without the shim.
    Static,
    /// For 32-bit x86.
    I386,
}

impl Libc {
    const fn compiler(self) -> &'static str {
        if matches!(self, Self::Musl) { "musl-gcc" } else { "gcc" }
    }

    const fn flags(self) -> &'static [&'static str] {
        match self {
            Self::Glibc | Self::Musl => &[],
            Self::Static => &["-static"],
            Self::I386 => &["-m32"],
        }
    }
}

/// The C libraries of this machine with a loader.
#[must_use]
pub fn libcs() -> Vec<Libc> {
    let musl = Command::new("musl-gcc").arg("--version").output().is_ok_and(|o| o.status.success());
    if musl {
        return vec![Libc::Glibc, Libc::Musl];
    }
    super::cannot_run("no musl-gcc (Debian: musl-tools): programs of the C library musl are not tried");
    vec![Libc::Glibc]
}

/// Whether programs for 32-bit x86 can be made here.
#[must_use]
pub fn has_i386() -> bool {
    let (_, made) = compile("child", Libc::I386);
    if !made {
        super::cannot_run("no compiler for 32-bit x86 (Debian: gcc-multilib): such programs are not tried");
    }
    made
}

/// The compiled fixture `name`.
#[must_use]
pub fn fixture(name: &str, libc: Libc) -> PathBuf {
    let (program, made) = compile(name, libc);
    assert!(made, "{} of {name} for {libc:?} failed", libc.compiler());
    program
}

/// The place of a file that this test program makes for itself.
#[must_use]
pub fn made_here(name: &str) -> PathBuf {
    let program = std::env::current_exe().expect("this program");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(program.file_name().expect("a name"));
    std::fs::create_dir_all(&folder).expect("make a folder");
    folder.join(name)
}

fn compile(name: &str, libc: Libc) -> (PathBuf, bool) {
    static DONE: OnceLock<Mutex<HashMap<(String, Libc), bool>>> = OnceLock::new();
    let mut done = DONE.get_or_init(Mutex::default).lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let program = made_here(&format!("{name}-{libc:?}"));
    let made = *done.entry((name.to_owned(), libc)).or_insert_with(|| {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name).with_extension("c");
        let mut command = Command::new(libc.compiler());
        command.args(["-std=gnu11", "-O1", "-Wall", "-Werror", "-Wno-nonnull", "-pthread"]).args(libc.flags());
        command.arg(source).arg("-o").arg(&program).arg("-ldl");
        command.status().is_ok_and(|status| status.success())
    });
    (program, made)
}
