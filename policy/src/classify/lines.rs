//! Pipelines that end in numbers: `grep -n X f | cut -d: -f1`, `wc -l f | awk '{print $1}'`, `grep -c X f || echo 0`.
//!
//! Invariant: every line that comes out is a number, or nothing; a stage that is not known for what it makes of its input
//! makes anything of it.

use super::vars::Vars;
use crate::shell::{Command, Simple, Word};
use crate::steps::step;

/// What each line between two stages is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lines {
    Anything,
    Numbers,
    /// `12:text`
    Colon,
    /// `12`, a tabulator, and text.
    Tab,
    /// `12 name`
    Blank,
}

/// Programs of awk that print a count of their own, behind a pattern of any kind that holds no action.
const COUNTS: &[&str] = &["{print NR}", "{print NR; exit}", "{print NR;exit}", "{ print NR }", "{ print NR; exit }", "{print NF}"];

impl Vars {
    /// What these commands print are numbers and nothing else.
    pub fn counts(&self, body: &[Command]) -> bool {
        !body.is_empty()
            && body.iter().all(|command| match command {
                Command::Pipeline(stages) => {
                    stages.iter().fold(Lines::Anything, |lines, stage| self.stage_lines(lines, stage)) == Lines::Numbers
                }
                // Each is asked once: substitutions in substitutions would be asked twice as often at each level.
                Command::Simple(simple) => silent(simple) || self.lines(Lines::Anything, simple) == Lines::Numbers,
                _ => false,
            })
    }

    /// What a stage of a pipe makes of the lines that flow into it.
    pub(super) fn stage_lines(&self, input: Lines, stage: &Command) -> Lines {
        match stage {
            Command::Simple(simple) if simple.redirs.is_empty() || input == Lines::Anything => self.lines(input, simple),
            _ => Lines::Anything,
        }
    }

    /// What a stage makes of such lines.
    fn lines(&self, input: Lines, simple: &Simple) -> Lines {
        step(1 + simple.words.len());
        let Some((name, rest)) = simple.words.split_first() else { return Lines::Anything };
        let Some(name) = name.literal() else { return Lines::Anything };
        if self.prints_number(simple) {
            return Lines::Numbers;
        }
        let words: Option<Vec<_>> = rest.iter().map(Word::literal).collect();
        let words: Option<Vec<&str>> = words.as_ref().map(|words| words.iter().map(|word| &**word).collect());
        let numbers = |holds: bool| if holds { Lines::Numbers } else { Lines::Anything };
        match (&*name, words) {
            ("grep" | "egrep", Some(words)) if matches_digits(&words) => Lines::Numbers,
            ("grep" | "egrep" | "fgrep", _) => self.grep(rest),
            (_, None) => Lines::Anything,
            ("cat", Some(words)) if words.is_empty() => input,
            ("head" | "tail", Some(words)) if first_lines(&words) => input,
            ("sort", Some(words)) if words.iter().all(|word| flags(word, "nrugV")) => input,
            ("uniq" | "xargs", Some(words)) if words.is_empty() && input == Lines::Numbers => input,
            ("cut", Some(words)) => numbers(matches!(
                (words.concat().replace([' ', '\t'], "_").as_str(), input),
                ("-d:-f1" | "-f1-d:", Lines::Colon) | ("-d_-f1" | "-f1-d_", Lines::Blank) | ("-f1", Lines::Tab)
            )),
            ("awk" | "gawk" | "mawk", Some(words)) => numbers(match (words.as_slice(), input) {
                ([first], Lines::Blank | Lines::Tab | Lines::Numbers) => first_field(first),
                (["-F:", first] | ["-F", ":", first], Lines::Colon) => first_field(first),
                ([program, "/proc/meminfo"], _) => program.ends_with("{print $2}") && program.matches('{').count() == 1,
                ([program, files @ ..], _) => {
                    counts_records(program) && !files.iter().any(|file| file.contains('=') || file.starts_with('-'))
                }
                _ => false,
            }),
            ("tr", Some(words)) => numbers(match words.as_slice() {
                ["-d", _] => input == Lines::Numbers,
                ["-dc" | "-cd", kept] => matches!(*kept, "0-9" | "[:digit:]" | "0-9\\n" | "[:digit:]\\n"),
                _ => false,
            }),
            ("sed", Some(words)) => {
                numbers(matches!(words.as_slice(), ["-n", "$=", files @ ..] if !files.iter().any(|file| file.starts_with('-'))))
            }
            // Of a name that holds a newline the rest would be a line of its own.
            ("wc", Some(words)) => match words.iter().filter(|word| !word.starts_with('-')).count() {
                1 if words.iter().all(|word| flags(word, "lcwm") || plain(word)) => Lines::Blank,
                _ => Lines::Anything,
            },
            ("du", Some(words)) => match words.iter().filter(|word| !word.starts_with('-')).count() {
                0 | 1 if words.iter().any(|word| word.contains('s')) && words.iter().all(|word| flags(word, "sbkmx") || plain(word)) => {
                    Lines::Tab
                }
                _ => Lines::Anything,
            },
            ("stat", Some(words)) => {
                let number = |format: &str| matches!(format, "%s" | "%Y" | "%X" | "%Z" | "%h" | "%i" | "%u" | "%g" | "%b");
                let format =
                    words.first().and_then(|word| ["-c", "--format=", "--printf="].iter().find_map(|option| word.strip_prefix(option)));
                numbers(format.is_some_and(number) && words[1..].iter().all(|word| !word.starts_with('-')))
            }
            ("getconf", Some(words)) => numbers(matches!(
                words.as_slice(),
                ["PAGESIZE" | "PAGE_SIZE" | "_NPROCESSORS_ONLN" | "_NPROCESSORS_CONF" | "ARG_MAX" | "OPEN_MAX" | "LONG_BIT"]
            )),
            ("git", Some(words)) => numbers(matches!(
                words.as_slice(),
                ["log", "-1" | "-n1", "--format=%ct" | "--format=%at"] | ["log", "-1" | "-n1", "--format=%ct" | "--format=%at", "HEAD"]
            )),
            ("ps", Some(words)) => {
                numbers(matches!(words.as_slice(), ["-o", "rss=" | "vsz=" | "ppid=" | "etimes=" | "nlwp=", "-p", pid] if digits(pid)))
            }
            _ => Lines::Anything,
        }
    }

    /// `grep -n PATTERN FILE`: the number of each line in front of it.
    fn grep(&self, rest: &[Word]) -> Lines {
        let texts: Vec<_> = rest.iter().map(Word::literal).collect();
        let is_flag = |text: &str| text.starts_with('-') && text.len() > 1;
        let mut operands = Vec::new();
        let (mut numbered, mut at) = (false, 0);
        while let Some(text) = texts.get(at) {
            match text.as_deref() {
                Some("-m") => at += 1,
                Some(text) if is_flag(text) => {
                    if !text[1..].chars().all(|letter| "nivwxFEPsamoh".contains(letter) || letter.is_ascii_digit()) {
                        return Lines::Anything;
                    }
                    numbered |= text.contains('n');
                }
                _ => operands.push(rest[at].clone()),
            }
            at += 1;
        }
        let single = operands.len() <= 2 && self.operands(&operands);
        if numbered && single && !texts.iter().flatten().any(|text| text.starts_with("--")) { Lines::Colon } else { Lines::Anything }
    }
}

/// `grep -oE '[0-9]+'`, of one file or of its input.
fn matches_digits(words: &[&str]) -> bool {
    let (options, operands): (Vec<&str>, Vec<&str>) = words.iter().partition(|word| word.starts_with('-'));
    options.iter().all(|word| flags(word, "oEPh"))
        && options.iter().any(|word| word.contains('o'))
        && matches!(operands.as_slice(), ["[0-9]+" | "[0-9][0-9]*" | "[[:digit:]]+"] | ["[0-9]+" | "[0-9][0-9]*" | "[[:digit:]]+", _])
        && operands.get(1).is_none_or(|file| plain(file))
}

/// It prints nothing.
fn silent(simple: &Simple) -> bool {
    matches!(simple.words.as_slice(), [only] if only.literal().is_some_and(|name| matches!(&*name, "true" | "false" | ":")))
}

/// How many lines, and no file.
fn first_lines(words: &[&str]) -> bool {
    match words {
        [] => true,
        ["-n", count] => digits(count),
        [only] => only.strip_prefix("-n").or_else(|| only.strip_prefix('-')).is_some_and(digits),
        _ => false,
    }
}

fn digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// An option of one dash with these letters alone.
fn flags(word: &str, letters: &str) -> bool {
    word.strip_prefix('-').is_some_and(|rest| !rest.is_empty() && rest.chars().all(|letter| letters.contains(letter)))
}

/// A name in which nothing begins a further line.
fn plain(word: &str) -> bool {
    !word.starts_with('-') && !word.contains(['\n', '*', '?', '['])
}

fn first_field(program: &str) -> bool {
    program.replace(' ', "") == "{print$1}"
}

fn counts_records(program: &str) -> bool {
    COUNTS.iter().any(|action| program.strip_suffix(action).is_some_and(|pattern| !pattern.contains(['{', '}', ';', '\n'])))
}
