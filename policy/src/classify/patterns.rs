//! Patterns of file names: what could be an option among the names that match.

use super::args::Arg;

pub(crate) fn is_pattern(text: &str) -> bool {
    text.contains(['*', '?', '['])
}

/// The names that a pattern matches.
pub(crate) fn glob(text: &str) -> Arg {
    let known = text.find(['*', '?', '[']).unwrap_or(text.len());
    Arg { text: text.to_owned(), known, outside: known == 0 && may_match_a_dash(text), shifts: true, ..Arg::default() }
}

/// A name that begins with a dash may match: `*` and `[-]x` may be `-delete`, `*.c` is not likely to be an option.
pub(crate) fn may_match_a_dash(text: &str) -> bool {
    let mut rest = text.trim_start_matches(['*', '?']);
    if let Some(set) = rest.strip_prefix('[') {
        // A class in it (`[:punct:]`) has brackets of its own.
        let Some(end) = set.get(1..).and_then(|tail| tail.find(']')).filter(|_| !set.contains("[:")) else { return true };
        let letters = &set[..=end];
        if !letters.starts_with(['!', '^']) && !letters.contains(['-', '[', ':']) || is_range(letters) {
            return false;
        }
        rest = &set[end + 2..];
    }
    let rest = rest.trim_start_matches(['*', '?']);
    rest.is_empty() || rest.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'=' | b'*' | b'?'))
}

/// `a-z`: no name with a dash in front.
fn is_range(letters: &str) -> bool {
    matches!(letters.as_bytes(), [first, b'-', last] if first.is_ascii_alphanumeric() && last.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::may_match_a_dash;

    #[test]
    fn names_of_files_that_are_options() {
        for text in ["*", "??", "[-]*", "[!a]*", "?delete", "*delete", "[-]delete", "[+-.]x", "[[:punct:]]x", "*-o*"] {
            assert!(may_match_a_dash(text), "{text}");
        }
        for text in ["*.c", "[a-z]*", "[0-9]*.log", "[abc]*", "*/x", "?.txt"] {
            assert!(!may_match_a_dash(text), "{text}");
        }
    }
}
