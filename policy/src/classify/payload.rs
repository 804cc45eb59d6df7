//! What a program starts: a command among its operands, or text that it gives to a shell.
//!
//! Invariant: the class of a wrapper is never less than that of what it starts, nor than its own.

use super::args::{Arg, UNKNOWN};
use super::judge::{Judge, Raise, Scope};
use super::vet::{Finding, Vetted};
use crate::knowledge::{Entry, Payload, Role};
use crate::{CommandClass, Part, ReasonCode};

impl Judge<'_> {
    pub fn payload(&self, entry: &Entry, name: &str, args: &[Arg], vetted: &Vetted, scope: &Scope<'_>, out: &mut Part) {
        out.raise_at(Finding::new(entry.class, ReasonCode::Known, name.to_owned()), entry.at);
        if entry.payload == Some(Payload::Dashes) {
            self.collect_operands(entry, name, args, vetted);
            let dashes = args.iter().position(|arg| arg.full() == Some("--"));
            let Some(at) = dashes else {
                self.bare(entry, name, out);
                return;
            };
            let child = self.external(&args[at + 1..], &deeper(scope));
            out.add(child, self.explain);
            return;
        }
        let rest = vetted.operands.get(entry.skip..).unwrap_or_default();
        let start = self.payload_start(entry, args, vetted);
        for &at in rest.iter().take_while(|&&at| entry.assigns && start != Some(at)) {
            if let Some((variable, value)) = split_assignment(&args[at])
                && let Some(found) = self.assignment(&variable, &value, scope)
            {
                out.raise(found);
            }
        }
        let Some(start) = start else {
            self.bare(entry, name, out);
            // What a wrapper starts when it is told nothing is a shell.
            if out.class > CommandClass::Read && !vetted.taken.iter().any(|taken| matches!(taken.role, Role::Data | Role::Run | Role::Exec))
            {
                self.takes_commands();
            }
            return;
        };
        let inner = Scope { level: scope.level + 1, ..scope.clone() };
        // `sudo -e FILE` starts an editor, and writes what it is given.
        if name == "sudo" && (vetted.has("-e") || vetted.has("--edit")) {
            args[start..].iter().filter_map(super::paths::changed).for_each(|found| out.raise_at(found, entry.at));
        }
        if entry.skip > 0 && args[start - 1].full() == Some("--") {
            out.raise(Finding::new(CommandClass::Write, ReasonCode::UnlistedOption, "a command behind dashes that may be its name"));
        }
        if entry.payload == Some(Payload::Texts) {
            for &at in rest.iter().skip_while(|&&at| at != start) {
                let child = self.read_by("sh", false, || self.text_arg(&args[at], &inner));
                out.add(child, self.explain);
            }
            return;
        }
        // `flock FILE -c TEXT`: an option of its own behind what it skips.
        let option = args[start].full().and_then(|word| entry.options.get(word)).filter(|option| option.role == Role::Run);
        if let Some(text) = option.and_then(|_| args.get(start + 1)) {
            let child = self.read_by("sh", false, || self.text_arg(text, &inner));
            out.add(child, self.explain);
        }
        let child = match entry.payload {
            Some(Payload::Text) => {
                let words: Vec<Arg> = args[start..].to_vec();
                let vars = scope.vars.of_child();
                self.read_by("sh", false, || self.joined(&words, &Scope { vars: &vars, ..inner }))
            }
            _ => {
                let mut child = self.external(&args[start..], &inner);
                // What a container starts instead of its own, and the words for that.
                if let Some(program) = vetted.value(&["--entrypoint", "--command"]).filter(|_| entry.skip == 1) {
                    let words: Vec<Arg> = std::iter::once(program).chain(&args[start..]).cloned().collect();
                    let other = self.external(&words, &inner);
                    child.add(other, self.explain);
                }
                if let Some(word) = vetted.value(&["-a"]).filter(|_| name == "exec") {
                    self.renamed(&args[start..], word, &inner, &mut child);
                }
                child
            }
        };
        out.add(child, self.explain);
        if out.code == ReasonCode::Parts {
            out.code = ReasonCode::Payload;
        }
    }

    /// Where the command begins that a wrapper starts.
    pub fn payload_start(&self, entry: &Entry, args: &[Arg], vetted: &Vetted) -> Option<usize> {
        let mut rest = vetted.operands.get(entry.skip..)?.iter().copied();
        let assigns = |at: usize| entry.assigns && split_assignment(&args[at]).is_some();
        // Behind a host or a container the dashes say where the command begins.
        rest.find(|&at| !(assigns(at) || (entry.skip > 0 && args[at].full() == Some("--"))))
    }

    /// A command that a program starts: no function of the text is meant.
    pub fn external(&self, args: &[Arg], scope: &Scope<'_>) -> Part {
        let functions = std::cell::RefCell::new(Vec::new());
        let inner = Scope { functions: &functions, ..scope.clone() };
        self.command(args, &inner)
    }

    fn bare(&self, entry: &Entry, name: &str, out: &mut Part) {
        let class = entry.bare.unwrap_or(entry.class);
        out.raise_at(Finding::new(class, ReasonCode::Known, format!("{name} without a command")), entry.at);
    }

    /// Text that will be run by a shell.
    pub fn text_arg(&self, text: &Arg, scope: &Scope<'_>) -> Part {
        let mut out = match text.full() {
            Some(full) => return self.text_part(full, Some(scope.vars), scope.level, &scope.feed),
            // What is known of it is still looked at.
            None => self.text_part(&text.text.replace(UNKNOWN, "${UNKNOWN}"), Some(scope.vars), scope.level, &scope.feed),
        };
        out.raise(Finding::new(CommandClass::Write, ReasonCode::DynamicCommand, "text that is only known when it runs"));
        out
    }

    /// Words that a program joins with blanks and gives to a shell.
    pub fn joined(&self, words: &[Arg], scope: &Scope<'_>) -> Part {
        let open = words.iter().any(Arg::is_open);
        let text = words.iter().map(|word| word.text.replace(UNKNOWN, "${UNKNOWN}")).collect::<Vec<_>>().join(" ");
        let mut out = self.text_part(&text, Some(scope.vars), scope.level, &scope.feed);
        if open {
            out.raise(Finding::new(CommandClass::Write, ReasonCode::DynamicCommand, "text that is only known when it runs"));
        }
        out
    }
}

pub(crate) fn deeper<'a>(scope: &Scope<'a>) -> Scope<'a> {
    Scope { level: scope.level + 1, ..scope.clone() }
}

/// `NAME=value`, with its value as an argument of its own.
pub(crate) fn split_assignment(arg: &Arg) -> Option<(String, Arg)> {
    let at = arg.head().find('=')?;
    let name = &arg.text[..at];
    let valid = !name.is_empty() && !name.starts_with('-') && !name.contains('/');
    valid.then(|| (name.to_owned(), arg.with(arg.text[at + 1..].to_owned(), arg.known - at - 1)))
}

/// An argument in which a program puts something of its own where `mark` stands.
pub(crate) fn replaced(arg: &Arg, mark: &str) -> Arg {
    match arg.text.find(mark) {
        Some(at) if !mark.is_empty() => arg.with(arg.text.replace(mark, &UNKNOWN.to_string()), at.min(arg.known)),
        _ => arg.clone(),
    }
}
