//! One program start, as facts that the warden read from the kernel.
//!
//! Invariant: an event holds only what was read from the loaded image or by the warden's own look at the files; nothing
//! in it was said by the tree. Refuses to judge: trust facts are stated one by one, and what they add up to is policy.

use crate::wire::{sequence, wire_struct, wire_words};
use crate::{Reader, Wire, WireError};
use alloc::vec::Vec;

wire_words! {
    /// Where the call stands while it is judged.
    pub enum Stage {
        /// The kernel has built the image; it waits before its first instruction.
        Loaded = 0 "loaded",
        /// A file that the kernel cannot load; the caller would interpret its text by itself, so the caller waits.
        Text = 1 "text",
        /// Only the caller's arguments were read; the image was not looked at after loading (mode `seccomp`).
        Called = 2 "called",
    }
}

wire_words! {
    /// What an image has as its standard input.
    pub enum Stdin {
        /// Closed or not to be determined.
        Unknown = 0 "unknown",
        /// A terminal.
        Terminal = 1 "terminal",
        /// /dev/null.
        Null = 2 "null",
        /// A regular file.
        File = 3 "file",
        /// A pipe.
        Pipe = 4 "pipe",
        /// A socket.
        Socket = 5 "socket",
    }
}

wire_struct! {
    /// What makes a file that file, and no other: statx(2).
    pub struct FileId {
        /// Device number as st_dev.
        pub dev: u64,
        /// Inode number.
        pub ino: u64,
        /// Size in bytes.
        pub size: u64,
        /// Time of the last change of content or attributes, in nanoseconds since the epoch.
        pub ctime: i64,
    }
}

wire_struct! {
    /// The file that the kernel loaded as the image.
    pub struct Executable {
        /// Its resolved path, in the mount namespace of the image.
        pub path: Vec<u8>,
        /// Its identity.
        pub id: FileId,
        /// Owned by root and not writable by group or others.
        pub root_owned: bool,
        /// The same holds for every directory above it.
        pub chain_root_owned: bool,
        /// Its ctime is earlier than the start of the run.
        pub unchanged: bool,
        /// `path` leads to this very file in the warden's own mount namespace and root.
        pub same_view: bool,
        /// Its ELF interpreter has all four properties above and /etc/ld.so.preload is absent or likewise; true for a static image.
        pub linker_trusted: bool,
        /// Its file system moves the ctime of a file that is written through a mapping, so that [`FileId`] tells contents
        /// apart; tmpfs does not.
        pub dated: bool,
    }
}

wire_struct! {
    /// The text that an interpreter will read.
    pub struct Script {
        /// Its path as the interpreter was told it.
        pub path: Vec<u8>,
        /// Its resolved path; empty where it could not be found.
        pub resolved: Vec<u8>,
        /// An operand of the command line that the judge asked for; otherwise the kernel's own choice by `#!`, or the text
        /// itself at [`Stage::Text`].
        pub operand: bool,
        /// Its identity.
        pub id: FileId,
        /// As for [`Executable`], and so are the next three.
        pub root_owned: bool,
        /// Every directory above it belongs to root alone.
        pub chain_root_owned: bool,
        /// Unchanged since before the run began.
        pub unchanged: bool,
        /// `resolved` leads to this very file in the warden's own view.
        pub same_view: bool,
        /// SHA-256 of the whole text; zero where it could not be read.
        pub digest: [u8; 32],
        /// The text; absent where it is longer than 1 MiB or unreadable.
        pub text: Option<Vec<u8>>,
    }
}

wire_struct! {
    /// A process, named so that a reused pid cannot be taken for it.
    pub struct Process {
        /// Process id in the warden's pid namespace.
        pub pid: u32,
        /// Start time in clock ticks since boot (proc(5), stat field 22).
        pub start: u64,
        /// Command name as the kernel keeps it, at most 15 bytes.
        pub name: Vec<u8>,
    }
}
sequence!(Process);

impl Script {
    /// A script of which nothing is known but how it was called.
    pub fn unreadable(path: Vec<u8>, operand: bool) -> Self {
        Self {
            path,
            resolved: Vec::new(),
            operand,
            id: FileId { dev: 0, ino: 0, size: 0, ctime: 0 },
            root_owned: false,
            chain_root_owned: false,
            unchanged: false,
            same_view: false,
            digest: [0; 32],
            text: None,
        }
    }
}

wire_struct! {
    /// What the shim told of the call behind a start: its caller's words. They show what was meant; nothing is judged by them.
    pub struct Asked {
        /// Name of the C library's function.
        pub function: Vec<u8>,
        /// Path, file or, for `system` and `popen`, the line, as given.
        pub target: Vec<u8>,
        /// Where it was called: file and offset in it, or a mere address.
        pub site: Vec<u8>,
    }
}

wire_struct! {
    /// One program start.
    pub struct Event {
        /// Number of the call, unique in its run.
        pub call: u64,
        /// Where the call stands.
        pub stage: Stage,
        /// Whether this is the program that the person named on the command line.
        pub launch: bool,
        /// The process of the image.
        pub process: Process,
        /// Its ancestors, nearest first, up to the launched process.
        pub ancestry: Vec<Process>,
        /// Descendants that the process had before this image: they are none of its own. `None` where they are too many, or
        /// could not be told.
        pub elders: Option<Vec<Process>>,
        /// The process that starts it, itself or an ancestor, where the image of that was judged to be the agent's own and no
        /// other program was executed in between.
        pub agent: Option<Process>,
        /// Real user id.
        pub uid: u32,
        /// Effective user id.
        pub euid: u32,
        /// The loaded file.
        pub executable: Executable,
        /// Argument vector, as it lies on the stack of the image.
        pub argv: Vec<Vec<u8>>,
        /// Environment, as it lies on the stack of the image.
        pub environment: Vec<Vec<u8>>,
        /// Working directory.
        pub cwd: Vec<u8>,
        /// Root directory; `/` where it is the warden's own.
        pub root: Vec<u8>,
        /// The text behind `#!`, or the text itself at [`Stage::Text`].
        pub script: Option<Script>,
        /// Standard input.
        pub stdin: Stdin,
        /// The call, where the shim told of it.
        pub asked: Option<Asked>,
        /// How many seccomp filters it has besides those with which the run began; 0 until a start has declared a tier.
        pub filters: u32,
    }
}
