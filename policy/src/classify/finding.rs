//! What the options of a command come to: classes with their reasons, values, operands.

use std::borrow::Cow;

use super::args::Arg;
use crate::knowledge::Role;
use crate::{CommandClass, ReasonCode};

/// A class with its reason.
#[derive(Debug, Clone)]
pub(crate) struct Finding {
    pub class: CommandClass,
    pub code: ReasonCode,
    pub reason: Cow<'static, str>,
}

impl Finding {
    pub fn new(class: CommandClass, code: ReasonCode, reason: impl Into<Cow<'static, str>>) -> Self {
        Self { class, code, reason: reason.into() }
    }
}

/// An option's value, with what it is.
#[derive(Debug, Clone)]
pub(crate) struct Taken {
    pub option: String,
    pub role: Role,
    pub value: Arg,
}

/// What the options of one command come to.
#[derive(Debug, Default)]
pub(crate) struct Vetted {
    pub findings: Vec<Finding>,
    /// Indices of the operands.
    pub operands: Vec<usize>,
    pub taken: Vec<Taken>,
    /// Commands between an option and `;` or `+`.
    pub execs: Vec<Vec<Arg>>,
    /// Flags without value, by name.
    pub flags: Vec<String>,
    /// An option that only prints information.
    pub info: bool,
    /// Words of options that the entry does not list.
    pub unlisted: Vec<usize>,
    /// Where options ended by `--`.
    pub dashes: Option<usize>,
}

impl Vetted {
    pub fn has(&self, flag: &str) -> bool {
        self.flags.iter().any(|name| name == flag)
    }

    pub fn value(&self, options: &[&str]) -> Option<&Arg> {
        self.taken.iter().rev().find(|taken| options.contains(&taken.option.as_str())).map(|taken| &taken.value)
    }
}
