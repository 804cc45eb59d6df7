//! Options of programs: whether they take a value, what the value is, what the option makes of the program.

use crate::CommandClass;
use crate::hash::Map;

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

/// How a program reads several letters in one word.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Bundles {
    /// As getopt(3).
    #[default]
    All,
    /// Flags; the value of a letter stands in the next word, or is a number.
    Flags,
    /// None: one letter, whose value stands in the next word, or is a number.
    None,
}

impl Bundles {
    /// Whether what stands behind this option in the same word makes the program read it in another way.
    pub(crate) fn forbids(self, option: Opt, rest: &str) -> bool {
        let number = || {
            rest.bytes().all(|byte| byte.is_ascii_hexdigit() || b"x,.+-".contains(&byte))
                && rest.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c))
        };
        !rest.is_empty()
            && match self {
                Self::All => false,
                Self::Flags => option.value != Value::None && !number(),
                Self::None => option.value == Value::None || !number(),
            }
    }
}

impl Opt {
    pub(crate) const FLAG: Self = Self { value: Value::None, role: Role::Plain, class: CommandClass::Read, info: false };
}

/// Reads `-abc -o= -i=? --long --width= -name=` into the table; `-abc` is bundled flags unless written
/// `-abc!`, or where long options begin with one dash.
pub(super) fn declare(options: &mut Map<Box<str>, Opt>, dash: bool, list: &str, like: Opt) {
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
