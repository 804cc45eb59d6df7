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

/// A command's text as one shown line, folded likewise.
pub fn command(text: &str) -> String {
    fold(display::text(text, false))
}

fn fold(line: String) -> String {
    let at = |number: usize| line.char_indices().nth(number).map_or(line.len(), |(at, _)| at);
    let count = line.chars().count();
    if count <= WHOLE {
        return line;
    }
    format!("{} […{} more characters…] {}", &line[..at(HEAD)], count - HEAD - TAIL, &line[at(count - TAIL)..])
}

/// Most of an argument vector that a question shows, in bytes. A list of all questions has to fit into one reply.
const WORDS: usize = 16 << 10;

/// An argument vector as shown words; what is beyond a bound is counted. The whole of it is in the journal.
pub fn words(argv: &[Vec<u8>]) -> Vec<String> {
    let mut left = WORDS;
    let mut shown = Vec::new();
    for (at, argument) in argv.iter().enumerate() {
        let word = fold(word(argument));
        let Some(rest) = left.checked_sub(word.len()) else {
            shown.push(format!("[…{} more arguments…]", argv.len() - at));
            break;
        };
        left = rest;
        shown.push(word);
    }
    shown
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

/// Bytes as text, folded where they are many.
pub fn folded(bytes: &[u8]) -> String {
    fold(word(bytes))
}

/// Text from outside as shown.
pub fn word_of_text(text: &str) -> String {
    display::text(text, false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_words_are_counted_and_a_long_one_is_folded() {
        let many = words(&vec![b"0123456789".to_vec(); 10_000]);
        assert!(many.len() < 2_000 && many.last().is_some_and(|l| l.ends_with("more arguments…]")), "{:?}", many.last());
        assert!(words(&[vec![b'x'; 1 << 20]]).iter().all(|word| word.len() < 2_000));
        assert_eq!(words(&[b"a".to_vec(), b"b c".to_vec()]), ["a", "b c"]);
    }

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
