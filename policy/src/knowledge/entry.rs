//! The compiled form of an entry, and how options are looked up in it.

use crate::hash::Map;

use super::schema::RawEntry;
use crate::CommandClass;

/// Where an entry stands: file and line of its header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct At {
    pub file: &'static str,
    pub line: u32,
}

impl std::fmt::Display for At {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Value {
    None,
    Required,
    /// A name, and then the value: `jq --arg NAME VALUE`.
    Named,
    Attached,
}

/// What the value of an option is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Plain,
    File,
    Sink,
    Data,
    Run,
    Exec,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Opt {
    pub value: Value,
    pub role: Role,
    pub class: CommandClass,
    pub info: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Payload {
    Argv,
    Text,
    Dashes,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Writes {
    All,
    Last,
    First,
}

/// What is known about one program or subcommand.
#[derive(Debug)]
pub(crate) struct Entry {
    pub at: At,
    pub class: CommandClass,
    pub bare: Option<CommandClass>,
    pub options: Map<Box<str>, Opt>,
    pub deep: Vec<Box<str>>,
    pub narrow: Vec<Box<str>>,
    pub base: Vec<Box<str>>,
    pub instead: Vec<Box<str>>,
    pub lists: bool,
    pub lax: bool,
    pub words: bool,
    pub dash: bool,
    pub posix: bool,
    pub inert: bool,
    /// It has an option that makes it worse than it is without.
    pub guarded: bool,
    pub free: bool,
    /// For the first operands; the last holds for the rest. True: a path.
    pub operands: Vec<bool>,
    pub max: Option<usize>,
    pub extra: CommandClass,
    pub except: Vec<Box<str>>,
    pub writes: Option<Writes>,
    pub payload: Option<Payload>,
    pub skip: usize,
    pub assigns: bool,
    pub ignores_hangup: bool,
    pub special: Option<Box<str>>,
    pub sub: Map<Box<str>, Entry>,
    /// Subcommands written as `describe-*`.
    pub patterns: Vec<(Box<str>, Entry)>,
}

/// What is wrong with an entry.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("[{name}]: {what}")]
pub(crate) struct Flaw {
    pub name: String,
    pub what: String,
}

/// Finds the line of a header.
pub(super) type Lines<'a> = &'a dyn Fn(&str) -> At;

impl Entry {
    pub(super) fn compile(name: &str, raw: &RawEntry, inherited: &str, lines: Lines<'_>) -> Result<Self, Flaw> {
        let flaw = |what: String| Flaw { name: name.to_owned(), what };
        let at = lines(name);
        let mut options = Map::default();
        let plain = [(inherited, Role::Plain), (&raw.common, Role::Plain), (&raw.options, Role::Plain)];
        let roles =
            [(&raw.sink, Role::Sink), (&raw.file, Role::File), (&raw.data, Role::Data), (&raw.run, Role::Run), (&raw.exec, Role::Exec)];
        let raising = [
            (&raw.write, CommandClass::Write),
            (&raw.network, CommandClass::Network),
            (&raw.install, CommandClass::Install),
            (&raw.destructive, CommandClass::Destructive),
        ];
        for (list, role) in plain {
            declare(&mut options, raw.dash, list, Opt { role, ..Opt::FLAG });
        }
        for (list, role) in roles {
            let class = if role == Role::Sink { CommandClass::Write } else { CommandClass::Read };
            declare(&mut options, raw.dash, list, Opt { role, class, ..Opt::FLAG });
        }
        for (list, class) in raising {
            declare(&mut options, raw.dash, list, Opt { class, ..Opt::FLAG });
        }
        // Words with one dash are common here and bundles are not.
        declare(&mut options, true, &raw.info, Opt { info: true, ..Opt::FLAG });
        let common = format!("{inherited} {}", raw.common);
        let (mut sub, mut patterns) = (Map::default(), Vec::new());
        for (class, words) in &raw.verbs {
            for word in words.split_whitespace() {
                let verb =
                    RawEntry { class: Some(*class), dash: raw.dash, lax: raw.lax && *class > CommandClass::Read, ..RawEntry::default() };
                let entry = Self { at, ..Self::compile(name, &verb, &common, lines)? };
                insert(&mut sub, &mut patterns, word, entry);
            }
        }
        for (words, below) in &raw.sub {
            let full = format!("{name}.sub.{}", quoted(words));
            for word in words.split('|') {
                let mut entry = Self::compile(&full, below, &common, lines)?;
                if entry.at.line == 0 {
                    entry.at = at;
                }
                insert(&mut sub, &mut patterns, word, entry);
            }
        }
        let has_sub = !sub.is_empty() || !patterns.is_empty();
        let operands = match raw.operands.as_deref() {
            None => vec![true],
            Some(text) => text
                .split_whitespace()
                .map(|word| match word {
                    "path" => Ok(true),
                    "data" => Ok(false),
                    other => Err(flaw(format!("operands = \"{other}\""))),
                })
                .collect::<Result<_, _>>()?,
        };
        let class = raw.class.unwrap_or(if raw.payload.is_some() { CommandClass::Read } else { CommandClass::Write });
        if raw.lax && class == CommandClass::Read {
            return Err(flaw("lax, and Read: its options must be listed".into()));
        }
        let worse = |option: &Opt| option.class > class || matches!(option.role, Role::Sink | Role::Run | Role::Exec);
        Ok(Self {
            at,
            guarded: raw.payload.is_some() || options.values().any(worse),
            class,
            bare: raw.bare.or(if has_sub { Some(raw.class.unwrap_or(CommandClass::Write)) } else { None }),
            options,
            deep: words(&raw.deep),
            narrow: words(&raw.narrow),
            base: words(&raw.base),
            instead: words(&raw.instead),
            lists: raw.lists,
            lax: raw.lax,
            words: raw.words,
            dash: raw.dash,
            posix: raw.posix || raw.payload.is_some(),
            inert: raw.inert,
            free: raw.free,
            operands,
            max: raw.max,
            extra: raw.extra.unwrap_or(CommandClass::Write),
            except: words(&raw.except),
            writes: match raw.writes.as_deref() {
                None => None,
                Some("all") => Some(Writes::All),
                Some("last") => Some(Writes::Last),
                Some("first") => Some(Writes::First),
                Some(other) => return Err(flaw(format!("writes = \"{other}\""))),
            },
            payload: match raw.payload.as_deref() {
                None => None,
                Some("argv") => Some(Payload::Argv),
                Some("text") => Some(Payload::Text),
                Some("dashes") => Some(Payload::Dashes),
                Some(other) => return Err(flaw(format!("payload = \"{other}\""))),
            },
            skip: raw.skip,
            assigns: raw.assigns,
            ignores_hangup: raw.ignores_hangup,
            special: raw.special.as_deref().map(Into::into),
            sub,
            patterns,
        })
    }

    pub fn has_sub(&self) -> bool {
        !self.sub.is_empty() || !self.patterns.is_empty()
    }

    pub fn subcommand(&self, word: &str) -> Option<&Self> {
        self.sub.get(word).or_else(|| self.patterns.iter().find(|(pattern, _)| matches(pattern, word)).map(|(_, entry)| entry))
    }

    /// A long option by its name or an unambiguous beginning of it, as `getopt_long` does.
    pub fn long(&self, name: &str) -> Option<Opt> {
        if let Some(found) = self.options.get(name) {
            return Some(*found);
        }
        let mut candidates =
            self.options.iter().filter(|(key, _)| key.starts_with(name) && key.starts_with("--")).map(|(_, option)| *option);
        let first = candidates.next()?;
        candidates.all(|other| other == first).then_some(first)
    }

    pub fn short(&self, letter: char) -> Option<Opt> {
        let mut key = [b'-', 0, 0, 0, 0];
        let length = letter.encode_utf8(&mut key[1..]).len();
        self.options.get(std::str::from_utf8(&key[..=length]).ok()?).copied()
    }
}

impl Opt {
    const FLAG: Self = Self { value: Value::None, role: Role::Plain, class: CommandClass::Read, info: false };
}

fn words(text: &str) -> Vec<Box<str>> {
    text.split_whitespace().map(Into::into).collect()
}

fn quoted(word: &str) -> String {
    if word.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')) {
        word.to_owned()
    } else {
        format!("\"{word}\"")
    }
}

fn insert(sub: &mut Map<Box<str>, Entry>, patterns: &mut Vec<(Box<str>, Entry)>, word: &str, entry: Entry) {
    if word.contains('*') {
        patterns.push((word.into(), entry));
    } else {
        sub.insert(word.into(), entry);
    }
}

/// `*` at the end, or in front.
pub(crate) fn matches(pattern: &str, word: &str) -> bool {
    match (pattern.strip_suffix('*'), pattern.strip_prefix('*')) {
        (Some(prefix), _) => word.starts_with(prefix),
        (_, Some(suffix)) => word.ends_with(suffix),
        _ => pattern == word,
    }
}

/// Reads `-abc -o= -i=? --long --width= -name=` into the table; `-abc` is bundled flags unless written
/// `-abc!`, or where long options begin with one dash.
fn declare(options: &mut Map<Box<str>, Opt>, dash: bool, list: &str, like: Opt) {
    for token in list.split_whitespace() {
        let (name, value) = match (token.strip_suffix("=?"), token.strip_suffix("=="), token.strip_suffix('=')) {
            (Some(name), ..) => (name, Value::Attached),
            (_, Some(name), _) => (name, Value::Named),
            (_, _, Some(name)) => (name, Value::Required),
            _ => (token, Value::None),
        };
        let option = Opt { value, ..like };
        if let Some(word) = name.strip_suffix('!') {
            options.insert(word.into(), option);
        } else if dash || name.starts_with("--") || value != Value::None || !name.starts_with('-') {
            options.insert(name.into(), option);
        } else {
            for letter in name[1..].chars() {
                options.insert(format!("-{letter}").into(), option);
            }
        }
    }
}
