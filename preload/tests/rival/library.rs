//! A library that somebody else preloads: redhook's hooks, which write down each call and go on.
#![cfg(target_env = "gnu")]
#![allow(missing_docs, reason = "redhook's macro writes none")]
#![allow(clippy::undocumented_unsafe_blocks, reason = "redhook's macro has such blocks")]

use std::ffi::{CStr, c_char, c_int};
use std::io::Write;

fn note(name: &str, target: *const c_char) {
    let Some(path) = std::env::var_os("RIVAL_LOG") else { return };
    // SAFETY: the caller's C string.
    let target = unsafe { CStr::from_ptr(target) }.to_string_lossy();
    if let Ok(mut log) = std::fs::OpenOptions::new().append(true).create(true).open(path) {
        let _ = log.write_all(format!("{name} {target}\n").as_bytes());
    }
}

redhook::hook! {
    unsafe fn execve(path: *const c_char, argv: *const *const c_char, envp: *const *const c_char) -> c_int => rival_execve {
        note("execve", path);
        // SAFETY: the caller's words, unchanged.
        unsafe { redhook::real!(execve)(path, argv, envp) }
    }
}

redhook::hook! {
    unsafe fn execvp(file: *const c_char, argv: *const *const c_char) -> c_int => rival_execvp {
        note("execvp", file);
        // SAFETY: the caller's words, unchanged.
        unsafe { redhook::real!(execvp)(file, argv) }
    }
}

redhook::hook! {
    unsafe fn system(line: *const c_char) -> c_int => rival_system {
        note("system", line);
        // SAFETY: the caller's words, unchanged.
        unsafe { redhook::real!(system)(line) }
    }
}

redhook::hook! {
    unsafe fn execvpe(file: *const c_char, argv: *const *const c_char, envp: *const *const c_char) -> c_int => rival_execvpe {
        note("execvpe", file);
        // SAFETY: the caller's words, unchanged.
        unsafe { redhook::real!(execvpe)(file, argv, envp) }
    }
}
