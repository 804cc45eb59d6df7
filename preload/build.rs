//! Builds the shared library out of this crate's own sources, and hands it to the crate to carry.
//!
//! A `no_std` shared library needs `panic = "abort"`, which cargo sets for a whole build or not at all, and the supervisor
//! has to unwind. So the compiler is called here, twice: for the words, for the library. Invariant: the library links with
//! nothing, whatever this build is: no C library, no start files; what it needs it finds in its process.

use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    println!("cargo::rustc-check-cfg=cfg(stayexec_shim)");
    println!("cargo::rerun-if-env-changed=RUSTC_LINKER");
    println!("cargo::rerun-if-changed=src");
    println!("cargo::rerun-if-changed=../protocol/src");
    let out = PathBuf::from(variable("OUT_DIR"));
    let words = out.join("libstayexec_protocol.rlib");
    let library = out.join("libstayexec_preload.so");

    let mut compile = rustc(Path::new("../protocol/src/lib.rs"), "stayexec_protocol", &words);
    compile.args(["--crate-type=rlib", "-Cembed-bitcode=yes"]);
    run(compile);

    let mut compile = rustc(Path::new("src/lib.rs"), "stayexec_preload", &library);
    compile.args(["--crate-type=cdylib", "--cfg=stayexec_shim", "-Clto=fat", "-Clink-arg=-nostdlib", "-Clink-arg=-nostartfiles"]);
    compile.args(["-Clink-arg=-Wl,-soname,libstayexec_preload.so", "-Clink-arg=-Wl,-z,now", "-Clink-arg=-Wl,--build-id=none"]);
    compile.arg(format!("--extern=stayexec_protocol={}", words.display()));
    if variable("CARGO_CFG_TARGET_ENV") == "musl" {
        // There, a build is static by default, and brings start files of its own.
        compile.args(["-Ctarget-feature=-crt-static", "-Clink-self-contained=no"]);
    }
    if let Some(linker) = std::env::var_os("RUSTC_LINKER") {
        compile.arg(format!("-Clinker={}", linker.to_string_lossy()));
    }
    run(compile);
}

/// What both calls have in common. Unwind tables stay: a thread that is cancelled inside `system` unwinds through the shim.
fn rustc(source: &Path, name: &str, to: &Path) -> Command {
    let mut command = Command::new(variable("RUSTC"));
    command.arg(source).args(["--crate-name", name, "--edition=2024", "--cap-lints=allow", "-o"]).arg(to);
    command.args(["-Cpanic=abort", "-Copt-level=3", "-Ccodegen-units=1", "-Cforce-unwind-tables=yes", "-Cdebuginfo=0"]);
    command.args(["--target", &variable("TARGET")]);
    command
}

fn run(mut command: Command) {
    match command.status() {
        Ok(status) if status.success() => {}
        Ok(status) => panic!("{command:?} ended with {status}"),
        Err(cause) => panic!("cannot start {command:?}: {cause}"),
    }
}

fn variable(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|cause| panic!("{name}: {cause}"))
}
