//! The fuzz target's body over its corpus, and over pieces of the other corpora.

#[path = "../fuzz/body.rs"]
mod body;
mod common;

fn lines() -> Vec<String> {
    common::corpus().into_iter().map(|case| case.text).chain(common::lines("forbidden.txt")).collect()
}

#[test]
fn the_corpus_is_replayed() {
    let dir = concat!(env!("CARGO_MANIFEST_DIR"), "/fuzz/corpus/classify");
    let mut count = 0;
    for entry in std::fs::read_dir(dir).unwrap() {
        body::classify(&std::fs::read(entry.unwrap().path()).unwrap());
        count += 1;
    }
    assert!(count >= 20, "only {count} files in {dir}");
}

/// Every line whole, cut in the middle, and joined with its neighbour.
#[test]
fn pieces_of_the_other_corpora() {
    let lines = lines();
    for pair in lines.windows(2) {
        let middle = (pair[0].len() / 2..).find(|&at| pair[0].is_char_boundary(at)).unwrap_or(pair[0].len());
        body::classify(pair[0].as_bytes());
        body::classify(&pair[0].as_bytes()[..middle]);
        body::classify(&pair[0].as_bytes()[middle..]);
        body::classify(format!("{}\n{}", pair[0], pair[1]).as_bytes());
        body::classify(pair[0].replace(' ', "\0").as_bytes());
    }
}

/// Splices of the corpora by a fixed sequence of numbers; `FUZZ_ROUNDS` asks for more of them.
#[test]
fn splices() {
    let rounds = std::env::var("FUZZ_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(1_500);
    let lines = lines();
    let marks = ["'", "\"", "\\", "`", "$(", ")", "\n", ";", "|", "&&", "{", "}", "<<E\n", "\0", " ", "$x", "[[", "((", "# ", "=", "*"];
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below.max(1)
    };
    for _ in 0..rounds {
        let mut text = lines[next(lines.len())].as_bytes().to_vec();
        for _ in 0..=next(4) {
            let at = next(text.len() + 1);
            let piece: Vec<u8> = match next(3) {
                0 => marks[next(marks.len())].into(),
                1 => {
                    let line = lines[next(lines.len())].as_bytes();
                    line[next(line.len() + 1)..].to_vec()
                }
                _ => {
                    text.truncate(at);
                    Vec::new()
                }
            };
            text.splice(at.min(text.len())..at.min(text.len()), piece);
        }
        body::classify(&text);
    }
}
