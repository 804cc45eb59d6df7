//! The identity of a build: a digest over everything that it is made from.
//!
//! Warden and supervisor compare it. Invariant: the same sources give the same identity, wherever and however they are
//! built. Refuses nothing: a source that is not there (a crate that was fetched by itself) is part of the locked versions.

use std::fs;
use std::hash::{DefaultHasher, Hasher};
use std::io;
use std::path::{Path, PathBuf};

const SOURCES: [&str; 9] = [
    "Cargo.toml",
    "src",
    "web",
    "../Cargo.toml",
    "../Cargo.lock",
    "../policy/src",
    "../policy/knowledge",
    "../preload/src",
    "../protocol/src",
];

fn main() -> io::Result<()> {
    let mut files = Vec::new();
    for source in SOURCES.map(Path::new).into_iter().filter(|source| source.exists()) {
        println!("cargo::rerun-if-changed={}", source.display());
        gather(source, &mut files)?;
    }
    files.sort();
    let mut hash = DefaultHasher::new();
    for file in files {
        let content = fs::read(&file)?;
        for part in [file.as_os_str().as_encoded_bytes(), &content] {
            hash.write_usize(part.len());
            hash.write(part);
        }
    }
    println!("cargo::rustc-env=STAYEXEC_BUILD={:016x}", hash.finish());
    Ok(())
}

fn gather(path: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    if !path.is_dir() {
        files.push(path.to_owned());
        return Ok(());
    }
    fs::read_dir(path)?.try_for_each(|entry| gather(&entry?.path(), files))
}
