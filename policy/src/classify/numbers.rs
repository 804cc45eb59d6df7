//! What the shell evaluates: in arithmetic, a subscript or an offset the value of a variable is read as an expression
//! once more, and `a[$(…)]` in it runs.
//!
//! Invariant: only what is certainly a number is harmless there: literals, lengths, counts that a program prints, results
//! of arithmetic, and variables to which the text gives nothing else. A variable from outside is judged by its value where
//! the environment is known, and is no number where it is not.

use super::vars::{Value, Vars, is_plain};
use crate::shell::{Piece, Simple, Word};

/// Variables that every shell sets to a number of its own.
const COUNTERS: &[&str] = &["#", "?", "$", "!", "UID", "EUID", "PPID", "BASHPID", "RANDOM", "SECONDS", "LINENO", "OPTIND"];

/// Variables that a shell sets to text, whatever the environment holds.
const TEXTS: &[&str] = &["REPLY", "OPTARG", "MAPFILE", "PWD", "OLDPWD", "DIRSTACK", "FUNCNAME", "PS1", "PS2", "PS4", "match", "MATCH", "_"];

/// Digits with a sign, or nothing at all, which counts as zero.
pub(crate) fn is_number(text: &str) -> bool {
    text.trim().trim_start_matches(['-', '+']).bytes().all(|byte| byte.is_ascii_digit())
}

/// Text in which no name can stand, and nothing that expands.
fn nameless(text: &str) -> bool {
    !text.bytes().any(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'[' | b'$' | b'`' | b'\\') || !byte.is_ascii())
}

impl Value {
    pub fn number(&self) -> bool {
        match self {
            Self::Known(text) => is_number(text),
            Self::Open { number, .. } => *number,
        }
    }
}

impl Vars {
    /// The variable holds a number, whenever it is asked.
    pub fn is_number(&self, name: &str) -> bool {
        match self.get(name) {
            Some(value) => value.number() && (!is_plain(name) || self.outside_is_number(name)),
            None => self.outside_is_number(name),
        }
    }

    /// What the variable holds before the text sets it.
    pub fn outside_is_number(&self, name: &str) -> bool {
        let texts = || TEXTS.contains(&name) || name.starts_with("BASH_") || name.starts_with("COMP_");
        match self.environment() {
            Some(_) if self.overflowed() => false,
            Some(texts_outside) if texts_outside.contains(name) => false,
            _ if COUNTERS.contains(&name) => true,
            Some(_) => name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && !texts(),
            None => false,
        }
    }

    /// The word becomes a number, or an expression of numbers.
    pub fn number_word(&self, word: &Word) -> bool {
        word.pieces.iter().all(|piece| match piece {
            Piece::Text { text, quoted } => nameless(text) && (*quoted || !text.contains(['*', '?'])),
            piece => self.number_piece(piece),
        })
    }

    pub fn number_piece(&self, piece: &Piece) -> bool {
        match piece {
            Piece::Text { .. } | Piece::Process { .. } => false,
            Piece::Variable { name, changed, .. } => !changed && self.is_number(name),
            Piece::Keys { name, .. } => self.get(name).is_some() && !self.associative(name),
            Piece::Command { body, .. } => self.counts(body),
            Piece::Number | Piece::Evaluated { .. } => true,
            Piece::Sequence { number, .. } => *number,
        }
    }

    /// Evaluating the word runs nothing: every name in it is set there, or holds a number.
    pub fn harmless_to_evaluate(&self, word: &Word) -> bool {
        word.pieces.iter().enumerate().all(|(at, piece)| match piece {
            Piece::Text { text, .. } => {
                let joins =
                    |at: Option<usize>| at.and_then(|at| word.pieces.get(at)).is_some_and(|piece| !matches!(piece, Piece::Text { .. }));
                !text.contains(['$', '`', '\\'])
                    && names(text).all(|name| self.harmless_name(&name, joins(at.checked_sub(1)), joins(Some(at + 1))))
            }
            piece => self.number_piece(piece),
        })
    }

    /// `before` and `behind`: something that is expanded stands right there, and may make another name of this one.
    fn harmless_name(&self, name: &Name<'_>, before: bool, behind: bool) -> bool {
        !(before && name.first || behind && name.last) && (name.set || self.is_number(name.text))
    }

    /// Each is one word, and none can be an option that is not written there.
    pub(super) fn operands(&self, words: &[Word]) -> bool {
        words.iter().all(|word| {
            // What a command prints is looked at where it stands, and not once more for each word around it.
            if word.pieces.iter().any(|piece| matches!(piece, Piece::Command { .. })) {
                return false;
            }
            let arg = super::args::single(word, self);
            let begins = arg.known > 0 || arg.text.is_empty() || !(arg.risky || arg.outside);
            begins && word.pieces.iter().all(is_one_word)
        })
    }

    /// The program prints a number and nothing else.
    pub(super) fn prints_number(&self, simple: &Simple) -> bool {
        let Some((name, rest)) = simple.words.split_first() else { return false };
        let Some(name) = name.literal() else { return false };
        // What is not known is `None`; unquoted it may be several words.
        let words: Vec<Option<_>> = rest.iter().map(Word::literal).collect();
        let known: Vec<&str> = words.iter().flatten().map(|word| &**word).collect();
        let all_known = known.len() == words.len();
        let flags = || known.iter().filter(|word| word.starts_with('-'));
        match &*name {
            "seq" | "echo" => rest.iter().all(|word| self.number_word(word)),
            "expr" => matches!(words[..], [_, Some(ref operator), _] if matches!(&**operator, "+" | "-" | "*" | "/" | "%")),
            "wc" => {
                all_known
                    && known.iter().all(|word| matches!(*word, "-l" | "-c" | "-w" | "-m" | "--lines" | "--bytes" | "--words" | "--chars"))
            }
            "printf" => known.first().is_some_and(|format| is_number(&format.replace("%d", "").replace("\\n", ""))) && words[0].is_some(),
            "nproc" => all_known && known.iter().all(|word| *word == "--all"),
            "tput" => matches!(known[..], ["cols" | "lines" | "colors"]) && all_known,
            "id" => matches!(known[..], ["-u" | "-g", ..]) && flags().count() == 1 && rest.len() <= 2,
            "grep" | "egrep" | "fgrep" => {
                // Of several files it prints the names as well, and of `-l` nothing else.
                let letters = |word: &&&str| word[1..].chars().all(|letter| "cviwxFEaIs".contains(letter));
                flags().any(|word| word.contains('c'))
                    && flags().all(|word| letters(&word))
                    && rest.len() - flags().count() <= 2
                    && self.operands(rest)
            }
            "date" => {
                let mut dates = words.windows(2).filter(|pair| pair[1].is_none());
                known.iter().any(|word| word.starts_with('+'))
                    && known.iter().all(|word| digits_of_date(word))
                    && words.first().is_some_and(Option::is_some)
                    && dates.all(|pair| matches!(pair[0].as_deref(), Some("-d" | "-r" | "--date" | "--reference")))
            }
            "stat" => {
                let number = |format: &str| matches!(format, "%s" | "%Y" | "%X" | "%Z" | "%h" | "%i" | "%u" | "%g" | "%b");
                matches!((words.first(), words.get(1)), (Some(Some(option)), Some(Some(format))) if option == "-c" && number(format))
                    // An option in place of the only file leaves none to print anything of.
                    && (rest.len() <= 3 && rest[2..].iter().all(|word| word.pieces.iter().all(is_one_word)) || self.operands(&rest[2..]))
                    && flags().count() == 1
            }
            "git" => matches!(known[..], ["rev-list", ..]) && known.contains(&"--count") && all_known,
            "jq" if !flags().all(|word| word[1..].chars().all(|letter| "rcnMesj".contains(letter))) => false,
            "jq" => all_known && known.iter().find(|word| !word.starts_with('-')).is_some_and(|program| ends_in_length(program)),
            _ => false,
        }
    }
}

/// A program of jq whose last step is `length`, and no other value beside it.
fn ends_in_length(program: &str) -> bool {
    let last = program.rsplit('|').next().unwrap_or_default();
    last.trim() == "length" && !program.contains(['#', ',', '\n'])
}

/// It stays one word, and is no pattern of file names.
fn is_one_word(piece: &Piece) -> bool {
    match piece {
        Piece::Text { text, quoted } => *quoted || !text.contains(['*', '?', '[', '{']),
        Piece::Variable { quoted, risky, .. } => *quoted && !risky,
        Piece::Command { quoted, .. } => *quoted,
        Piece::Number => true,
        Piece::Keys { .. } | Piece::Process { .. } | Piece::Sequence { .. } | Piece::Evaluated { .. } => false,
    }
}

/// `+%s` and its kin; a date from elsewhere (`-d`, `-r`) makes no other text of it.
fn digits_of_date(word: &str) -> bool {
    let Some(format) = word.strip_prefix('+') else { return true };
    let mut rest = format.chars();
    while let Some(c) = rest.next() {
        let good = if c == '%' {
            matches!(rest.next(), Some('s' | 'd' | 'm' | 'Y' | 'y' | 'H' | 'M' | 'S' | 'N' | 'j' | 'u' | 'w'))
        } else {
            c.is_ascii_digit()
        };
        if !good {
            return false;
        }
    }
    true
}

/// A name in text that is evaluated.
pub(crate) struct Name<'t> {
    pub text: &'t str,
    /// Its first byte.
    pub start: usize,
    /// It is set there before it is read: `name = …`.
    pub set: bool,
    /// It is set there by any operator: `name += …`, `++name`.
    pub changed: bool,
    /// It stands at the beginning, or at the end, of the text.
    pub first: bool,
    pub last: bool,
}

/// The names in a text that is evaluated.
pub(crate) fn names(text: &str) -> impl Iterator<Item = Name<'_>> {
    let bytes = text.as_bytes();
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || !byte.is_ascii();
    let mut at = 0;
    std::iter::from_fn(move || {
        while at < bytes.len() {
            crate::steps::step(1);
            if !is_word(bytes[at]) {
                at += 1;
                continue;
            }
            let start = at;
            while at < bytes.len() && (is_word(bytes[at]) || (bytes[start].is_ascii_digit() && matches!(bytes[at], b'#' | b'@'))) {
                crate::steps::step(1);
                at += 1;
            }
            if bytes[start].is_ascii_digit() {
                continue;
            }
            let rest = text[at..].trim_start();
            let set = rest.starts_with('=') && !rest.starts_with("==");
            let before = text[..start].trim_end();
            let changed = set || assigns(rest) || before.ends_with("++") || before.ends_with("--");
            return Some(Name { text: &text[start..at], start, set, changed, first: start == 0, last: at == bytes.len() });
        }
        None
    })
}

/// An operator that sets what stands in front of it.
fn assigns(rest: &str) -> bool {
    let operators = ["+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", "++", "--"];
    // The subscript of an array stands between.
    rest.starts_with('[') || operators.iter().any(|operator| rest.starts_with(operator))
}
