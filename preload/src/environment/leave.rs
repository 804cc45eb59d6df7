//! Beside the floor: out of the environment again, before the program looks at it.
//!
//! Invariant: vector and strings only shrink, where they lie, and whatever is not the shim's stays in its order. Whoever
//! looks for the auxiliary vector behind the environment, as Go's runtime does, finds it there still: what became free in
//! between reads as pairs to be ignored.

use super::PRELOAD;
use crate::config;
use crate::text::{Entries, Text, Vector, bytes, value};
use stayexec_protocol::ask::{ADDRESS_VARIABLE, FORM_VARIABLE};

/// Takes the shim out of the process's environment: beside the floor it is in the agent's own process only.
///
/// # Safety
/// Called while the loader initialises the process: one thread. The vector and its strings are the kernel's, and writable.
pub unsafe fn leave(environment: Vector) {
    let mut keep = environment.cast_mut();
    let (mut free, mut blank) = (0_usize, core::ptr::null());
    // SAFETY: the caller's promise; the cursor of the entries is never behind `keep`.
    for entry in unsafe { Entries::of(environment) } {
        // SAFETY: the caller's promise.
        if unsafe { gone(entry) } {
            (free, blank) = (free.wrapping_add(1), entry);
            continue;
        }
        // SAFETY: within the vector: at most as many were kept as were seen.
        unsafe { *keep = entry };
        keep = keep.wrapping_add(1);
    }
    if free % 2 == 1 {
        // An odd word makes no pair: it stays in the environment, as an empty string.
        // SAFETY: one entry was not kept, so there is room, and its string has at least its name.
        unsafe {
            *blank.cast_mut().cast::<u8>() = 0;
            *keep = blank;
        }
        keep = keep.wrapping_add(1);
        free = free.wrapping_sub(1);
    }
    if keep.is_null() {
        return;
    }
    // The last of these words is the null that was there.
    for word in 0..=free {
        let value = if word % 2 == 1 { core::ptr::without_provenance(AT_IGNORE) } else { core::ptr::null() };
        // SAFETY: within the vector, at the latest at its null.
        unsafe { *keep.wrapping_add(word) = value };
    }
}

/// A pair of the auxiliary vector that says nothing (getauxval(3), elf.h).
const AT_IGNORE: usize = 1;

/// Whether an entry goes; of a list of several libraries only this one goes.
///
/// # Safety
/// As [`leave`].
unsafe fn gone(entry: Text) -> bool {
    // SAFETY: the caller's promise.
    let told = unsafe { bytes(entry) };
    let Some(list) = value(told, PRELOAD) else {
        return value(told, ADDRESS_VARIABLE.as_bytes()).is_some() || value(told, FORM_VARIABLE.as_bytes()).is_some();
    };
    if !config::entries(list).any(config::is_library) {
        return false;
    }
    // What is kept is never longer than what was there, and never written ahead of what is still to be read.
    let mut to = entry.cast_mut().cast::<u8>().wrapping_add(PRELOAD.len()).wrapping_add(1);
    let mut from = to.cast_const();
    let mut first = true;
    loop {
        let mut end = from;
        // SAFETY: up to the string's null.
        while !matches!(unsafe { *end }, 0 | b':' | b' ') {
            end = end.wrapping_add(1);
        }
        let length = (end as usize).wrapping_sub(from as usize);
        // SAFETY: this entry of the list.
        let own = length == 0 || config::is_library(unsafe { core::slice::from_raw_parts(from, length) });
        // SAFETY: the separator or the null.
        let last = unsafe { *end } == 0;
        if !own {
            if !first {
                // SAFETY: within the string: an entry was kept before, and its separator was read.
                unsafe { *to = b':' };
                to = to.wrapping_add(1);
            }
            // SAFETY: forward within the string.
            unsafe { core::ptr::copy(from, to, length) };
            to = to.wrapping_add(length);
            first = false;
        }
        from = end.wrapping_add(1);
        if last {
            // SAFETY: within the string.
            unsafe { *to = 0 };
            return first;
        }
    }
}
