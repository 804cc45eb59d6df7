//! Options against an entry, the way `getopt_long` reads them: bundled, attached, abbreviated, permuted.
//!
//! Positive vetting: what the entry does not list raises to Write. A reading that is unsure (a dynamic word where an
//! option may stand) raises as well.

use std::borrow::Cow;

use super::args::Arg;
pub(crate) use super::finding::{Finding, Taken, Vetted};
use crate::knowledge::{Entry, Opt, Role, Value};
use crate::{CommandClass, ReasonCode};

struct Vetting<'a> {
    entry: &'a Entry,
    args: &'a [Arg],
    at: usize,
    /// The word that is looked at.
    now: usize,
    /// It is looked at as what it may be besides.
    doubting: bool,
    out: Vetted,
}

/// Vets `args` (without the name) against `entry`. With `first_only`, options end at the first operand.
pub(crate) fn vet(entry: &Entry, args: &[Arg]) -> Vetted {
    let mut vetting = Vetting { entry, args, at: 0, now: 0, doubting: false, out: Vetted::default() };
    let first_only = entry.posix || entry.has_sub();
    while vetting.at < args.len() && !entry.words {
        let arg = &args[vetting.at];
        vetting.now = vetting.at;
        crate::steps::step(1 + arg.text.len());
        if arg.full() == Some("--") {
            vetting.out.dashes = Some(vetting.at);
            vetting.at += 1;
            // Where options are words of an expression, `find -- . -delete` still deletes.
            if entry.dash {
                continue;
            }
            break;
        }
        // `head -$n`: of a program that nothing can make worse it does not matter what it is.
        let any = arg.known == 0 || entry.inert && matches!(arg.head(), "-" | "--");
        if any && arg.is_open() {
            vetting.unknown(arg);
            vetting.operand();
        } else if arg.text.starts_with('-') && arg.text.len() > 1 {
            vetting.option(arg);
        } else {
            vetting.unknown(arg);
            vetting.operand();
        }
        if first_only && !vetting.out.operands.is_empty() {
            break;
        }
    }
    while vetting.at < args.len() {
        vetting.operand();
    }
    vetting.out
}

impl Vetting<'_> {
    fn operand(&mut self) {
        self.out.operands.push(self.at);
        self.at += 1;
    }

    fn raise(&mut self, code: ReasonCode, reason: impl Into<Cow<'static, str>>) {
        self.out.findings.push(Finding::new(CommandClass::Write, code, reason));
    }

    /// A word where an option may stand, not all of it known.
    fn unknown(&mut self, arg: &Arg) {
        if !self.entry.inert && (arg.risky || (arg.outside && self.entry.guarded)) {
            self.raise(ReasonCode::UnknownOperand, "a word that is only known when it runs may be an option");
        }
    }

    fn unlisted(&mut self, option: &str) {
        self.out.unlisted.push(self.now);
        // Options of a lax program are its subcommands' affair, not its own.
        if !self.entry.lax || self.entry.has_sub() {
            self.raise(ReasonCode::UnlistedOption, format!("option {option} is not known to be harmless"));
        }
    }

    fn option(&mut self, arg: &Arg) {
        let head = arg.head();
        if let Some(rest) = head.strip_prefix("--") {
            self.long(arg, rest);
        } else if !self.whole_word(arg) {
            if self.entry.dash { self.unknown_word(arg) } else { self.bundle(arg) }
        }
    }

    fn unknown_word(&mut self, arg: &Arg) {
        self.unlisted(arg.head());
        self.at += 1;
    }

    fn long(&mut self, arg: &Arg, rest: &str) {
        let head = arg.head();
        let (name, value_at) = match rest.find('=') {
            Some(at) => (&head[..at + 2], Some(at + 3)),
            None => (head, None),
        };
        if arg.is_open() && value_at.is_none() {
            self.unlisted(head);
            self.at += 1;
            return;
        }
        // By its full name: whoever asks for `--expression` shall find `--expr` as well.
        let Some((full, option)) = self.entry.long(name) else {
            // `-` may be the value's own: `--5`, `--` alone was taken before.
            self.unlisted(name);
            self.at += 1;
            return;
        };
        let attached = value_at.map(|at| rest_of(arg, at));
        self.at += 1;
        if option.value == Value::None && attached.is_some() {
            self.unlisted(name);
            return;
        }
        let value = attached.or_else(|| self.next_value(option));
        self.accept(full.to_owned(), option, value);
    }

    /// An option written as one word with one dash (`-name`), alone or with `=`.
    fn whole_word(&mut self, arg: &Arg) -> bool {
        let head = arg.head();
        if head.len() <= 2 && !self.entry.dash {
            return false;
        }
        let (name, value_at) = match head.find('=') {
            Some(at) => (&head[..at], Some(at + 1)),
            None => (head, None),
        };
        if name.len() <= 2 && !self.entry.dash {
            return false;
        }
        let Some(&option) = self.entry.options.get(name) else {
            return false;
        };
        if arg.is_open() && value_at.is_none() {
            return false;
        }
        self.at += 1;
        if option.value == Value::None && value_at.is_some() {
            self.unlisted(name);
            return true;
        }
        let value = match value_at {
            Some(at) => Some(rest_of(arg, at)),
            None => self.next_value(option),
        };
        self.accept(name.to_owned(), option, value);
        true
    }

    /// `-abc`, `-ofile`, `-5`.
    fn bundle(&mut self, arg: &Arg) {
        let head = arg.head();
        self.at += 1;
        if head == "-" {
            self.unlisted(arg.head());
            return;
        }
        for (offset, letter) in head.char_indices().skip(1) {
            let option = match self.entry.short(letter) {
                Some(option) => option,
                None if letter.is_ascii_digit() && self.entry.short('#').is_some() => continue,
                None => {
                    self.unlisted(&format!("-{letter}"));
                    continue;
                }
            };
            let rest = offset + letter.len_utf8();
            if option.role == Role::Exec && rest < arg.text.len() {
                // `-xtouch`: the command begins in the same word.
                self.exec(Some(rest_of(arg, rest)));
                return;
            }
            if self.entry.bundles.forbids(option, &head[rest.min(head.len())..]) {
                self.unlisted(head);
                return;
            }
            if option.value == Value::None {
                self.accept(format!("-{letter}"), option, None);
                continue;
            }
            let value = if rest < arg.text.len() { Some(rest_of(arg, rest)) } else { self.next_value(option) };
            self.accept(format!("-{letter}"), option, value);
            return;
        }
        if arg.is_open() {
            self.unlisted(arg.head());
        }
    }

    fn next_value(&mut self, option: Opt) -> Option<Arg> {
        match option.value {
            Value::Required => {}
            Value::Named => self.at = (self.at + 1).min(self.args.len()),
            Value::None | Value::Attached => return None,
        }
        let value = self.args.get(self.at).cloned();
        if let Some(value) = value.as_ref().filter(|value| !matches!(option.role, Role::Data | Role::Run) && looks_like_option(value)) {
            self.doubt(value);
        }
        self.at += usize::from(value.is_some());
        value
    }

    /// A value that would be an option where this program takes none here: other versions of it may, so it counts as both.
    fn doubt(&mut self, value: &Arg) {
        if self.doubting {
            return;
        }
        let mut other = Self { at: self.at, now: self.at, doubting: true, out: Vetted::default(), ..*self };
        other.option(value);
        self.out.findings.append(&mut other.out.findings);
        self.out.execs.append(&mut other.out.execs);
        self.out.taken.extend(other.out.taken.into_iter().filter(|taken| taken.role != Role::Plain));
    }

    fn accept(&mut self, name: String, option: Opt, value: Option<Arg>) {
        self.out.info |= option.info;
        if option.class > CommandClass::Read && option.role != Role::Sink {
            self.out.findings.push(Finding::new(option.class, ReasonCode::RaisingOption, format!("option {name}")));
        }
        if option.role == Role::Exec {
            self.exec(None);
            return;
        }
        let guarded = self.entry.guarded;
        if value.as_ref().is_some_and(|value| (value.free && value.known == 0) || (value.splits && guarded)) && !self.entry.inert {
            self.raise(ReasonCode::UnknownOperand, "an option's value that is only known when it runs");
        }
        match value {
            Some(value) => self.out.taken.push(Taken { option: name, role: option.role, value }),
            None => self.out.flags.push(name),
        }
    }

    /// A command up to `;` or `{} +`, of which the first word may stand in the option's own.
    fn exec(&mut self, first: Option<Arg>) {
        let mut command: Vec<Arg> = first.into_iter().collect();
        while self.at < self.args.len() && !matches!(self.args[self.at].full(), Some(";")) && !self.plus() {
            command.push(self.args[self.at].clone());
            self.at += 1;
        }
        // `{} +` becomes as many words as there are.
        if self.args.get(self.at).is_some_and(|end| end.full() == Some("+"))
            && let Some(last) = command.last_mut()
        {
            last.shifts = true;
        }
        self.out.execs.push(command);
        self.at = (self.at + 1).min(self.args.len());
    }

    /// `{} +` ends a command.
    fn plus(&self) -> bool {
        self.args[self.at].full() == Some("+") && self.at > 0 && self.args[self.at - 1].text == "{}"
    }
}

/// `-x` or `--x`; numbers and signs alone are values.
fn looks_like_option(value: &Arg) -> bool {
    let rest = value.head().strip_prefix('-').map(|rest| rest.strip_prefix('-').unwrap_or(rest));
    rest.is_some_and(|rest| rest.starts_with(|first: char| first.is_alphabetic()))
}

/// The argument without its first bytes.
fn rest_of(arg: &Arg, at: usize) -> Arg {
    arg.with(arg.text[at..].to_owned(), arg.known.saturating_sub(at))
}
