//! Hostile bytes as text that may be shown and stored.
//!
//! Invariant: one line, without control, bidirectional or invisible characters. Refuses to be parsed back: this is for
//! people, and equality is decided on the bytes before.

use stayexec_policy::display;

/// The argument vector as one shown line.
pub fn line(argv: &[Vec<u8>]) -> String {
    display::line(argv)
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
    fn nothing_that_moves_the_cursor_or_hides_remains() {
        assert_eq!(word("grün \u{202e}\n".as_bytes()), "grün \\u202e\\n");
        assert_eq!(word(b"a\xffb"), "a\\xffb");
    }
}
