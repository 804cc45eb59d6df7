//! What a knowledge file may say, as serde sees it. `docs/knowledge.md` explains each key.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Spanned;

use crate::CommandClass;

/// A file: program names (`a|b|c`) to entries.
pub(super) type File = BTreeMap<String, RawEntry>;

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct RawEntry {
    pub class: Option<CommandClass>,
    /// Class without operand or subcommand.
    pub bare: Option<CommandClass>,
    /// `-abc` flags, `-o=` value, `-o=?` value only when attached, `--long`, `-#` digits.
    pub options: String,
    /// Options that every subcommand below takes too.
    pub common: String,
    /// Options that raise.
    pub write: String,
    pub network: String,
    pub install: String,
    pub destructive: String,
    /// The value is a file that is written.
    pub sink: String,
    /// The value is a file that is read.
    pub file: String,
    /// The value is text, never a path.
    pub data: String,
    /// The value is a command line.
    pub run: String,
    /// Everything up to `;` or `+` is a command.
    pub exec: String,
    /// The option ends everything: information is printed and nothing else happens.
    pub info: String,
    /// Options with which it only looks, whatever it is without them.
    pub asks: String,
    /// Options, or names of the program itself, with which it reads everything below its operands.
    pub deep: String,
    /// Options whose value is a pattern that the names of files must fit then.
    pub narrow: String,
    /// Options whose value is a directory that it works in.
    pub base: String,
    /// Options with which it opens files that its input names; `*`: it takes its input for names anyway.
    pub names: String,
    /// Options that stand in place of the first operand.
    pub instead: String,
    /// It shows names and sizes of files, never contents.
    pub lists: bool,
    /// Any option is taken: refused for Read.
    pub lax: bool,
    /// It has no options at all: every argument is a word.
    pub words: bool,
    /// Long options begin with one dash and are not bundled.
    pub dash: bool,
    /// Options end at the first operand.
    pub posix: bool,
    /// No option and no operand can make it more than its class.
    pub inert: bool,
    /// Options whose value names a host, or an address or settings that may hold one.
    pub hosts: String,
    /// `flags`, `none`: which letters stand in one word, where that is not as getopt(3) reads them.
    pub bundles: Option<String>,
    /// Its output is whatever its input or its operands say.
    pub free: bool,
    /// `data`, `path`, `data path`: what the operands are, the last word holds for the rest.
    pub operands: Option<String>,
    /// More operands than these are `extra`.
    pub max: Option<usize>,
    pub extra: Option<CommandClass>,
    /// Operands with these beginnings are harmless for `max`.
    pub except: String,
    /// Which operands are written: `all`, `last`, `first`, `second`.
    pub writes: Option<String>,
    /// `argv`, `text`, `texts` (each operand is one), `dashes` (after `--`).
    pub payload: Option<String>,
    /// Operands before the payload.
    pub skip: usize,
    /// `NAME=value` operands before the payload.
    pub assigns: bool,
    /// It takes commands from its input.
    pub listens: bool,
    /// It takes commands from its input where an option or an operand names that: `make -f -`.
    pub scripted: bool,
    /// The first that it does is to ignore SIGHUP.
    pub ignores_hangup: bool,
    /// A handler in code.
    pub special: Option<String>,
    /// `python3.11` is `python`.
    pub versioned: bool,
    /// Name endings that mean the same program.
    pub suffixes: String,
    /// Subcommand words by class; they take `common` options.
    pub verbs: BTreeMap<CommandClass, String>,
    pub sub: BTreeMap<String, RawEntry>,
    /// Words by class that make it that, wherever among its arguments they stand.
    pub anywhere: BTreeMap<CommandClass, String>,
    /// Subcommands and words may be written in capitals.
    pub caseless: bool,
    /// `"command line" = "class"`, held by a test.
    pub examples: BTreeMap<Spanned<String>, CommandClass>,
}

/// `environment.toml`: what variables mean to programs.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct RawEnvironment {
    /// The value is a command line.
    pub command: String,
    /// Of `command`: what is started only where the program connects to a host, and does nothing but connect.
    #[serde(default)]
    pub transport: String,
    /// The value makes programs load code or read other configuration.
    pub load: String,
    /// As `load`, for some programs only: variables to programs.
    pub load_for: BTreeMap<String, String>,
    /// As `command`, for some programs only: variables to programs.
    pub command_for: BTreeMap<String, String>,
    /// Exceptions from the patterns above.
    pub harmless: String,
    /// Values of variables in `load` that load nothing.
    #[serde(default)]
    pub tame: BTreeMap<String, String>,
}
