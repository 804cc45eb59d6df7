//! What the vetted options and operands of a program come to: files that are written, programs that are started,
//! subcommands, hosts.
//!
//! Invariant: every value and operand is judged by what the entry says it is; what the entry does not say raises.

use super::args::Arg;
use super::collected::Reach;
use super::judge::{Feed, Judge, Raise, Scope, part};
use super::paths;
use super::payload::{deeper, replaced};
use super::vet::{Finding, Taken, Vetted, vet};
use crate::knowledge::{Entry, Role, Writes};
use crate::{CommandClass, Part, ReasonCode};

impl Judge<'_> {
    /// What options and operands come to.
    pub fn vetted(&self, entry: &Entry, name: &str, args: &[Arg], vetted: &Vetted, scope: &Scope<'_>, out: &mut Part) {
        self.does(entry, name, args, vetted, scope, out);
        // After what the program does anyway: an option is the reason only where it raises.
        for finding in &vetted.findings {
            out.raise_at(finding.clone(), entry.at);
        }
    }

    /// Options make it only look, and nothing else that it is given says otherwise.
    pub fn asked(&self, entry: &Entry, name: &str, args: &[Arg], scope: &Scope<'_>, out: &mut Part) -> bool {
        if entry.asks.is_empty() {
            return false;
        }
        let vetted = vet(entry, args);
        let given = |option: &str| entry.asks.iter().any(|known| &**known == option);
        let asks = vetted.flags.iter().any(|flag| given(flag)) || vetted.taken.iter().any(|taken| given(&taken.option));
        // What an interpreter is told on its command line may run all the same; a file of words may hold options.
        let told = entry.special.as_deref() == Some("interpreter") && vetted.taken.iter().any(|taken| taken.role == Role::Data);
        let words = vetted.operands.iter().any(|&at| args[at].text.starts_with('@'));
        if !asks || told || words || !vetted.findings.is_empty() || !vetted.execs.is_empty() {
            return false;
        }
        self.collect_options(entry, name, args, &vetted);
        for taken in &vetted.taken {
            self.value(entry, name, taken, scope, out);
        }
        self.reads(entry, name, args, &vetted, out);
        true
    }

    /// What the program does, its options' own classes aside.
    fn does(&self, entry: &Entry, name: &str, args: &[Arg], vetted: &Vetted, scope: &Scope<'_>, out: &mut Part) {
        self.collect_options(entry, name, args, vetted);
        for taken in &vetted.taken {
            self.value(entry, name, taken, scope, out);
        }
        for command in &vetted.execs {
            let inner = Scope { level: scope.level + 1, feed: Feed::default(), ..scope.clone() };
            let mut payload: Vec<Arg> = command.iter().map(|arg| replaced(arg, "{}")).collect();
            // fd puts what it found behind a command that does not say where.
            if name.starts_with("fd") && !command.iter().any(|arg| arg.text.contains('{')) {
                payload.push(Arg { shifts: true, ..Arg::open(false) });
            }
            if self.gathers() && self.reads_contents(&payload) {
                self.walked(entry, name, args, vetted).iter().for_each(|root| self.collect_arg(name, root, Reach::Below));
            }
            let child = self.external(&payload, &inner);
            out.add(child, self.explain);
        }
        let quiet = vetted.operands.is_empty() || entry.class == CommandClass::Read;
        // What a lax program does with an option that nobody listed, nobody knows.
        let listed = !entry.lax || vetted.unlisted.is_empty();
        if vetted.info && vetted.execs.is_empty() && quiet && listed {
            return;
        }
        if entry.has_sub() {
            self.subcommand(entry, name, args, vetted, scope, out);
            return;
        }
        match entry.payload {
            Some(_) => self.payload(entry, name, args, vetted, scope, out),
            None => self.operands(entry, name, args, vetted, out),
        }
    }

    fn value(&self, entry: &Entry, name: &str, taken: &Taken, scope: &Scope<'_>, out: &mut Part) {
        match taken.role {
            Role::Data => {}
            Role::Sink => {
                self.collect_arg(name, &taken.value, Reach::File);
                if let Some(finding) = paths::write(&taken.value) {
                    out.raise_at(finding, entry.at);
                }
            }
            Role::Run if matches!(taken.value.full(), Some("never" | "always" | "auto" | "")) => {}
            Role::Run => {
                let inner = Scope { level: scope.level + 1, feed: Feed::default(), ..scope.clone() };
                let child = self.read_by("sh", false, || self.text_arg(&taken.value, &inner));
                out.add(child, self.explain);
                // It may be given a file: what filters its input changes one that it is given (`rg --pre gunzip`).
                let given = taken.value.with(format!("{} ./x", taken.value.text), taken.value.known);
                let child = self.read_by("sh", false, || self.text_arg(&given, &inner));
                out.add(child, self.explain);
            }
            Role::File => {
                self.collect_words(name, std::slice::from_ref(&taken.value));
                if !entry.inert && is_address(&taken.value) {
                    out.raise_at(
                        Finding::new(CommandClass::Network, ReasonCode::Operand, format!("{name} reads from another host")),
                        entry.at,
                    );
                }
            }
            Role::Plain | Role::Exec => {
                if taken.value.text.contains(['/', '~', '$']) || taken.value.is_open() {
                    self.collect_words(name, std::slice::from_ref(&taken.value));
                }
            }
        }
    }

    fn subcommand(&self, entry: &Entry, name: &str, args: &[Arg], vetted: &Vetted, scope: &Scope<'_>, out: &mut Part) {
        let Some(&at) = vetted.operands.first() else {
            let class = entry.bare.unwrap_or(entry.class);
            out.raise_at(Finding::new(class, ReasonCode::Known, format!("{name} without a subcommand")), entry.at);
            return;
        };
        let below = args[at].full().and_then(|word| entry.subcommand(word));
        match below {
            Some(below) => {
                let full = format!("{name} {}", args[at].text);
                let mut inner = part(String::new());
                self.entry(below, &full, &args[at + 1..], scope, &mut inner);
                adopt(out, inner);
            }
            None => {
                let class = entry.class.max(CommandClass::Write);
                let word = crate::display::word(&args[at].text);
                out.raise_at(Finding::new(class, ReasonCode::UnknownSubcommand, format!("{name} {word} is not known")), entry.at);
                // An option that nobody listed may have taken this word for its value.
                let later = vetted.operands.iter().skip(1).take(if vetted.unlisted.is_empty() { 0 } else { 2 });
                for (&at, below) in later.filter_map(|at| Some((at, entry.subcommand(args[*at].full()?)?))) {
                    let full = format!("{name} {}", args[at].text);
                    let mut inner = part(String::new());
                    self.entry(below, &full, &args[at + 1..], &deeper(scope), &mut inner);
                    if inner.class > out.class {
                        adopt(out, inner);
                    }
                }
                self.collect_words(name, &args[at..]);
            }
        }
    }

    /// What it reads of its operands, and how many it may have.
    fn reads(&self, entry: &Entry, name: &str, args: &[Arg], vetted: &Vetted, out: &mut Part) {
        let operands = &vetted.operands;
        self.collect_operands(entry, name, args, vetted);
        let is_path = |index: usize| entry.operands.get(index).or(entry.operands.last()).copied().unwrap_or(true);
        if !entry.inert && !entry.lists && operands.iter().enumerate().any(|(index, &at)| is_path(index) && is_address(&args[at])) {
            out.raise_at(Finding::new(CommandClass::Network, ReasonCode::Operand, format!("{name} reads from another host")), entry.at);
        }
        if let Some(max) = entry.max {
            let counted = operands.iter().filter(|&&at| !entry.except.iter().any(|prefix| args[at].head().starts_with(&**prefix))).count();
            let splits = operands.iter().any(|&at| args[at].free || args[at].shifts);
            if counted > max || (splits && !entry.inert) {
                out.raise_at(
                    Finding::new(entry.extra, ReasonCode::Operand, format!("{name} with this operand changes something")),
                    entry.at,
                );
            }
        }
    }

    fn operands(&self, entry: &Entry, name: &str, args: &[Arg], vetted: &Vetted, out: &mut Part) {
        let operands = &vetted.operands;
        let class = match entry.bare {
            Some(bare) if operands.is_empty() => bare,
            _ => entry.class,
        };
        if class > CommandClass::Read {
            out.raise_at(Finding::new(class, ReasonCode::Known, name.to_owned()), entry.at);
        }
        self.reads(entry, name, args, vetted, out);
        let written: &[usize] = match entry.writes {
            None => &[],
            Some(Writes::All) => operands,
            Some(Writes::Last) => operands.last().map_or(&[], std::slice::from_ref),
            Some(Writes::First) => operands.first().map_or(&[], std::slice::from_ref),
            Some(Writes::Second) => operands.get(1).map_or(&[], std::slice::from_ref),
        };
        for &at in written {
            if let Some(finding) = paths::changed(&args[at]) {
                out.raise_at(finding, entry.at);
            }
        }
    }
}

/// What is fetched from another host: `scheme://…`, a repository by its host.
pub(super) fn is_address(arg: &Arg) -> bool {
    let head = arg.head();
    let scheme = head.split_once("://").map(|(scheme, _)| scheme.trim_start_matches("git::"));
    let fetched = |scheme: &str| {
        scheme != "file"
            && !scheme.is_empty()
            && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'))
    };
    // A key that an engine of OpenSSL's is asked for: the engine is loaded.
    let engine = head.split('/').next().is_some_and(|first| first.contains("engine:")) || head.starts_with("pkcs11:");
    let nested = head.strip_prefix("jar:").is_some_and(|inner| inner.starts_with("http"));
    engine
        || nested
        || scheme.is_some_and(fetched)
        || ["git@", "github.com/", "gitlab.com/", "bitbucket.org/"].iter().any(|host| head.starts_with(host))
}

fn adopt(out: &mut Part, inner: Part) {
    if inner.class >= out.class {
        out.class = inner.class;
        out.code = inner.code;
        if !inner.reason.is_empty() {
            out.reason = inner.reason;
        }
        if inner.entry.is_some() {
            out.entry = inner.entry;
        }
        out.parts.extend(inner.parts);
    }
}
