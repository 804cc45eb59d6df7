//! One program with its arguments: from the name to the entry, and what the entry says of these arguments.
//!
//! A name that is not known, and a path to a file that may be any program, are at least Write.

use super::args::Arg;
use super::collected::Reach;
use super::judge::{Judge, MAX_LEVELS, MAX_NAME, Raise, Scope, part};
use super::special;
use super::vet::{Finding, vet};
use super::walk::opaque;
use crate::knowledge::{About, Called, Entry};
use crate::{CommandClass, Part, ReasonCode};

/// Directories whose programs are what their names say, as far as a text can tell.
const STANDARD: &[&str] = &["/bin", "/usr/bin", "/sbin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin"];

/// No path is longer.
const MAX_TEXT_NAME: usize = 4096;

pub(crate) fn base(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// A path into a directory whose programs are what their names say.
pub(crate) fn standard(path: &str) -> bool {
    let short = base(path);
    short.len() < path.len() && STANDARD.contains(&&path[..path.len() - short.len() - 1])
}

impl Judge<'_> {
    /// A command of shell text: its first word is a name, a function or a path.
    pub fn command(&self, args: &[Arg], scope: &Scope<'_>) -> Part {
        let mut out = part(self.text(args));
        let Some((first, rest)) = args.split_first() else { return out };
        if !self.spend() {
            out.raise(opaque("more commands than the classifier reads", true));
            return out;
        }
        self.collect_command(args);
        args.iter().for_each(|arg| self.descriptor(arg));
        if first.text.len() > MAX_TEXT_NAME {
            out.raise(opaque("a program name longer than any path", true));
            return out;
        }
        let Some(name) = first.full() else {
            out.raise(Finding::new(CommandClass::Write, ReasonCode::DynamicCommand, "the program is only known when it runs"));
            return out;
        };
        if name.is_empty() {
            out.raise(Finding::new(CommandClass::Write, ReasonCode::DynamicCommand, "an empty program name"));
            return out;
        }
        crate::steps::step(scope.functions.borrow().len());
        if scope.functions.borrow().iter().any(|function| function == name) {
            rest.iter().for_each(|arg| self.valued(arg));
            // Its body was judged where it was defined.
            match self.knowledge.program(name) {
                Some(_) => self.named(name, rest, scope, &mut out),
                None => out.reason = format!("{name} is defined in this text"),
            }
            return out;
        }
        let short = base(name);
        if short.len() < name.len() && !standard(name) {
            self.collect_path(name, name);
            self.runs_unseen();
            out.raise(Finding::new(
                CommandClass::Write,
                ReasonCode::UntrustedFile,
                format!("{} may be any program", crate::display::word(name)),
            ));
        }
        self.named(short, rest, scope, &mut out);
        out
    }

    /// A program by its bare name.
    pub fn named(&self, name: &str, args: &[Arg], scope: &Scope<'_>, out: &mut Part) {
        if self.looks(name, args, scope, out) {
            self.tighten(name, args, scope, out);
            return;
        }
        match self.knowledge.program(name).filter(|_| name.len() <= MAX_NAME) {
            Some(entry) => self.entry(entry, name, args, scope, out),
            None => {
                for arg in args {
                    self.collect_arg(name, arg, Reach::File);
                }
                match args {
                    [only] if only.full().is_some_and(|word| About::table().tells(name, word)) => out.code = ReasonCode::Known,
                    _ => out.raise(self.unknown(name)),
                }
            }
        }
        self.tighten(name, args, scope, out);
    }

    /// A call with which a program only looks that does more otherwise.
    fn looks(&self, name: &str, args: &[Arg], scope: &Scope<'_>, out: &mut Part) -> bool {
        let Some(entry) = self.knowledge.looking(name).filter(|_| name.len() <= MAX_NAME) else { return false };
        let mut looks = part(self.text(args));
        self.entry(entry, name, args, scope, &mut looks);
        if looks.class > CommandClass::Read {
            return false;
        }
        if out.class == CommandClass::Read {
            *out = Part { text: std::mem::take(&mut out.text), ..looks };
        }
        true
    }

    /// What the name adds that a file is called by: another known program's counts as well, and one by which nobody knows
    /// the file is no name of it.
    pub fn also_called(&self, called: Called<'_>, args: &[Arg], scope: &Scope<'_>, out: &mut Part) {
        if let Some(name) = called.besides {
            let mut besides = part(self.text(args));
            self.named(name, args, scope, &mut besides);
            if besides.class > out.class {
                *out = Part { text: std::mem::take(&mut out.text), ..besides };
            }
        }
        if called.strange {
            let reason = format!("{} is another program by each name, and not known by this one", crate::display::word(called.name));
            out.raise(Finding::new(CommandClass::Write, ReasonCode::UnknownProgram, reason));
        }
    }

    /// A wrapper has the program called by another name: `exec -a NAME`, `env --argv0 NAME`. The worse of both counts.
    pub fn renamed(&self, words: &[Arg], word: &Arg, scope: &Scope<'_>, out: &mut Part) {
        let Some((file, rest)) = words.split_first() else { return };
        match (file.full().map(base), word.full().map(base)) {
            (Some(file), Some(word)) => {
                let called = self.knowledge.called(file, Some(word));
                let member = (called.name != file).then_some(called.name);
                self.also_called(Called { besides: called.besides.or(member), ..called }, rest, scope, out);
            }
            _ => out.raise(Finding::new(CommandClass::Write, ReasonCode::DynamicCommand, "a name that is only known when it runs")),
        }
    }

    /// What the workspace says besides.
    fn tighten(&self, name: &str, args: &[Arg], scope: &Scope<'_>, out: &mut Part) {
        if let Some(entry) = self.knowledge.tightening(name).filter(|_| name.len() <= MAX_NAME) {
            let mut besides = part(self.text(args));
            self.entry(entry, name, args, scope, &mut besides);
            if besides.class > out.class {
                *out = Part { text: std::mem::take(&mut out.text), ..besides };
            }
        }
    }

    /// A program whose entry is known.
    pub fn entry(&self, entry: &Entry, name: &str, args: &[Arg], scope: &Scope<'_>, out: &mut Part) {
        if scope.level > MAX_LEVELS {
            out.raise(opaque("commands in commands, too deep", true));
            return;
        }
        if out.class == CommandClass::Read {
            out.code = ReasonCode::Known;
            if self.explain {
                out.entry = Some(entry.at.to_string());
            }
        }
        if entry.listens || entry.scripted && args.iter().any(is_input) {
            self.takes_commands();
        }
        self.takes_names(entry, name, args, scope);
        self.reaches(entry, args, out);
        if let [only] = args
            && (entry.class == CommandClass::Read || !entry.free)
            && only.full().is_some_and(|word| {
                // What does not know them may go on, and run its input.
                let ends = !(entry.listens && entry.lax) || entry.options.get(word).is_some_and(|option| option.info);
                matches!(word, "--help" | "--version") && ends || About::table().tells(name, word)
            })
        {
            return;
        }
        for arg in args.iter().filter(|_| !entry.anywhere.is_empty()) {
            crate::steps::step(arg.known);
            if let Some(class) = entry.worst(arg.head()) {
                let reason = format!("{name} with {}", crate::display::word(&arg.text));
                out.raise_at(Finding::new(class, ReasonCode::Operand, reason), entry.at);
            }
        }
        if self.asked(entry, name, args, scope, out) {
            return;
        }
        if let Some(handler) = &entry.special
            && special::judge(self, handler, entry, name, args, scope, out)
        {
            match handler.as_ref() {
                "sql" => args.iter().for_each(|arg| self.collect_text(name, &arg.text)),
                handler if special::gathers(handler) => {}
                _ => self.collect_words(name, args),
            }
            return;
        }
        if entry.special.as_deref() == Some("subscript") && matches!(name, "cd" | "chdir" | "pushd") {
            self.collect_base(args.iter().find(|arg| !arg.text.starts_with('-')));
            if args.iter().any(|arg| arg.altered) {
                out.raise(opaque("a change to a directory that is only known when it runs", false));
            }
        }
        // Patterns of names then reach what is hidden, the stores of keys among it.
        let hidden = |arg: &Arg| matches!(arg.text.to_ascii_lowercase().replace('_', "").as_str(), "dotglob" | "globdots") || arg.altered;
        let off = args.first().and_then(Arg::full) == Some("-u") && !args[1..].iter().any(|arg| arg.is_open() || arg.text.starts_with('-'));
        if matches!(name, "shopt" | "setopt") && !off && args.iter().any(hidden) {
            out.raise(opaque("patterns that match hidden files", false));
        }
        let vetted = vet(entry, args);
        self.vetted(entry, name, args, &vetted, scope, out);
        if (out.class >= CommandClass::Network || entry.lax) && entry.payload.is_none() {
            self.collect_words(name, args);
        }
    }
}

/// An argument that is the standard input, or an option with it.
fn is_input(arg: &Arg) -> bool {
    let value = arg.text.strip_prefix("-f").or_else(|| arg.text.strip_prefix("--file=")).unwrap_or(&arg.text);
    special::STANDARD_INPUT.contains(&value)
}
