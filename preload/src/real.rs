//! The functions behind the shim: the next of each name in the order of the loader, which may be another preloaded library's.
//!
//! Invariant: all are looked up at once while the process is initialised, so that no hook ever enters the loader. Refuses to
//! guess: where a function is missing, its hook says so or makes the system call that the function stands for.

use crate::arch::weak;
use crate::text::{Text, Vector};
use core::ffi::{CStr, c_char, c_int, c_void};
use core::sync::atomic::{AtomicUsize, Ordering};
use stayexec_protocol::ask::Entry;

/// A `pid_t *`.
pub type Pid = *mut c_int;
/// File actions or attributes of posix_spawn(3).
pub type Opaque = *const c_void;
/// A `FILE *`.
pub type Stream = *mut c_void;

static FOUND: [AtomicUsize; 13] = [const { AtomicUsize::new(0) }; 13];

fn found(entry: Entry) -> usize {
    FOUND.get(entry as usize).map_or(0, |slot| slot.load(Ordering::Relaxed))
}

macro_rules! reals {
    ($($entry:ident $name:ident($($t:ty),*) -> $r:ty;)*) => {$(
        /// The real function, if there is one.
        pub fn $name() -> Option<unsafe extern "C" fn($($t),*) -> $r> {
            // SAFETY: 0 or the address of the C library's function of this name, which has this type.
            unsafe { core::mem::transmute::<usize, Option<unsafe extern "C" fn($($t),*) -> $r>>(found(Entry::$entry)) }
        }
    )*};
}

reals! {
    Execve execve(Text, Vector, Vector) -> c_int;
    Execv execv(Text, Vector) -> c_int;
    Execvp execvp(Text, Vector) -> c_int;
    Execvpe execvpe(Text, Vector, Vector) -> c_int;
    Execveat execveat(c_int, Text, Vector, Vector, c_int) -> c_int;
    Fexecve fexecve(c_int, Vector, Vector) -> c_int;
    PosixSpawn posix_spawn(Pid, Text, Opaque, Opaque, Vector, Vector) -> c_int;
    PosixSpawnp posix_spawnp(Pid, Text, Opaque, Opaque, Vector, Vector) -> c_int;
    System system(Text) -> c_int;
    Popen popen(Text, Text) -> Stream;
}

/// Looks all of them up; a bit for each that was found.
///
/// # Safety
/// Called while the loader initialises the process, or by its constructors.
pub unsafe fn resolve() -> u16 {
    let mut bits = 0;
    for (entry, slot) in Entry::ALL.into_iter().zip(&FOUND) {
        let mut name = [0; 16];
        name.iter_mut().zip(entry.as_str().bytes()).for_each(|(place, byte)| *place = byte);
        let Ok(name) = CStr::from_bytes_until_nul(&name) else { continue };
        // SAFETY: the caller's promise.
        let address = unsafe { next(name) };
        slot.store(address, Ordering::Relaxed);
        if address != 0 {
            bits |= 1 << entry as u8;
        }
    }
    forget_error();
    bits
}

/// The next definition of `name` behind this library, else 0.
///
/// # Safety
/// As [`resolve`].
#[inline(never)]
unsafe fn next(name: &CStr) -> usize {
    const NEXT: *mut c_void = usize::MAX as *mut c_void;
    type Lookup = unsafe extern "C" fn(*mut c_void, *const c_char) -> usize;
    let lookup = weak!("dlsym");
    if lookup != 0 {
        // SAFETY: dlsym(3) has this type.
        let lookup = unsafe { core::mem::transmute::<usize, Lookup>(lookup) };
        // SAFETY: RTLD_NEXT and a C string.
        return unsafe { lookup(NEXT, name.as_ptr()) };
    }
    // glibc before 2.34 keeps dlsym in a library that few programs have loaded, and has a door of its own.
    // SAFETY: the caller's promise.
    unsafe { in_old_glibc(name) }
}

/// # Safety
/// As [`resolve`].
unsafe fn in_old_glibc(name: &CStr) -> usize {
    const NOW_INTERNAL: c_int = 2 | 1 << 31;
    type Open = unsafe extern "C" fn(*const c_char, c_int) -> *mut c_void;
    type Lookup = unsafe extern "C" fn(*mut c_void, *const c_char) -> usize;
    let (open, lookup) = (weak!("__libc_dlopen_mode"), weak!("__libc_dlsym"));
    if open == 0 || lookup == 0 {
        return 0;
    }
    // SAFETY: these glibc-private functions have had these types from 2.2 to 2.33, and are gone since.
    let (open, lookup) = unsafe { (core::mem::transmute::<usize, Open>(open), core::mem::transmute::<usize, Lookup>(lookup)) };
    // SAFETY: the C library is loaded already: this only finds its handle.
    let library = unsafe { open(c"libc.so.6".as_ptr(), NOW_INTERNAL) };
    if library.is_null() {
        return 0;
    }
    // SAFETY: a handle and a C string.
    unsafe { lookup(library, name.as_ptr()) }
}

/// A function that is missing (musl has no execveat) left a message for dlerror(3), which is the program's to find empty.
fn forget_error() {
    let address = weak!("dlerror");
    if address != 0 {
        // SAFETY: dlerror(3) has this type.
        let error = unsafe { core::mem::transmute::<usize, extern "C" fn() -> *mut c_char>(address) };
        error();
    }
}
