//! Hostile bytes as text that may be shown and stored.
//!
//! Invariant: one line, without control, bidirectional or invisible characters. Refuses to be parsed back: this is for
//! people, and equality is decided on the bytes before.

use stayexec_policy::display;

/// Longest line that is shown whole, and what is shown of a longer one: its beginning and its end, in characters.
const WHOLE: usize = 1_000;
const HEAD: usize = 700;
const TAIL: usize = 200;

/// The argument vector as one shown line, folded where it is long: the whole of it is in the record.
pub fn line(argv: &[Vec<u8>]) -> String {
    fold(display::line(argv))
}

fn fold(line: String) -> String {
    let at = |number: usize| line.char_indices().nth(number).map_or(line.len(), |(at, _)| at);
    let count = line.chars().count();
    if count <= WHOLE {
        return line;
    }
    format!("{} […{} more characters…] {}", &line[..at(HEAD)], count - HEAD - TAIL, &line[at(count - TAIL)..])
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
    fn a_long_line_keeps_its_beginning_and_its_end() {
        let long = fold(format!("rm {}ä; end", "x".repeat(2_000)));
        assert!(long.starts_with("rm xxx") && long.ends_with("xxxä; end") && long.contains("[…1109 more characters…]"), "{long}");
        assert_eq!(fold("ä".repeat(WHOLE)), "ä".repeat(WHOLE));
    }

    #[test]
    fn nothing_that_moves_the_cursor_or_hides_remains() {
        assert_eq!(word("grün \u{202e}\n".as_bytes()), "grün \\u202e\\n");
        assert_eq!(word(b"a\xffb"), "a\\xffb");
    }
}
