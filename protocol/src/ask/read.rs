//! Reading what a shim says.
//!
//! Invariant: total, borrowed, and checked once: a decoded [`Ask`] holds exactly the pieces that its head names. Refuses
//! other versions before it looks at the rest.

use super::{ASK_LIMIT, ASK_VERSION, Entry, Form, HELLO_LENGTH, Head, KIND_ASK, KIND_HELLO, flag};

/// Why a frame is not a message of a shim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AskError {
    /// It ends inside a value.
    Short,
    /// Bytes were left over.
    Trailing,
    /// A kind, form, entry, flag or decision that this version does not know.
    Unknown,
    /// A frame longer than is accepted.
    TooLong,
    /// Spoken by a library of this other version.
    Version(u16),
}

impl core::fmt::Display for AskError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Short => f.write_str("the ask ends early"),
            Self::Trailing => f.write_str("the ask has bytes left over"),
            Self::Unknown => f.write_str("the ask has a word that this version does not know"),
            Self::TooLong => write!(f, "the ask is longer than {ASK_LIMIT} bytes"),
            Self::Version(v) => write!(f, "the preload library speaks version {v}, not {ASK_VERSION}"),
        }
    }
}

impl core::error::Error for AskError {}

/// The length of the body behind a frame's first four bytes.
///
/// # Errors
/// [`AskError::TooLong`], before a byte of it is read.
pub fn length(prefix: [u8; 4]) -> Result<usize, AskError> {
    usize::try_from(u32::from_le_bytes(prefix)).ok().filter(|n| *n <= ASK_LIMIT).ok_or(AskError::TooLong)
}

/// A library was loaded and stands at its entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Hello {
    /// What it is to its process.
    pub form: Form,
    /// A bit for each [`Entry`] whose real function was found.
    pub hooks: u16,
}

impl Hello {
    /// The whole frame.
    #[must_use]
    pub fn to_frame(self) -> [u8; HELLO_LENGTH] {
        let [v0, v1] = ASK_VERSION.to_le_bytes();
        let [h0, h1] = self.hooks.to_le_bytes();
        [HELLO_LENGTH as u8 - 4, 0, 0, 0, KIND_HELLO, v0, v1, self.form as u8, h0, h1]
    }

    /// Whether the real function of `entry` was found.
    #[must_use]
    pub const fn has(self, entry: Entry) -> bool {
        self.hooks >> entry as u8 & 1 == 1
    }
}

/// Byte strings, one behind the other, each with its length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pieces<'a>(&'a [u8]);

impl<'a> Iterator for Pieces<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        piece(&mut self.0).ok()
    }
}

/// A program start, as its caller put it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ask<'a> {
    /// The fixed part.
    pub head: Head,
    /// Path, file or line, as given.
    pub target: &'a [u8],
    /// The PATH that is searched; empty where none is.
    pub search: &'a [u8],
    /// The arguments.
    pub argv: Pieces<'a>,
    /// The environment; empty without [`flag::ENVIRONMENT`].
    pub environment: Pieces<'a>,
}

/// What a shim says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Voice<'a> {
    /// It is there.
    Hello(Hello),
    /// It asks.
    Ask(Ask<'a>),
}

impl<'a> Voice<'a> {
    /// Reads the body of a frame.
    ///
    /// # Errors
    /// Whatever is not exactly one hello or ask of this version.
    pub fn read(body: &'a [u8]) -> Result<Self, AskError> {
        let mut rest = body;
        let [kind] = array(&mut rest)?;
        if kind != KIND_HELLO && kind != KIND_ASK {
            return Err(AskError::Unknown);
        }
        let version = u16::from_le_bytes(array(&mut rest)?);
        if version != ASK_VERSION {
            return Err(AskError::Version(version));
        }
        let voice = if kind == KIND_HELLO { hello(&mut rest).map(Voice::Hello) } else { ask(&mut rest).map(Voice::Ask) }?;
        if rest.is_empty() { Ok(voice) } else { Err(AskError::Trailing) }
    }
}

fn hello(rest: &mut &[u8]) -> Result<Hello, AskError> {
    let [form] = array(rest)?;
    let form = match form {
        0 => Form::Beside,
        1 => Form::Alone,
        _ => return Err(AskError::Unknown),
    };
    let hooks = u16::from_le_bytes(array(rest)?);
    if hooks >> Entry::ALL.len() == 0 { Ok(Hello { form, hooks }) } else { Err(AskError::Unknown) }
}

fn ask<'a>(rest: &mut &'a [u8]) -> Result<Ask<'a>, AskError> {
    let [entry] = array(rest)?;
    let head = Head {
        entry: Entry::from_number(entry).ok_or(AskError::Unknown)?,
        flags: u32::from_le_bytes(array(rest)?),
        descriptor: i32::from_le_bytes(array(rest)?),
        site: u64::from_le_bytes(array(rest)?),
        arguments: u32::from_le_bytes(array(rest)?),
        variables: u32::from_le_bytes(array(rest)?),
    };
    if head.flags & !flag::ALL != 0 {
        return Err(AskError::Unknown);
    }
    let target = piece(rest)?;
    let search = piece(rest)?;
    let argv = pieces(rest, head.arguments)?;
    let environment = pieces(rest, head.variables)?;
    Ok(Ask { head, target, search, argv, environment })
}

/// `count` pieces, each looked at; a lying count ends at the end of the input.
fn pieces<'a>(rest: &mut &'a [u8], count: u32) -> Result<Pieces<'a>, AskError> {
    let whole = *rest;
    for _ in 0..count {
        piece(rest)?;
    }
    let taken = whole.len() - rest.len();
    whole.get(..taken).map(Pieces).ok_or(AskError::Short)
}

fn piece<'a>(rest: &mut &'a [u8]) -> Result<&'a [u8], AskError> {
    let n = u32::from_le_bytes(array(rest)?);
    let (head, tail) = usize::try_from(n).ok().and_then(|n| rest.split_at_checked(n)).ok_or(AskError::Short)?;
    *rest = tail;
    Ok(head)
}

pub(super) fn array<const N: usize>(rest: &mut &[u8]) -> Result<[u8; N], AskError> {
    let (head, tail) = rest.split_first_chunk().ok_or(AskError::Short)?;
    *rest = tail;
    Ok(*head)
}

/// An [`Ask`] that outlives its frame.
#[cfg(feature = "alloc")]
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct OwnedAsk {
    /// The fixed part.
    pub head: Head,
    /// Path, file or line, as given.
    pub target: alloc::vec::Vec<u8>,
    /// The PATH that is searched; empty where none is.
    pub search: alloc::vec::Vec<u8>,
    /// The arguments.
    pub argv: alloc::vec::Vec<alloc::vec::Vec<u8>>,
    /// The environment; empty without [`flag::ENVIRONMENT`].
    pub environment: alloc::vec::Vec<alloc::vec::Vec<u8>>,
}

#[cfg(feature = "alloc")]
impl From<Ask<'_>> for OwnedAsk {
    fn from(ask: Ask<'_>) -> Self {
        let owned = |pieces: Pieces<'_>| pieces.map(<[u8]>::to_vec).collect();
        Self {
            head: ask.head,
            target: ask.target.to_vec(),
            search: ask.search.to_vec(),
            argv: owned(ask.argv),
            environment: owned(ask.environment),
        }
    }
}
