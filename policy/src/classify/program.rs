//! One program with its arguments: from the name to the entry, through its options to what it starts.

use super::args::Arg;
use super::gather::Reach;
use super::judge::{Feed, Judge, MAX_LEVELS, MAX_NAME, Raise, Scope, part};
use super::payload::replaced;
use super::vet::{Finding, Taken, Vetted, vet};
use super::walk::opaque;
use super::{paths, special};
use crate::knowledge::{Entry, Role, Writes};
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
        match self.knowledge.program(name).filter(|_| name.len() <= MAX_NAME) {
            Some(entry) => self.entry(entry, name, args, scope, out),
            None => {
                for arg in args {
                    self.collect_arg(name, arg, Reach::File);
                }
                out.raise(self.unknown(name));
            }
        }
        self.tighten(name, args, scope, out);
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
        if let [only] = args
            && matches!(only.full(), Some("--help" | "--version"))
            && !entry.free
        {
            return;
        }
        if let Some(handler) = &entry.special
            && special::judge(self, handler, entry, name, args, scope, out)
        {
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
    }

    /// What options and operands come to.
    pub fn vetted(&self, entry: &Entry, name: &str, args: &[Arg], vetted: &Vetted, scope: &Scope<'_>, out: &mut Part) {
        self.does(entry, name, args, vetted, scope, out);
        // After what the program does anyway: an option is the reason only where it raises.
        for finding in &vetted.findings {
            out.raise_at(finding.clone(), entry.at);
        }
    }

    /// What the program does, its options' own classes aside.
    fn does(&self, entry: &Entry, name: &str, args: &[Arg], vetted: &Vetted, scope: &Scope<'_>, out: &mut Part) {
        self.collect_options(entry, name, args, vetted);
        for taken in &vetted.taken {
            self.value(entry, name, taken, scope, out);
        }
        for &(start, end) in &vetted.execs {
            let inner = Scope { level: scope.level + 1, feed: Feed::default(), ..scope.clone() };
            let payload: Vec<Arg> = args[start..end.min(args.len())].iter().map(|arg| replaced(arg, "{}")).collect();
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
            }
            Role::File => {
                self.collect_arg(name, &taken.value, Reach::File);
                if !entry.inert && is_address(&taken.value) {
                    out.raise_at(
                        Finding::new(CommandClass::Network, ReasonCode::Operand, format!("{name} reads from another host")),
                        entry.at,
                    );
                }
            }
            Role::Plain | Role::Exec => {
                if taken.value.text.contains(['/', '~', '$']) || taken.value.is_open() {
                    self.collect_arg(name, &taken.value, Reach::File);
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
                for arg in &args[at..] {
                    self.collect_arg(name, arg, Reach::File);
                }
            }
        }
    }

    fn operands(&self, entry: &Entry, name: &str, args: &[Arg], vetted: &Vetted, out: &mut Part) {
        let operands = &vetted.operands;
        self.collect_operands(entry, name, args, vetted);
        let is_path = |index: usize| entry.operands.get(index).or(entry.operands.last()).copied().unwrap_or(true);
        if !entry.inert && !entry.lists && operands.iter().enumerate().any(|(index, &at)| is_path(index) && is_address(&args[at])) {
            out.raise_at(Finding::new(CommandClass::Network, ReasonCode::Operand, format!("{name} reads from another host")), entry.at);
        }
        let class = match entry.bare {
            Some(bare) if operands.is_empty() => bare,
            _ => entry.class,
        };
        if class > CommandClass::Read {
            out.raise_at(Finding::new(class, ReasonCode::Known, name.to_owned()), entry.at);
        }
        if let Some(max) = entry.max {
            let counted = operands.iter().filter(|&&at| !entry.except.iter().any(|prefix| args[at].head().starts_with(&**prefix))).count();
            let splits = operands.iter().any(|&at| args[at].free);
            if counted > max || (splits && !entry.inert) {
                out.raise_at(
                    Finding::new(entry.extra, ReasonCode::Operand, format!("{name} with this operand changes something")),
                    entry.at,
                );
            }
        }
        let written: &[usize] = match entry.writes {
            None => &[],
            Some(Writes::All) => operands,
            Some(Writes::Last) => operands.last().map_or(&[], std::slice::from_ref),
            Some(Writes::First) => operands.first().map_or(&[], std::slice::from_ref),
        };
        for &at in written {
            let target = &args[at];
            let whole = target.head() == "/" || target.head() == "/*";
            if (whole || (target.head().len() > 1 && target.head().starts_with('/')))
                && paths::is_system(target.head())
                && !paths::is_sink(&target.text)
            {
                let reason = format!("changes {}", target.head());
                out.raise_at(Finding::new(CommandClass::Destructive, ReasonCode::SystemPath, reason), entry.at);
            }
        }
    }
}

/// A file that is fetched from another host.
fn is_address(arg: &Arg) -> bool {
    ["http://", "https://", "ftp://", "ftps://", "sftp://"].iter().any(|scheme| arg.head().starts_with(scheme))
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
