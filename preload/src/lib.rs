//! The shim: asks at the libc exec family of dynamically linked processes.
//!
//! The sources are compiled twice. As the shared library (`cfg(stayexec_shim)`, by `build.rs`) they define thirteen functions
//! of the C library and stand before the real ones. As an ordinary crate they define nothing of that kind and carry the
//! library as [`LIBRARY`].
//!
//! | function | target | searched in PATH |
//! |---|---|---|
//! | execve, execv, execl, execle | path | no |
//! | execveat, fexecve | descriptor (and path) | no |
//! | execvp, execvpe, execlp | file | yes, the caller's |
//! | posix_spawn, posix_spawnp | path, file | no; yes |
//! | system, popen | line for `sh -c` | no |
//!
//! Invariant: a hook allocates nothing, takes no lock, touches no thread-local storage but errno where it refuses, makes raw
//! system calls and has no path to a panic: it may run in a child of vfork, in a signal handler, in a fork of a threaded
//! process. Refuses to judge, and to look up what the C library looks up: it asks with the caller's words and calls the real
//! function, or does not.
#![cfg_attr(not(test), no_std)]
#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::indexing_slicing,
        clippy::unreachable,
        clippy::arithmetic_side_effects
    )
)]

mod arch;
mod asking;
mod config;
mod door;
mod environment;
pub mod hooks;
mod real;
mod refusal;
mod sending;
mod start;
mod sys;
mod text;

pub use start::prepare;

/// The shared library, for whoever starts a gated process: write it to a file named
/// [`LIBRARY_NAME`](stayexec_protocol::ask::LIBRARY_NAME) and name that in LD_PRELOAD.
#[cfg(not(stayexec_shim))]
pub const LIBRARY: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/libstayexec_preload.so"));

/// There is no path to a panic, and a test looks for one in the library. Should there be one all the same, nothing runs: the
/// real function is never called.
#[cfg(stayexec_shim)]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    sys::end(126)
}
