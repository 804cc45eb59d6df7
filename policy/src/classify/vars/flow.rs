//! What flows through a pipe, and into `read`, where it is no text that somebody chose: names, hashes, counts.
//!
//! Invariant: a command of which nothing is known prints anything.

use std::rc::Rc;

use super::super::args::{self, Arg};
use super::{Value, Vars};
use crate::knowledge::{Output, Prints};
use crate::shell::{Command, RedirKind, Simple, Word};

/// What each line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) enum Flow {
    #[default]
    Anything,
    /// It begins with a name, a hash or a count; what stands behind the first blank may be anything.
    Begins,
    /// It is one.
    Names,
}

/// What `read` finds in front of it.
#[derive(Debug, Clone)]
pub(super) struct Input {
    /// What a line begins with.
    pub value: Value,
    /// Only up to the first blank.
    pub field: bool,
}

impl Input {
    /// Of lines that flow, and may each be a number.
    pub fn of(flow: Flow, number: bool) -> Option<Self> {
        let value = Value::Open { risky: false, outside: false, number };
        (flow >= Flow::Begins || number).then_some(Self { value, field: flow == Flow::Begins && !number })
    }
}

impl Vars {
    /// The output of these commands is not freely chosen text: names of files, hashes, counts.
    pub fn tame(&self, body: &[Command]) -> bool {
        self.flow(body) == Flow::Names
    }

    /// What the commands print, one after the other.
    pub fn flow(&self, body: &[Command]) -> Flow {
        if self.doubtful { Flow::Anything } else { self.least(body) }
    }

    /// Nothing behind a command that prints anything is looked at: it would be once more at each level around it.
    fn least(&self, body: &[Command]) -> Flow {
        let mut least = if body.is_empty() { Flow::Anything } else { Flow::Names };
        for command in body {
            least = least.min(self.flow_stage(command, Flow::Anything));
            if least == Flow::Anything {
                break;
            }
        }
        least
    }

    /// The same for one command with such lines, or with anything, as its input.
    pub fn flow_stage(&self, command: &Command, fed: Flow) -> Flow {
        match command {
            Command::Simple(simple) => self.flow_simple(simple, fed),
            Command::Pipeline(stages) => stages.iter().fold(fed, |fed, stage| self.flow_stage(stage, fed)),
            Command::Compound(compound) => self.least(&compound.body),
            Command::Function { .. } => Flow::Anything,
        }
    }

    fn flow_simple(&self, simple: &Simple, fed: Flow) -> Flow {
        let mut words = Vec::with_capacity(simple.words.len());
        simple.words.iter().for_each(|word| args::expand(word, self, &mut words));
        let Some((name, rest)) = words.split_first() else { return Flow::Anything };
        let Some(name) = name.full() else { return Flow::Anything };
        let texts: Vec<Option<&str>> = rest.iter().map(Arg::full).collect();
        let heads = rest.iter().filter(|arg| arg.is_open()).all(|arg| !arg.risky && !arg.head().starts_with(['-', '+']));
        let elsewhere = |kind: &RedirKind| matches!(kind, RedirKind::Input | RedirKind::HereString | RedirKind::Heredoc(_));
        let fed = if simple.redirs.iter().any(|redir| elsewhere(&redir.kind)) { Flow::Anything } else { fed };
        match Output::table().of(name, &texts) {
            _ if says_names(name, &texts) => Flow::Names,
            Prints::Names if heads => Flow::Names,
            Prints::Begins if heads => Flow::Begins,
            Prints::Lines if heads => fed,
            _ if fed >= Flow::Begins && first_field(name, &texts) => Flow::Names,
            _ => Flow::Anything,
        }
    }

    /// What lines of a here-document are.
    pub(super) fn heredoc(&self, slot: usize) -> Flow {
        self.heredocs.get(slot).copied().unwrap_or_default()
    }
}

/// What the lines of such texts are.
pub(super) fn of_words(words: &[Word]) -> Rc<Vec<Flow>> {
    Rc::new(words.iter().map(of_word).collect())
}

/// A text that stands there, where nothing in it, or in front of the first blank of a line, can be read as an option.
pub(super) fn of_word(word: &Word) -> Flow {
    let Some(text) = word.literal() else { return Flow::Anything };
    let first = |line: &str| line.split_whitespace().next().is_none_or(is_name);
    match () {
        () if text.split_whitespace().all(is_name) => Flow::Names,
        () if text.lines().all(first) => Flow::Begins,
        () => Flow::Anything,
    }
}

/// `echo` and `printf` with words that are names.
fn says_names(name: &str, words: &[Option<&str>]) -> bool {
    let names = |words: &[Option<&str>]| words.iter().all(|word| word.is_some_and(|word| word.split(' ').all(is_name)));
    match (name, words) {
        ("echo", words) => names(words),
        ("printf", [Some("%s\\n" | "%s\\0"), rest @ ..]) => names(rest),
        ("printf", [Some(text)]) => text.split("\\n").all(|line| line.is_empty() || is_name(line)),
        _ => false,
    }
}

/// A word that no program that splits its input makes an option of.
fn is_name(word: &str) -> bool {
    let plain =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'/' | b':' | b'@' | b'+' | b'=' | b',' | b'~' | b'-');
    let mut before = b' ';
    word.bytes().all(|byte| {
        let dash = byte == b'-' && !(before.is_ascii_alphanumeric() || matches!(before, b'_' | b'.' | b'-'));
        before = byte;
        plain(byte) && !dash
    })
}

/// It takes the first field of each line.
fn first_field(name: &str, words: &[Option<&str>]) -> bool {
    let Some(words) = words.iter().copied().collect::<Option<Vec<&str>>>() else { return false };
    match name {
        "cut" => matches!(
            words.as_slice(),
            ["-d ", "-f1"] | ["-f1", "-d "] | ["-d", " ", "-f", "1"] | ["-d", " ", "-f1"] | ["-f1"] | ["-d:", "-f1"] | ["-f1", "-d:"]
        ),
        "awk" | "gawk" | "mawk" => {
            let program = words.last().map(|program| program.replace(' ', "")).unwrap_or_default();
            program == "{print$1}" && matches!(words[..], [_] | ["-F:", _])
        }
        _ => false,
    }
}
