//! The hooks: one for each function, in redhook's shape, and what they have in common.
//!
//! `hook!` makes the exported function, a few instructions that add the return address to the arguments; its body is an
//! ordinary function. Invariant: the real function is called after "go on" and in no other case; a refusal sets errno as the
//! function's manual page has it. Refuses to do the C library's work: searches, ENOEXEC, file actions stay with the real one.

mod exec;
mod shell;
mod spawn;
mod variadic;

pub use exec::{execv, execve, execveat, execvp, execvpe, fexecve};
pub use shell::{popen, system};
pub use spawn::{posix_spawn, posix_spawnp};
pub use variadic::{execl, execle, execlp};

use crate::asking::{Question, Ruling};
use crate::config::{self, Config};
use crate::text::Vector;
use crate::{environment, start, sys};
use stayexec_protocol::ask::Form;

/// Defines an exported function of so many words and names its body, which takes the return address as one word more.
macro_rules! hook {
    ($(#[$meta:meta])* unsafe fn $name:ident($($argument:ident: $t:ty),*) -> $r:ty = $words:tt => $body:path) => {
        $(#[$meta])*
        ///
        /// # Safety
        /// As the C library's function.
        #[unsafe(naked)]
        #[cfg_attr(stayexec_shim, unsafe(no_mangle))]
        pub unsafe extern "C" fn $name($($argument: $t),*) -> $r {
            $crate::arch::door!($words, $body)
        }
    };
}
use hook;

/// What the shim was told; `None` only where nothing can be asked or known.
fn config() -> Option<&'static Config> {
    // SAFETY: a no-op once the constructor has run; before that, only constructors run.
    unsafe { start::prepare() };
    config::kept()
}

/// Asks, then calls `go` with the environment for the image, or `refuse` with an error number.
///
/// # Safety
/// The words of `question` are as execve(2) takes them.
unsafe fn judge<T>(question: &Question, refuse: fn(i32) -> T, go: impl FnOnce(Vector) -> T) -> T {
    let Some(config) = config() else { return refuse(sys::EPERM) };
    if question.target.is_null() {
        // The real function has an error for it.
        return go(question.environment);
    }
    match config.form {
        None => go(question.environment),
        Some(Form::Beside) => {
            // SAFETY: the caller's promise.
            let _ = unsafe { question.ask(config) };
            if question.entry.replaces() && config.stays() {
                // SAFETY: the caller's promise.
                return unsafe { environment::with(question.environment, config, |stays| go(stays.unwrap_or(question.environment))) };
            }
            go(question.environment)
        }
        Some(Form::Alone) => {
            let judged = |environment: Option<Vector>| {
                let Some(environment) = environment else { return refuse(sys::E2BIG) };
                // SAFETY: the caller's promise; a repaired environment is a vector too.
                match unsafe { Question { environment, ..*question }.ask(config) } {
                    Ruling::GoOn => go(environment),
                    Ruling::Refused => refuse(sys::EPERM),
                    Ruling::TooLong => refuse(sys::E2BIG),
                }
            };
            // SAFETY: the caller's promise.
            unsafe { environment::with(question.environment, config, judged) }
        }
    }
}
