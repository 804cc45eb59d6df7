//! Hostile bytes as text that may be shown and stored.
//!
//! Invariant: one line, without control, bidirectional or invisible characters. Refuses to be parsed back: this is for
//! people, and equality is decided on the bytes before.

use stayexec_policy::display;

/// Longest command line that is shown, in characters; the argument vector is kept whole beside it.
const LONGEST: usize = 1000;

/// The argument vector as one shown line, folded where it is too long to be read.
pub fn line(argv: &[Vec<u8>]) -> String {
    let mut line = display::line(argv);
    if let Some((at, _)) = line.char_indices().nth(LONGEST) {
        let whole = line.chars().count();
        line.truncate(at);
        line.push_str(&format!("… ({whole} characters)"));
    }
    line
}

/// Bytes as text, without quoting.
pub fn word(bytes: &[u8]) -> String {
    let mut shown = String::new();
    for chunk in bytes.utf8_chunks() {
        shown.push_str(&display::text(chunk.valid(), false));
        chunk.invalid().iter().for_each(|byte| shown.push_str(&format!("\\x{byte:02x}")));
    }
    shown
}

/// Text from outside as shown.
pub fn word_of_text(text: &str) -> String {
    display::text(text, false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_is_folded_and_says_so() {
        let line = line(&[b"echo".to_vec(), vec![b'x'; 5000]]);
        assert!(line.chars().count() < 1100 && line.ends_with("… (5005 characters)"), "{line}");
    }

    #[test]
    fn nothing_that_moves_the_cursor_or_hides_remains() {
        assert_eq!(word("grün \u{202e}\n".as_bytes()), "grün \\u202e\\n");
        assert_eq!(word(b"a\xffb"), "a\\xffb");
    }
}
