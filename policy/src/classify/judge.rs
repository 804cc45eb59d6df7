//! The judge of one question: knowledge, settings, budget, and what it was asked to collect on the way.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use super::args::Arg;
use super::collected::Collected;
use super::vars::{Flow, Vars};
use super::vet::Finding;
use crate::knowledge::{At, Knowledge};
use crate::shell::Disputed;
use crate::steps::step;
use crate::{CommandClass, Part, ReasonCode, SecurityPolicy};

/// Texts inside texts.
pub(crate) const MAX_LEVELS: usize = 12;
/// Programs judged for one question.
const MAX_WORK: usize = 20_000;
/// Bytes of text read for one question, texts in texts counted again.
const MAX_BYTES: usize = (1 << 20) + (1 << 17);
/// No program has a longer name.
pub(crate) const MAX_NAME: usize = 255;

pub(crate) struct Judge<'p> {
    pub knowledge: &'p Knowledge,
    pub settings: crate::ClassifySettings,
    pub explain: bool,
    /// Each program of the text will be judged again by its file, so that PATH deceives nobody.
    pub starts: bool,
    pub own_files: crate::OwnFiles<'p>,
    pub home: &'p [u8],
    pub work: Cell<usize>,
    pub bytes: Cell<usize>,
    /// What the texts of the shell that is being judged hold that others read otherwise.
    pub disputed: Cell<Disputed>,
    /// A shell or an interpreter takes its text from where nobody sees it.
    pub unseen: Cell<bool>,
    /// Something takes commands from its input, also where a text that was seen starts it.
    pub listens: Cell<bool>,
    /// Something runs that a file holds which only its name stands for: a script, a program of the tree.
    pub by_name: Cell<bool>,
    /// The text opens a descriptor for reading that a path below /dev/fd would open for writing.
    pub reopened: Cell<bool>,
    /// Something is written, or may be, to a path that stands for a descriptor.
    pub descriptors: Cell<bool>,
    pub collected: Option<RefCell<Collected>>,
}

/// What surrounds a command.
#[derive(Debug, Clone)]
pub(crate) struct Scope<'a> {
    pub vars: &'a Vars,
    /// Functions that the text has defined for certain before this command.
    pub functions: &'a RefCell<Vec<String>>,
    pub level: usize,
    pub feed: Feed,
}

impl Scope<'_> {
    /// A copy, for what a part of the text defines for itself.
    pub fn known_functions(&self) -> Vec<String> {
        step(self.functions.borrow().len());
        self.functions.borrow().clone()
    }
}

/// What a command finds on its standard input.
#[derive(Debug, Clone, Default)]
pub(crate) struct Feed {
    /// The text, when it is known.
    pub text: Option<Rc<str>>,
    /// Something flows in: a pipe, a file, a here-document.
    pub fed: bool,
    /// It comes from another host.
    pub download: bool,
    /// What its lines are.
    pub flow: Flow,
    /// Its lines, as far as the text says them; gathered for what takes them for names.
    pub said: super::said::Said,
    /// They are names of files below these directories; gathered for what reads them.
    pub walked: Option<Rc<Vec<Arg>>>,
}

impl<'p> Judge<'p> {
    pub fn new(policy: &'p SecurityPolicy, explain: bool) -> Self {
        Self {
            knowledge: policy.knowledge(),
            settings: policy.settings(),
            explain,
            starts: false,
            own_files: crate::OwnFiles::default(),
            home: b"",
            work: Cell::new(0),
            bytes: Cell::new(0),
            disputed: Cell::default(),
            unseen: Cell::new(false),
            listens: Cell::new(false),
            by_name: Cell::new(false),
            reopened: Cell::new(false),
            descriptors: Cell::new(false),
            collected: None,
        }
    }

    /// What is being judged runs text that is in no argument: it comes by the input, or from a terminal.
    pub fn runs_unseen(&self) {
        self.unseen.set(true);
        self.by_name.set(true);
    }

    /// What is being judged, or something that it starts, takes commands from its input.
    pub fn takes_commands(&self) {
        self.listens.set(true);
        self.runs_unseen();
    }

    /// What is being judged runs what lies in a file that anyone may change.
    pub fn runs_by_name(&self) {
        self.by_name.set(true);
    }

    /// Whether the whole text of what was judged was there to be seen.
    pub fn text_seen(&self) -> bool {
        !self.unseen.get() && !self.listens.get()
    }

    /// Judges a text: what it starts is named in it, so whoever sees the text sees that.
    pub fn shown<T>(&self, text: impl FnOnce() -> T) -> T {
        let before = self.unseen.get();
        let out = text();
        self.unseen.set(before);
        out
    }

    /// A word that names a descriptor, or lets a program name one.
    pub fn descriptor(&self, arg: &Arg) {
        if ["/dev/std", "/dev/fd", "/proc/", "/fd/"].iter().any(|path| arg.text.contains(path)) {
            self.descriptors.set(true);
        }
    }

    pub fn dispute(&self, found: Disputed) {
        let before = self.disputed.get();
        self.disputed.set(Disputed {
            not_posix: before.not_posix || found.not_posix,
            zsh: before.zsh || found.zsh,
            comment: before.comment || found.comment,
            evaluated: before.evaluated || found.evaluated,
            keyed: before.keyed || found.keyed,
        });
    }

    /// Judges a text as the shell of this name reads it: a construct that is a command, an operator or an option to it, and
    /// something else to the parser here, raises.
    pub fn read_by(&self, shell: &str, interactive: bool, text: impl FnOnce() -> Part) -> Part {
        let outer = self.disputed.take();
        let mut out = text();
        let found = self.disputed.replace(outer);
        let stem = shell.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-');
        let other = match stem {
            "bash" | "rbash" => false,
            "ksh" | "mksh" | "lksh" | "oksh" => found.evaluated || (found.keyed && !shell.starts_with("ksh93")),
            "zsh" => found.zsh || found.evaluated || (found.comment && interactive),
            _ => found.not_posix || found.keyed,
        };
        if other {
            out.raise(Finding::new(CommandClass::Write, ReasonCode::Opaque, "a construct that this shell reads in another way"));
        }
        out
    }

    /// Counts one program; false past the cap.
    pub fn spend(&self) -> bool {
        step(1);
        self.work.set(self.work.get() + 1);
        self.work.get() <= MAX_WORK
    }

    /// Counts the bytes of a text; false past the cap.
    pub fn read(&self, text: &str) -> bool {
        step(text.len());
        self.bytes.set(self.bytes.get() + text.len());
        self.bytes.get() <= MAX_BYTES
    }

    /// Class and finding for a program that nobody knows.
    pub fn unknown(&self, name: &str) -> Finding {
        let class = match self.settings.unknown {
            crate::Unknown::Write => CommandClass::Write,
            crate::Unknown::Destructive => CommandClass::Destructive,
        };
        Finding::new(class, ReasonCode::UnknownProgram, format!("{} is not known", crate::display::word(name.get(..64).unwrap_or(name))))
    }

    pub fn text(&self, args: &[Arg]) -> String {
        if !self.explain {
            return String::new();
        }
        args.iter().map(|arg| crate::display::word(&arg.text.replace(super::args::UNKNOWN, "…"))).collect::<Vec<_>>().join(" ")
    }
}

/// A part that only reads, so far.
pub(crate) fn part(text: String) -> Part {
    Part { text, class: CommandClass::Read, code: ReasonCode::Known, reason: String::new(), entry: None, parts: Vec::new() }
}

/// Raising is the only way in which a part changes.
pub(crate) trait Raise {
    fn raise(&mut self, finding: Finding);
    fn raise_at(&mut self, finding: Finding, at: At);
    fn add(&mut self, child: Part, explain: bool);
}

impl Raise for Part {
    fn raise(&mut self, finding: Finding) {
        if finding.class > self.class {
            self.class = finding.class;
            self.code = finding.code;
            self.reason = finding.reason.into_owned();
            self.entry = None;
        }
    }

    fn raise_at(&mut self, finding: Finding, at: At) {
        let raises = finding.class > self.class;
        self.raise(finding);
        if raises {
            self.entry = Some(at.to_string());
        }
    }

    fn add(&mut self, child: Part, explain: bool) {
        let raises = child.class > self.class;
        if raises {
            self.class = child.class;
            self.code = ReasonCode::Parts;
            self.reason.clone_from(&child.reason);
            self.entry = None;
        }
        if raises || explain {
            self.parts.push(child);
        }
    }
}
