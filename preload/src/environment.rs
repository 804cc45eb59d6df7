//! The environment of what is started: with the shim, wherever there is an environment at all.
//!
//! Invariant: an environment that lacks nothing is passed on as it is, the very pointer; an empty one stays empty, since some
//! programs start their helpers with none on purpose; other preloaded libraries stay, behind this one. Refuses to allocate:
//! a repaired vector lies on the stack, a long one in a mapping that is given back when the call returns (a child of vfork
//! that succeeds does not return: its parent keeps the pages).

mod leave;

pub use leave::leave;

use crate::arch::weak;
use crate::config::{self, Config};
use crate::sys;
use crate::text::{Entries, Text, Vector, bytes, value};
use stayexec_protocol::ask::{ADDRESS_VARIABLE, FORM_VARIABLE};

const PRELOAD: &[u8] = b"LD_PRELOAD";

/// Bytes of a word.
const WORD: usize = size_of::<usize>();

/// Words of memory that a repair may take of the stack.
const ON_STACK: usize = 384;

/// The C library's `environ`, where it is.
fn place() -> *mut Vector {
    weak!("environ") as *mut Vector
}

/// The process's own environment.
pub fn current() -> Vector {
    let place = place();
    // SAFETY: null, or the C library's variable of this type.
    if place.is_null() { core::ptr::null() } else { unsafe { *place } }
}

/// What a look at an environment found.
struct Look<'a> {
    count: usize,
    /// The last value of LD_PRELOAD: the one that the loader obeys.
    preload: &'a [u8],
    whole: bool,
}

/// # Safety
/// `environment` is a vector as execve(2) takes it.
unsafe fn look<'a>(environment: Vector, config: &Config) -> Look<'a> {
    let wanted = [config.ask.bytes(), config.shim.bytes(), config.library.bytes()];
    let mut seen = [false; 3];
    let mut found = Look { count: 0, preload: &[], whole: true };
    // SAFETY: the caller's promise.
    for entry in unsafe { Entries::of(environment) } {
        // SAFETY: the caller's promise.
        let entry = unsafe { bytes(entry) };
        found.count = found.count.saturating_add(1);
        for ((name, wanted), seen) in names().into_iter().zip(wanted).zip(&mut seen) {
            let Some(told) = value(entry, name) else { continue };
            let is_preload = name == PRELOAD;
            if is_preload {
                found.preload = told;
            }
            let good = if is_preload { leads(entry, wanted) } else { entry == wanted };
            found.whole &= good && !*seen;
            *seen = true;
        }
    }
    found.whole &= wanted.iter().zip(seen).all(|(wanted, seen)| seen || wanted.is_empty());
    found
}

fn names() -> [&'static [u8]; 3] {
    [ADDRESS_VARIABLE.as_bytes(), FORM_VARIABLE.as_bytes(), PRELOAD]
}

/// Whether `entry` is `LD_PRELOAD=` with the library first. Everything does where LD_PRELOAD did not load the library.
fn leads(entry: &[u8], wanted: &[u8]) -> bool {
    wanted.is_empty() || entry.strip_prefix(wanted).is_some_and(|rest| matches!(rest.first(), None | Some(b':' | b' ')))
}

/// Calls `go` with `environment`, or with a repaired copy of it; with none where there is no room for one.
///
/// # Safety
/// `environment` is null or a vector as execve(2) takes it.
pub unsafe fn with<T>(environment: Vector, config: &Config, go: impl FnOnce(Option<Vector>) -> T) -> T {
    // SAFETY: the caller's promise.
    match unsafe { lacking(environment, config) } {
        None => go(Some(environment)),
        // SAFETY: the caller's promise.
        Some(found) => unsafe { repaired(environment, &found, config, go) },
    }
}

/// Out of line, so that a call that needs no repair does not pay for its stack.
///
/// # Safety
/// As [`with`].
#[inline(never)]
unsafe fn repaired<T>(environment: Vector, found: &Look<'_>, config: &Config, go: impl FnOnce(Option<Vector>) -> T) -> T {
    let words = words(found, config);
    if words <= ON_STACK {
        let mut room = [0_usize; ON_STACK];
        // SAFETY: the caller's promise.
        return go(unsafe { fill(&mut room, environment, found, config) });
    }
    let bytes = words.saturating_mul(WORD);
    let Some(memory) = sys::map(bytes) else { return go(None) };
    // SAFETY: fresh memory of this size, aligned to a page.
    let room = unsafe { core::slice::from_raw_parts_mut(memory.cast::<usize>(), words) };
    // SAFETY: the caller's promise.
    let result = go(unsafe { fill(room, environment, found, config) });
    // SAFETY: the call that used it has returned.
    unsafe { sys::unmap(memory, bytes) };
    result
}

/// Repairs the process's own environment in place, for functions that read it by themselves (system, popen). Rare: somebody
/// took the shim out of it. The memory stays: other threads may read it for ever.
///
/// # Safety
/// Nobody changes the environment meanwhile, which system(3) itself demands.
pub unsafe fn restore(config: &Config) -> Option<()> {
    let environment = current();
    // SAFETY: the C library's own vector.
    let Some(found) = (unsafe { lacking(environment, config) }) else { return Some(()) };
    let words = words(&found, config);
    let memory = sys::map(words.checked_mul(WORD)?)?;
    // SAFETY: fresh memory of this size, aligned to a page.
    let room = unsafe { core::slice::from_raw_parts_mut(memory.cast::<usize>(), words) };
    // SAFETY: the C library's own vector.
    let repaired = unsafe { fill(room, environment, &found, config) }?;
    // SAFETY: `current` found it there, so it is not null.
    unsafe { *place() = repaired };
    Some(())
}

/// What an environment lacks, if it does and is to be repaired.
///
/// # Safety
/// As [`with`].
unsafe fn lacking<'a>(environment: Vector, config: &Config) -> Option<Look<'a>> {
    // SAFETY: the caller's promise.
    let found = unsafe { look(environment, config) };
    (found.count > 0 && !found.whole).then_some(found)
}

/// How many words a repaired vector takes: the old entries, four new ones, a null, the strings.
fn words(found: &Look<'_>, config: &Config) -> usize {
    let text = config.library.bytes().len().saturating_add(found.preload.len()).saturating_add(2);
    found.count.saturating_add(6).saturating_add(text / WORD)
}

/// Writes the repaired vector into `room`, the string of LD_PRELOAD at its end.
///
/// # Safety
/// As [`with`].
unsafe fn fill(room: &mut [usize], environment: Vector, found: &Look<'_>, config: &Config) -> Option<Vector> {
    let (vector, text) = room.split_at_mut_checked(found.count.saturating_add(5))?;
    // SAFETY: a slice of words seen as bytes.
    let text = unsafe { core::slice::from_raw_parts_mut(text.as_mut_ptr().cast::<u8>(), size_of_val(text)) };
    let mut places = vector.iter_mut();
    // SAFETY: the caller's promise.
    for entry in unsafe { Entries::of(environment) } {
        // SAFETY: the caller's promise.
        let told = unsafe { bytes(entry) };
        let replaced =
            names().into_iter().any(|name| value(told, name).is_some() && !(name == PRELOAD && config.library.bytes().is_empty()));
        if !replaced {
            *places.next()? = entry as usize;
        }
    }
    for own in [config.ask.bytes(), config.shim.bytes()] {
        if !own.is_empty() {
            *places.next()? = own.as_ptr() as usize;
        }
    }
    // Where they all go again, an even number has to: see `leave`.
    if config.leaves() && found.preload.is_empty() && !config.library.bytes().is_empty() {
        *places.next()? = config.shim.bytes().as_ptr() as usize;
    }
    if !config.library.bytes().is_empty() {
        *places.next()? = join(text, found.preload, config)? as usize;
    }
    *places.next()? = 0;
    Some(vector.as_ptr() as Vector)
}

/// `LD_PRELOAD=` with the library first, then the others of `list`.
fn join(text: &mut [u8], list: &[u8], config: &Config) -> Option<Text> {
    let own = config.library.bytes();
    let mut places = text.iter_mut();
    let mut write = |bytes: &[u8]| -> Option<()> {
        for byte in bytes {
            *places.next()? = *byte;
        }
        Some(())
    };
    write(own)?;
    for other in config::entries(list).filter(|entry| own.strip_prefix(b"LD_PRELOAD=") != Some(entry)) {
        write(b":")?;
        write(other)?;
    }
    write(&[0])?;
    Some(text.as_ptr().cast())
}

#[cfg(test)]
mod tests;
