//! What is known about the value of a variable: the text, or only of what kind it is.

/// What is known about the value of a variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Value {
    Known(String),
    /// `outside`: from a variable that the text never sets, or names of files. `number`: that, whatever happens.
    Open {
        risky: bool,
        outside: bool,
        number: bool,
    },
}

impl Value {
    /// Anything at all.
    pub(super) const ANY: Self = Self::Open { risky: true, outside: true, number: false };
    /// What arithmetic gives.
    pub(super) const NUMBER: Self = Self::Open { risky: false, outside: false, number: true };
}
