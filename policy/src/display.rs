//! A command line as a person may see it: shell-quoted, and with nothing in it that moves a cursor or hides text.
//!
//! Control characters, bidirectional overrides, zero-width characters and bytes that are no UTF-8 are shown as escapes.

/// One word, quoted where the shell would need it, with unsafe characters escaped.
#[must_use]
pub fn word(text: &str) -> String {
    quote(text.chars().map(Ok))
}

/// An argument vector as one line.
#[must_use]
pub fn line(argv: &[Vec<u8>]) -> String {
    argv.iter().map(|arg| bytes(arg)).collect::<Vec<_>>().join(" ")
}

/// One raw argument.
#[must_use]
pub fn bytes(arg: &[u8]) -> String {
    quote(arg.utf8_chunks().flat_map(|chunk| chunk.valid().chars().map(Ok).chain(chunk.invalid().iter().copied().map(Err))))
}

/// Text for a person, without quoting: only what is unsafe is escaped; newlines stay when `lines` is set.
#[must_use]
pub fn text(text: &str, lines: bool) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if is_unsafe(c) && !(lines && c == '\n') { escape(c, &mut out) } else { out.push(c) }
    }
    out
}

/// Characters that a terminal obeys, or that change how others are shown.
#[must_use]
pub fn is_unsafe(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{00ad}' | '\u{034f}' | '\u{061c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

const fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/' | ':' | '=' | '@' | '%' | '+' | ',')
}

fn escape(c: char, out: &mut String) {
    match c {
        '\n' => out.push_str("\\n"),
        '\t' => out.push_str("\\t"),
        '\r' => out.push_str("\\r"),
        '\x1b' => out.push_str("\\e"),
        c if (c as u32) < 0x100 => out.push_str(&format!("\\x{:02x}", c as u32)),
        c if (c as u32) < 0x1_0000 => out.push_str(&format!("\\u{:04x}", c as u32)),
        c => out.push_str(&format!("\\U{:08x}", c as u32)),
    }
}

fn quote(chars: impl Iterator<Item = Result<char, u8>> + Clone) -> String {
    let mut plain = true;
    let mut safe = true;
    let mut any = false;
    for item in chars.clone() {
        any = true;
        match item {
            Ok(c) => {
                plain &= is_plain(c) || (!c.is_ascii() && c.is_alphanumeric());
                safe &= !is_unsafe(c);
            }
            Err(_) => safe = false,
        }
    }
    if any && plain && safe {
        return chars.filter_map(Result::ok).collect();
    }
    let mut out = String::from(if safe { "'" } else { "$'" });
    for item in chars {
        match item {
            Ok('\'') if safe => out.push_str("'\\''"),
            Ok(c) if safe => out.push(c),
            Ok(c @ ('\'' | '\\')) => {
                out.push('\\');
                out.push(c);
            }
            Ok(c) if is_unsafe(c) => escape(c, &mut out),
            Ok(c) => out.push(c),
            Err(byte) => out.push_str(&format!("\\x{byte:02x}")),
        }
    }
    out.push('\'');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_for_a_shell() {
        assert_eq!(word("a/b-c.txt"), "a/b-c.txt");
        assert_eq!(word(""), "''");
        assert_eq!(word("it's"), "'it'\\''s'");
        assert_eq!(word("a b"), "'a b'");
        assert_eq!(line(&[b"echo".to_vec(), b"a\x1b[2J\xff".to_vec()]), "echo $'a\\e[2J\\xff'");
        assert_eq!(word("a\u{202e}b'"), "$'a\\u202eb\\''");
    }

    #[test]
    fn nothing_unsafe_is_left() {
        let hostile: String = (0..0x3000_u32).chain(0xe0000..0xe0080).filter_map(char::from_u32).collect();
        assert!(!word(&hostile).chars().any(is_unsafe));
        assert!(!text(&hostile, false).chars().any(is_unsafe));
    }
}
