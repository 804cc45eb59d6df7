//! The corpora: read from their folder when a test runs.
//!
//! `corpus/kinds/KIND.txt` holds what commands of one kind are: below its first line, which says what the kind is, lines
//! stand below the head of their class. `[not read]`: worse than Read, and how much worse is no matter.
#![allow(dead_code, reason = "each test takes what it needs")]

use std::path::{Path, PathBuf};

use stayexec_policy::CommandClass;

/// A command, and its class; `None`: any but Read.
pub struct Case {
    pub kind: String,
    pub text: String,
    pub class: Option<CommandClass>,
}

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus").join(name)
}

/// The lines of a file below its first; ⏎ stands for a newline.
fn below_head(path: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(path).unwrap_or_else(|why| panic!("{}: {why}", path.display()));
    text.lines().skip(1).filter(|line| !line.is_empty()).map(|line| line.replace('⏎', "\n")).collect()
}

/// The lines of `tests/corpus/NAME` below its first.
pub fn lines(name: &str) -> Vec<String> {
    below_head(&folder(name))
}

/// Every command of every kind, in the order of their names.
pub fn corpus() -> Vec<Case> {
    let folder = folder("kinds");
    let mut files: Vec<PathBuf> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let mut cases = Vec::new();
    for file in files {
        let kind = file.file_stem().unwrap().to_string_lossy().into_owned();
        let mut class = None;
        let mut headed = false;
        for text in below_head(&file) {
            match text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
                Some("not read") => class = None,
                Some(name) if name.parse::<CommandClass>().is_ok() => class = name.parse().ok(),
                _ => {
                    assert!(headed, "{}: {text:?} stands below no head", file.display());
                    cases.push(Case { kind: kind.clone(), text, class });
                }
            }
            headed = true;
        }
    }
    cases
}
