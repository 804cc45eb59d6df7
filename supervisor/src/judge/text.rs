//! Hostile bytes as text that may be shown and stored.
//!
//! Invariant: one line, without control, bidirectional or invisible characters. Refuses to be parsed back: this is for
//! people, and equality is decided on the bytes before.

/// The argument vector as one shown line.
pub fn line(argv: &[Vec<u8>]) -> String {
    let words: Vec<String> = argv.iter().map(|word| quoted(word)).collect();
    words.join(" ")
}

/// One word as shown.
pub fn word(bytes: &[u8]) -> String {
    let mut shown = String::new();
    for chunk in bytes.utf8_chunks() {
        chunk.valid().chars().for_each(|c| push(&mut shown, c));
        chunk.invalid().iter().for_each(|byte| shown.push_str(&format!("\\x{byte:02x}")));
    }
    shown
}

fn quoted(bytes: &[u8]) -> String {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"%+,-./:=@_^".contains(byte) || *byte >= 0x80;
    if !bytes.is_empty() && bytes.iter().all(plain) {
        return word(bytes);
    }
    format!("'{}'", word(bytes).replace('\'', "'\\''"))
}

fn push(shown: &mut String, c: char) {
    let invisible = matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}'
        | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}');
    match c {
        '\n' => shown.push_str("\\n"),
        '\t' => shown.push_str("\\t"),
        '\r' => shown.push_str("\\r"),
        c if c.is_control() => shown.push_str(&format!("\\x{:02x}", u32::from(c))),
        c if invisible => shown.push_str(&format!("\\u{{{:x}}}", u32::from(c))),
        c => shown.push(c),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_moves_the_cursor_or_hides_remains() {
        let argv = [
            b"echo".to_vec(),
            b"a b".to_vec(),
            vec![],
            b"\x1b[2J\xff\n".to_vec(),
            "x\u{202e}y\u{200b}".as_bytes().to_vec(),
            b"it's".to_vec(),
        ];
        assert_eq!(line(&argv), "echo 'a b' '' '\\x1b[2J\\xff\\n' x\\u{202e}y\\u{200b} 'it'\\''s'");
        assert_eq!(word("grün".as_bytes()), "grün");
    }
}
