//! The tree that the parser builds: small, lossy where nothing would run, exact where something would.

use std::borrow::Cow;
use std::rc::Rc;

/// A parsed text.
#[derive(Debug, Default)]
pub(crate) struct Script {
    pub commands: Vec<Command>,
    /// Bodies of here-documents, by the number in [`RedirKind::Heredoc`].
    pub heredocs: Vec<Word>,
    /// Variables that `${name:=value}` or `((name = value))` may set, and `{name}>file` does.
    pub assigned: Vec<String>,
    /// Why the text is not fully understood.
    pub opaque: Option<&'static str>,
    /// A cap was met.
    pub capped: bool,
    pub disputed: Disputed,
    /// A descriptor for writing may be one that was opened for something else: `exec 3<f`, `1<f`, `<>f`.
    pub reopened: bool,
}

/// Constructs that some shells take for something else.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Disputed {
    /// `[[`, `((`, `$[`: where a POSIX shell sees commands, operators and redirections.
    pub not_posix: bool,
    /// `$=name`, `$~name`: text, except where zsh expands and splits it.
    pub zsh: bool,
    /// A comment, which an interactive zsh runs.
    pub comment: bool,
    /// A value that may be more than a number where ksh and zsh evaluate it and others do not: `[ $n -gt 3 ]`.
    pub evaluated: bool,
    /// An array that is declared with `-A`, of which a shell without such arrays evaluates the subscripts.
    pub keyed: bool,
}

#[derive(Debug)]
pub(crate) enum Command {
    Simple(Simple),
    /// Two or more commands joined by `|`.
    Pipeline(Vec<Command>),
    Compound(Compound),
    Function {
        name: String,
        body: Vec<Command>,
    },
}

/// Assignments, words and redirections.
#[derive(Debug, Default)]
pub(crate) struct Simple {
    pub assigns: Vec<Assign>,
    pub words: Vec<Word>,
    pub redirs: Vec<Redir>,
    /// `name=(…)` behind the command's name: `declare a=(x y)`.
    pub arrays: Vec<Assign>,
    /// Braces made several words of one, which they do in some shells only.
    pub braced: bool,
    /// It stands behind `&&` or `||`, and what follows may be reached without it.
    pub conditional: bool,
}

#[derive(Debug)]
pub(crate) struct Assign {
    pub name: String,
    /// `+=`: what it held before stays in front.
    pub appends: bool,
    /// What stands between brackets behind the name.
    pub subscript: Option<Word>,
    pub value: Word,
    /// `name=(…)`, also with nothing in it.
    pub array: bool,
    /// Items of `name=(…)`, and the subscripts of those that have one.
    pub items: Vec<Word>,
    pub keys: Vec<Word>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Subshell,
    Brace,
    If,
    Loop,
    For,
    Select,
    Case,
    Test,
    Arith,
    Background,
}

/// Anything with a body.
#[derive(Debug)]
pub(crate) struct Compound {
    pub kind: Kind,
    /// The variable of `for` and `select`.
    pub variable: Option<String>,
    /// Words that are expanded on the way: the list of `for`, the subject and patterns of `case`, the terms of `[[`.
    pub words: Vec<Word>,
    pub body: Vec<Command>,
    pub redirs: Vec<Redir>,
    /// As for a simple command.
    pub conditional: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RedirKind {
    /// `<`
    Input,
    /// `>`, `>>`, `>|`, `&>`, `&>>`, `<>`
    Output,
    /// `<&`, `>&` to a word
    Duplicate,
    /// `<<`; the number of the body in [`Script::heredocs`]
    Heredoc(usize),
    /// `<<<`; the target is the text
    HereString,
}

#[derive(Debug)]
pub(crate) struct Redir {
    pub kind: RedirKind,
    pub target: Word,
}

/// One word, in pieces.
#[derive(Debug, Clone, Default)]
pub(crate) struct Word {
    pub pieces: Vec<Piece>,
}

#[derive(Debug, Clone)]
pub(crate) enum Piece {
    /// Text as it will be after quote removal.
    Text { text: String, quoted: bool },
    /// `$name`, `${name…}`; `risky` when an operator may make the value begin with a dash, or take it from elsewhere;
    /// `changed` when an operator may make anything else of it than a number; `altered` when any operator or subscript
    /// stands behind the name, so that the value is another one than the variable's; `list` when it is a word for each of
    /// several values, quoted or not, and none where there are none: `$@`, `${a[@]}`; `items` when it is `${a[@]}` and nothing else.
    Variable { name: String, quoted: bool, risky: bool, changed: bool, altered: bool, list: bool, items: bool },
    /// `${!name[@]}`: the keys of an array.
    Keys { name: String, quoted: bool },
    /// `$(…)`, backticks.
    Command { body: Rc<Vec<Command>>, quoted: bool },
    /// `<(…)`, `>(…)`.
    Process { body: Rc<Vec<Command>> },
    /// `{1..9}`, `{a..z}`: a word for each number or letter; `dash` when one may begin with that.
    Sequence { number: bool, dash: bool },
    /// `$((…))`, `${#…}`: a number.
    Number,
    /// What the shell evaluates on the way: arithmetic, a subscript, an offset. It adds no text. A subscript of `array` is a
    /// mere key where that is an associative one.
    Evaluated { word: Word, array: Option<String> },
}

impl Word {
    /// The text of a word of which every piece is known.
    pub fn literal(&self) -> Option<Cow<'_, str>> {
        if let [Piece::Text { text, .. }] = self.pieces.as_slice() {
            return Some(Cow::Borrowed(text));
        }
        let mut out = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Text { text, .. } => out.push_str(text),
                _ => return None,
            }
        }
        Some(Cow::Owned(out))
    }

    /// Unquoted text, and nothing else.
    pub fn bare(&self) -> Option<&str> {
        match self.pieces.as_slice() {
            [Piece::Text { text, quoted: false }] => Some(text),
            _ => None,
        }
    }

    pub fn push_text(&mut self, addition: &str, is_quoted: bool) {
        crate::steps::step(addition.len() + 1);
        if let Some(Piece::Text { text, quoted }) = self.pieces.last_mut()
            && *quoted == is_quoted
        {
            text.push_str(addition);
            return;
        }
        self.pieces.push(Piece::Text { text: addition.to_owned(), quoted: is_quoted });
    }
}
