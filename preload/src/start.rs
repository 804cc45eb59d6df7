//! The constructor: everything that a hook must not do is done here, before the program's first instruction.
//!
//! Invariant: afterwards the real functions are known, the configuration is a copy of its own, and a hello was sent, so that
//! a library that the loader skipped in silence does not look like a gate.

use crate::config::{self, Config};
use crate::sending::Sending;
use crate::text::{Vector, variable};
use crate::{door, environment, real, sys};
use core::ffi::c_int;
use stayexec_protocol::ask::{ADDRESS_VARIABLE, FORM_VARIABLE, Form, Hello};

#[cfg(stayexec_shim)]
#[used]
#[unsafe(link_section = ".init_array")]
static CONSTRUCTOR: unsafe extern "C" fn(c_int, Vector, Vector) = construct;

/// # Safety
/// Called by the loader.
#[cfg_attr(not(stayexec_shim), expect(dead_code, reason = "the library's constructor"))]
unsafe extern "C" fn construct(count: c_int, arguments: Vector, variables: Vector) {
    let mut known = environment::current();
    if known.is_null() {
        // glibc, ahead of its own start: it hands the three over. musl hands nothing over, and has its environment by now.
        let behind = arguments.wrapping_add(usize::try_from(count).unwrap_or(0)).wrapping_add(1);
        known = if behind == variables { variables } else { core::ptr::null() };
    }
    // SAFETY: the loader initialises the process.
    unsafe { begin(known) };
}

/// Makes the shim ready, where it is not: another library's constructor may call a hook before this one's has run.
///
/// # Safety
/// Called in a constructor, or when the shim is ready.
pub unsafe fn prepare() {
    if config::kept().is_none() {
        // SAFETY: the caller's promise.
        unsafe { begin(environment::current()) };
    }
}

/// # Safety
/// The loader initialises the process, and `variables` is its environment.
unsafe fn begin(variables: Vector) {
    if config::kept().is_some() {
        return;
    }
    // SAFETY: the caller's promise.
    let told = |name: &str| unsafe { variable(variables, name.as_bytes()) };
    let config = Config::of(told(ADDRESS_VARIABLE), told(FORM_VARIABLE), told("LD_PRELOAD"), sys::process());
    // SAFETY: the caller's promise.
    let hooks = unsafe { real::resolve() };
    // SAFETY: the caller's promise.
    unsafe { config::keep(config) };
    let Some(config) = config::kept() else { return };
    if let Some(form) = config.form {
        hello(config, Hello { form, hooks });
    }
    if config.leaves() {
        // SAFETY: the caller's promise.
        unsafe { environment::leave(variables) };
    }
}

/// Sends the hello. That nobody hears it changes nothing here: a gate that stands alone refuses each call by itself.
fn hello(config: &Config, hello: Hello) {
    let Ok(connection) = door::open_for_hello(&config.address, hello.form == Form::Alone) else { return };
    let _ = Sending::over(&connection, &hello.to_frame()).flush();
}
