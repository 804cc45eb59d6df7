//! Brace expansion: `a{b,c}` is two words before a shell looks at anything else in it, and `{1..9}` a run of them.
//!
//! Invariant: no brace that makes words is left for later stages, whatever stands quoted in it. Past a cap the text is opaque.

use super::ast::{Piece, Word};
use super::parser::Parser;
use crate::steps::step;

/// Opening braces of one word, and pieces of the words that they make.
const MAX_BRACES: usize = 32;
const MAX_PIECES: usize = 1024;

#[derive(Debug, Clone)]
enum Token {
    Open,
    Comma,
    Close,
    Piece(Piece),
}

impl Parser<'_> {
    /// The words that a word becomes.
    pub(super) fn braces(&mut self, word: Word) -> Vec<Word> {
        let unquoted = |piece: &Piece| matches!(piece, Piece::Text { text, quoted: false } if text.contains('{'));
        if !word.pieces.iter().any(unquoted) {
            return vec![word];
        }
        let opening = |piece: &Piece| match piece {
            Piece::Text { text, quoted: false } => text.bytes().filter(|byte| *byte == b'{').count(),
            _ => 0,
        };
        let few = word.pieces.iter().map(opening).sum::<usize>() <= MAX_BRACES;
        let mut left = MAX_PIECES;
        match few.then(|| expand(&tokens(&word), &mut left)).flatten() {
            Some(words) => words.into_iter().map(joined).filter(|word| !word.pieces.is_empty()).collect(),
            None => {
                self.note("more braces than the classifier reads");
                vec![word]
            }
        }
    }
}

fn tokens(word: &Word) -> Vec<Token> {
    let mut out = Vec::new();
    for piece in &word.pieces {
        let Piece::Text { text, quoted: false } = piece else {
            out.push(Token::Piece(piece.clone()));
            continue;
        };
        step(text.len());
        let mut run = 0;
        for (at, byte) in text.bytes().enumerate() {
            let token = match byte {
                b'{' => Token::Open,
                b',' => Token::Comma,
                b'}' => Token::Close,
                _ => continue,
            };
            if run < at {
                out.push(plain(&text[run..at]));
            }
            out.push(token);
            run = at + 1;
        }
        if run < text.len() {
            out.push(plain(&text[run..]));
        }
    }
    out
}

fn plain(text: &str) -> Token {
    Token::Piece(Piece::Text { text: text.to_owned(), quoted: false })
}

/// Every word that the tokens make; `None` past the cap.
fn expand(tokens: &[Token], left: &mut usize) -> Option<Vec<Vec<Token>>> {
    let mut spend = |pieces: usize| {
        step(pieces);
        *left = left.checked_sub(pieces + 1)?;
        Some(())
    };
    let Some((open, close)) = first(tokens) else {
        spend(tokens.len())?;
        return Some(vec![tokens.to_vec()]);
    };
    let inner = &tokens[open + 1..close];
    let mut middles = Vec::new();
    if inner.iter().any(|token| matches!(token, Token::Comma)) {
        for part in parts(inner) {
            middles.extend(expand(part, left)?);
        }
    } else {
        middles.push(sequence(inner).map_or_else(|| tokens[open..=close].to_vec(), |piece| vec![Token::Piece(piece)]));
    }
    let rests = expand(&tokens[close + 1..], left)?;
    let mut words = Vec::new();
    for middle in &middles {
        for rest in &rests {
            let pieces = open + middle.len() + rest.len();
            *left = left.checked_sub(pieces + 1)?;
            step(pieces);
            words.push([&tokens[..open], middle, rest].concat());
        }
    }
    Some(words)
}

/// The first pair of braces with a comma or `..` between them.
fn first(tokens: &[Token]) -> Option<(usize, usize)> {
    (0..tokens.len()).find_map(|open| {
        let empty = open == 0 && matches!(tokens.get(1), Some(Token::Close));
        if !matches!(tokens[open], Token::Open) || empty {
            return None;
        }
        let (mut level, mut several) = (0_usize, false);
        for (at, token) in tokens.iter().enumerate().skip(open + 1) {
            step(1);
            match token {
                Token::Open => level += 1,
                Token::Close if level == 0 && several => return Some((open, at)),
                Token::Close => level = level.saturating_sub(1),
                Token::Comma => several |= level == 0,
                Token::Piece(Piece::Text { text, quoted: false }) => several |= level == 0 && text.contains(".."),
                Token::Piece(_) => {}
            }
        }
        None
    })
}

/// What stands between commas.
fn parts(tokens: &[Token]) -> Vec<&[Token]> {
    let (mut out, mut level, mut start) = (Vec::new(), 0_usize, 0);
    for (at, token) in tokens.iter().enumerate() {
        match token {
            Token::Open => level += 1,
            Token::Close => level = level.saturating_sub(1),
            Token::Comma if level == 0 => {
                out.push(&tokens[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    out.push(&tokens[start..]);
    out
}

/// `1..9`, `a..z`, with a step behind it.
fn sequence(tokens: &[Token]) -> Option<Piece> {
    let [Token::Piece(Piece::Text { text, quoted: false })] = tokens else { return None };
    let terms: Vec<&str> = text.split("..").collect();
    let number = |term: &&str| !term.is_empty() && term.strip_prefix(['-', '+']).unwrap_or(term).bytes().all(|byte| byte.is_ascii_digit());
    let letter = |term: &&str| term.len() == 1 && term.bytes().all(|byte| byte.is_ascii_alphabetic());
    let (ends, steps) = terms.split_at_checked(2)?;
    let numbers = ends.iter().all(number);
    let sound = steps.len() < 2 && steps.iter().all(number) && (numbers || ends.iter().all(letter));
    sound.then(|| Piece::Sequence { number: numbers, dash: text.contains('-') })
}

fn joined(tokens: Vec<Token>) -> Word {
    let mut word = Word::default();
    for token in tokens {
        match token {
            Token::Open => word.push_text("{", false),
            Token::Comma => word.push_text(",", false),
            Token::Close => word.push_text("}", false),
            Token::Piece(Piece::Text { text, quoted }) => word.push_text(&text, quoted),
            Token::Piece(piece) => word.pieces.push(piece),
        }
    }
    word
}

#[cfg(test)]
mod tests {
    use crate::shell::{Command, parse};

    fn words(text: &str) -> Vec<String> {
        let script = parse(&format!("ls {text}"));
        let Some(Command::Simple(simple)) = script.commands.first() else { return Vec::new() };
        simple.words[1..].iter().map(|word| word.literal().map_or_else(|| "?".into(), std::borrow::Cow::into_owned)).collect()
    }

    #[test]
    fn as_bash_does_it() {
        for (text, made) in [
            ("{a..{b,c}}", &["a..b", "a..c"][..]),
            ("{a},b}", &["a}", "b"]),
            ("{},b}", &["{},b}"]),
            ("{,a}", &["a"]),
            ("a{,b}c{d,e}", &["acd", "ace", "abcd", "abce"]),
            ("{a,{b,c}", &["{a,b", "{a,c"]),
            ("x={a,b}", &["x=a", "x=b"]),
            ("'{a,b}' {a\\,b,c} {'a,b',c}", &["{a,b}", "a,b", "c", "a,b", "c"]),
            ("a{b,c", &["a{b,c"]),
            ("{a..b,c} {a,b..c}", &["a..b", "c", "a", "b..c"]),
            ("{} {a} @{0} {1..x}", &["{}", "{a}", "@{0}", "{1..x}"]),
            ("{1..3} x{a..c}y", &["?", "?"]),
            ("{x\"\",-delete} {x,\\-delete}", &["x", "-delete", "x", "-delete"]),
        ] {
            assert_eq!(words(text), made, "{text}");
        }
    }

    #[test]
    fn what_grows_too_far_is_opaque() {
        assert!(parse(&format!("ls {}", "{a,b}".repeat(12))).opaque.is_some());
        assert!(parse(&format!("ls {}", "{a".repeat(100))).opaque.is_some());
        assert!(parse(&format!("ls {}", "{a,b}".repeat(4))).opaque.is_none());
    }
}
