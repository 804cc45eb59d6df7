//! system and popen: the line is judged here, and the shell that the C library starts for it stands behind the shim too.
//!
//! The real functions read the process's own environment, so what is missing there is put back before (form alone only).

use super::{config, hook};
use crate::asking::{Question, Ruling};
use crate::environment::{current, restore};
use crate::real::{self, Stream};
use crate::sys;
use crate::text::Text;
use core::ffi::c_int;
use stayexec_protocol::ask::{Entry, Form};

/// The wait status of a shell that could not execute its command.
const NOT_EXECUTED: c_int = 126 << 8;

hook! {
    /// system(3). Refused, it is as if the shell had ended with status 126.
    unsafe fn system(line: Text) -> c_int = 1 => on_system
}
hook! {
    /// popen(3). Refused, it is null, and errno is EPERM.
    unsafe fn popen(line: Text, mode: Text) -> Stream = 2 => on_popen
}

/// Whether the line may be run.
///
/// # Safety
/// `line` is null or a C string.
unsafe fn ask(entry: Entry, line: Text, site: usize) -> Ruling {
    let Some(config) = config() else { return Ruling::Refused };
    if line.is_null() {
        // system(NULL) asks whether there is a shell.
        return Ruling::GoOn;
    }
    // SAFETY: as system(3) demands of its callers.
    if config.form == Some(Form::Alone) && unsafe { restore(config) }.is_none() {
        return Ruling::TooLong;
    }
    let question = Question { entry, site, target: line, argv: core::ptr::null(), environment: current(), descriptor: -1, actions: false };
    // SAFETY: the caller's promise.
    unsafe { question.ask(config) }
}

unsafe extern "C" fn on_system(line: Text, site: usize) -> c_int {
    // SAFETY: the caller's words.
    match unsafe { ask(Entry::System, line, site) } {
        Ruling::GoOn => match real::system() {
            // SAFETY: the caller's words.
            Some(real) => unsafe { real(line) },
            None => sys::failed(sys::ENOSYS),
        },
        Ruling::Refused => NOT_EXECUTED,
        Ruling::TooLong => sys::failed(sys::E2BIG),
    }
}

unsafe extern "C" fn on_popen(line: Text, mode: Text, site: usize) -> Stream {
    // SAFETY: the caller's words.
    let errno = match unsafe { ask(Entry::Popen, line, site) } {
        Ruling::GoOn => match real::popen() {
            // SAFETY: the caller's words.
            Some(real) => return unsafe { real(line, mode) },
            None => sys::ENOSYS,
        },
        Ruling::Refused => sys::EPERM,
        Ruling::TooLong => sys::E2BIG,
    };
    sys::failed(errno);
    core::ptr::null_mut()
}
