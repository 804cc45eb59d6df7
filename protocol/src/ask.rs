//! The words of the shim: hello, ask, reply.
//!
//! They travel on a socket of their own, on which nothing else is understood: a connection for each hello and each ask, a
//! reply only to an ask that waits for one. A frame is a little-endian u32 length, then a kind byte and the body. Invariant:
//! writing needs no memory but the caller's (a fixed head, then pieces that stay where they are), and reading is total: what
//! is not exactly one message of this version is an [`AskError`]. Refuses to judge or to look anything up: paths and lines
//! are the caller's words, and a pid is the kernel's to tell (SO_PEERCRED).

mod read;
mod reply;

#[cfg(feature = "alloc")]
pub use read::OwnedAsk;
pub use read::{Ask, AskError, Hello, Pieces, Voice, length};
pub use reply::{REPLY_LINE, REPLY_MAX, Reply};

/// Number of this part of the protocol.
pub const ASK_VERSION: u16 = 1;

/// Longest frame of a hello or an ask, in bytes. The kernel caps argv and environment at 6 MiB together (execve(2)).
pub const ASK_LIMIT: usize = 8 << 20;

/// The environment variable with the address: the path of a Unix stream socket, or `fd:N`, an inherited connected
/// SOCK_SEQPACKET socket that takes one end of a socket pair for each conversation.
pub const ADDRESS_VARIABLE: &str = "STAYEXEC_ASK";

/// The environment variable with the form: the word of a [`Form`]. `beside:PID` is meant for the one process of that id (in its
/// own pid namespace): in any other, the shim takes itself out of the environment and does nothing.
pub const FORM_VARIABLE: &str = "STAYEXEC_SHIM";

/// Name of the library's file. The shim knows its own entry of LD_PRELOAD by it.
pub const LIBRARY_NAME: &str = "libstayexec_preload.so";

/// Length of a hello's frame.
pub const HELLO_LENGTH: usize = 10;

/// Length of the fixed part of an ask's frame.
pub const HEAD_LENGTH: usize = 32;

pub(crate) const KIND_HELLO: u8 = 0;
pub(crate) const KIND_ASK: u8 = 1;
pub(crate) const KIND_REPLY: u8 = 2;

/// What the shim is to its process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Form {
    /// Beside the floor: it tells, and the call goes on at once.
    Beside = 0,
    /// Alone: the call waits for the verdict.
    Alone = 1,
}

impl Form {
    /// The word in [`FORM_VARIABLE`].
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Beside => "beside",
            Self::Alone => "alone",
        }
    }
}

macro_rules! entries {
    ($($(#[$meta:meta])* $variant:ident = $number:literal $word:literal,)*) => {
        /// A function of the C library at which the shim stands.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Entry { $(#[doc = $word] $variant = $number,)* }

        impl Entry {
            /// Every entry, in the order of its number.
            pub const ALL: [Self; 13] = [$(Self::$variant),*];

            /// The function's name.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word,)* }
            }

            pub(crate) const fn from_number(number: u8) -> Option<Self> {
                match number { $($number => Some(Self::$variant),)* _ => None }
            }
        }
    };
}

entries! {
    Execve = 0 "execve",
    Execv = 1 "execv",
    Execvp = 2 "execvp",
    Execvpe = 3 "execvpe",
    Execl = 4 "execl",
    Execlp = 5 "execlp",
    Execle = 6 "execle",
    Execveat = 7 "execveat",
    Fexecve = 8 "fexecve",
    PosixSpawn = 9 "posix_spawn",
    PosixSpawnp = 10 "posix_spawnp",
    System = 11 "system",
    Popen = 12 "popen",
}

impl Entry {
    /// Whether the target is a line for `sh -c`, not a file.
    #[must_use]
    pub const fn takes_line(self) -> bool {
        matches!(self, Self::System | Self::Popen)
    }

    /// Whether the calling process itself becomes the program.
    #[must_use]
    pub const fn replaces(self) -> bool {
        !self.takes_line() && !matches!(self, Self::PosixSpawn | Self::PosixSpawnp)
    }

    /// Whether a target without a slash is looked for in PATH.
    #[must_use]
    pub const fn searches(self) -> bool {
        matches!(self, Self::Execvp | Self::Execvpe | Self::Execlp | Self::PosixSpawnp)
    }
}

/// What an ask says besides its words: bits of [`Head::flags`].
pub mod flag {
    /// The caller waits for a [`Reply`](super::Reply).
    pub const WAITS: u32 = 1;
    /// Words were left out or cut: a call beside the floor never blocks on a long vector.
    pub const CUT: u32 = 2;
    /// The caller gave file actions: the child's working directory and descriptors may differ from the caller's.
    pub const ACTIONS: u32 = 4;
    /// PATH is unset: the C library's own default is searched.
    pub const NO_PATH: u32 = 8;
    /// The environment is told, and is the one that the image will get.
    pub const ENVIRONMENT: u32 = 16;
    /// Every flag of this version.
    pub const ALL: u32 = WAITS | CUT | ACTIONS | NO_PATH | ENVIRONMENT;
}

/// The fixed part of an ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Head {
    /// Where the shim was called.
    pub entry: Entry,
    /// Bits of [`flag`].
    pub flags: u32,
    /// The descriptor of fexecve, or the folder's of execveat; -1 for the others.
    pub descriptor: i32,
    /// The call's return address, in the caller's address space. Its module is in the caller's /proc/PID/maps.
    pub site: u64,
    /// Number of arguments told.
    pub arguments: u32,
    /// Number of environment entries told.
    pub variables: u32,
}

impl Head {
    /// The head as the beginning of a frame whose pieces take `pieces` bytes, their lengths included: each piece is a
    /// little-endian u32 length and so many bytes. In order: the target (path, file or line, as given), the PATH that is
    /// searched (empty where none is), the arguments, the environment.
    ///
    /// `None` where the frame would exceed [`ASK_LIMIT`].
    #[must_use]
    pub fn to_bytes(&self, pieces: usize) -> Option<[u8; HEAD_LENGTH]> {
        let length = pieces.checked_add(HEAD_LENGTH - 4).filter(|n| *n <= ASK_LIMIT)?;
        let [l0, l1, l2, l3] = u32::try_from(length).ok()?.to_le_bytes();
        let [v0, v1] = ASK_VERSION.to_le_bytes();
        let [f0, f1, f2, f3] = self.flags.to_le_bytes();
        let [d0, d1, d2, d3] = self.descriptor.to_le_bytes();
        let [s0, s1, s2, s3, s4, s5, s6, s7] = self.site.to_le_bytes();
        let [a0, a1, a2, a3] = self.arguments.to_le_bytes();
        let [e0, e1, e2, e3] = self.variables.to_le_bytes();
        Some([
            l0,
            l1,
            l2,
            l3,
            KIND_ASK,
            v0,
            v1,
            self.entry as u8,
            f0,
            f1,
            f2,
            f3,
            d0,
            d1,
            d2,
            d3, //
            s0,
            s1,
            s2,
            s3,
            s4,
            s5,
            s6,
            s7,
            a0,
            a1,
            a2,
            a3,
            e0,
            e1,
            e2,
            e3,
        ])
    }
}

#[cfg(all(test, feature = "alloc"))]
mod tests;
