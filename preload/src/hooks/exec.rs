//! The exec family without the variadic three.

use super::{hook, judge};
use crate::asking::Question;
use crate::environment::current;
use crate::text::{Text, Vector};
use crate::{real, sys};
use core::ffi::c_int;
use stayexec_protocol::ask::Entry;

hook! {
    /// execve(2).
    unsafe fn execve(path: Text, argv: Vector, envp: Vector) -> c_int = 3 => on_execve
}
hook! {
    /// execv(3).
    unsafe fn execv(path: Text, argv: Vector) -> c_int = 2 => on_execv
}
hook! {
    /// execvp(3).
    unsafe fn execvp(file: Text, argv: Vector) -> c_int = 2 => on_execvp
}
hook! {
    /// execvpe(3).
    unsafe fn execvpe(file: Text, argv: Vector, envp: Vector) -> c_int = 3 => on_execvpe
}
hook! {
    /// execveat(2).
    unsafe fn execveat(folder: c_int, path: Text, argv: Vector, envp: Vector, flags: c_int) -> c_int = 5 => on_execveat
}
hook! {
    /// fexecve(3).
    unsafe fn fexecve(descriptor: c_int, argv: Vector, envp: Vector) -> c_int = 3 => on_fexecve
}

/// The question of a call without descriptor and actions.
pub(super) const fn question(entry: Entry, target: Text, argv: Vector, environment: Vector, site: usize) -> Question {
    Question { entry, site, target, argv, environment, descriptor: -1, actions: false }
}

/// # Safety
/// As execve(2).
pub(super) unsafe fn execute(path: Text, argv: Vector, envp: Vector) -> c_int {
    match real::execve() {
        // SAFETY: the caller's promise.
        Some(real) => unsafe { real(path, argv, envp) },
        // SAFETY: the caller's promise.
        None => unsafe { sys::execve(path, argv, envp) },
    }
}

/// By the process's own environment, or by a repaired one.
///
/// # Safety
/// As execv(3).
pub(super) unsafe fn execute_here(path: Text, argv: Vector, envp: Vector) -> c_int {
    match real::execv() {
        // SAFETY: the caller's promise.
        Some(real) if envp == current() => unsafe { real(path, argv) },
        // SAFETY: the caller's promise.
        _ => unsafe { execute(path, argv, envp) },
    }
}

/// # Safety
/// As execvpe(3).
unsafe fn search(file: Text, argv: Vector, envp: Vector) -> c_int {
    match real::execvpe() {
        // SAFETY: the caller's promise.
        Some(real) => unsafe { real(file, argv, envp) },
        None => sys::failed(sys::ENOSYS),
    }
}

/// By the process's own environment, or by a repaired one.
///
/// # Safety
/// As execvp(3).
pub(super) unsafe fn search_here(file: Text, argv: Vector, envp: Vector) -> c_int {
    match real::execvp() {
        // SAFETY: the caller's promise.
        Some(real) if envp == current() => unsafe { real(file, argv) },
        // SAFETY: the caller's promise.
        _ => unsafe { search(file, argv, envp) },
    }
}

unsafe extern "C" fn on_execve(path: Text, argv: Vector, envp: Vector, site: usize) -> c_int {
    let question = question(Entry::Execve, path, argv, envp, site);
    // SAFETY: the caller's words.
    unsafe { judge(&question, sys::failed, |envp| execute(path, argv, envp)) }
}

unsafe extern "C" fn on_execv(path: Text, argv: Vector, site: usize) -> c_int {
    let question = question(Entry::Execv, path, argv, current(), site);
    // SAFETY: the caller's words.
    unsafe { judge(&question, sys::failed, |envp| execute_here(path, argv, envp)) }
}

unsafe extern "C" fn on_execvp(file: Text, argv: Vector, site: usize) -> c_int {
    let question = question(Entry::Execvp, file, argv, current(), site);
    // SAFETY: the caller's words.
    unsafe { judge(&question, sys::failed, |envp| search_here(file, argv, envp)) }
}

unsafe extern "C" fn on_execvpe(file: Text, argv: Vector, envp: Vector, site: usize) -> c_int {
    let question = question(Entry::Execvpe, file, argv, envp, site);
    // SAFETY: the caller's words.
    unsafe { judge(&question, sys::failed, |envp| search(file, argv, envp)) }
}

unsafe extern "C" fn on_execveat(folder: c_int, path: Text, argv: Vector, envp: Vector, flags: c_int, site: usize) -> c_int {
    /// AT_EXECVE_CHECK: asks the kernel whether the file could be executed, and starts nothing.
    const CHECK: c_int = 0x10000;
    let question = Question { descriptor: folder, ..question(Entry::Execveat, path, argv, envp, site) };
    let go = |envp| match real::execveat() {
        // SAFETY: the caller's words.
        Some(real) => unsafe { real(folder, path, argv, envp, flags) },
        // SAFETY: the caller's words.
        None => unsafe { sys::execveat(folder, path, argv, envp, flags) },
    };
    if flags & CHECK != 0 {
        return go(envp);
    }
    // SAFETY: the caller's words.
    unsafe { judge(&question, sys::failed, go) }
}

unsafe extern "C" fn on_fexecve(descriptor: c_int, argv: Vector, envp: Vector, site: usize) -> c_int {
    let question = Question { descriptor, ..question(Entry::Fexecve, c"".as_ptr(), argv, envp, site) };
    let go = |envp| match real::fexecve() {
        // SAFETY: the caller's words.
        Some(real) => unsafe { real(descriptor, argv, envp) },
        None => sys::failed(sys::ENOSYS),
    };
    // SAFETY: the caller's words.
    unsafe { judge(&question, sys::failed, go) }
}
