//! Compiles the fixtures: the programs that try to get past the gate.
//!
//! Invariant: a fixture that does not compile fails the build; no test can be skipped for want of it.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Source, name of the program, and how it is linked.
const FIXTURES: &[(&str, &str, &[&str])] = &[
    ("launch", "launch", &[]),
    ("launch", "launch-static", &["-static"]),
    ("launch", "launch-static-pie", &["-static-pie"]),
    ("mark", "mark", &["-static"]),
    ("mark", "mark-dynamic", &[]),
    ("mark", "mark-static-pie", &["-static-pie"]),
    ("rmtree", "rmtree", &["-static"]),
    ("deaf", "deaf", &[]),
    ("crowd", "crowd", &[]),
    ("restore", "restore", &[]),
    ("flip", "flip", &[]),
    ("rewrite", "rewrite", &[]),
    ("storm", "storm", &[]),
    ("daemon", "daemon", &[]),
    ("calls", "calls", &[]),
    ("auxv", "auxv", &[]),
    ("outer", "outer", &[]),
    ("states", "states", &[]),
    ("slowfs", "slowfs", &[]),
    ("loaded", "loaded.so", &["-shared", "-fPIC"]),
];

fn main() {
    let from = Path::new("fixtures");
    let out = PathBuf::from(std::env::var_os("OUT_DIR").unwrap_or_default());
    println!("cargo::rerun-if-changed=fixtures");
    for (source, program, link) in FIXTURES {
        compile(&from.join(source).with_extension("c"), &out.join(program), link);
    }
}

fn compile(source: &Path, program: &Path, link: &[&str]) {
    let status = Command::new("gcc")
        .args(["-std=gnu11", "-O1", "-Wall", "-Werror", "-pthread"])
        .args(link)
        .arg(source)
        .arg("-o")
        .arg(program)
        .status();
    match status {
        Ok(status) if status.success() => {}
        Ok(status) => panic!("gcc {} ended with {status}", source.display()),
        Err(cause) => panic!("cannot start gcc for {}: {cause}", source.display()),
    }
}
