//! execl, execlp, execle: argument vectors that the caller put on the stack, and that stay there.
//!
//! Stable Rust cannot define a variadic function, so the exported ones are naked, and lay what came in registers right below
//! what came on the stack: the arguments, whatever their number, are one vector without being copied.

use super::exec::{execute, execute_here, question, search_here};
use super::judge;
use crate::arch::variadic_door;
use crate::environment::current;
use crate::sys;
use crate::text::{Text, Vector};
use core::ffi::c_int;
use stayexec_protocol::ask::Entry;

/// execl(3). Takes further arguments than Rust can write down here.
///
/// # Safety
/// As the C library's function.
#[unsafe(naked)]
#[cfg_attr(stayexec_shim, unsafe(no_mangle))]
pub unsafe extern "C" fn execl(path: Text) -> c_int {
    variadic_door!(on_execl)
}

/// execlp(3). Takes further arguments than Rust can write down here.
///
/// # Safety
/// As the C library's function.
#[unsafe(naked)]
#[cfg_attr(stayexec_shim, unsafe(no_mangle))]
pub unsafe extern "C" fn execlp(file: Text) -> c_int {
    variadic_door!(on_execlp)
}

/// execle(3). Takes further arguments than Rust can write down here.
///
/// # Safety
/// As the C library's function.
#[unsafe(naked)]
#[cfg_attr(stayexec_shim, unsafe(no_mangle))]
pub unsafe extern "C" fn execle(path: Text) -> c_int {
    variadic_door!(on_execle)
}

unsafe extern "C" fn on_execl(path: Text, argv: Vector, site: usize) -> c_int {
    let question = question(Entry::Execl, path, argv, current(), site);
    // SAFETY: the caller's words.
    unsafe { judge(&question, sys::failed, |envp| execute_here(path, argv, envp)) }
}

unsafe extern "C" fn on_execlp(file: Text, argv: Vector, site: usize) -> c_int {
    let question = question(Entry::Execlp, file, argv, current(), site);
    // SAFETY: the caller's words.
    unsafe { judge(&question, sys::failed, |envp| search_here(file, argv, envp)) }
}

unsafe extern "C" fn on_execle(path: Text, argv: Vector, site: usize) -> c_int {
    let mut end = argv;
    // SAFETY: the caller's arguments end with a null.
    while !unsafe { *end }.is_null() {
        end = end.wrapping_add(1);
    }
    // SAFETY: the environment is the argument behind that null.
    let envp: Vector = unsafe { *end.wrapping_add(1) }.cast();
    let question = question(Entry::Execle, path, argv, envp, site);
    // SAFETY: the caller's words.
    unsafe { judge(&question, sys::failed, |envp| execute(path, argv, envp)) }
}
