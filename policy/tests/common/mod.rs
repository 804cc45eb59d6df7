//! The corpora: read from their folder when a test runs, one case a line below a head line.

use std::path::Path;

/// The lines of `tests/corpus/NAME` below its first; `mark` stands for a newline.
pub fn lines(name: &str, mark: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus").join(name);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|why| panic!("{}: {why}", path.display()));
    text.lines().skip(1).filter(|line| !line.is_empty()).map(|line| line.replace(mark, "\n")).collect()
}
