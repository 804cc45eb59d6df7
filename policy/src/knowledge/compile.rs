//! From a table as it is written to the entry that is asked: options by name, subcommands with what they inherit.
//!
//! A word that means nothing, or an entry that is Read with options that nobody listed, is a flaw.

use std::sync::Arc;

use super::entry::{At, Entry, Payload, Writes};
use super::option::{Bundles, Opt, Role, declare};
use super::schema::RawEntry;
use crate::CommandClass;
use crate::hash::Map;

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
    pub(super) fn compile(name: &str, raw: &RawEntry, (inherited, reaching): (&str, &str), lines: Lines<'_>) -> Result<Self, Flaw> {
        let flaw = |what: String| Flaw { name: name.to_owned(), what };
        let at = lines(name);
        let mut options = Map::default();
        let plain = [(inherited, Role::Plain), (&raw.common, Role::Plain), (&raw.options, Role::Plain), (&raw.asks, Role::Plain)];
        let roles =
            [(&raw.sink, Role::Sink), (&raw.file, Role::File), (&raw.data, Role::Data), (&raw.run, Role::Run), (&raw.exec, Role::Exec)];
        let raising = [
            (&raw.write, CommandClass::Write),
            (&raw.network, CommandClass::Network),
            (&raw.install, CommandClass::Install),
            (&raw.destructive, CommandClass::Destructive),
        ];
        // An option in front that reaches another host does so behind a subcommand as well.
        declare(&mut options, raw.dash, reaching, Opt { class: CommandClass::Network, ..Opt::FLAG });
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
        let mut asks = Map::default();
        declare(&mut asks, raw.dash, &raw.asks, Opt::FLAG);
        // Words with one dash are common here and bundles are not.
        declare(&mut options, true, &raw.info, Opt { info: true, ..Opt::FLAG });
        let (common, below) = (format!("{inherited} {}", raw.common), format!("{reaching} {}", raw.network));
        let (mut sub, mut patterns) = (Map::default(), Vec::new());
        for (class, words) in &raw.verbs {
            let verb = RawEntry { class: Some(*class), dash: raw.dash, lax: raw.lax && *class > CommandClass::Read, ..RawEntry::default() };
            let entry = Arc::new(Self { at, ..Self::compile(name, &verb, (&common, &below), lines)? });
            words.split_whitespace().for_each(|word| insert(&mut sub, &mut patterns, word, &entry));
        }
        for (words, entry) in &raw.sub {
            let full = format!("{name}.sub.{}", quoted(words));
            let mut entry = Self::compile(&full, entry, (&common, &below), lines)?;
            if entry.at.line == 0 {
                entry.at = at;
            }
            let entry = Arc::new(entry);
            words.split('|').for_each(|word| insert(&mut sub, &mut patterns, word, &entry));
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
        if raw.lax && !asks.is_empty() {
            return Err(flaw("lax, and asks by an option: its others must be listed".into()));
        }
        if raw.lax && class == CommandClass::Read {
            return Err(flaw("lax, and Read: its options must be listed".into()));
        }
        let worse = |option: &Opt| option.class > class || matches!(option.role, Role::Sink | Role::Run | Role::Exec);
        Ok(Self {
            at,
            guarded: raw.payload.is_some() || !raw.anywhere.is_empty() || !asks.is_empty() || options.values().any(worse),
            class,
            bare: raw.bare.or(if has_sub { Some(raw.class.unwrap_or(CommandClass::Write)) } else { None }),
            options,
            asks: asks.into_keys().collect(),
            deep: words(&raw.deep),
            narrow: words(&raw.narrow),
            base: words(&raw.base),
            instead: words(&raw.instead),
            names: words(&raw.names),
            lists: raw.lists,
            lax: raw.lax,
            words: raw.words,
            dash: raw.dash,
            posix: raw.posix || raw.payload.is_some(),
            hosts: words(&raw.hosts),
            inert: raw.inert,
            bundles: match raw.bundles.as_deref() {
                None => Bundles::All,
                Some("flags") => Bundles::Flags,
                Some("none") => Bundles::None,
                Some(other) => return Err(flaw(format!("bundles = \"{other}\""))),
            },
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
                Some("second") => Some(Writes::Second),
                Some(other) => return Err(flaw(format!("writes = \"{other}\""))),
            },
            payload: match raw.payload.as_deref() {
                None => None,
                Some("argv") => Some(Payload::Argv),
                Some("text") => Some(Payload::Text),
                Some("texts") => Some(Payload::Texts),
                Some("dashes") => Some(Payload::Dashes),
                Some(other) => return Err(flaw(format!("payload = \"{other}\""))),
            },
            skip: raw.skip,
            assigns: raw.assigns,
            listens: raw.listens,
            scripted: raw.scripted,
            ignores_hangup: raw.ignores_hangup,
            special: raw.special.as_deref().map(Into::into),
            sub,
            patterns,
            anywhere: raw.anywhere.iter().flat_map(|(class, list)| words(list).into_iter().map(|word| (word, *class))).collect(),
            caseless: raw.caseless,
        })
    }
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

/// Names of one entry share it: hundreds of verbs take the same options.
fn insert(sub: &mut Map<Box<str>, Arc<Entry>>, patterns: &mut Vec<(Box<str>, Arc<Entry>)>, word: &str, entry: &Arc<Entry>) {
    if word.contains('*') {
        patterns.push((word.into(), Arc::clone(entry)));
    } else {
        sub.insert(word.into(), Arc::clone(entry));
    }
}
