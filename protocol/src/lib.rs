//! The words that interceptors, warden and supervisor exchange, and their form on the wire and in the journal.
//!
//! Invariant: every decoder is total. A frame that is too long, ends early, has bytes left over or names an unknown
//! variant is a [`WireError`], never a panic and never a partly filled value. Refuses to know what a command means:
//! a class travels as its rank, and only the supervisor gives it a name.
#![no_std]
#![forbid(unsafe_code)]

#[cfg(feature = "alloc")]
extern crate alloc;

pub mod ask;
#[cfg(feature = "alloc")]
mod event;
#[cfg(feature = "alloc")]
mod message;
#[cfg(feature = "alloc")]
mod record;
#[cfg(feature = "alloc")]
mod verdict;
#[cfg(feature = "alloc")]
mod wire;

#[cfg(feature = "alloc")]
pub use {
    event::{Asked, Event, Executable, FileId, Process, Script, Stage, Stdin},
    message::{Enlist, Message, Withdrawal},
    record::{Answered, Ended, Judged, Record, Started, Withdrawn},
    verdict::{Answer, Decision, Mode, Reason, Verdict},
    wire::{FRAME_LIMIT, Reader, Wire, WireError},
};

/// Number of this protocol. A warden and a supervisor whose numbers differ refuse each other.
pub const VERSION: u16 = 3;

/// The words for the ranks of the classes, lowest first. What they mean is policy.
pub const CLASS_WORDS: [&str; 5] = ["read", "write", "network", "install", "destructive"];
